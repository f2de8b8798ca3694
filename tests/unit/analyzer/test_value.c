/* SPDX-License-Identifier: MIT
 * Folding of constants: what it says a text is, the interpreter must say too; what it cannot say
 * for certain is unknown, and then the default policy denies. Most lines spell 'system' or 'eval';
 * some only show a computation that cannot be followed. */
#include "analyzer/analyze.h"
#include "analyzer/value.h"
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

static void lets_ordinary_texts_be(void **state)
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

static void joins_alternatives_up_to_the_cap_and_then_anything(void **state)
{
    (void)state;
    CBX_AUTO_DONE(arena) arena;
    cbx_arena_init(&arena, 1 << 20);
    const struct cbx_values *all = cbx_values_text(&arena, CBX_STR("0"));
    struct cbx_str text;
    assert_true(cbx_values_is_text(all, &text));
    for (int i = 1; i < CBX_VALUES_MAX + 4; i++) {
        all = cbx_values_join(&arena, all,
                              cbx_values_text(&arena, cbx_arena_printf(&arena, "%d", i)));
    }
    assert_true(all->count <= CBX_VALUES_MAX);
    assert_true(cbx_values_has_unknown(all));
    assert_false(cbx_values_is_text(all, &text));
    all = cbx_values_join(&arena, cbx_values_text(&arena, CBX_STR("a")),
                          cbx_values_text(&arena, CBX_STR("a")));
    assert_int_equal(all->count, 1);
}

static void keeps_names_before_constants_and_says_when_names_were_too_many(void **state)
{
    (void)state;
    CBX_AUTO_DONE(arena) arena;
    cbx_arena_init(&arena, 1 << 20);
    const struct cbx_values *all = &cbx_values_nothing;
    for (int i = 0; i < CBX_VALUES_MAX + 4; i++) {
        all = cbx_values_join(&arena, all,
                              cbx_values_text(&arena, cbx_arena_printf(&arena, "%d", i)));
    }
    all = cbx_values_join(&arena, all, cbx_values_name(&arena, CBX_STR("os")));
    bool found = false;
    for (uint32_t i = 0; i < all->count; i++) {
        found |= all->items[i]->kind == CBX_V_NAME;
    }
    assert_true(found);
    assert_false(cbx_values_has_more(all));
    for (int i = 0; i < CBX_VALUES_MAX + 4; i++) {
        all = cbx_values_join(&arena, all,
                              cbx_values_name(&arena, cbx_arena_printf(&arena, "m%d", i)));
    }
    assert_true(cbx_values_has_more(all));
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
        cmocka_unit_test(lets_ordinary_texts_be),
        cmocka_unit_test(joins_alternatives_up_to_the_cap_and_then_anything),
        cmocka_unit_test(keeps_names_before_constants_and_says_when_names_were_too_many),
        cmocka_unit_test(loosens_what_may_have_been_changed),
        cmocka_unit_test(caps_what_it_folds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
