/* SPDX-License-Identifier: MIT
 * Fields of notebook lines: the fields of IPython's DollarFormatter, and the quoting of values for
 * the shell. */
#include "analyzer/lang/python/notebook/expansion.h"
#include "tests/unit/unit.h"

/* The line with each field as <code!conversion>. */
static void split(const char *line, const char *expected)
{
    CBX_AUTO_DONE(arena) arena;
    cbx_arena_init(&arena, 1 << 20);
    const struct cbx_expansion *x = cbx_expansion_split(cbx_str_of(line), true, &arena);
    char text[400] = "";
    size_t n = 0;
    for (size_t i = 0; x != NULL && i < x->count; i++) {
        const struct cbx_placeholder *f = &x->fields[i];
        n += (size_t)snprintf(text + n, sizeof(text) - n, "%.*s<%.*s%s%.1s>",
                              CBX_STR_ARG(f->before), CBX_STR_ARG(f->code),
                              f->conversion ? "!" : "", f->conversion ? &f->conversion : "");
    }
    if (x != NULL) {
        snprintf(text + n, sizeof(text) - n, "%.*s", CBX_STR_ARG(x->after));
    }
    assert_string_equal(x != NULL ? text : "(as it is)", expected);
}

static void finds_the_fields_of_a_line(void **state)
{
    (void)state;
    split("ls {a}", "ls <a>");
    split("ls $a", "ls <a>");
    split("{a}{b}c", "<a><b>c");
    split("{a!r} {b!s} {c!a}", "<a!r> <b!s> <c!a>");
    split("{a[0]} {a[1:2]} {a.b} {f(a)} {a + 1}", "<a[0]> <a[1:2]> <a.b> <f(a)> <a + 1>");
    split("{d['k:}']}", "<d['k:}']>");
    split("{(lambda: 5)()}", "<(lambda: 5)()>");
    split("{a:}", "<a>");
    split("{a, b}", "<a, b>");
    split("$a.b $a", "<a.b> <a>");
    split("$a/x", "<a>/x");
    split("\\{a}", "\\<a>");
    split("${a}", "$<a>");
    split("$1", "<1>");
}

static void resolves_escapes(void **state)
{
    (void)state;
    split("awk '{{print}}'", "awk '{print}'");
    split("echo $$a", "echo $a");
    split("{{a}} {b}", "{a} <b>");
    split("$$a $b", "$a <b>");
    split("{{{a}}}", "{<a>}");
}

static void leaves_what_the_formatter_cannot_read(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "ls",
        "echo $",
        "echo $$",
        "find {} \\;",
        "echo }",
        "echo {",
        "{a",
        "{a!x}",
        "{a!r:5}",
        "{a:>10}",
        "awk '{print $1}'",
        "{a b}",
        "{a)(b}",
        "{x for x in y}",
        "{a:=1}",
        "{*a}",
        "{await a}",
        "$a.",
        "{a} {b c}",
        "{a} }",
        "{a{b}}",
        "{a!=b}",
        "{a #}",
        "{a\nb}",
    };
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        split(lines[i], "(as it is)");
    }
}

static void a_dollar_inside_single_quotes_is_text(void **state)
{
    (void)state;
    split("echo '$a' $b", "echo '$a' <b>");
    split("awk '{{print $a}}'",
          "awk '{print <a>}'"); /* the escape ends the text that is searched */
    split("echo \"$a\"", "echo \"<a>\"");
}

/* The line that the analysis of the shell reads, with no value known. */
static void shell(const char *line, const char *expected)
{
    CBX_AUTO_DONE(arena) arena;
    cbx_arena_init(&arena, 1 << 20);
    const struct cbx_expansion *x = cbx_expansion_split(cbx_str_of(line), true, &arena);
    assert_non_null(x);
    struct cbx_str refused = { 0 }, text = cbx_expansion_shell(x, &arena, &refused);
    if (expected == NULL) {
        assert_null(text.p);
        assert_true(refused.len > 0);
    } else {
        assert_true(cbx_str_is(text, expected));
    }
}

static void an_unknown_value_is_one_unknown_word(void **state)
{
    (void)state;
    shell("ls {a}", "ls \"$!\"");
    shell("ls {a}/x", "ls \"$!\"/x");
    shell("ls \"{a}/x\"", "ls \"$!/x\"");
    shell("ls 'a{b}c'", "ls 'a'\"$!\"'c'");
    shell("echo \"it's {a}\" {b}", "echo \"it's $!\" \"$!\"");
    shell("echo \\\" {a}", "echo \\\" \"$!\"");
    shell("echo \\\\{a}", "echo \\\\\"$!\"");
    shell("echo '\\' {a}", "echo '\\' \"$!\"");
    shell("echo a#b {a}", "echo a#b \"$!\"");
}

static void refuses_a_value_where_no_quoting_is_certain(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "echo `ls {a}`",      "echo $(ls {a})",
        "echo \"$(ls {a})\"", "echo \"`ls {a}`\"",
        "echo ${{x:-{a}}}",   "echo $((1 + {a}))",
        "(ls {a})",           "echo \\{a}",
        "echo ${a}",          "echo \"\\{a}\"",
        "cat <<E\n{a}\nE",    "cat <<< {a}",
        "echo $'{a}'",        "ls # {a}",
        "echo $[{a}]",        "case x in (x) ls {a};; esac",
    };
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        shell(lines[i], NULL);
    }
}

static void a_known_value_is_part_of_the_line(void **state)
{
    (void)state;
    CBX_AUTO_DONE(arena) arena;
    cbx_arena_init(&arena, 1 << 20);
    struct cbx_expansion *x = cbx_expansion_split(CBX_STR("echo {q}{v}"), true, &arena);
    assert_non_null(x);
    x->fields[0].known = true;
    x->fields[0].value = CBX_STR("'");
    enum cbx_quoting *quoting = cbx_expansion_quoting(x, &arena);
    assert_int_equal(quoting[0], CBX_QUOTING_TEXT);
    assert_int_equal(quoting[1], CBX_QUOTING_SINGLE); /* the value opened a quote */
    assert_null(cbx_expansion_text(x, &arena).p);
    x->fields[1].known = true;
    x->fields[1].value = CBX_STR("x");
    assert_true(cbx_str_is(cbx_expansion_text(x, &arena), "echo 'x"));
}

static void too_many_fields_are_text(void **state)
{
    (void)state;
    char line[3 * (CBX_FIELDS_MAX + 1) + 1] = "";
    for (size_t i = 0; i <= CBX_FIELDS_MAX; i++) {
        memcpy(line + 3 * i, "{a}", 4);
    }
    split(line, "(as it is)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_fields_of_a_line),
        cmocka_unit_test(resolves_escapes),
        cmocka_unit_test(leaves_what_the_formatter_cannot_read),
        cmocka_unit_test(a_dollar_inside_single_quotes_is_text),
        cmocka_unit_test(an_unknown_value_is_one_unknown_word),
        cmocka_unit_test(refuses_a_value_where_no_quoting_is_certain),
        cmocka_unit_test(a_known_value_is_part_of_the_line),
        cmocka_unit_test(too_many_fields_are_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
