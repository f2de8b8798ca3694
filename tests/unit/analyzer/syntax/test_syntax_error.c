/* SPDX-License-Identifier: MIT
 * Syntax errors in the terms of their language: name, place and correction. */
#include "analyzer/analyze.h"
#include "analyzer/syntax/syntax_error.h"
#include "policies/base/arena.h"
#include "policies/base/buf.h"
#include "policies/base/time/clock.h"
#include "tests/unit/unit.h"

#include <stdlib.h>

struct expected {
    const char *language, *source;
    uint32_t line, column;
    const char *name, *hint; /* hint: a part of it */
};

static void judge(struct cbx_policy *policy, const char *language, struct cbx_str source,
                  bool no_hints, struct cbx_arena *arena, struct cbx_decision *out)
{
    struct cbx_analysis request = { .source = source,
                                    .language = cbx_str_of(language),
                                    .no_hints = no_hints };
    assert_int_equal(cbx_analyze(policy, &request, arena, out, NULL), 0);
}

static struct cbx_policy *load(const char *name)
{
    struct cbx_policy *policy = NULL;
    struct cbx_err err = { 0 };
    if (cbx_policy_load(name, &policy, &err) != 0) {
        fail_msg("%s", err.text);
    }
    return policy;
}

static bool contains(struct cbx_str text, const char *part)
{
    return text.len > 0 && memmem(text.p, text.len, part, strlen(part)) != NULL;
}

static void assert_explained(const struct expected *cases, size_t count)
{
    struct cbx_policy *policy = load("default");
    for (size_t i = 0; i < count; i++) {
        const struct expected *e = &cases[i];
        CBX_AUTO_DONE(arena) arena;
        cbx_arena_init(&arena, CBX_ANALYSIS_ARENA_MAX);
        struct cbx_decision decision;
        judge(policy, e->language, cbx_str_of(e->source), false, &arena, &decision);
        assert_int_equal(decision.verdict, CBX_DENY);
        assert_true(decision.finding_count > 0);
        const struct cbx_finding *f = &decision.findings[0];
        if (!cbx_str_is(f->symbol, e->name) || f->span.line != e->line ||
            f->span.column != e->column || !contains(f->hint, e->hint)) {
            fail_msg("%s: %u:%u %.*s: %.*s", e->source, f->span.line, f->span.column,
                     CBX_STR_ARG(f->symbol), CBX_STR_ARG(f->hint));
        }
    }
    cbx_policy_free(policy);
}
#define ASSERT_EXPLAINED(cases) assert_explained(cases, sizeof(cases) / sizeof((cases)[0]))

static void points_at_what_was_opened_and_is_not_closed(void **state)
{
    (void)state;
    static const struct expected cases[] = {
        { "python", "x = 1\nprint(\"a", 2, 7, "unclosed string", "add `\"` at the end of line 2" },
        { "python", "print(\"a)", 1, 7, "unclosed string", "add `\"` before the `)` at the end" },
        { "python", "s = '''a\nb\n", 1, 5, "unclosed string", "add `'''` at the end of line 2" },
        { "python", "f(g(1, 2)\nprint(3)", 1, 2, "unclosed parenthesis",
          "add `)` at the end of line 1" },
        { "python", "x = [\n    1,\n    2,\nfor y in x:\n    print(y)", 1, 5, "unclosed bracket",
          "add `]` at the end of line 3" },
        { "python", "d = f({\n    'a': 1\n\nprint(d)", 1, 7, "unclosed brace",
          "add `})` at the end of line 2" },
        { "javascript", "function f() {\n  g();\nconsole.log(1);", 1, 14, "unclosed brace",
          "add `}` at the end of line 2" },
        { "javascript", "const x = [1, 2;", 1, 11, "unclosed bracket", "add `]` before the `;`" },
        { "javascript", "const x = `a ${1 + 1} b", 1, 11, "unclosed string", "closing backquote" },
        { "javascript", "/* a\nf();", 1, 1, "unclosed comment", "`*/`" },
        { "shell", "echo \"a", 1, 6, "unclosed string", "add `\"` at the end of line 1" },
        { "shell", "if true; then\n  for i in 1; do\n    echo\n  done", 1, 1, "unclosed block",
          "add the line `fi` at the end" },
        { "shell", "while true; do echo", 1, 1, "unclosed block", "`done`" },
        { "shell", "cat <<EOF\nx", 1, 5, "unclosed here-document",
          "add the line `EOF` at the end" },
        { "c", "int main(void) {\n  return 0;", 1, 16, "unclosed brace", "add `}`" },
        { "ipython", "%%time\nprint(1", 2, 6, "unclosed parenthesis", "add `)`" },
    };
    ASSERT_EXPLAINED(cases);
}

static void names_brackets_that_close_nothing_or_another_one(void **state)
{
    (void)state;
    static const struct expected cases[] = {
        { "python", "print(1))", 1, 9, "unexpected closing bracket",
          "remove the last `)` of line 1" },
        { "python", "x = {'a': [1, 2}", 1, 16, "wrong closing bracket",
          "add `]` before the `}` of line 1" },
        { "javascript", "f(1));", 1, 5, "unexpected closing bracket", "remove the last `)`" },
    };
    ASSERT_EXPLAINED(cases);
}

static void names_statements_of_python_2_and_of_other_languages(void **state)
{
    (void)state;
    static const struct expected cases[] = {
        { "python", "print \"a\", 1", 1, 1, "Python 2 statement", "write `print(\"a\", 1)`" },
        { "python", "def f(x)\n    return x", 1, 1, "missing colon",
          "add `:` at the end of line 1" },
        { "python", "if a && b:\n    pass", 1, 5, "operator of another language", "write ` and `" },
        { "python", "if a:\n    pass\nelse if b:\n    pass", 3, 1, "operator of another language",
          "write `elif `" },
        { "python", "i = 0\ni++", 2, 1, "operator of another language", "write `i += 1`" },
        { "python", "x = 'it's'", 1, 5, "quote inside a string", "write `\"it's\"`" },
    };
    ASSERT_EXPLAINED(cases);
}

/* tests/indentation compares thousands of sources with CPython. */
static void names_wrong_indentation_as_cpython_does(void **state)
{
    (void)state;
    static const struct expected cases[] = {
        { "python", "x = 1\n  y = 2", 2, 3, "unexpected indent", "indent line 2 no more than" },
        { "ipython", "  x = 1", 1, 3, "unexpected indent", "indent line 1" },
        { "python", "def f():\n    # nothing\nx = 1", 3, 1,
          "expected an indented block after function definition on line 1",
          "indent line 3 more than line 1" },
        { "python", "for i in x:\n    if i:", 2, 5,
          "expected an indented block after 'if' statement on line 2", "add a line behind line 2" },
        { "python", "if x:\n        y = 1\n    z = 2", 3, 5,
          "unindent does not match any outer indentation level", "indent line 3 as far as" },
        { "python", "if x:\n\ty = 1\n        z = 2", 3, 9,
          "inconsistent use of tabs and spaces in indentation", "with spaces alone" },
        { "python", "x = 1 +\ny = 2", 1, 7, "the expression ends after the operator +",
          "write what follows the `+` on line 1 too" },
        { "python", "if x: # y\n    z = 1 in", 2, 11, "the expression ends after the operator in",
          "`in`" },
    };
    ASSERT_EXPLAINED(cases);
}

/* Each source is allowed in both languages. */
static void allows_each(const char *const *sources, size_t count, const char *language,
                        const char *other)
{
    struct cbx_policy *policy = load("permissive");
    for (size_t i = 0; i < 2 * count; i++) {
        CBX_AUTO_DONE(arena) arena;
        cbx_arena_init(&arena, CBX_ANALYSIS_ARENA_MAX);
        struct cbx_decision decision;
        judge(policy, i % 2 == 0 ? language : other, cbx_str_of(sources[i / 2]), false, &arena,
              &decision);
        if (decision.verdict != CBX_ALLOW) {
            fail_msg("%s: %.*s", sources[i / 2], CBX_STR_ARG(decision.findings[0].symbol));
        }
    }
    cbx_policy_free(policy);
}

static void leaves_alone_what_cpython_accepts(void **state)
{
    (void)state;
    static const char *const sources[] = {
        "if x:\n\ty = 1\n\tz = 2",
        "x = [\n1,\n  2]\ny = 3",
        "x = '''\n  a\n b'''\ny = 3",
        "if x:\n        y = 1\n\n   # note\nz = 2",
        "if x: pass\nelse: y = 1",
        "if x: # a:\n  y = 1",
        "x = 1 \\\n      + 2\ny = 3",
        "class A:\n  def f(self):\n     pass\n  x = 1",
        "if x:\n\f    y = 1",
        "def f(a,\n  b=(1,\n2)):\n    pass",
        "x = ...\ny = 1.",
        "@f\ndef g():\n  pass",
    };
    allows_each(sources, sizeof(sources) / sizeof(sources[0]), "python", "ipython");
}

/* A grammar reads them as parts of names; in strings, comments and pages they are text. */
static void typographic_characters_in_text_of_javascript_are_no_errors(void **state)
{
    (void)state;
    static const char *const sources[] = {
        "const a = '\u201chello\u201d';\nconsole.log(a);",
        "const a = `\u201c${1}\u201d \u2013`;\n// it\u2019s\n/* \u2018x\u2019 */",
        "console.log('x \u2264 y'.replace(/[\u201c\u201d]/g, '\"'));",
        "const x\u00a0= 1;\u3000const y = x;",
        "const p = <p title=\"\u201cA\u201d\">It\u2019s \u2013 \u201cquoted\u201d</p>;",
        "const o = { '\u2013': 1 };\nconst d\u00e9j\u00e0 = o['\u2013'];",
    };
    allows_each(sources, sizeof(sources) / sizeof(sources[0]), "javascript", "typescript");
}

static void names_what_stands_around_the_code(void **state)
{
    (void)state;
    static const struct expected cases[] = {
        { "python", "print(\u201chello\u201d)\n", 1, 7, "typographic quotation mark",
          "instead of `print(\u201chello\u201d)` write `print(\"hello\")`" },
        { "python", "x = 1\n\ty =\u00a02\n", 2, 5, "no-break space",
          "instead of `y =\u00a02` write `y = 2`" },
        { "python", "# \u201cquoted\u201d\ns = '\u201cquoted\u201d'\nif s \u2264 3:\n    pass\n", 3,
          6, "relation sign", "instead of `if s \u2264 3:` write `if s <= 3:`" },
        { "c", "int x = 1 \u2013 2;\n", 1, 11, "dash",
          "instead of `int x = 1 \u2013 2;` write `int x = 1 - 2;`" },
        { "python", "\n>>> x = 1\n>>> x\n1\n", 2, 1, "prompt of an interactive session",
          "instead of `>>> x = 1` write `x = 1`, and so on each line; leave out what was printed" },
        { "javascript", "const a = \u201chello\u201d;\nf(a);\n", 1, 11,
          "typographic quotation mark",
          "instead of `const a = \u201chello\u201d;` write `const a = \"hello\";`" },
        { "typescript", "const s: string = 'a';\nif (s.length \u2264 3) { f(\u2018x\u2019); }\n", 2,
          14, "relation sign",
          "instead of `if (s.length \u2264 3) { f(\u2018x\u2019); }` write `if (s.length <= 3) { "
          "f('x'); "
          "}`" },
        { "javascript", "$ node x\n", 1, 1, "prompt of an interactive session",
          "instead of `$ node x` write `node x`, and so on each line; leave out what was printed" },
        { "python", "Text:\n```python\nprint(1)\n```", 2, 1, "Markdown around the code",
          "remove the lines that begin with ```" },
        { "python", "import math\\nprint(math.pi)", 1, 12, "escaped line break",
          "write line breaks" },
    };
    ASSERT_EXPLAINED(cases);
}

static void names_the_language_that_was_sent(void **state)
{
    (void)state;
    static const struct expected cases[] = {
        { "python", "const x = 1;\nconsole.log(x);", 1, 1, CBX_SYNTAX_LANGUAGE,
          "JavaScript, but was sent as \"python\"; send it with the language \"javascript\"" },
        { "ipython", "#!/bin/bash\nfor f in a; do\n  echo $f\ndone", 1, 1, CBX_SYNTAX_LANGUAGE,
          "sent as \"python\"; send it with the language \"shell\"" },
        { "javascript", "def f(x):\n    return x\nprint(f(1))", 1, 1, CBX_SYNTAX_LANGUAGE,
          "language \"python\"" },
        { "javascript", "const x: number = 1;\nconsole.log(x);", 1, 1, CBX_SYNTAX_LANGUAGE,
          "language \"typescript\"" },
        { "python", "<!DOCTYPE html>\n<html></html>", 1, 1, CBX_SYNTAX_LANGUAGE,
          "HTML, which does not run here" },
        { "python", "SELECT a FROM b;", 1, 1, CBX_SYNTAX_LANGUAGE, "SQL" },
    };
    ASSERT_EXPLAINED(cases);
}

static void takes_strings_for_no_other_language(void **state)
{
    (void)state;
    static const struct expected cases[] = {
        { "python", "q = '''\nSELECT a FROM b\n", 1, 5, "unclosed string", "'''" },
        { "python", "print('''\nconst x = 1;\n''')\nf(1", 4, 2, "unclosed parenthesis", ")" },
    };
    ASSERT_EXPLAINED(cases);
}

static void takes_a_few_signs_of_another_language_for_none(void **state)
{
    (void)state;
    static const struct expected cases[] = {
        { "python", "from os import path\nprint \"a; do\"", 2, 1, "Python 2 statement", "print(" },
    };
    ASSERT_EXPLAINED(cases);
}

static void sends_to_no_language_that_the_policy_forbids(void **state)
{
    (void)state;
    struct cbx_policy *policy = NULL;
    assert_int_equal(cbx_policy_parse(CBX_STR("version: 1\nname: x\nextends: [baseline]\n"
                                              "languages: [python]\n"),
                                      "x", &policy, NULL),
                     0);
    CBX_AUTO_DONE(arena) arena;
    cbx_arena_init(&arena, CBX_ANALYSIS_ARENA_MAX);
    struct cbx_decision decision;
    judge(policy, "python", CBX_STR("const x = 1;\nconsole.log(x);"), false, &arena, &decision);
    assert_true(contains(decision.findings[0].hint, "JavaScript, which does not run here"));
    cbx_policy_free(policy);
}

/* Errors in code within a string are no errors of the source. */
static void leaves_errors_alone_that_it_cannot_name(void **state)
{
    (void)state;
    static const struct expected cases[] = {
        { "python", "x = 5 5", 1, 5, "syntax error", "Correct the syntax error" },
        { "python", "import os\nos.system('if')", 2, 1, "syntax error", "Correct the" },
        { "python", "exec('1 +')\nx = 'console.log(1)'", 1, 1, "syntax error", "Correct the" },
    };
    ASSERT_EXPLAINED(cases);
}

static void changes_no_verdict_and_stays_in_the_source(void **state)
{
    (void)state;
    static const char *const pieces[] = { "(",      ")",    "'",   "\"", "`",   "${",
                                          "}",      "```",  "<<E", "\n", "if ", "print x",
                                          "\\",     "'''",  "/*",  "//", "#",   "\xc3\xa9",
                                          "const ", "done", "%",   "!" };
    enum { PIECES = sizeof(pieces) / sizeof(pieces[0]) };
    static const char *const languages[] = { "python", "ipython", "javascript", "shell", "c" };
    struct cbx_policy *policy = load("default");
    for (size_t i = 0; i < PIECES * PIECES * 5; i++) {
        CBX_AUTO_DONE(buf) text;
        cbx_buf_init(&text, 256);
        cbx_buf_printf(&text, "a%s b%s c", pieces[i / 5 % PIECES], pieces[i / 5 / PIECES]);
        CBX_AUTO_DONE(arena) arena;
        cbx_arena_init(&arena, CBX_ANALYSIS_ARENA_MAX);
        struct cbx_decision with, without;
        judge(policy, languages[i % 5], cbx_buf_str(&text), false, &arena, &with);
        judge(policy, languages[i % 5], cbx_buf_str(&text), true, &arena, &without);
        assert_int_equal(with.verdict, without.verdict);
        for (size_t k = 0; k < with.finding_count; k++) {
            assert_true(with.findings[k].span.end_byte <= text.len + 1);
        }
    }
    cbx_policy_free(policy);
}

static void is_linear_in_a_large_source(void **state)
{
    (void)state;
    const struct cbx_lang *lang = cbx_lang_find(CBX_STR("python"));
    enum { SIZE = 1 << 20 };
    char *text = malloc(SIZE);
    assert_non_null(text);
    static const char *const units[] = { "(",   "[)",        "\"\n", "x = 'a'\n", "```",
                                         "\\n", "print x\n", "if\n", "{\n",       "\n" };
    for (size_t u = 0; u < sizeof(units) / sizeof(units[0]); u++) {
        for (size_t i = 0; i < SIZE; i++) {
            text[i] = units[u][i % strlen(units[u])];
        }
        text[0] = '(';
        CBX_AUTO_DONE(arena) arena;
        cbx_arena_init(&arena, 1 << 20);
        struct cbx_syntax_source source = { lang, { text, SIZE }, ~0u, 1, false };
        struct cbx_syntax_error error = { 0 };
        int64_t began = cbx_clock_ms();
        if (cbx_syntax_explain(&source, &arena, &error)) {
            assert_true(error.start < error.end && error.end <= SIZE + 1);
        }
        assert_true(cbx_clock_ms() - began < 2000);
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_at_what_was_opened_and_is_not_closed),
        cmocka_unit_test(names_brackets_that_close_nothing_or_another_one),
        cmocka_unit_test(names_statements_of_python_2_and_of_other_languages),
        cmocka_unit_test(names_wrong_indentation_as_cpython_does),
        cmocka_unit_test(leaves_alone_what_cpython_accepts),
        cmocka_unit_test(typographic_characters_in_text_of_javascript_are_no_errors),
        cmocka_unit_test(names_what_stands_around_the_code),
        cmocka_unit_test(names_the_language_that_was_sent),
        cmocka_unit_test(takes_strings_for_no_other_language),
        cmocka_unit_test(takes_a_few_signs_of_another_language_for_none),
        cmocka_unit_test(sends_to_no_language_that_the_policy_forbids),
        cmocka_unit_test(leaves_errors_alone_that_it_cannot_name),
        cmocka_unit_test(changes_no_verdict_and_stays_in_the_source),
        cmocka_unit_test(is_linear_in_a_large_source),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
