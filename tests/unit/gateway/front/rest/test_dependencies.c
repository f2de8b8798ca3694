/* SPDX-License-Identifier: MIT
 * `dependencies` of a session: only packages that the image has and the policy allows. */
#include "tests/unit/gateway/front/rest/rig.h"

#include <sqlite3.h>

static struct cbx_http_exchange *open_with(struct rig *rig, const char *dependencies)
{
    char body[1000];
    snprintf(body, sizeof(body), "{'dependencies':[%s],'policy':'strict'}", dependencies);
    return rig_json(rig, "POST", "/sessions", body);
}

static void what_the_image_holds_can_be_asked_for_by_any_spelling_of_its_name(void **state)
{
    static const char *const names[] = { "'numpy'", "'NumPy'", "'pandas','matplotlib'",
                                         "'pyyaml','Scikit_Learn'", "" };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        await_answer(open_with(*state, names[i]), 200);
    }
}

static void what_the_image_lacks_is_judged_before_it_is_resolved(void **state)
{
    struct rig *rig = *state;
    assert_problem(open_with(rig, "'numpy','b[x]>=1','DENY'"), 400, "py.process");
    assert_string_equal(worker_seen(rig)->source.p,
                        "DENY\nb[x]>=1\n"); /* without the image's packages */
    assert_string_equal(worker_seen(rig)->policy, "strict");
    assert_string_equal(worker_seen(rig)->language, "ipython");
    assert_string_equal(worker_seen(rig)->action, "resolve");
}

static void one_that_the_policy_denies_opens_no_session(void **state)
{
    struct rig *rig = *state;
    assert_problem(open_with(rig, "'numpy','DENY'"), 400, "py.process");
    CBX_AUTO_JSON rows = NULL;
    assert_int_equal(cbx_store_list_sessions(rig->store, NULL, &rows, NULL), 0);
    assert_int_equal(json_array_size(rows), 0);
    assert_int_equal(executor_count(&rig->executor, CBX_CALL_submit), 2); /* two checks */
}

static void what_the_image_has_is_judged_by_its_name_alone(void **state)
{
    await_answer(open_with(*state, "'numpy != 1.0+DENY'"), 200);
}

static void a_module_is_no_package_and_the_answer_names_its_package(void **state)
{
    assert_problem(open_with(*state, "'bs4'"), 400, "it is in 'beautifulsoup4' 4.11.2");
    assert_problem(open_with(*state, "'YAML>=5'"), 400, "ask for 'PyYAML'");
}

static void the_answer_says_what_there_is_instead(void **state)
{
    struct rig *rig = *state;
    struct script absent = { .code = CBX_EINVAL, .text = "the index has no package 'scikit-lern'" };
    executor_script(&rig->executor, CBX_CALL_submit, absent);
    assert_problem(open_with(rig, "'scikit-lern'"), 400,
                   "the index has no package 'scikit-lern'; the sandbox image has 'scikit-learn'");
}

static void an_image_whose_list_cannot_be_read_gives_nothing(void **state)
{
    struct rig *rig = *state;
    static const char *const labels[] = { "{", "[]", "{\"version\":2}" };
    for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++) {
        executor_script(&rig->executor, CBX_CALL_contents,
                        (struct script){ .bytes = cbx_str_of(labels[i]) });
        assert_problem(open_with(rig, "'numpy'"), 503, "the list of what the image has");
    }
    executor_script(&rig->executor, CBX_CALL_contents, (struct script){ .bytes = CBX_STR("") });
    assert_problem(open_with(rig, "'numpy'"), 503, "'codebox image build'");
}

static void another_version_than_that_of_the_image_is_installed(void **state)
{
    await_answer(open_with(*state, "'numpy>=1.2','pandas == 1.5.*'"), 200);
    struct rig *rig = *state;
    static const char *const others[] = { "'numpy>=2,!=9+DENY'", "'numpy[DENY]'" };
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        assert_problem(open_with(rig, others[i]), 400, "py.process"); /* they would be installed */
        assert_string_equal(worker_seen(rig)->action, "resolve");
    }
}

static void an_execution_says_what_was_installed_for_it(void **state)
{
    static const struct {
        const char *body;
        bool installs;
    } cases[] = { { "{'code':'1','dependencies':['b']}", true },
                  { "{'code':'INSTALL'}", true },
                  { "{'code':'1','dependencies':['numpy']}", false },
                  { "{'code':'1'}", false } };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const json_t *json = await_answer(rig_json(*state, "POST", "/v1/executions", cases[i].body),
                                          200),
                     *took = json_object_get(json_object_get(json, "installed"), "duration_ms");
        if ((json_integer_value(took) > 0) != cases[i].installs) {
            fail_msg("%s", cases[i].body);
        }
    }
}

static void what_is_no_plain_requirement_is_refused_before_it_is_judged(void **state)
{
    static const char *const bad[] = {
        "1",
        "null",
        "''",
        "'-r x'",
        "'--index-url=http://x'",
        "'numpy; id'",
        "'numpy @ http://x/y.whl'",
        "'git+https://x/y'",
        "'./local'",
        "'/etc'",
        "'numpy ; python_version>\\\"3\\\"'",
        "'numpy\\u0027; id #'",
        "'numpy\\nid'",
        "'numpy\\u0000'",
        "'numpy[dev'",
        "'numpy=1'",
        "'_numpy'",
        "'num py'",
        "'numpy$(id)'",
        "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'",
    };
    struct rig *rig = *state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_problem(open_with(rig, bad[i]), 400, "dependencies[0] is");
    }
    assert_problem(open_with(rig, "'numpy',2"), 400, "dependencies[1] is no string");
    assert_int_equal(worker_judged(rig), 0);
    assert_problem(rig_json(rig, "POST", "/sessions", "{'dependencies':'numpy'}"), 400,
                   "'dependencies'");
}

static void all_mistakes_are_told_at_once(void **state)
{
    struct rig *rig = *state;
    assert_problem(open_with(rig, "'a b','json','numpy','yaml'"), 400,
                   "3 mistakes: dependencies[0] is 'a b'");
    assert_problem(open_with(rig, "'a b','json','numpy','yaml'"), 400,
                   "; 'json' is part of Python");
    assert_problem(open_with(rig, "'a b','json','numpy','yaml'"), 400, "; 'yaml' is a module");
    assert_problem(open_with(rig, "'a b','c d','e f','g h','i j','k l','m n','o p'"), 400, " more");
    assert_int_equal(worker_judged(rig), 0);
}

static void ranges_in_the_notation_of_python_are_told_from_those_of_npm(void **state)
{
    struct rig *rig = *state;
    assert_problem(
        rig_json(rig, "POST", "/v1/sessions", "{'language':'javascript','dependencies':['ms>=2']}"),
        400, "for npm write 'ms@>=2'");
}

/* --- resolved packages after a restart -------------------------------------------------------- */

#define SET "b 1.0 sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\n"

/* The gateway ends, the stored set becomes this one, made so long ago, and another gateway
 * begins. */
static void restart_with(struct rig *rig, const char *set, int64_t age_ms)
{
    char path[256], made[24];
    sqlite3 *db;
    sqlite3_stmt *change;
    rig_close(rig);
    snprintf(path, sizeof(path), "%s/codebox.db", rig->scratch.path);
    snprintf(made, sizeof(made), "%lld", (long long)(cbx_time_ms() - age_ms));
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(db,
                                        "UPDATE sets SET packages=?, made_ms=CAST(? AS INTEGER)",
                                        -1, &change, NULL),
                     SQLITE_OK);
    sqlite3_bind_text(change, 1, set, -1, SQLITE_STATIC);
    sqlite3_bind_text(change, 2, made, -1, SQLITE_STATIC);
    assert_int_equal(sqlite3_step(change), SQLITE_DONE);
    assert_int_equal(sqlite3_changes(db), 1);
    sqlite3_finalize(change);
    sqlite3_close(db);
    rig_open(rig, RIG_JOBS);
}

/* How many permits it takes to open a session with 'b': one, or three, when it is resolved and
 * installed. */
static int submissions_of_b(struct rig *rig)
{
    int before = executor_count(&rig->executor, CBX_CALL_submit);
    await_answer(open_with(rig, "'b'"), 200);
    return executor_count(&rig->executor, CBX_CALL_submit) - before;
}

static void what_was_resolved_is_known_after_a_restart(void **state)
{
    struct rig *rig = *state;
    executor_script(&rig->executor, CBX_CALL_find_layer,
                    (struct script){ .json = "{\"found\":true}" });
    assert_int_equal(submissions_of_b(rig), 3);
    assert_int_equal(submissions_of_b(rig), 1);
    restart_with(rig, SET, 0);
    assert_int_equal(submissions_of_b(rig), 1);
    restart_with(rig, SET, INT64_C(23) * 3600 * 1000);
    assert_int_equal(submissions_of_b(rig), 1);
}

static void a_stored_set_is_used_for_a_day_as_it_was_written_and_for_the_same_sources(void **state)
{
    static const struct {
        const char *set;
        int64_t age_ms;
        uint8_t sources;
        bool found;
    } cases[] = {
        { SET, INT64_C(25) * 3600 * 1000, 0, true }, /* too old */
        { SET, -60 * 1000, 0, true },                /* in the future: the clock was set back */
        { "hello\n", 0, 0, true },                   /* no set */
        { "../../b 1.0 sha256:00\n", 0, 0, true },
        { "", 0, 0, true },
        { SET, 0, 0, false }, /* the layer was removed */
        { SET, 0, 1, true },  /* the operator configured another index */
    };
    struct rig *rig = *state;
    assert_int_equal(submissions_of_b(rig), 3);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        executor_script(
            &rig->executor, CBX_CALL_find_layer,
            (struct script){ .json = cases[i].found ? "{\"found\":true}" : "{\"found\":false}" });
        restart_with(rig, cases[i].set, cases[i].age_ms);
        rig->service.package_sources.bytes[0] = cases[i].sources;
        int submissions = submissions_of_b(rig);
        if (submissions != 3) {
            fail_msg("case %zu: %d submissions", i, submissions);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(what_the_image_holds_can_be_asked_for_by_any_spelling_of_its_name),
        RIG_TEST(what_the_image_lacks_is_judged_before_it_is_resolved),
        RIG_TEST(one_that_the_policy_denies_opens_no_session),
        RIG_TEST(what_the_image_has_is_judged_by_its_name_alone),
        RIG_TEST(a_module_is_no_package_and_the_answer_names_its_package),
        RIG_TEST(the_answer_says_what_there_is_instead),
        RIG_TEST(an_image_whose_list_cannot_be_read_gives_nothing),
        RIG_TEST(another_version_than_that_of_the_image_is_installed),
        RIG_TEST(an_execution_says_what_was_installed_for_it),
        RIG_TEST(what_is_no_plain_requirement_is_refused_before_it_is_judged),
        RIG_TEST(all_mistakes_are_told_at_once),
        RIG_TEST(what_was_resolved_is_known_after_a_restart),
        RIG_TEST(a_stored_set_is_used_for_a_day_as_it_was_written_and_for_the_same_sources),
        RIG_TEST(ranges_in_the_notation_of_python_are_told_from_those_of_npm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
