/* SPDX-License-Identifier: MIT
 * The language of files by their names and first lines. */
#include "analyzer/filetype.h"

#include "tests/unit/unit.h"

struct expected {
    const char *text, *language, *foreign; /* NULL: none */
};

static void check(const struct expected *e, const struct cbx_filetype *type)
{
    const char *language = type->lang != NULL ? type->lang->name : "";
    if (strcmp(language, e->language != NULL ? e->language : "") != 0 ||
        !cbx_str_is(type->foreign, e->foreign != NULL ? e->foreign : "")) {
        fail_msg("%s: '%s', foreign '%.*s'", e->text, language, CBX_STR_ARG(type->foreign));
    }
}

static void names_give_the_language_also_in_capital_letters(void **state)
{
    (void)state;
    static const struct expected cases[] = {
        { "a.py", "python", NULL },
        { "x/A.PY", "python", NULL },
        { "a.pyw", "python", NULL },
        { "a.mts", "typescript", NULL },
        { "a.CTS", "typescript", NULL },
        { "a.tsx", "typescript", NULL },
        { "a.Jsx", "javascript", NULL },
        { "a.cjs", "javascript", NULL },
        { "a.BASH", "shell", NULL },
        { "a.c", "c", NULL },
        { "a.C", NULL, "C++" },
        { "a.R", NULL, "R" },
        { "a.RB", NULL, "Ruby" },
        { "x/Makefile", NULL, "make" },
        { "Makefile.txt", NULL, NULL },
        { "lib.so.6", NULL, "compiled code" },
        { "x.py/notes", NULL, NULL },
        { "notes.txt", NULL, NULL },
        { "", NULL, NULL },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cbx_filetype type = cbx_filetype_of_name(cbx_str_of(cases[i].text));
        check(&cases[i], &type);
    }
}

static void the_end_of_a_name_that_is_too_long_counts(void **state)
{
    (void)state;
    char name[5000];
    memset(name, 'x', sizeof(name));
    memcpy(name + sizeof(name) - 3, ".PY", 3);
    struct cbx_filetype type =
        cbx_filetype_of_name((struct cbx_str){ .p = name, .len = sizeof(name) });
    assert_non_null(type.lang);
}

static void first_lines_give_the_language(void **state)
{
    (void)state;
    static const struct expected cases[] = {
        { "#!/bin/sh\n", "shell", NULL },
        { "#! /usr/bin/bash -e\r\n", "shell", NULL },
        { "#!/bin/busybox sh\n", "shell", NULL },
        { "#!/usr/bin/python3.11 -u\n", "python", NULL },
        { "#!/usr/bin/env python3\n", "python", NULL },
        { "#!/usr/bin/env\tpypy3", "python", NULL },
        { "#!/usr/bin/env -S FOO=1 -u BAR python -I\n", "python", NULL },
        { "#!/usr/bin/env -Spython3 -u\n", "python", NULL },
        { "#!/usr/bin/env --split-string=node --x\n", "javascript", NULL },
        { "#!/usr/bin/env -S uv run --script\n", "python", NULL },
        { "#!/usr/bin/env -S npx -y tsx\n", "typescript", NULL },
        { "#!/usr/bin/env -S deno run -A\n", "typescript", NULL },
        { "#!/opt/bun\n", "typescript", NULL },
        { "#!/usr/local/bin/node20\n", "javascript", NULL },
        { "#!/usr/bin/perl5.36 -w\n", NULL, "Perl" },
        { "#!/usr/bin/zsh\n", NULL, "zsh" },
        { "#!/usr/bin/tcsh\n", NULL, "csh" },
        { "#!/opt/thing2\n", NULL, "thing" },
        { "#!/usr/bin/env\n", NULL, "#!" },
        { "#!\n", NULL, "#!" },
        { "#!/usr/bin/env -u python\nsh\n", NULL, "#!" },
        { " #!/bin/sh\n", NULL, NULL },
        { "\xEF\xBB\xBF#!/bin/sh\n", NULL, NULL },
        { "#/bin/sh\n", NULL, NULL },
        { "", NULL, NULL },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cbx_filetype type = cbx_filetype_of_head(cbx_str_of(cases[i].text));
        check(&cases[i], &type);
    }
}

static void compiled_code_is_known_by_its_first_bytes(void **state)
{
    (void)state;
    struct cbx_filetype type = cbx_filetype_of_head(CBX_STR("\177ELF\2\1\1\0\0"));
    assert_true(cbx_str_is(type.foreign, "compiled code"));
    type = cbx_filetype_of_head(CBX_STR("\0asm\1\0\0\0"));
    assert_true(cbx_str_is(type.foreign, "compiled code"));
    type = cbx_filetype_of_head(CBX_STR("MZ is a text"));
    assert_int_equal(type.foreign.len, 0);
    assert_true(cbx_filetype_is_binary(CBX_STR("a\0b")));
    assert_false(cbx_filetype_is_binary(CBX_STR("")));
}

static void a_word_names_a_language(void **state)
{
    (void)state;
    static const struct {
        const char *word, *foreign, *lang;
    } cases[] = {
        { "ruby", "Ruby", NULL },       { "rs", "Rust", NULL },        { "r", "R", NULL },
        { "julia", "Julia", NULL },     { "ps1", "PowerShell", NULL }, { "python", NULL, "python" },
        { "deno", NULL, "typescript" }, { "json", NULL, NULL },        { "", NULL, NULL },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cbx_filetype type = cbx_filetype_of_word(cbx_str_of(cases[i].word));
        const char *lang = type.lang != NULL ? type.lang->name : "";
        assert_string_equal(lang, cases[i].lang != NULL ? cases[i].lang : "");
        assert_true(cbx_str_equal(type.foreign, cbx_str_of(cases[i].foreign)));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_word_names_a_language),
        cmocka_unit_test(names_give_the_language_also_in_capital_letters),
        cmocka_unit_test(the_end_of_a_name_that_is_too_long_counts),
        cmocka_unit_test(first_lines_give_the_language),
        cmocka_unit_test(compiled_code_is_known_by_its_first_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
