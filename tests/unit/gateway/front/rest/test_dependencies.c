/* SPDX-License-Identifier: MIT
 * `dependencies` of a session: what the image holds and the policy allows, and nothing else. */
#include "tests/unit/gateway/front/rest/rig.h"

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
                        "DENY\nb[x]>=1\n"); /* without what the image has */
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
        RIG_TEST(ranges_in_the_notation_of_python_are_told_from_those_of_npm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
