/* SPDX-License-Identifier: MIT
 * Constant folding: a folded text is the text that the interpreter computes; other texts are
 * unknown, and then the default policy denies. Most lines spell 'system' or 'eval'; some are
 * computations that cannot be folded. */
#include "analyzer/analyze.h"
#include "analyzer/facts/value.h"
#include "tests/unit/unit.h"

static enum cbx_verdict judge(const struct cbx_policy *policy, const char *language,
                              const char *source)
{
    CBX_AUTO_DONE(arena) arena;
    cbx_arena_init(&arena, CBX_ANALYSIS_ARENA_MAX);
    struct cbx_analysis request = { .source = cbx_str_of(source),
                                    .language = cbx_str_of(language) };
    struct cbx_decision decision;
    struct cbx_err err;
    assert_int_equal(cbx_analyze(policy, &request, &arena, &decision, &err), 0);
    return decision.verdict;
}

static void denies_all(const char *language, const char *before, const char *const *names,
                       size_t count, const char *after)
{
    CBX_AUTO(policy) policy = NULL;
    struct cbx_err err;
    assert_int_equal(cbx_policy_load("default", &policy, &err), 0);
    size_t missed = 0;
    for (size_t i = 0; i < count; i++) {
        char source[512];
        snprintf(source, sizeof(source), "%s%s%s", before, names[i], after);
        if (judge(policy, language, source) != CBX_DENY) {
            print_error("not denied: %s\n", source);
            missed++;
        }
    }
    assert_int_equal(missed, 0);
}

static void follows_what_python_makes_of_a_text(void **state)
{
    (void)state;
    static const char *const names[] = {
        "'system'",
        "'sys' 'tem'",
        "'sys' + 'tem'",
        "'metsys'[::-1]",
        "''.join(['sys', 'tem'])",
        "'%stem' % 'sys'",
        "'{}tem'.format('sys')",
        "f\"{'sys'}tem\"",
        "'SYSTEM'.lower()",
        "' system '.strip()",
        "'sXstem'.replace('X', 'y')",
        "chr(115) + 'ystem'",
        "'\\x73ystem'",
        "'\\163ystem'",
        "'\\N{LATIN SMALL LETTER S}ystem'",
        "'\\vsystem\\x1c'.strip()",
        "'\\u2003system'.strip()",
        "'xsystemx'.strip('x')",
        "'systemm'.replace('m', '', 1)",
        "'system\\u00e9'[:-1]",
        "'\\u00e9system'[1:]",
        "('\\u00e9' + 'system')[1:7]",
        "'\\u017fystem'.upper().lower()",
        "'\\ufb06'.upper().lower()[:1] + 'ystem'",
        "b's\\0y\\0s\\0t\\0e\\0m\\0'.decode('utf-16-le')",
        "b'+AHM-ystem'.decode('utf-7')",
        "b'\\xa2\\xa8\\xa2\\xa3\\x85\\x94'.decode('cp037')",
        "b'sys\\xfftem'.decode('ascii', 'ignore')",
        "'syst\\u00e9em'.encode('ascii', 'ignore').decode()",
        "'syst\\u00e9em'.encode(errors='ignore', encoding='ascii').decode()",
        "b'\\\\163ystem'.decode('unicode_escape')",
        "b'+AHM-ystem'.decode(e)",
        "str(b's\\0y\\0s\\0t\\0e\\0m\\0', 'utf-16-le')",
        "{'a': 'getcwd', **{'a': 'system'}}['a']",
        "'' or 'system'",
        "'getcwd' and 'system'",
        "'getcwd' if e else 'system'",
        "'systemXX'[:6]",
        "'{:.6}'.format('systemXX')",
        "f\"{'systemXX':.6}\"",
        "'%.6s' % 'systemXX'",
        "'system' * 1",
        "'sys{0}'.format('tem')",
        "__import__('base64').b64decode('c3lzdGVt').decode()",
        "__import__('base64').b64decode('c3lz-dGVt').decode()",
        "__import__('base64').b64decode('c3lz!dGVt').decode()",
        "bytes.fromhex('73 79 73 74 65 6d').decode()",
        "'rlfgrz'.translate(t)",
        "'a.system'.split('.')[1]",
        "'system x'.partition(' ')[0]",
    };
    denies_all("python", "import os\ne = input()\nt = {}\ngetattr(os, ", names,
               sizeof(names) / sizeof(names[0]), ")('id')\n");
}

static void follows_what_javascript_makes_of_a_text(void **state)
{
    (void)state;
    static const char *const names[] = {
        "'eval'",
        "'ev' + 'al'",
        "`ev${'al'}`",
        "'\\u0065val'",
        "'\\x65val'",
        "'\\u{65}val'",
        "'ev\\al'",
        "'e\\\nval'",
        "['ev', 'al'].join('')",
        "'lave'.split('').reverse().join('')",
        "'EVAL'.toLowerCase()",
        "' eval '.trim()",
        "'\\uff45val'.normalize('NFKC')",
        "'e'.concat('v', 'al')",
        "'e'.concat('val')",
        "'eaval'.replace('a', '')",
        "'eXval'.replaceAll('X', '')",
        "'eXval'.replace(/X/, '')",
        "'evXl'.replace('X', 'a')",
        "'\\u00e9eval'.slice(1)",
        "'xeval'.substring(5, 1)",
        "'evalx'.substring(-1, 4)",
        "'xeval'.substr(-4)",
        "'xeval'.substr(1, 4)",
        "'evalx'.slice(0, -1)",
        "'\\u00e9e'.charAt(1) + 'val'",
        "String.fromCharCode(101, 118, 97, 108)",
        "String.fromCharCode(65637, 65654, 65633, 65644)",
        "String.fromCharCode(x, 118, 97, 108)",
        "Buffer.from([101, 118, 97, 108]).toString()",
        "Buffer.from([0x165, 0x176, 0x161, 0x16c]).toString()",
        "Buffer.from('ZXZhbA==', 'base64').toString()",
        "Buffer.from('ZXZhbA==', 'BASE64').toString()",
        "Buffer.from('6576616c', 'hex').toString()",
        "Buffer.from('6576616czz6f', 'hex').toString()",
        "Buffer.from('\\u7665\\u6c61', 'utf16le').toString()",
        "Buffer.from('\\u0165val', 'latin1').toString()",
        "Buffer.from('xxeval').toString('utf8', 2)",
        "Buffer.from('e\\0v\\0a\\0l\\0').toString('utf16le')",
        "atob('ZXZhbA==')",
        "'e' + 'x'.replace('x', '$`v') + 'al'",
        "'evalx'.split('x')[0]",
        "'eval'.toString()",
        "String.fromCharCode(1.01e2) + 'val'",
        "'' || 'eval'",
        "'x' && 'eval'",
        "'eval'.at(0) + 'val'",
        "'e'.padEnd(2, 'v') + 'al'",
        "'evaX'.replace('X', () => 'l')",
        "unescape('%65val')",
        "decodeURIComponent('%65val')",
    };
    denies_all("javascript", "let x = 101;\nglobalThis[", names, sizeof(names) / sizeof(names[0]),
               "]('1');\n");
}

static void leaves_ordinary_texts_unchanged(void **state)
{
    (void)state;
    CBX_AUTO(policy) policy = NULL;
    struct cbx_err err;
    assert_int_equal(cbx_policy_load("default", &policy, &err), 0);
    static const struct {
        const char *language, *source;
    } cases[] = {
        { "python", "import os\nprint(getattr(os, 'get' + 'cwd')(), ' x '.strip(), 'a'.upper(), "
                    "'x'.encode('utf-8').decode('utf8'))" },
        { "python", "print('\\N{BULLET} \\u00e9'[1:], b'\\xff'.decode('latin-1'), "
                    "'abc'.replace('a', 'b', 1), '\\u00e9'.upper())" },
        { "javascript",
          "console['l' + 'og'](' x '.trim(), 'a'.concat('b', 'c'), 'caf\\u00e9'.slice(1), "
          "'x'.replace('x', '$&'), Buffer.from('x', 'utf8').toString('hex'))" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (judge(policy, cases[i].language, cases[i].source) != CBX_ALLOW) {
            fail_msg("denied: %s", cases[i].source);
        }
    }
}

static bool holds(const struct cbx_values *values, enum cbx_value_kind kind, const char *text)
{
    for (uint32_t i = 0; i < values->count; i++) {
        if (values->items[i]->kind == kind && cbx_str_is(values->items[i]->text, text)) {
            return true;
        }
    }
    return false;
}

/* "0", "1", ... joined: `kind` is text, name or bare. */
static const struct cbx_values *
join_many(struct cbx_arena *arena, const struct cbx_values *all, int count,
          const struct cbx_values *(*make)(struct cbx_arena *, struct cbx_str))
{
    for (int i = 0; i < count; i++) {
        all = cbx_values_join(arena, all, make(arena, cbx_arena_number(arena, i)));
    }
    return all;
}

static void joins_alternatives_to_the_cap_and_then_anything(void **state)
{
    (void)state;
    CBX_AUTO_DONE(arena) arena;
    cbx_arena_init(&arena, 1 << 20);
    struct cbx_str text;
    const struct cbx_values *all = cbx_values_text(&arena, CBX_STR("x"));
    assert_true(cbx_values_is_text(all, &text));
    all = join_many(&arena, all, CBX_VALUES_MAX - 1, cbx_values_text);
    assert_int_equal(all->count, CBX_VALUES_MAX);
    assert_false(cbx_values_has_unknown(all));
    assert_true(cbx_values_all_text(all));
    assert_false(cbx_values_is_text(all, &text));
    all = cbx_values_join(&arena, all, cbx_values_text(&arena, CBX_STR("y")));
    assert_int_equal(all->count, CBX_VALUES_MAX);
    assert_true(cbx_values_has_unknown(all));
    assert_false(cbx_values_all_text(all));
    assert_false(cbx_values_has_more(all)); /* only constants were lost */
}

static void joins_equal_things_once(void **state)
{
    (void)state;
    CBX_AUTO_DONE(arena) arena;
    cbx_arena_init(&arena, 1 << 20);
    const struct cbx_values *all = cbx_values_join(&arena, cbx_values_text(&arena, CBX_STR("a")),
                                                   cbx_values_text(&arena, CBX_STR("a")));
    assert_int_equal(all->count, 1);
    all = cbx_values_join(&arena, all, cbx_values_bytes(&arena, CBX_STR("a")));
    assert_int_equal(all->count, 2); /* bytes are something else */
    all = cbx_values_join(&arena, all, cbx_values_name(&arena, CBX_STR("a")));
    assert_int_equal(all->count, 3);
    assert_ptr_equal(cbx_values_join(&arena, all, all), all);
    assert_ptr_equal(cbx_values_join(&arena, all, &cbx_values_nothing), all);
    assert_ptr_equal(cbx_values_join(&arena, &cbx_values_nothing, all), all);
    assert_int_equal(cbx_values_join(&arena, &cbx_values_unknown, &cbx_values_unknown)->count, 1);
}

static void a_set_that_was_made_never_changes(void **state)
{
    (void)state;
    CBX_AUTO_DONE(arena) arena;
    cbx_arena_init(&arena, 1 << 20);
    const struct cbx_values *a = cbx_values_name(&arena, CBX_STR("a")),
                            *b = cbx_values_name(&arena, CBX_STR("b"));
    const struct cbx_values *both = cbx_values_join(&arena, a, b);
    assert_int_equal(a->count, 1);
    assert_int_equal(both->count, 2);
    assert_ptr_equal(both->items[0], a->items[0]); /* the things themselves are shared */
    assert_ptr_equal(both->items[1], b->items[0]);
    join_many(&arena, both, 100, cbx_values_name);
    assert_int_equal(both->count, 2);
}

static void a_name_is_kept_among_many_constants(void **state)
{
    (void)state;
    CBX_AUTO_DONE(arena) arena;
    cbx_arena_init(&arena, 1 << 23);
    const struct cbx_values *os = cbx_values_name(&arena, CBX_STR("os"));
    const struct cbx_values *before = join_many(&arena, os, 1000, cbx_values_text);
    const struct cbx_values *after =
        cbx_values_join(&arena, join_many(&arena, &cbx_values_nothing, 1000, cbx_values_text), os);
    assert_true(holds(before, CBX_V_NAME, "os") && holds(after, CBX_V_NAME, "os"));
    assert_true(cbx_values_has_unknown(before) && cbx_values_has_unknown(after));
    before = join_many(&arena, os, 1000, cbx_values_bare);
    after =
        cbx_values_join(&arena, join_many(&arena, &cbx_values_nothing, 1000, cbx_values_bare), os);
    assert_true(holds(before, CBX_V_NAME, "os") && holds(after, CBX_V_NAME, "os"));
    assert_false(cbx_values_has_more(before) || cbx_values_has_more(after));
}

static void dropped_names_are_reported(void **state)
{
    (void)state;
    CBX_AUTO_DONE(arena) arena;
    cbx_arena_init(&arena, 1 << 22);
    const struct cbx_values *all =
        join_many(&arena, &cbx_values_nothing, CBX_VALUES_MAX, cbx_values_name);
    assert_false(cbx_values_has_unknown(all));
    all = join_many(&arena, all, 1000, cbx_values_name);
    assert_true(cbx_values_has_more(all));
    assert_true(cbx_values_has_unknown(all));
    all = cbx_values_join(&arena, all, &cbx_values_unknown);
    assert_true(cbx_values_has_more(all)); /* a plain "anything" does not hide it */
    all = cbx_values_join(&arena, all, cbx_values_text(&arena, CBX_STR("x")));
    assert_true(cbx_values_has_more(all));
    all = cbx_values_join(&arena, cbx_values_text(&arena, CBX_STR("x")), all);
    assert_true(cbx_values_has_more(all));
}

static void an_empty_set_reads_as_unknown(void **state)
{
    (void)state;
    CBX_AUTO_DONE(arena) arena;
    cbx_arena_init(&arena, 1 << 20);
    struct cbx_str text;
    int64_t number;
    const struct cbx_values *nothing = &cbx_values_nothing;
    assert_int_equal(nothing->count, 0);
    assert_int_equal(nothing->items[0]->kind,
                     CBX_V_UNKNOWN); /* for a reader that ignores the count */
    assert_true(cbx_values_has_unknown(nothing));
    assert_false(cbx_values_all_text(nothing));
    assert_false(cbx_values_is_text(nothing, &text));
    assert_false(cbx_values_is_number(nothing, &number));
    assert_ptr_equal(cbx_values_some(nothing), &cbx_values_unknown);
    assert_true(cbx_values_has_unknown(cbx_values_member(&arena, nothing, CBX_STR("0"))));
    assert_true(cbx_values_has_unknown(cbx_values_members(&arena, nothing)));
    uint32_t count = 9;
    assert_null(cbx_values_texts(&arena, nothing, &count));
    assert_int_equal(count, 0);
}

static void tells_constants_and_names_apart(void **state)
{
    (void)state;
    CBX_AUTO_DONE(arena) arena;
    cbx_arena_init(&arena, 1 << 20);
    struct cbx_str text;
    int64_t number;
    const struct cbx_values *bytes = cbx_values_bytes(&arena, CBX_STR("os"));
    assert_int_equal(bytes->items[0]->number, CBX_TEXT_BYTES);
    assert_true(cbx_values_is_text(bytes, &text) && cbx_str_is(text, "os"));
    assert_true(cbx_values_is_number(cbx_values_number(&arena, CBX_STR("0x10"), 16), &number));
    assert_int_equal(number, 16);
    assert_false(cbx_values_is_number(cbx_values_constant(&arena, CBX_STR("None")), &number));
    assert_false(cbx_values_is_text(cbx_values_name(&arena, CBX_STR("os")), &text));
    assert_int_equal(cbx_values_bare(&arena, CBX_STR("eval"))->items[0]->number, CBX_NAME_BARE);
    struct cbx_str none = { 0 };
    assert_ptr_equal(cbx_values_text(&arena, none), &cbx_values_unknown);
    assert_ptr_equal(cbx_values_bytes(&arena, none), &cbx_values_unknown);
    assert_ptr_equal(cbx_values_list(&arena, NULL, 3), &cbx_values_unknown);
    uint32_t count;
    const struct cbx_values *mixed = cbx_values_join(
        &arena, cbx_values_join(&arena, bytes, cbx_values_name(&arena, CBX_STR("sys"))),
        cbx_values_text(&arena, CBX_STR("re")));
    const struct cbx_str *texts = cbx_values_texts(&arena, mixed, &count);
    assert_int_equal(count, 2);
    assert_true(cbx_str_is(texts[0], "os") && cbx_str_is(texts[1], "re"));
}

static void reads_members_of_lists(void **state)
{
    (void)state;
    CBX_AUTO_DONE(arena) arena;
    cbx_arena_init(&arena, 1 << 20);
    const struct cbx_values *members[] = { cbx_values_name(&arena, CBX_STR("os")),
                                           cbx_values_text(&arena, CBX_STR("a")) };
    const struct cbx_values *list = cbx_values_list(&arena, members, 2);
    assert_non_null(cbx_values_container(list, CBX_V_LIST));
    assert_null(cbx_values_container(list, CBX_V_MAP));
    assert_true(holds(cbx_values_member(&arena, list, CBX_STR("0")), CBX_V_NAME, "os"));
    assert_false(holds(cbx_values_member(&arena, list, CBX_STR("1")), CBX_V_NAME, "os"));
    const struct cbx_values *any = cbx_values_members(&arena, list);
    assert_true(holds(any, CBX_V_NAME, "os") && holds(any, CBX_V_TEXT, "a"));
    const struct cbx_values *each = cbx_values_each(&arena, members[0]);
    assert_null(cbx_values_container(each, CBX_V_LIST)); /* their number is unknown */
    assert_true(holds(cbx_values_member(&arena, each, CBX_STR("17")), CBX_V_NAME, "os"));
    assert_true(holds(cbx_values_members(&arena, each), CBX_V_NAME, "os"));
    assert_true(
        cbx_values_has_unknown(cbx_values_members(&arena, cbx_values_name(&arena, CBX_STR("x")))));
}

static void reads_members_of_mappings(void **state)
{
    (void)state;
    CBX_AUTO_DONE(arena) arena;
    cbx_arena_init(&arena, 1 << 20);
    const struct cbx_values *members[] = { cbx_values_name(&arena, CBX_STR("sys")),
                                           cbx_values_name(&arena, CBX_STR("json")),
                                           cbx_values_name(&arena, CBX_STR("os")) };
    struct cbx_str keys[] = { CBX_STR("a"), CBX_STR("b"), CBX_STR("a") };
    struct cbx_value map = { .kind = CBX_V_MAP, .count = 3, .members = members, .keys = keys };
    const struct cbx_values *known = cbx_values_one(&arena, &map);
    const struct cbx_values *a = cbx_values_member(&arena, known, CBX_STR("a"));
    assert_true(holds(a, CBX_V_NAME, "os")); /* the last one counts */
    assert_false(holds(a, CBX_V_NAME, "json") || cbx_values_has_unknown(a));
    map.number = 1; /* there may be more */
    const struct cbx_values *open = cbx_values_one(&arena, &map);
    a = cbx_values_member(&arena, open, CBX_STR("a"));
    assert_true(holds(a, CBX_V_NAME, "os") && cbx_values_has_unknown(a));
    assert_true(
        cbx_values_has_unknown(cbx_values_member(&arena, open, CBX_STR("nothing like this"))));
    const struct cbx_values *any = cbx_values_members(&arena, known);
    assert_true(holds(any, CBX_V_NAME, "os") && holds(any, CBX_V_NAME, "json"));
}

static void loosens_what_may_have_been_changed(void **state)
{
    (void)state;
    CBX_AUTO_DONE(arena) arena;
    cbx_arena_init(&arena, 1 << 20);
    const struct cbx_values *members[] = { cbx_values_text(&arena, CBX_STR("a")) };
    const struct cbx_values *list = cbx_values_list(&arena, members, 1),
                            *bytes = cbx_values_bytes(&arena, CBX_STR("b"));
    assert_non_null(cbx_values_container(list, CBX_V_LIST));
    assert_null(cbx_values_container(cbx_values_loose(&arena, list), CBX_V_LIST));
    assert_true(cbx_values_has_unknown(cbx_values_loose(&arena, bytes)));
    struct cbx_str text;
    assert_true(cbx_values_is_text(cbx_values_loose(&arena, members[0]), &text));
}

static void an_exhausted_arena_makes_anything(void **state)
{
    (void)state;
    CBX_AUTO_DONE(arena) arena;
    cbx_arena_init(&arena, 1 << 12);
    const struct cbx_values *last = &cbx_values_nothing;
    for (int i = 0; i < 10000; i++) {
        last = cbx_values_name(&arena, CBX_STR("os"));
    }
    assert_ptr_equal(last, &cbx_values_unknown);
    assert_ptr_equal(cbx_values_each(&arena, last), &cbx_values_unknown);
}

static void caps_what_it_folds(void **state)
{
    (void)state;
    CBX_AUTO_DONE(arena) arena;
    cbx_arena_init(&arena, 4 << 20);
    static char big[CBX_FOLD_MAX_BYTES];
    memset(big, 'a', sizeof(big));
    struct cbx_str text = { big, sizeof(big) }, none = { 0 };
    assert_int_equal(cbx_fold_concat(&arena, text, CBX_STR("")).len, sizeof(big));
    assert_null(cbx_fold_concat(&arena, text, CBX_STR("b")).p);
    assert_null(cbx_fold_concat(&arena, CBX_STR("a"), none).p); /* the unknown stays unknown */
    assert_null(cbx_fold_concat(&arena, none, CBX_STR("a")).p);
    assert_null(cbx_fold_codepoint(&arena, 0xD800).p);
    assert_null(cbx_fold_codepoint(&arena, -1).p);
    assert_null(cbx_fold_codepoint(&arena, 0x110000).p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(follows_what_python_makes_of_a_text),
        cmocka_unit_test(follows_what_javascript_makes_of_a_text),
        cmocka_unit_test(leaves_ordinary_texts_unchanged),
        cmocka_unit_test(joins_alternatives_to_the_cap_and_then_anything),
        cmocka_unit_test(joins_equal_things_once),
        cmocka_unit_test(a_set_that_was_made_never_changes),
        cmocka_unit_test(a_name_is_kept_among_many_constants),
        cmocka_unit_test(dropped_names_are_reported),
        cmocka_unit_test(an_empty_set_reads_as_unknown),
        cmocka_unit_test(tells_constants_and_names_apart),
        cmocka_unit_test(reads_members_of_lists),
        cmocka_unit_test(reads_members_of_mappings),
        cmocka_unit_test(loosens_what_may_have_been_changed),
        cmocka_unit_test(an_exhausted_arena_makes_anything),
        cmocka_unit_test(caps_what_it_folds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
