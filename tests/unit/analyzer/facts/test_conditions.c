/* SPDX-License-Identifier: MIT
 * Conditions on arguments: known values, several possible values, missing arguments, and paths
 * outside of the workspace. */
#include "analyzer/facts/conditions.h"
#include "tests/unit/unit.h"

#define LITERAL(text)                                                                              \
    {                                                                                              \
        (text), sizeof(text) - 1                                                                   \
    }
static const struct cbx_str workspace[] = { LITERAL("/workspace"), LITERAL("/workspace/**"),
                                            LITERAL("/tmp"), LITERAL("/tmp/**") };
static const struct cbx_str first[] = { LITERAL("0"), LITERAL("file") };
static const struct cbx_str writing[] = { LITERAL("*w*"), LITERAL("*a*") };

#define STRS(array)                                                                                \
    {                                                                                              \
        .items = (struct cbx_str *)(uintptr_t)(array), .count = sizeof(array) / sizeof((array)[0]) \
    }

static struct cbx_str passed[] = { LITERAL("REGION") };
static const struct cbx_secret secrets[] = { { .name = LITERAL("API_TOKEN") } };
static const struct cbx_policy policy = { .environment_pass = STRS(passed),
                                          .secrets = secrets,
                                          .secret_count = 1 };

static struct cbx_arg constant(const char *value)
{
    return (struct cbx_arg){ .known = true, .constant = true, .value = cbx_str_of(value) };
}

static bool holds(const struct cbx_where *where, const struct cbx_arg *args, uint32_t count,
                  bool spread)
{
    CBX_AUTO_DONE(arena) arena;
    cbx_arena_init(&arena, 1 << 20);
    struct cbx_call call = { .name = CBX_STR("f"), .where = where, .where_count = 1 };
    struct cbx_fact fact = {
        .kind = CBX_IS_CALL, .args = args, .arg_count = count, .spread = spread
    };
    return cbx_call_holds(&policy, NULL, &call, &fact, &arena);
}

static bool holds_for(const struct cbx_where *where, const char *value)
{
    struct cbx_arg arg = constant(value);
    return holds(where, &arg, 1, false);
}

static bool is_outside(const struct cbx_arg *args, uint32_t count)
{
    CBX_AUTO_DONE(arena) arena;
    cbx_arena_init(&arena, 1 << 20);
    struct cbx_fact fact = { .kind = CBX_IS_CALL, .args = args, .arg_count = count };
    struct cbx_strs globs = STRS(workspace);
    struct cbx_str path;
    return cbx_call_is_outside(&globs, NULL, &fact, false, &arena, &path);
}

static void paths_in_folders_of_the_sandbox_are_not_outside(void **state)
{
    (void)state;
    CBX_AUTO_DONE(arena) arena;
    cbx_arena_init(&arena, 1 << 20);
    static const struct {
        const char *path;
        bool outside;
    } cases[] = {
        { "/out", false },         { "/out/a/b", false },      { "/out/../etc/x", true },
        { "/outer/x", true },      { "../out/x", false },      { "/data/x", true },
        { "/workspace/x", false }, { "/etc/../out/x", false },
    };
    const struct cbx_str out = CBX_STR("/out");
    const struct cbx_strs folders = { .items = &out, .count = 1 }, globs = STRS(workspace);
    const struct cbx_where where = { .arg = STRS(first), .outside = STRS(workspace) };
    const struct cbx_call call = { .name = CBX_STR("f"), .where = &where, .where_count = 1 };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cbx_arg arg = constant(cases[i].path);
        struct cbx_fact fact = { .kind = CBX_IS_CALL, .args = &arg, .arg_count = 1 };
        struct cbx_str path;
        if (cbx_call_is_outside(&globs, &folders, &fact, false, &arena, &path) !=
                cases[i].outside ||
            cbx_call_holds(&policy, &folders, &call, &fact, &arena) != cases[i].outside) {
            fail_msg("%s", cases[i].path);
        }
    }
}

static void a_glob_of_matches_holds(void **state)
{
    (void)state;
    struct cbx_where where = { .arg = STRS(first), .matches = STRS(writing) };
    assert_true(holds_for(&where, "wb"));
    assert_true(holds_for(&where, "a"));
    assert_false(holds_for(&where, "rb"));
    struct cbx_where not_where = { .arg = STRS(first), .not_matches = STRS(writing) };
    assert_false(holds_for(&not_where, "wb"));
    assert_true(holds_for(&not_where, "rb"));
}

static void names_of_variables_that_the_policy_passes_are_distinguished(void **state)
{
    (void)state;
    struct cbx_where others = { .arg = STRS(first), .granted = CBX_ABSENT };
    struct cbx_where granted = { .arg = STRS(first), .granted = CBX_PRESENT };
    assert_false(holds_for(&others, "API_TOKEN"));
    assert_false(holds_for(&others, "REGION"));
    assert_true(holds_for(&others, "OTHER_TOKEN"));
    assert_true(holds_for(&granted, "API_TOKEN"));
    assert_false(holds_for(&granted, "OTHER_TOKEN"));
    struct cbx_arg computed = { .known = false };
    assert_true(holds(&others, &computed, 1, false));
    assert_false(holds(&granted, &computed, 1, false));
}

static void an_argument_is_found_by_position_or_keyword(void **state)
{
    (void)state;
    struct cbx_where where = { .arg = STRS(first), .matches = STRS(writing) };
    struct cbx_arg args[] = { constant("r"), constant("w") };
    args[1].position = 1;
    assert_false(holds(&where, args, 2, false)); /* the first is another one */
    args[1].keyword = CBX_STR("file");
    args[0].position = 7;
    assert_true(holds(&where, args, 2, false));
    args[1].keyword = CBX_STR("mode");
    assert_false(holds(&where, args, 2, false));
}

static void an_argument_that_is_not_given(void **state)
{
    (void)state;
    struct cbx_where matches = { .arg = STRS(first), .matches = STRS(writing) },
                     not_matches = { .arg = STRS(first), .not_matches = STRS(writing) },
                     present = { .arg = STRS(first), .presence = CBX_PRESENT },
                     absent = { .arg = STRS(first), .presence = CBX_ABSENT };
    assert_false(holds(&matches, NULL, 0, false));
    assert_true(holds(&not_matches, NULL, 0, false));
    assert_false(holds(&present, NULL, 0, false));
    assert_true(holds(&absent, NULL, 0, false));
    assert_true(holds_for(&present, "x"));
    assert_false(holds_for(&absent, "x"));
}

static void what_may_be_among_a_spread_is_unknown(void **state)
{
    (void)state;
    struct cbx_where where = { .arg = STRS(first), .matches = STRS(writing) };
    assert_false(holds(&where, NULL, 0, true));
    where.unknown_holds = true;
    assert_true(holds(&where, NULL, 0, true));
    assert_false(holds(&where, NULL, 0, false));
}

static void one_of_several_constants_is_enough(void **state)
{
    (void)state;
    static const struct cbx_str texts[] = { LITERAL("r"), LITERAL("rb"), LITERAL("wb") };
    struct cbx_where where = { .arg = STRS(first), .matches = STRS(writing) };
    struct cbx_arg arg = { .texts = texts, .text_count = 3 };
    assert_true(holds(&where, &arg, 1, false));
    arg.text_count = 2;
    assert_false(holds(&where, &arg, 1, false));
    where.unknown_holds = true; /* and it may be something else */
    assert_true(holds(&where, &arg, 1, false));
    where = (struct cbx_where){ .arg = STRS(first), .not_matches = STRS(writing) };
    assert_true(holds(&where, &arg, 1, false)); /* "r" is none of them */
}

static void constants_and_names_are_distinguished(void **state)
{
    (void)state;
    struct cbx_where is_constant = { .arg = STRS(first), .constant = CBX_PRESENT },
                     is_none = { .arg = STRS(first), .constant = CBX_ABSENT };
    struct cbx_arg name = { .known = true, .value = CBX_STR("os.environ") }, nobody = { 0 };
    assert_true(holds_for(&is_constant, "x"));
    assert_false(holds_for(&is_none, "x"));
    assert_false(holds(&is_constant, &name, 1, false));
    assert_true(holds(&is_none, &name, 1, false));
    assert_false(holds(&is_constant, &nobody, 1, false));
}

static void a_callable_passed_on_matches_only_calls_without_conditions(void **state)
{
    (void)state;
    CBX_AUTO_DONE(arena) arena;
    cbx_arena_init(&arena, 1 << 16);
    struct cbx_where where = { .arg = STRS(first), .matches = STRS(writing) };
    struct cbx_call call = { .name = CBX_STR("f"), .where = &where, .where_count = 1 };
    struct cbx_fact fact = { .kind = CBX_IS_REFERENCE };
    assert_false(cbx_call_holds(&policy, NULL, &call, &fact, &arena));
    call.where_count = 0;
    assert_true(cbx_call_holds(&policy, NULL, &call, &fact, &arena));
}

static void every_condition_must_hold(void **state)
{
    (void)state;
    CBX_AUTO_DONE(arena) arena;
    cbx_arena_init(&arena, 1 << 16);
    static const struct cbx_str second[] = { LITERAL("1"), LITERAL("mode") };
    struct cbx_where where[] = { { .arg = STRS(first), .outside = STRS(workspace) },
                                 { .arg = STRS(second), .matches = STRS(writing) } };
    struct cbx_call call = { .name = CBX_STR("open"), .where = where, .where_count = 2 };
    struct cbx_arg args[] = { constant("/etc/x"), constant("w") };
    args[1].position = 1;
    struct cbx_fact fact = { .kind = CBX_IS_CALL, .args = args, .arg_count = 2 };
    assert_true(cbx_call_holds(&policy, NULL, &call, &fact, &arena));
    args[1].value = CBX_STR("r");
    assert_false(cbx_call_holds(&policy, NULL, &call, &fact, &arena));
    args[1].value = CBX_STR("w");
    args[0].value = CBX_STR("/tmp/x");
    assert_false(cbx_call_holds(&policy, NULL, &call, &fact, &arena));
}

static void paths_are_made_absolute(void **state)
{
    (void)state;
    static const char *const paths[][2] = {
        { "a", "/workspace/a" },
        { "./a//b/.", "/workspace/a/b" },
        { "", "/workspace" },
        { ".", "/workspace" },
        { "..", "/" },
        { "../../..", "/" },
        { "../etc/x", "/etc/x" },
        { "/", "/" },
        { "/a/../b", "/b" },
        { "/a/b/../../../c", "/c" },
        { "//etc//x", "/etc/x" },
        { "/tmp/../etc/x", "/etc/x" },
        { "/tmp/...", "/tmp/..." },
        { "a/..", "/workspace" },
        { "~/.ssh", "/workspace/.ssh" }, /* the home of programs is the workspace */
        { "~other/x", "/~other/x" },
    };
    CBX_AUTO_DONE(arena) arena;
    cbx_arena_init(&arena, 1 << 20);
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        struct cbx_str out = cbx_path_resolve(&arena, cbx_str_of(paths[i][0]));
        if (!cbx_str_is(out, paths[i][1])) {
            fail_msg("'%s' is '%.*s', not '%s'", paths[i][0], (int)out.len, out.p, paths[i][1]);
        }
    }
}

static void paths_outside_are_found(void **state)
{
    (void)state;
    struct cbx_where where = { .arg = STRS(first), .outside = STRS(workspace) };
    static const char *const outside[] = {
        "/etc/x",     "../etc/x", "/tmp/../etc/x", "../../usr/lib/x", "/workspace2/x",
        "~/../etc/x", "/",        "//etc/x",       "a/../../etc/x"
    };
    static const char *const inside[] = {
        "x",        "./x",       "/tmp/x",         "/tmp",
        "a/../b",   "",          "/workspace/a/b", "../workspace/x",
        "/tmp/a/b", "../data/x", "~/.bashrc",      "~"
    };
    for (size_t i = 0; i < sizeof(outside) / sizeof(outside[0]); i++) {
        struct cbx_arg arg = constant(outside[i]);
        if (!holds_for(&where, outside[i]) || !is_outside(&arg, 1)) {
            fail_msg("'%s' is outside", outside[i]);
        }
    }
    for (size_t i = 0; i < sizeof(inside) / sizeof(inside[0]); i++) {
        struct cbx_arg arg = constant(inside[i]);
        if (holds_for(&where, inside[i]) || is_outside(&arg, 1)) {
            fail_msg("'%s' is inside", inside[i]);
        }
    }
}

static void a_path_that_may_be_outside_is(void **state)
{
    (void)state;
    static const struct cbx_str texts[] = { LITERAL("a"), LITERAL("/tmp/b"), LITERAL("/usr/c") };
    struct cbx_where where = { .arg = STRS(first), .outside = STRS(workspace) };
    struct cbx_arg arg = { .texts = texts, .text_count = 3 };
    assert_true(holds(&where, &arg, 1, false));
    assert_true(is_outside(&arg, 1));
    arg.text_count = 2;
    assert_false(holds(&where, &arg, 1, false));
    assert_false(is_outside(&arg, 1));
}

static void a_path_that_is_no_constant_is_unknown(void **state)
{
    (void)state;
    struct cbx_where where = { .arg = STRS(first), .outside = STRS(workspace) };
    struct cbx_arg name = { .known = true, .value = CBX_STR("os.devnull") };
    assert_false(holds(&where, &name, 1, false));
    assert_false(is_outside(&name, 1));
    where.unknown_holds = true;
    assert_true(holds(&where, &name, 1, false));
}

static void any_argument_may_be_the_path_outside(void **state)
{
    (void)state;
    struct cbx_arg args[] = { constant("a"), { .known = false }, constant("/usr/x") };
    assert_true(is_outside(args, 3));
    assert_false(is_outside(args, 2));
    assert_false(is_outside(NULL, 0));
}

static void a_path_that_begins_outside_is_outside(void **state)
{
    (void)state;
    static const struct {
        struct cbx_str partial;
        bool outside;
    } cases[] = {
        { LITERAL("/etc/*"), true },    { LITERAL("/home/*/x"), true },
        { LITERAL("~/*"), false },      { LITERAL("~other/*"), true },
        { LITERAL("/tmp/*"), false },   { LITERAL("/t*"), false },
        { LITERAL("/*"), false },       { LITERAL("*/etc/x"), false },
        { LITERAL("/work*/x"), false }, { LITERAL("/tmp/../etc/*"), true },
    };
    struct cbx_where where = { .arg = STRS(first), .outside = STRS(workspace) };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cbx_arg arg = { .partials = &cases[i].partial, .partial_count = 1 };
        if (holds(&where, &arg, 1, false) != cases[i].outside ||
            is_outside(&arg, 1) != cases[i].outside) {
            fail_msg("%s", cases[i].partial.p);
        }
    }
}

static void a_folder_above_the_workspace_is_not_inside_the_root(void **state)
{
    (void)state;
    static const struct cbx_str root[] = { LITERAL("/"), LITERAL("/etc") };
    struct cbx_where where = { .arg = STRS(first), .inside = STRS(root) };
    assert_true(holds_for(&where, "/"));
    assert_true(holds_for(&where, "../etc"));
    assert_false(holds_for(&where, ".."));
}

static void inside_holds_for_constants_below_the_folder(void **state)
{
    (void)state;
    struct cbx_where where = { .arg = STRS(first), .inside = STRS(workspace) };
    assert_true(holds_for(&where, "a/b"));
    assert_true(holds_for(&where, "/tmp/x"));
    assert_false(holds_for(&where, "/tmp/../etc"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_in_folders_of_the_sandbox_are_not_outside),
        cmocka_unit_test(a_glob_of_matches_holds),
        cmocka_unit_test(names_of_variables_that_the_policy_passes_are_distinguished),
        cmocka_unit_test(an_argument_is_found_by_position_or_keyword),
        cmocka_unit_test(an_argument_that_is_not_given),
        cmocka_unit_test(what_may_be_among_a_spread_is_unknown),
        cmocka_unit_test(one_of_several_constants_is_enough),
        cmocka_unit_test(constants_and_names_are_distinguished),
        cmocka_unit_test(a_callable_passed_on_matches_only_calls_without_conditions),
        cmocka_unit_test(every_condition_must_hold),
        cmocka_unit_test(paths_are_made_absolute),
        cmocka_unit_test(paths_outside_are_found),
        cmocka_unit_test(a_path_that_may_be_outside_is),
        cmocka_unit_test(a_path_that_is_no_constant_is_unknown),
        cmocka_unit_test(any_argument_may_be_the_path_outside),
        cmocka_unit_test(a_path_that_begins_outside_is_outside),
        cmocka_unit_test(a_folder_above_the_workspace_is_not_inside_the_root),
        cmocka_unit_test(inside_holds_for_constants_below_the_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
