/* SPDX-License-Identifier: MIT
 * Reading a source: one kind of line end, no text that readers could read differently, places in
 * characters. */
#include "analyzer/syntax/source.h"
#include "tests/unit/unit.h"

struct read {
    struct cbx_arena arena;
    struct cbx_facts facts;
    struct cbx_source source;
};

static void read_bytes(struct read *r, struct cbx_str bytes, bool python)
{
    cbx_arena_init(&r->arena, 1 << 20);
    r->facts = (struct cbx_facts){ .arena = &r->arena };
    assert_int_equal(cbx_source_read(bytes, python, &r->arena, &r->facts, &r->source), 0);
}

/* The reason why the source is refused, or NULL. */
static const char *complaint(struct cbx_str bytes, bool python)
{
    static char text[64];
    struct read r;
    read_bytes(&r, bytes, python);
    bool any = r.facts.count > 0;
    if (any) {
        assert_int_equal(r.facts.items[0].kind, CBX_IS_SPECIAL);
        assert_int_equal(r.facts.items[0].special, CBX_FACT_ENCODING);
        snprintf(text, sizeof(text), "%.*s", CBX_STR_ARG(r.facts.items[0].name));
    }
    cbx_arena_done(&r.arena);
    return any ? text : NULL;
}

static void makes_every_line_end_the_same(void **state)
{
    (void)state;
    static const struct {
        struct cbx_str in, out;
        uint32_t lines;
    } cases[] = {
        { CBX_STR(""), CBX_STR(""), 1 },
        { CBX_STR("a"), CBX_STR("a"), 1 },
        { CBX_STR("a\nb\n"), CBX_STR("a\nb\n"), 3 },
        { CBX_STR("a\r\nb"), CBX_STR("a\nb"), 2 },
        { CBX_STR("# x\rimport os"), CBX_STR("# x\nimport os"),
          2 }, /* CPython ends the comment there */
        { CBX_STR("\r\r\n\n\r"), CBX_STR("\n\n\n\n"), 5 },
        { CBX_STR("a\r"), CBX_STR("a\n"), 2 },
        { CBX_STR("a\v\fb\xC2\x85"), CBX_STR("a\v\fb\xC2\x85"),
          1 }, /* no line ends, neither for Python nor for us */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct read r;
        read_bytes(&r, cases[i].in, true);
        assert_true(r.source.readable);
        assert_true(cbx_str_equal(r.source.text, cases[i].out));
        assert_int_equal(r.source.line_count, cases[i].lines);
        cbx_arena_done(&r.arena);
    }
}

static void refuses_bytes_that_readers_disagree_on(void **state)
{
    (void)state;
    assert_string_equal(complaint(CBX_STR("x = 1\0import os"), true), "NUL");
    assert_string_equal(complaint(CBX_STR("x = '\xFF'"), true), "invalid UTF-8");
    assert_string_equal(complaint(CBX_STR("x = '\xC0\xAF'"), false), "invalid UTF-8");
    assert_string_equal(complaint(CBX_STR("x = '\xED\xA0\x80'"), false), "invalid UTF-8");
    assert_null(complaint(CBX_STR("\xEF\xBB\xBFx = 1"), true)); /* removed, so that readers agree */
    assert_null(complaint(CBX_STR("x = '\xC3\xA9\xEF\xBB\xBF'"), true));
}

static void points_at_the_byte_that_is_wrong(void **state)
{
    (void)state;
    struct read r;
    read_bytes(&r, CBX_STR("ab\r\n\xC3\xA9\xFFz"), true);
    assert_false(r.source.readable);
    assert_int_equal(r.facts.items[0].start, 5); /* after the line end that became one byte */
    assert_int_equal(r.facts.items[0].end, 6);
    cbx_arena_done(&r.arena);
}

static void finds_coding_cookies_where_python_does(void **state)
{
    (void)state;
    static const struct {
        const char *source, *found;
    } cases[] = {
        { "# coding: latin-1\n", "latin-1" },
        { "# -*- coding: utf-7 -*-\n", "utf-7" },
        { "#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\n", "cp1252" },
        { "\n# coding=utf_16\n", "utf_16" },
        { " \t\f# coding: koi8-r", "koi8-r" },
        { "# coding:\t rot13\n", "rot13" },
        { "# coding coding: latin-1\n", "latin-1" }, /* the first that has a ':' or '=' counts */
        { "# coding: # coding=latin-1\n", "latin-1" },
        { "# encoding: utf-8, coding: latin-1\n", NULL },
        { "# coding: utf-8\n", NULL },
        { "# coding: UTF-8\n", NULL },
        { "# coding: utf_8\n", NULL },
        { "# coding: utf8\n", NULL },
        { "# coding: utf-8-and-more\n",
          "utf-8-and-more" }, /* CPython would read it as UTF-8; refused nevertheless */
        { "# coding: utf-80\n", "utf-80" },
        { "x = 1\n# coding: latin-1\n", NULL },
        { "\n\n# coding: latin-1\n", NULL },
        { "x = 'coding: latin-1'\n", NULL },
        { "# recoding latin-1\n", NULL },
        { "# coding : latin-1\n", NULL },
        { "'''\n# coding: latin-1\n'''", NULL },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *found = complaint(cbx_str_of(cases[i].source), true);
        if ((found == NULL) != (cases[i].found == NULL) ||
            (found != NULL && strcmp(found, cases[i].found) != 0)) {
            fail_msg("%s: found %s", cases[i].source, found != NULL ? found : "nothing");
        }
    }
    assert_null(complaint(CBX_STR("# coding: latin-1\n"), false)); /* other languages have none */
}

static void counts_columns_in_characters(void **state)
{
    (void)state;
    struct read r;
    read_bytes(&r, CBX_STR("a\xC3\xA9x\n\tb\xF0\x9F\x98\x80y\n"), true);
    static const struct {
        uint32_t byte, line, column;
    } cases[] = { { 0, 1, 1 }, { 1, 1, 2 },  { 3, 1, 3 },  { 4, 1, 4 },  { 5, 2, 1 },  { 6, 2, 2 },
                  { 7, 2, 3 }, { 11, 2, 4 }, { 12, 2, 5 }, { 13, 3, 1 }, { 999, 3, 1 } };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint32_t line, column;
        cbx_source_place(&r.source, cases[i].byte, &line, &column);
        assert_int_equal(line, cases[i].line);
        assert_int_equal(column, cases[i].column);
    }
    cbx_arena_done(&r.arena);
}

static void reports_exhausted_memory(void **state)
{
    (void)state;
    CBX_AUTO_DONE(arena) arena;
    cbx_arena_init(&arena, 64);
    struct cbx_facts facts = { .arena = &arena };
    struct cbx_source source;
    char text[200];
    memset(text, '\r', sizeof(text));
    assert_int_equal(
        cbx_source_read((struct cbx_str){ text, sizeof(text) }, true, &arena, &facts, &source),
        CBX_ETOOBIG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(makes_every_line_end_the_same),
        cmocka_unit_test(refuses_bytes_that_readers_disagree_on),
        cmocka_unit_test(points_at_the_byte_that_is_wrong),
        cmocka_unit_test(finds_coding_cookies_where_python_does),
        cmocka_unit_test(counts_columns_in_characters),
        cmocka_unit_test(reports_exhausted_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
