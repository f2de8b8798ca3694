/* SPDX-License-Identifier: MIT
 * The values that a run derives from its policy; requests of a caller beyond the policy are
 * refused. */
#include "gateway/executor/run/derive.h"
#include "policies/language.h"
#include "tests/unit/gateway/scratch.h"

#define SOURCE CBX_STR("print(1)\n")

static const struct cbx_seal_key key = { { 7 } };

struct fixture {
    struct cbx_policies policies;
};

static struct fixture *fixture;

static int load(void **state)
{
    static const char *const names[] = { "strict", "default", "permissive" };
    static struct fixture f;
    *state = fixture = &f;
    return cbx_policies_load(names, 3, CBX_MODES_ENFORCED, &f.policies, NULL);
}

static int unload(void **state)
{
    (void)state;
    cbx_policies_done(&fixture->policies);
    return 0;
}

static struct sealing seal_asking(const struct cbx_policy *policy, enum cbx_action action,
                                  const char *language, bool runs_lines,
                                  const struct cbx_asked *asked)
{
    const struct cbx_seal_token token = sealing_token(&key);
    const struct cbx_subject subject = { .action = action,
                                         .language = cbx_str_of(language),
                                         .principal = CBX_STR("ann"),
                                         .session = CBX_STR("s1"),
                                         .path = action == CBX_ACTION_FILE ? CBX_STR("a.py")
                                                                           : CBX_STR(""),
                                         .origin = CBX_STR("test"),
                                         .asked = asked };
    const struct cbx_decision decision = { .verdict = CBX_ALLOW,
                                           .language = cbx_str_of(language),
                                           .text = SOURCE,
                                           .runs_lines = runs_lines,
                                           .sha256 = cbx_sha256_of(SOURCE) };
    const struct cbx_entry entry = { .kind = CBX_ENTRY_FILE,
                                     .language = cbx_str_of(language),
                                     .name = subject.path,
                                     .text = SOURCE };
    const struct cbx_judged judged = { .policy = policy,
                                       .subject = &subject,
                                       .decision = &decision,
                                       .entry = cbx_entry_hash(&entry) };
    struct sealing s = { .token = token };
    cbx_buf_init(&s.text, CBX_SEAL_MAX_BYTES);
    assert_int_equal(cbx_seal_make(&token, &judged, &s.text, &s.mac, NULL), 0);
    return s;
}

static struct sealing seal_as(const struct cbx_policy *policy, enum cbx_action action,
                              const char *language, bool runs_lines)
{
    return seal_asking(policy, action, language, runs_lines, NULL);
}

static void open_sealing(struct sealing *s, struct cbx_sealed *out)
{
    static struct cbx_replay_guard guard;
    struct cbx_err err = { 0 };
    const struct cbx_seal_claim claim = { .text = cbx_buf_str(&s->text),
                                          .mac = s->mac,
                                          .source = SOURCE };
    if (cbx_seal_open(&key, &claim, cbx_time_ms(), &guard, out, &err) != 0) {
        fail_msg("%s", err.text);
    }
    sealing_done(s);
}

/* Opens and checks the seal, with the text of the packages of the sandbox. Frees it. */
static int check_with(struct sealing *s, struct cbx_str packages, struct cbx_err *err)
{
    CBX_AUTO_DONE(sealed) sealed = { 0 };
    open_sealing(s, &sealed);
    return cbx_executor_check_policy(&fixture->policies, &sealed, SOURCE, packages, err);
}

/* Opens the seal, checks it and derives. Frees it. */
static void derive(struct sealing *s, struct cbx_str packages, struct cbx_sealed *out)
{
    struct cbx_err err = { 0 };
    open_sealing(s, out);
    if (cbx_executor_check_policy(&fixture->policies, out, SOURCE, packages, &err) != 0) {
        fail_msg("%s", err.text);
    }
    cbx_executor_derive(&fixture->policies, out, SOURCE, packages);
}

static int check(struct sealing *s, struct cbx_err *err)
{
    return check_with(s, CBX_STR(""), err);
}

static void accepts_what_workers_seal_in_every_language_under_every_policy(void **state)
{
    (void)state;
    static const enum cbx_action actions[] = { CBX_ACTION_CHECK, CBX_ACTION_OPEN, CBX_ACTION_RUN,
                                               CBX_ACTION_FILE };
    const struct cbx_language_row *row;
    for (size_t p = 0; p < fixture->policies.count; p++) {
        const struct cbx_policy *policy = fixture->policies.items[p];
        for (size_t l = 0; (row = cbx_language_row(l)) != NULL; l++) {
            for (size_t a = 0; a < 8 && (policy->languages >> row->language & 1) != 0; a++) {
                struct cbx_err err = { 0 };
                struct sealing s = seal_as(policy, actions[a / 2], row->name, a % 2 == 1);
                if (check(&s, &err) != 0) {
                    fail_msg("%s, %s: %s", policy->name.p, row->name, err.text);
                }
            }
        }
    }
}

static void assert_refuses(enum cbx_action action, const char *field, json_t *value,
                           const char *why)
{
    struct cbx_err err = { 0 };
    struct sealing s = seal_as(fixture->policies.items[0], action, "python", true);
    sealing_set(&s, field, value);
    int failed = check(&s, &err);
    if (failed != CBX_ESEAL || strstr(err.text, why) == NULL) {
        fail_msg("%s: %d, %s", field, failed, err.text);
    }
}

static void refuses_another_policy(void **state)
{
    (void)state;
    char hex[CBX_SHA256_HEX + 1];
    assert_refuses(CBX_ACTION_RUN, "policy", json_string("unknown"), "policy of another gateway");
    assert_refuses(CBX_ACTION_RUN, "policy", json_string("default"), "policy of another gateway");
    cbx_sha256_hex(&fixture->policies.items[1]->sha256, hex);
    assert_refuses(CBX_ACTION_RUN, "policy_sha256", json_string(hex), "policy of another gateway");
}

static void refuses_a_language_that_the_policy_has_not(void **state)
{
    (void)state;
    struct cbx_policy *policy = fixture->policies.items[0];
    uint32_t languages = policy->languages;
    policy->languages &= ~(1u << CBX_PYTHON);
    assert_refuses(CBX_ACTION_OPEN, "session", json_string("s1"), "a language");
    policy->languages = languages;
    assert_refuses(CBX_ACTION_OPEN, "language", json_string("cobol"), "a language");
}

static void each_limit_is_the_smaller_of_policy_and_request(void **state)
{
    (void)state;
    const struct cbx_limit_row *row;
    const struct cbx_policy *policy = fixture->policies.items[0];
    for (size_t i = 0; (row = cbx_limit_row(i)) != NULL; i++) {
        int64_t most = cbx_limit_get(&policy->limits, row);
        assert_true(most > 1);
        for (int by = -1; by <= (row->words != NULL ? -1 : 1);
             by += 2) { /* a word above the last one cannot be written */
            struct cbx_asked asked = cbx_asked_nothing;
            CBX_AUTO_DONE(sealed) sealed = { 0 };
            *cbx_limit_at(&asked.limits, row) = most + by;
            struct sealing s = seal_asking(policy, CBX_ACTION_RUN, "python", false, &asked);
            derive(&s, CBX_STR(""), &sealed);
            int64_t least = by < 0 ? most - 1 : most;
            assert_int_equal(cbx_limit_get(&sealed.fields.limits, row), least);
            struct cbx_limits recorded;
            cbx_limits_read(json_object_get(sealed.json, "limits"), &recorded);
            assert_int_equal(cbx_limit_get(&recorded, row), least);
        }
    }
}

static void a_request_without_limits_gets_those_of_the_policy(void **state)
{
    (void)state;
    const struct cbx_policy *policy = fixture->policies.items[0];
    CBX_AUTO_DONE(sealed) sealed = { 0 };
    struct sealing s = seal_as(policy, CBX_ACTION_OPEN, "python", false);
    open_sealing(&s, &sealed);
    assert_int_equal(sealed.fields.limits.wall_ms, 0); /* zero until derived */
    cbx_executor_derive(&fixture->policies, &sealed, SOURCE, CBX_STR(""));
    assert_memory_equal(&sealed.fields.limits, &policy->limits, sizeof(policy->limits));
    assert_int_equal(sealed.fields.network, policy->network);
    assert_null(json_object_get(sealed.json, "asked"));
}

static void the_guard_is_that_of_the_policy(void **state)
{
    (void)state;
    struct cbx_policy *policy = fixture->policies.items[1];
    for (int lines = 0; lines < 2; lines++) {
        CBX_AUTO_DONE(sealed) sealed = { 0 };
        bool ends = policy->guard.ends_run;
        policy->guard.ends_run = lines;
        struct sealing s = seal_as(policy, CBX_ACTION_RUN, "ipython", lines);
        derive(&s, CBX_STR(""), &sealed);
        policy->guard.ends_run = ends;
        assert_true((sealed.fields.refused >> CBX_REFUSE_START & 1) != 0);
        assert_string_equal(sealed.fields.refused_by[CBX_REFUSE_START], "py.process");
        assert_string_equal(json_string_value(json_object_get(json_object_get(sealed.json, "guard"),
                                                              "start-process")),
                            "py.process");
        assert_int_equal(sealed.fields.refusal_ends, lines);
        assert_int_equal(json_is_true(json_object_get(sealed.json, "refusal_ends")), lines);
        /* judged lines of shell start the policy's programs */
        const struct cbx_str programs = sealed.fields.programs;
        assert_int_equal(programs.len > 0, lines);
        assert_int_equal(programs.len > 0 && memmem(programs.p, programs.len, "\0ls", 4) != NULL,
                         lines);
        assert_int_equal(json_array_size(json_object_get(sealed.json, "programs")),
                         lines ? policy->shell_allow.count : 0);
    }
}

static void only_runs_have_a_guard(void **state)
{
    (void)state;
    static const enum cbx_action actions[] = { CBX_ACTION_OPEN, CBX_ACTION_FILE, CBX_ACTION_CHECK };
    for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++) {
        CBX_AUTO_DONE(sealed) sealed = { 0 };
        struct sealing s = seal_as(fixture->policies.items[1], actions[i], "python", true);
        derive(&s, CBX_STR(""), &sealed);
        assert_int_equal(sealed.fields.refused, 0);
        assert_int_equal(sealed.fields.programs.len, 0);
    }
}

static const char *const value_hash =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

static void refuses_variables_that_the_policy_does_not_let_callers_set(void **state)
{
    (void)state;
    assert_refuses(CBX_ACTION_RUN, "asked",
                   json_pack("{s:{s:s}}", "environment", "LD_PRELOAD", value_hash), "a variable");
    assert_refuses(CBX_ACTION_FILE, "asked",
                   json_pack("{s:{s:s}}", "environment", "LD_PRELOAD", value_hash), "a variable");
}

static void the_record_names_the_variables_that_are_passed_and_set(void **state)
{
    (void)state;
    static const enum cbx_action actions[] = { CBX_ACTION_OPEN, CBX_ACTION_RUN, CBX_ACTION_FILE };
    fixture->policies.granted[0] = json_pack("{s:[s],s:[s]}", "pass", "REGION", "secrets", "TOKEN");
    CBX_AUTO_JSON expected = json_pack("{s:[s],s:[s],s:{s:s}}", "pass", "REGION", "secrets",
                                       "TOKEN", "set", "STAGE", value_hash);
    for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++) {
        CBX_AUTO_DONE(sealed) sealed = { 0 };
        struct sealing s = seal_as(fixture->policies.items[0], actions[i], "python", false);
        sealing_set(&s, "asked", json_pack("{s:{s:s}}", "environment", "STAGE", value_hash));
        derive(&s, CBX_STR(""), &sealed);
        json_t *recorded = json_object_get(sealed.json, "environment");
        assert_true(actions[i] == CBX_ACTION_FILE ? recorded == NULL
                                                  : json_equal(recorded, expected));
    }
    json_decref(fixture->policies.granted[0]);
    fixture->policies.granted[0] = NULL;
}

static void refuses_mounts_that_the_policy_does_not_grant(void **state)
{
    (void)state;
    assert_refuses(CBX_ACTION_OPEN, "asked", json_pack("{s:[s]}", "mounts", "/srv:/data:ro"),
                   "a mount");
    assert_refuses(CBX_ACTION_RUN, "asked", json_pack("{s:[s]}", "mounts", "/etc:/data:ro"),
                   "a mount");
    assert_refuses(CBX_ACTION_FILE, "asked", json_pack("{s:[s]}", "mounts", "/srv:/data"),
                   "a mount");
}

static void refuses_a_file_whose_entry_is_of_other_bytes(void **state)
{
    (void)state;
    char hex[CBX_SHA256_HEX + 1];
    struct cbx_sha256 other = cbx_sha256_of(CBX_STR("x"));
    cbx_sha256_hex(&other, hex);
    assert_refuses(CBX_ACTION_FILE, "entry", json_string(hex), "entry is of another file");
    assert_refuses(CBX_ACTION_FILE, "path", json_string("b.py"), "entry is of another file");
}

static void refuses_other_packages_than_were_judged(void **state)
{
    (void)state;
    struct cbx_err err = { 0 };
    const struct cbx_str set = CBX_STR("alpha 1.0 sha256:00\n");
    const struct cbx_sha256 hash = cbx_sha256_of(set);
    char hex[CBX_SHA256_HEX + 1];
    cbx_sha256_hex(&hash, hex);
    struct sealing s = seal_as(fixture->policies.items[0], CBX_ACTION_RUN, "python", false);
    assert_int_equal(check_with(&s, set, &err), CBX_ESEAL);
    assert_non_null(strstr(err.text, "other packages"));
    s = seal_as(fixture->policies.items[0], CBX_ACTION_RUN, "python", false);
    sealing_set(&s, "asked", json_pack("{s:s}", "packages", hex));
    assert_int_equal(check_with(&s, CBX_STR(""), &err), CBX_ESEAL);
    s = seal_as(fixture->policies.items[0], CBX_ACTION_RUN, "python", false);
    sealing_set(&s, "asked", json_pack("{s:s}", "packages", hex));
    assert_int_equal(check_with(&s, CBX_STR("alpha 2.0 sha256:00\n"), &err), CBX_ESEAL);
    s = seal_as(fixture->policies.items[0], CBX_ACTION_RUN, "python", false);
    sealing_set(&s, "asked", json_pack("{s:s}", "packages", hex));
    assert_int_equal(check_with(&s, set, &err), 0);
    CBX_AUTO_DONE(sealed) sealed = { 0 };
    s = seal_as(fixture->policies.items[0], CBX_ACTION_RUN, "python", false);
    sealing_set(&s, "asked", json_pack("{s:s}", "packages", hex));
    derive(&s, set, &sealed);
    assert_memory_equal(&sealed.fields.layer, &hash, sizeof(hash));
    assert_string_equal(json_string_value(json_object_get(sealed.json, "layer")), hex);
    assert_int_equal(json_integer_value(json_object_get(sealed.json, "package_count")), 1);
}

static void refuses_installs_that_the_policy_does_not_give(void **state)
{
    (void)state;
    struct cbx_err err = { 0 };
    struct sealing s = seal_as(fixture->policies.items[0], CBX_ACTION_INSTALL, "python", false);
    assert_int_equal(check(&s, &err), 0);
    s = seal_as(fixture->policies.items[0], CBX_ACTION_RESOLVE, "javascript", false);
    assert_int_equal(check(&s, &err), CBX_ESEAL); /* strict: npm none */
    assert_non_null(strstr(err.text, "an install"));
}

/* The audit log records the findings that a policy did not enforce. */
static void the_mode_of_a_record_is_that_of_the_policy(void **state)
{
    (void)state;
    struct cbx_policy *policy = fixture->policies.items[0];
    for (int relaxed = 0; relaxed < 2; relaxed++) {
        CBX_AUTO_DONE(sealed) sealed = { 0 };
        policy->log_only = relaxed;
        struct sealing s = seal_as(policy, CBX_ACTION_CHECK, "python", false);
        derive(&s, CBX_STR(""), &sealed);
        struct cbx_str mode = cbx_json_str(json_object_get(sealed.json, "mode"));
        assert_true(relaxed ? cbx_str_is(mode, CBX_MODE_LOG_ONLY) : mode.p == NULL);
    }
    policy->log_only = false;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_mode_of_a_record_is_that_of_the_policy),
        cmocka_unit_test(accepts_what_workers_seal_in_every_language_under_every_policy),
        cmocka_unit_test(refuses_another_policy),
        cmocka_unit_test(refuses_a_language_that_the_policy_has_not),
        cmocka_unit_test(each_limit_is_the_smaller_of_policy_and_request),
        cmocka_unit_test(a_request_without_limits_gets_those_of_the_policy),
        cmocka_unit_test(the_guard_is_that_of_the_policy),
        cmocka_unit_test(only_runs_have_a_guard),
        cmocka_unit_test(refuses_variables_that_the_policy_does_not_let_callers_set),
        cmocka_unit_test(the_record_names_the_variables_that_are_passed_and_set),
        cmocka_unit_test(refuses_other_packages_than_were_judged),
        cmocka_unit_test(refuses_installs_that_the_policy_does_not_give),
        cmocka_unit_test(refuses_mounts_that_the_policy_does_not_grant),
        cmocka_unit_test(refuses_a_file_whose_entry_is_of_other_bytes),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
