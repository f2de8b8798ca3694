/* SPDX-License-Identifier: MIT
 * A sealed decision: opened once, in time, for exactly its bytes. */
#include "gateway/seal.h"
#include "gateway/wire.h"
#include "tests/unit/unit.h"

#include <string.h>

static const struct cbx_str source = { "x = 1\n", 6 };

/* A seal as a worker makes it, and what is needed to open it. */
struct sealed_case {
    struct cbx_policy *policy;
    struct cbx_seal_key key;
    struct cbx_buf text;
    struct cbx_sha256 mac;
    struct cbx_replay_guard guard;
    int64_t now;
};

static void make_seal(struct sealed_case *c, const struct cbx_limits *limits)
{
    struct cbx_err err = { 0 };
    struct cbx_decision decision = { .verdict = CBX_ALLOW, .language = CBX_STR("python"), .text = source };
    decision.sha256 = cbx_sha256_of(source);
    struct cbx_subject subject = { .action = CBX_ACTION_RUN, .language = CBX_STR("python"), .principal = CBX_STR("p"), .session = CBX_STR(""), .origin = CBX_STR("test") };
    if (limits != NULL) {
        subject.limits = *limits;
    }
    cbx_buf_reset(&c->text);
    assert_int_equal(cbx_seal_make(&c->key, c->policy, &subject, &decision, &c->text, &c->mac, &err), 0);
    c->now = cbx_time_ms();
}

static int set_up(void **state)
{
    static struct sealed_case c;
    struct cbx_err err = { 0 };
    c = (struct sealed_case){ 0 };
    memset(c.key.bytes, 7, sizeof(c.key.bytes));
    cbx_buf_init(&c.text, CBX_SEAL_MAX_BYTES);
    assert_int_equal(cbx_policy_load("default", &c.policy, &err), 0);
    make_seal(&c, NULL);
    *state = &c;
    return 0;
}

static int tear_down(void **state)
{
    struct sealed_case *c = *state;
    cbx_replay_guard_done(&c->guard);
    cbx_buf_done(&c->text);
    cbx_policy_free(c->policy);
    return 0;
}

/* Opens, and says what was wrong. */
static int open_seal(struct sealed_case *c, struct cbx_str bytes, int64_t now, struct cbx_sealed *out, const char *fragment)
{
    struct cbx_err err = { 0 };
    int failed = cbx_seal_open(&c->key, cbx_buf_str(&c->text), &c->mac, bytes, now, &c->guard, out, &err);
    if (failed) {
        assert_int_equal(failed, CBX_ESEAL);
        assert_non_null(strstr(err.text, fragment));
    }
    return failed;
}

static void opens_once_and_says_what_was_decided(void **state)
{
    struct sealed_case *c = *state;
    CBX_AUTO_DONE(sealed) sealed = { 0 };
    assert_int_equal(open_seal(c, source, c->now, &sealed, ""), 0);
    assert_int_equal(sealed.verdict, CBX_ALLOW);
    assert_int_equal(sealed.fields.action, CBX_ACTION_RUN);
    assert_string_equal(sealed.fields.policy, "default");
    assert_true(cbx_sha256_equal(&sealed.fields.policy_sha256, &c->policy->sha256));
    CBX_AUTO_DONE(sealed) again = { 0 };
    assert_int_not_equal(open_seal(c, source, c->now, &again, "used before"), 0);
    assert_int_equal(again.verdict, CBX_DENY);
}

static void refuses_a_forged_seal(void **state)
{
    struct sealed_case *c = *state;
    CBX_AUTO_DONE(sealed) sealed = { 0 };
    c->mac.bytes[31] ^= 1;
    assert_int_not_equal(open_seal(c, source, c->now, &sealed, "forged or altered"), 0);
}

static void refuses_an_altered_text(void **state)
{
    struct sealed_case *c = *state;
    CBX_AUTO_DONE(sealed) sealed = { 0 };
    char *verdict = strstr(c->text.p, "python");
    assert_non_null(verdict);
    verdict[0] = 'P';
    assert_int_not_equal(open_seal(c, source, c->now, &sealed, "forged or altered"), 0);
}

static void refuses_the_seal_of_another_key(void **state)
{
    struct sealed_case *c = *state;
    CBX_AUTO_DONE(sealed) sealed = { 0 };
    c->key.bytes[0] ^= 1;
    assert_int_not_equal(open_seal(c, source, c->now, &sealed, "forged or altered"), 0);
}

static void refuses_what_is_too_old_or_from_the_future(void **state)
{
    struct sealed_case *c = *state;
    CBX_AUTO_DONE(sealed) sealed = { 0 };
    assert_int_not_equal(open_seal(c, source, c->now + CBX_SEAL_LIFE_MS + 1, &sealed, "expired"), 0);
    assert_int_not_equal(open_seal(c, source, c->now - 5000, &sealed, "expired"), 0);
    assert_int_equal(open_seal(c, source, c->now + CBX_SEAL_LIFE_MS - 100, &sealed, ""), 0);
}

static void refuses_other_bytes(void **state)
{
    struct sealed_case *c = *state;
    CBX_AUTO_DONE(sealed) sealed = { 0 };
    assert_int_not_equal(open_seal(c, CBX_STR("x = 2\n"), c->now, &sealed, "other bytes"), 0);
    assert_int_not_equal(open_seal(c, CBX_STR(""), c->now, &sealed, "other bytes"), 0);
}

/* Signed by the right key, so this is what a worker that was taken over could send. */
static void refuses_a_validly_signed_text_that_is_no_decision(void **state)
{
    struct sealed_case *c = *state;
    static const char *const texts[] = { "", "{}", "null", "[1]", "{\"verdict\":\"allow\"}", "{\"id\":1}", "\x00\xff" };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        CBX_AUTO_DONE(sealed) sealed = { 0 };
        cbx_buf_reset(&c->text);
        cbx_buf_add_cstr(&c->text, texts[i]);
        struct cbx_str key = { .p = (const char *)c->key.bytes, .len = sizeof(c->key.bytes) };
        c->mac = cbx_hmac_sha256(key, cbx_buf_str(&c->text));
        assert_int_not_equal(open_seal(c, source, c->now, &sealed, "malformed"), 0);
        assert_int_equal(sealed.verdict, CBX_DENY);
    }
}

static void grants_the_smaller_of_policy_and_request(void **state)
{
    struct sealed_case *c = *state;
    CBX_AUTO_DONE(sealed) sealed = { 0 };
    make_seal(c, &(struct cbx_limits){ .wall_ms = 1000, .memory_bytes = INT64_MAX });
    assert_int_equal(open_seal(c, source, c->now, &sealed, ""), 0);
    assert_int_equal(sealed.fields.limits.wall_ms, 1000);
    assert_int_equal(sealed.fields.limits.memory_bytes, c->policy->limits.memory_bytes);
    assert_int_equal(sealed.fields.limits.pids, c->policy->limits.pids);
}

static void remembers_many_ids_for_as_long_as_they_could_be_used(void **state)
{
    struct sealed_case *c = *state;
    enum { MANY = 3000 };
    static char texts[MANY][2048];
    static struct cbx_sha256 macs[MANY];
    for (int i = 0; i < MANY; i++) {
        make_seal(c, NULL);
        assert_true(c->text.len < sizeof(texts[0]));
        memcpy(texts[i], c->text.p, c->text.len + 1);
        macs[i] = c->mac;
        CBX_AUTO_DONE(sealed) sealed = { 0 };
        assert_int_equal(open_seal(c, source, c->now, &sealed, ""), 0);
    }
    for (int i = 0; i < MANY; i++) {
        CBX_AUTO_DONE(sealed) sealed = { 0 };
        struct cbx_err err = { 0 };
        int64_t later = c->now + (i % 2) * (CBX_SEAL_LIFE_MS - 10000);
        assert_int_equal(cbx_seal_open(&c->key, cbx_str_of(texts[i]), &macs[i], source, later, &c->guard, &sealed, &err), CBX_ESEAL);
        assert_non_null(strstr(err.text, "used before"));
    }
}

static void forgets_ids_that_are_too_old_to_be_used(void **state)
{
    struct sealed_case *c = *state;
    for (int i = 0; i < 100; i++) {
        CBX_AUTO_DONE(sealed) sealed = { 0 };
        make_seal(c, NULL);
        assert_int_equal(open_seal(c, source, c->now, &sealed, ""), 0);
    }
    size_t before = c->guard.now.count + c->guard.before.count;
    c->guard.turned_ms -= 3 * CBX_SEAL_LIFE_MS;
    for (int turn = 0; turn < 2; turn++) {
        CBX_AUTO_DONE(sealed) sealed = { 0 };
        make_seal(c, NULL);
        c->guard.turned_ms -= 3 * CBX_SEAL_LIFE_MS;
        assert_int_equal(open_seal(c, source, c->now, &sealed, ""), 0);
    }
    assert_true(c->guard.now.count + c->guard.before.count < before);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(opens_once_and_says_what_was_decided),
        TEST(refuses_a_forged_seal),
        TEST(refuses_an_altered_text),
        TEST(refuses_the_seal_of_another_key),
        TEST(refuses_what_is_too_old_or_from_the_future),
        TEST(refuses_other_bytes),
        TEST(refuses_a_validly_signed_text_that_is_no_decision),
        TEST(grants_the_smaller_of_policy_and_request),
        TEST(remembers_many_ids_for_as_long_as_they_could_be_used),
        TEST(forgets_ids_that_are_too_old_to_be_used),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
