/* SPDX-License-Identifier: MIT
 * A sealed decision is valid once, for a limited time, for its own bytes, unaltered. */
#include "gateway/ipc/seal/seal.h"
#include "tests/unit/gateway/scratch.h"

#define SOURCE CBX_STR("print(1)\n")

static const struct cbx_seal_key key = { { 1, 2, 3 } };

struct opened {
    struct cbx_replay_guard guard;
    struct cbx_sealed sealed;
    struct cbx_err err;
};

static void opened_done(struct opened *o)
{
    cbx_sealed_done(&o->sealed);
}

static struct sealing make_allowed(void)
{
    return sealing_make(&key, CBX_ALLOW, CBX_ACTION_RUN, "s1", SOURCE);
}

static int64_t issued(const struct sealing *s)
{
    CBX_AUTO_JSON json = NULL;
    assert_int_equal(cbx_json_parse(cbx_buf_str(&s->text), CBX_SEAL_MAX_BYTES, &json, NULL), 0);
    return json_integer_value(json_object_get(json, "issued_ms"));
}

static int open_at(struct opened *o, const struct sealing *s, struct cbx_str source, int64_t now_ms)
{
    struct cbx_seal_claim claim = { .text = cbx_buf_str(&s->text),
                                    .mac = s->mac,
                                    .source = source };
    return cbx_seal_open(&key, &claim, now_ms, &o->guard, &o->sealed, &o->err);
}

static void assert_refused(struct opened *o, int code, const char *why)
{
    assert_int_equal(code, CBX_ESEAL);
    assert_int_equal(o->err.code, CBX_ESEAL);
    if (strstr(o->err.text, why) == NULL) {
        fail_msg("'%s' does not say '%s'", o->err.text, why);
    }
    assert_null(o->sealed.json);
    assert_int_equal(o->sealed.verdict, CBX_DENY);
}

static void opens_once_and_returns_the_decision(void **state)
{
    (void)state;
    struct sealing s = make_allowed();
    struct opened o = { 0 };
    assert_int_equal(open_at(&o, &s, SOURCE, cbx_time_ms()), 0);
    struct cbx_sha256 hash = cbx_sha256_of(SOURCE);
    assert_int_equal(o.sealed.verdict, CBX_ALLOW);
    assert_int_equal(o.sealed.fields.action, CBX_ACTION_RUN);
    assert_string_equal(o.sealed.fields.session, "s1");
    assert_string_equal(o.sealed.fields.principal, "ann");
    assert_string_equal(o.sealed.fields.language, "python");
    assert_string_equal(o.sealed.fields.policy, "testing");
    assert_int_equal(strlen(o.sealed.fields.decision), CBX_ID_CHARS);
    assert_true(cbx_sha256_equal(&o.sealed.fields.source_sha256, &hash));
    assert_int_equal(o.sealed.fields.audit_seq, 0);
    cbx_sealed_done(&o.sealed);
    o.sealed = (struct cbx_sealed){ 0 };
    assert_refused(&o, open_at(&o, &s, SOURCE, cbx_time_ms()), "used before");
    opened_done(&o);
    sealing_done(&s);
}

static void refuses_a_forged_mac_in_every_bit(void **state)
{
    (void)state;
    struct sealing s = make_allowed();
    struct opened o = { 0 };
    for (size_t bit = 0; bit < 8 * sizeof(s.mac.bytes); bit++) {
        s.mac.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_refused(&o, open_at(&o, &s, SOURCE, cbx_time_ms()), "forged or altered");
        s.mac.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    assert_int_equal(open_at(&o, &s, SOURCE, cbx_time_ms()), 0); /* the id is still unused */
    opened_done(&o);
    sealing_done(&s);
}

static void refuses_an_altered_text(void **state)
{
    (void)state;
    struct sealing s = sealing_make(&key, CBX_DENY, CBX_ACTION_RUN, "", SOURCE);
    struct opened o = { 0 };
    for (size_t i = 0; i < s.text.len; i++) {
        s.text.p[i] ^= 1;
        assert_refused(&o, open_at(&o, &s, SOURCE, cbx_time_ms()), "forged or altered");
        s.text.p[i] ^= 1;
    }
    cbx_buf_add_char(&s.text, ' ');
    assert_refused(&o, open_at(&o, &s, SOURCE, cbx_time_ms()), "forged or altered");
    opened_done(&o);
    sealing_done(&s);
}

static void refuses_a_seal_made_with_another_key(void **state)
{
    (void)state;
    static const struct cbx_seal_key other = { { 1, 2, 4 } }, zero;
    struct opened o = { 0 };
    struct sealing s = sealing_make(&other, CBX_ALLOW, CBX_ACTION_RUN, "", SOURCE);
    assert_refused(&o, open_at(&o, &s, SOURCE, cbx_time_ms()), "forged or altered");
    sealing_done(&s);
    s = sealing_make(&zero, CBX_ALLOW, CBX_ACTION_RUN, "", SOURCE);
    assert_refused(&o, open_at(&o, &s, SOURCE, cbx_time_ms()), "forged or altered");
    opened_done(&o);
    sealing_done(&s);
}

static void refuses_an_expired_decision_and_accepts_one_at_the_limit(void **state)
{
    (void)state;
    struct sealing s = make_allowed();
    struct opened o = { 0 };
    int64_t made = issued(&s);
    assert_refused(&o, open_at(&o, &s, SOURCE, made + CBX_SEAL_LIFE_MS + 1), "expired");
    assert_int_equal(open_at(&o, &s, SOURCE, made + CBX_SEAL_LIFE_MS), 0);
    opened_done(&o);
    sealing_done(&s);
}

static void refuses_a_decision_from_the_future_beyond_a_second(void **state)
{
    (void)state;
    struct sealing s = make_allowed();
    struct opened o = { 0 };
    int64_t made = issued(&s);
    assert_refused(&o, open_at(&o, &s, SOURCE, made - 1001), "from the future");
    assert_int_equal(open_at(&o, &s, SOURCE, made - 1000), 0);
    opened_done(&o);
    sealing_done(&s);
    s = make_allowed();
    o = (struct opened){ 0 };
    sealing_set(&s, "issued_ms", json_integer(INT64_MAX));
    assert_refused(&o, open_at(&o, &s, SOURCE, made), "from the future");
    opened_done(&o);
    sealing_done(&s);
}

static void refuses_other_bytes_and_leaves_the_decision_unused(void **state)
{
    (void)state;
    struct sealing s = make_allowed();
    struct opened o = { 0 };
    assert_refused(&o, open_at(&o, &s, CBX_STR("print(2)\n"), cbx_time_ms()), "other bytes");
    assert_refused(&o, open_at(&o, &s, CBX_STR("print(1)"), cbx_time_ms()), "other bytes");
    assert_refused(&o, open_at(&o, &s, CBX_STR("print(1)\n\0"), cbx_time_ms()), "other bytes");
    assert_refused(&o, open_at(&o, &s, (struct cbx_str){ 0 }, cbx_time_ms()), "other bytes");
    assert_int_equal(open_at(&o, &s, SOURCE, cbx_time_ms()), 0);
    opened_done(&o);
    sealing_done(&s);
}

/* A worker that was taken over has the key: malformed fields are refused nevertheless. */
static void refuses_malformed_text_under_a_valid_seal(void **state)
{
    (void)state;
    const struct {
        const char *field;
        json_t *value;
    } nonsense[] = {
        { "sha256", json_string("x") },
        { "policy_sha256", json_null() },
        { "asked", json_array() },
        { "asked", json_pack("{s:s}", "arguments", "-x") },
        { "asked", json_pack("{s:[i]}", "arguments", 1) },
        { "asked", json_pack("{s:[]}", "environment") },
        { "asked", json_pack("{s:s}", "packages", "x") },
        { "runs_lines", json_integer(1) },
        { "issued_ms", json_integer(-5) },
        { "issued_ms", json_string("now") },
        { "surprise", json_true() },
        { "language", json_string("a language with a long name") },
    };
    for (size_t i = 0; i < sizeof(nonsense) / sizeof(nonsense[0]); i++) {
        struct sealing s = make_allowed();
        struct opened o = { 0 };
        sealing_set(&s, nonsense[i].field, nonsense[i].value);
        assert_refused(&o, open_at(&o, &s, SOURCE, cbx_time_ms()), "malformed");
        opened_done(&o);
        sealing_done(&s);
    }
}

/* The executor derives these values from the policy: a seal has no members for them. */
static void refuses_what_a_policy_gives_in_a_seal(void **state)
{
    (void)state;
    static const char *const given[] = { "limits",       "network",     "guard",     "programs",
                                         "refusal_ends", "environment", "mode",      "layer",
                                         "packages",     "mounts",      "arguments", "hosts",
                                         "mounted" };
    for (size_t i = 0; i < sizeof(given) / sizeof(given[0]); i++) {
        struct sealing s = make_allowed();
        struct opened o = { 0 };
        sealing_set(&s, given[i], json_object());
        assert_refused(&o, open_at(&o, &s, SOURCE, cbx_time_ms()), "malformed");
        opened_done(&o);
        sealing_done(&s);
    }
}

static void denies_and_only_checks_when_verdict_or_action_are_unknown_words(void **state)
{
    (void)state;
    struct sealing s = make_allowed();
    struct opened o = { 0 };
    sealing_set(&s, "verdict", json_string("ALLOW"));
    sealing_set(&s, "action", json_string("execute"));
    assert_int_equal(open_at(&o, &s, SOURCE, cbx_time_ms()), 0);
    assert_int_equal(o.sealed.verdict, CBX_DENY);
    assert_int_equal(o.sealed.fields.action, CBX_ACTION_CHECK);
    opened_done(&o);
    sealing_done(&s);
}

static struct cbx_sha256 digest_of(const struct sealing *s)
{
    CBX_AUTO_JSON json = NULL;
    assert_int_equal(cbx_json_parse(cbx_buf_str(&s->text), CBX_SEAL_MAX_BYTES, &json, NULL), 0);
    return cbx_seal_digest(json);
}

static void a_digest_is_of_all_but_id_worker_time_and_claims(void **state)
{
    (void)state;
    static const char *const same[] = { "id",
                                        "worker",
                                        "issued_ms",
                                        "claimed_client",
                                        "claimed_client_version",
                                        "claimed_request",
                                        "claimed_trace",
                                        "claimed_tool_use" },
                             *const differ[] = { "action",    "verdict",       "sha256",
                                                 "policy",    "policy_sha256", "ledger",
                                                 "entry",     "files",         "language",
                                                 "session",   "asked",         "runs_lines",
                                                 "principal", "findings",      "origin",
                                                 "path",      "analyzer",      "source_bytes",
                                                 "file_name" };
    struct sealing s = sealing_make(&key, CBX_ASK, CBX_ACTION_RUN, "s-1", SOURCE),
                   again = sealing_make(&key, CBX_ASK, CBX_ACTION_RUN, "s-1", SOURCE);
    const struct cbx_sha256 first = digest_of(&s), second = digest_of(&again);
    assert_true(cbx_sha256_equal(&first, &second));
    for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
        sealing_set(&again, same[i], json_string("another"));
        struct cbx_sha256 digest = digest_of(&again);
        assert_true(cbx_sha256_equal(&first, &digest));
    }
    for (size_t i = 0; i < sizeof(differ) / sizeof(differ[0]); i++) {
        struct sealing other = sealing_make(&key, CBX_ASK, CBX_ACTION_RUN, "s-1", SOURCE);
        sealing_set(&other, differ[i], json_string("another"));
        struct cbx_sha256 digest = digest_of(&other);
        assert_false(cbx_sha256_equal(&first, &digest));
        sealing_done(&other);
    }
    sealing_done(&s);
    sealing_done(&again);
}

static void denies_when_zeroed(void **state)
{
    (void)state;
    struct cbx_sealed sealed = { 0 };
    assert_int_equal(sealed.verdict, CBX_DENY);
    assert_int_equal(sealed.fields.action, CBX_ACTION_CHECK);
    cbx_sealed_done(&sealed);
}

static void drop(struct opened *o)
{
    cbx_sealed_done(&o->sealed);
    o->sealed = (struct cbx_sealed){ 0 };
}

/* Opens a decision of the worker with this number. */
static int open_number(struct opened *o, uint64_t number)
{
    struct cbx_seal_token token;
    cbx_seal_token_make(&key, number, &token);
    struct sealing s = sealing_make_with(&token, CBX_DENY, CBX_ACTION_RUN, "", SOURCE);
    int failed = open_at(o, &s, SOURCE, cbx_time_ms());
    drop(o);
    sealing_done(&s);
    return failed;
}

static void refuses_a_decision_in_the_name_of_another_worker(void **state)
{
    (void)state;
    const struct cbx_seal_token other = sealing_token(&key);
    struct opened o = { 0 };
    struct sealing s = make_allowed();
    sealing_set(&s, "worker", json_integer((json_int_t)other.number));
    assert_refused(&o, open_at(&o, &s, SOURCE, cbx_time_ms()), "forged or altered");
    sealing_set(&s, "id", json_string(other.id));
    assert_refused(&o, open_at(&o, &s, SOURCE, cbx_time_ms()), "forged or altered");
    sealing_set(&s, "worker", json_integer((json_int_t)s.token.number));
    assert_refused(&o, open_at(&o, &s, SOURCE, cbx_time_ms()), "forged or altered");
    sealing_set(&s, "id", json_string("short"));
    assert_refused(&o, open_at(&o, &s, SOURCE, cbx_time_ms()), "forged or altered");
    sealing_set(&s, "id", json_integer(1));
    assert_refused(&o, open_at(&o, &s, SOURCE, cbx_time_ms()), "forged or altered");
    sealing_set(&s, "id", json_string(s.token.id));
    assert_int_equal(open_at(&o, &s, SOURCE, cbx_time_ms()), 0);
    opened_done(&o);
    sealing_done(&s);
}

/* A worker chooses the time in its decision, so a second decision may have any time. */
static void refuses_a_second_decision_of_a_worker_however_late(void **state)
{
    (void)state;
    struct opened o = { 0 };
    struct sealing s = make_allowed();
    int64_t made = issued(&s);
    assert_int_equal(open_at(&o, &s, SOURCE, made), 0);
    drop(&o);
    for (int64_t later = made + 1; later < made + 30 * (int64_t)CBX_SEAL_LIFE_MS;
         later += CBX_SEAL_LIFE_MS) {
        struct sealing second =
            sealing_make_with(&s.token, CBX_ALLOW, CBX_ACTION_RUN, "s2", CBX_STR("print(2)\n"));
        sealing_set(&second, "issued_ms", json_integer(later));
        assert_refused(&o, open_at(&o, &second, CBX_STR("print(2)\n"), later), "used before");
        sealing_done(&second);
        assert_int_equal(open_number(&o, sealing_token(&key).number), 0);
    }
    opened_done(&o);
    sealing_done(&s);
}

/* Decisions wait in queues: the one that was made first may be submitted last. */
static void opens_each_of_many_numbers_once_in_any_order(void **state)
{
    (void)state;
    enum { NUMBERS = 2000, STEP = 7 };
    struct opened o = { 0 };
    uint64_t first = CBX_SEAL_FIRST_NUMBER(3);
    for (int round = 0; round < 2; round++) {
        for (uint64_t i = 0; i < NUMBERS; i++) {
            assert_int_equal(open_number(&o, first + i * STEP % NUMBERS),
                             round == 0 ? 0 : CBX_ESEAL);
        }
    }
    opened_done(&o);
}

static void refuses_numbers_so_low_that_their_use_is_not_known(void **state)
{
    (void)state;
    struct opened o = { 0 };
    uint64_t first = CBX_SEAL_FIRST_NUMBER(3), high = first + CBX_REPLAY_NUMBERS + 9;
    assert_int_equal(open_number(&o, first + 10), 0);
    assert_int_equal(open_number(&o, high), 0);
    assert_int_equal(open_number(&o, high), CBX_ESEAL);
    assert_int_equal(open_number(&o, first + 8), CBX_ESEAL); /* below; never used */
    assert_int_equal(open_number(&o, first + 10), CBX_ESEAL);
    assert_int_equal(open_number(&o, first + 11), 0);
    assert_int_equal(open_number(&o, high + 10 * (uint64_t)CBX_REPLAY_NUMBERS), 0);
    assert_int_equal(open_number(&o, high), CBX_ESEAL);
    opened_done(&o);
}

static void remembers_the_numbers_of_the_last_zygotes_and_refuses_those_before(void **state)
{
    (void)state;
    struct opened o = { 0 };
    for (uint64_t zygote = 1; zygote <= 20; zygote++) {
        assert_int_equal(open_number(&o, CBX_SEAL_FIRST_NUMBER(zygote) + 5), 0);
    }
    for (uint64_t zygote = 1; zygote <= 20; zygote++) {
        bool known = zygote > 20 - CBX_REPLAY_ZYGOTES;
        assert_int_equal(open_number(&o, CBX_SEAL_FIRST_NUMBER(zygote) + 5), CBX_ESEAL);
        assert_int_equal(open_number(&o, CBX_SEAL_FIRST_NUMBER(zygote) + 1), known ? 0 : CBX_ESEAL);
    }
    opened_done(&o);
}

/* The list of files comes beside the seal, which has its hash. */
static void the_files_are_those_that_were_sealed(void **state)
{
    (void)state;
    char files[2 * CBX_SHA256_HEX + 1];
    struct cbx_sha256 first = cbx_sha256_of(CBX_STR("a")), second = cbx_sha256_of(CBX_STR("b"));
    cbx_sha256_hex(&first, files);
    cbx_sha256_hex(&second, files + CBX_SHA256_HEX);
    struct cbx_str all = { .p = files, .len = 2 * CBX_SHA256_HEX };
    char hash_of_all[CBX_SHA256_HEX + 1];
    struct cbx_sha256 hash = cbx_sha256_of(all);
    cbx_sha256_hex(&hash, hash_of_all);
    const struct cbx_str presented[] = { all, cbx_str_sub(all, 0, CBX_SHA256_HEX),
                                         cbx_str_sub(all, 0, all.len - 1), CBX_STR("") };
    for (size_t i = 0; i < 2 * sizeof(presented) / sizeof(presented[0]); i++) {
        bool sealed = i % 2 == 0;
        struct cbx_str files_now = presented[i / 2];
        struct sealing s = make_allowed();
        struct opened o = { 0 };
        if (sealed) {
            sealing_set(&s, "files", json_string(hash_of_all));
        }
        struct cbx_seal_claim claim = {
            .text = cbx_buf_str(&s.text), .mac = s.mac, .source = SOURCE, .files = files_now
        };
        int code = cbx_seal_open(&key, &claim, cbx_time_ms(), &o.guard, &o.sealed, &o.err);
        if (sealed ? i / 2 == 0 : files_now.len == 0) {
            assert_int_equal(code, 0);
            assert_int_equal(o.sealed.fields.file_count, sealed ? 2 : 0);
            if (sealed) {
                assert_true(cbx_sha256_equal(&o.sealed.fields.files[1], &second));
            }
        } else {
            assert_refused(&o, code, "other files");
        }
        opened_done(&o);
        sealing_done(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opens_once_and_returns_the_decision),
        cmocka_unit_test(refuses_a_forged_mac_in_every_bit),
        cmocka_unit_test(refuses_an_altered_text),
        cmocka_unit_test(refuses_a_seal_made_with_another_key),
        cmocka_unit_test(refuses_an_expired_decision_and_accepts_one_at_the_limit),
        cmocka_unit_test(refuses_a_decision_from_the_future_beyond_a_second),
        cmocka_unit_test(refuses_other_bytes_and_leaves_the_decision_unused),
        cmocka_unit_test(refuses_malformed_text_under_a_valid_seal),
        cmocka_unit_test(the_files_are_those_that_were_sealed),
        cmocka_unit_test(refuses_what_a_policy_gives_in_a_seal),
        cmocka_unit_test(denies_and_only_checks_when_verdict_or_action_are_unknown_words),
        cmocka_unit_test(a_digest_is_of_all_but_id_worker_time_and_claims),
        cmocka_unit_test(denies_when_zeroed),
        cmocka_unit_test(refuses_a_decision_in_the_name_of_another_worker),
        cmocka_unit_test(refuses_a_second_decision_of_a_worker_however_late),
        cmocka_unit_test(opens_each_of_many_numbers_once_in_any_order),
        cmocka_unit_test(refuses_numbers_so_low_that_their_use_is_not_known),
        cmocka_unit_test(remembers_the_numbers_of_the_last_zygotes_and_refuses_those_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
