/* SPDX-License-Identifier: MIT
 * The executor accepts what a worker seals under a policy, and refuses what a worker that was taken
 * over adds to it. */
#include "gateway/executor/run/policy_check.h"
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

static struct sealing seal_as(const struct cbx_policy *policy, enum cbx_action action,
                              const char *language, bool runs_lines)
{
    const struct cbx_seal_token token = sealing_token(&key);
    const struct cbx_subject subject = { .action = action,
                                         .language = cbx_str_of(language),
                                         .principal = CBX_STR("ann"),
                                         .session = CBX_STR("s1"),
                                         .path = action == CBX_ACTION_FILE ? CBX_STR("a.py")
                                                                           : CBX_STR(""),
                                         .origin = CBX_STR("test") };
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

/* Opens the seal and checks it, with the text of what is installed for the sandbox. Frees it. */
static int check_with(struct sealing *s, struct cbx_str packages, struct cbx_err *err)
{
    static struct cbx_replay_guard guard;
    CBX_AUTO_DONE(sealed) sealed = { 0 };
    const struct cbx_seal_claim claim = { .text = cbx_buf_str(&s->text),
                                          .mac = s->mac,
                                          .source = SOURCE };
    if (cbx_seal_open(&key, &claim, cbx_time_ms(), &guard, &sealed, err) != 0) {
        fail_msg("%s", err->text);
    }
    sealing_done(s);
    return cbx_executor_check_policy(&fixture->policies, &sealed, SOURCE, packages, err);
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
    assert_refuses(CBX_ACTION_OPEN, "network", json_integer(policy->network), "a language");
    policy->languages = languages;
    assert_refuses(CBX_ACTION_OPEN, "language", json_string("cobol"), "a language");
}

static void refuses_each_limit_above_that_of_the_policy(void **state)
{
    (void)state;
    const struct cbx_limit_row *row;
    struct cbx_limits *most = &fixture->policies.items[0]->limits;
    for (size_t i = 0; (row = cbx_limit_row(i)) != NULL; i++) {
        json_t *object = json_object();
        cbx_limits_write(most, object);
        *cbx_limit_at(most, row) -= 1;
        assert_refuses(CBX_ACTION_RUN, "limits", object, "a limit");
        *cbx_limit_at(most, row) += 1;
    }
}

static void refuses_a_weaker_guard(void **state)
{
    (void)state;
    bool ends = fixture->policies.items[0]->guard.ends_run;
    assert_refuses(CBX_ACTION_RUN, "guard", json_object(), "a guard");
    assert_refuses(CBX_ACTION_RUN, "guard", json_pack("{s:s}", "start-process", "py.process"),
                   "a guard");
    assert_refuses(CBX_ACTION_RUN, "refusal_ends", json_boolean(!ends), "a guard");
    assert_refuses(CBX_ACTION_RUN, "network", json_integer(CBX_NETWORK_EGRESS), "a network");
    assert_refuses(CBX_ACTION_RUN, "programs", json_pack("[s,s]", "ls", "evil"), "a program");
    assert_refuses(CBX_ACTION_RUN, "programs", json_pack("[s]", "l"), "a program");
}

static void refuses_variables_that_the_policy_does_not_give(void **state)
{
    (void)state;
    static const char *const hash =
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    struct cbx_err err = { 0 };
    assert_refuses(CBX_ACTION_RUN, "environment", json_pack("{s:[s]}", "pass", "REGION"),
                   "a variable");
    assert_refuses(CBX_ACTION_OPEN, "environment", json_pack("{s:[s]}", "secrets", "TOKEN"),
                   "a variable");
    assert_refuses(CBX_ACTION_RUN, "environment", json_pack("{s:{s:s}}", "set", "LD_PRELOAD", hash),
                   "a variable");
    assert_refuses(CBX_ACTION_FILE, "environment", json_pack("{s:{s:s}}", "set", "STAGE", hash),
                   "a variable");
    struct sealing s = seal_as(fixture->policies.items[0], CBX_ACTION_RUN, "python", false);
    sealing_set(&s, "environment", json_pack("{s:{s:s}}", "set", "STAGE", hash));
    assert_int_equal(check(&s, &err), 0);
}

static void refuses_a_decision_without_the_variables_that_are_passed(void **state)
{
    (void)state;
    struct cbx_err err = { 0 };
    fixture->policies.granted[0] = json_pack("{s:[s],s:[s]}", "pass", "REGION", "secrets", "TOKEN");
    struct sealing s = seal_as(fixture->policies.items[0], CBX_ACTION_RUN, "python", false);
    assert_int_equal(check(&s, &err), CBX_ESEAL); /* the audit record would not name them */
    assert_non_null(strstr(err.text, "a variable"));
    s = seal_as(fixture->policies.items[0], CBX_ACTION_RUN, "python", false);
    sealing_set(&s, "environment", json_copy(fixture->policies.granted[0]));
    assert_int_equal(check(&s, &err), 0);
    json_decref(fixture->policies.granted[0]);
    fixture->policies.granted[0] = NULL;
}

static void refuses_mounts_that_the_policy_does_not_grant(void **state)
{
    (void)state;
    assert_refuses(CBX_ACTION_OPEN, "mounts", json_pack("[s]", "/srv:/data:ro"), "a mount");
    assert_refuses(CBX_ACTION_RUN, "mounts", json_pack("[s]", "/etc:/data:ro"), "a mount");
    assert_refuses(CBX_ACTION_FILE, "mounts", json_pack("[s]", "/srv:/data"), "a mount");
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
    sealing_set(&s, "layer", json_string(hex));
    assert_int_equal(check_with(&s, CBX_STR(""), &err), CBX_ESEAL);
    s = seal_as(fixture->policies.items[0], CBX_ACTION_RUN, "python", false);
    sealing_set(&s, "layer", json_string(hex));
    assert_int_equal(check_with(&s, CBX_STR("alpha 2.0 sha256:00\n"), &err), CBX_ESEAL);
    s = seal_as(fixture->policies.items[0], CBX_ACTION_RUN, "python", false);
    sealing_set(&s, "layer", json_string(hex));
    assert_int_equal(check_with(&s, set, &err), 0);
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

/* So that the audit log says of what a policy did not enforce that it did not. */
static void the_mode_of_a_decision_is_that_of_its_policy(void **state)
{
    (void)state;
    struct cbx_policy *policy = fixture->policies.items[0];
    struct cbx_err err = { 0 };
    assert_refuses(CBX_ACTION_RUN, "mode", json_string("log-only"), "a mode");
    policy->log_only = true;
    struct sealing s = seal_as(policy, CBX_ACTION_CHECK, "python", false);
    assert_non_null(strstr(s.text.p, "\"mode\":\"log-only\""));
    assert_int_equal(check(&s, &err), 0);
    assert_refuses(CBX_ACTION_CHECK, "mode", json_string("enforce"), "a mode");
    policy->log_only = false;
    s = seal_as(policy, CBX_ACTION_CHECK, "python", false);
    policy->log_only = true;
    assert_int_equal(check(&s, &err), CBX_ESEAL);
    policy->log_only = false;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_mode_of_a_decision_is_that_of_its_policy),
        cmocka_unit_test(accepts_what_workers_seal_in_every_language_under_every_policy),
        cmocka_unit_test(refuses_another_policy),
        cmocka_unit_test(refuses_a_language_that_the_policy_has_not),
        cmocka_unit_test(refuses_each_limit_above_that_of_the_policy),
        cmocka_unit_test(refuses_a_weaker_guard),
        cmocka_unit_test(refuses_variables_that_the_policy_does_not_give),
        cmocka_unit_test(refuses_a_decision_without_the_variables_that_are_passed),
        cmocka_unit_test(refuses_other_packages_than_were_judged),
        cmocka_unit_test(refuses_installs_that_the_policy_does_not_give),
        cmocka_unit_test(refuses_mounts_that_the_policy_does_not_grant),
        cmocka_unit_test(refuses_a_file_whose_entry_is_of_other_bytes),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
