/* SPDX-License-Identifier: MIT
 * Command lines out of a table. */
#include "policies/base/options/options.h"

#include "tests/unit/unit.h"

struct values {
    bool loud;
    const char *name, *color;
    int64_t count;
    struct cbx_words tags;
};

static void add_colors(struct cbx_buf *out)
{
    cbx_buf_add_cstr(out, "red green blue");
}

static const struct cbx_option_kind kinds[] = { { .name = "@file", .files = true },
                                                { .name = "@color", .words = add_colors },
                                                { .name = "@host", .command = "hosts --all" } };
static const struct cbx_option rows[] = {
    { "loud", 'l', CBX_OPTION_FLAG, offsetof(struct values, loud), NULL, NULL, 0, 0, NULL,
      "noise" },
    { "name", 0, CBX_OPTION_TEXT, offsetof(struct values, name), "FILE", "@file", 0, 0, "a",
      "who" },
    { "color", 0, CBX_OPTION_WORD, offsetof(struct values, color), "C", "@color", 0, 0, "ab",
      "{words}, as it is painted" },
    { "count", 'n', CBX_OPTION_NUMBER, offsetof(struct values, count), "N", NULL, 1, 9, "b",
      "how many" },
    { "tag", 0, CBX_OPTION_LIST, offsetof(struct values, tags), "T", "@host", 0, 2, NULL,
      "what [it] is" },
};

static struct cbx_option_table table_of(char command)
{
    return (struct cbx_option_table){ .program = "paint-it",
                                      .rows = rows,
                                      .count = 5,
                                      .kinds = kinds,
                                      .kind_count = 3,
                                      .command = command,
                                      .first_argument_ends = command == 'a' };
}

struct line {
    struct values values;
    struct cbx_words rest;
    struct cbx_arena arena;
    struct cbx_err err;
};

static int read_line(struct line *line, char command, const char *const *words)
{
    int argc = 0;
    char *argv[16];
    for (; words[argc] != NULL; argc++) {
        argv[argc] = (char *)(uintptr_t)words[argc];
    }
    *line = (struct line){ .values = { .count = 4 } };
    cbx_arena_init(&line->arena, 1 << 16);
    struct cbx_option_table table = table_of(command);
    struct cbx_option_values out = { .into = &line->values, .arena = &line->arena };
    int failed = cbx_options_read(&table, argc, argv, 0, &out, &line->err);
    line->rest = out.rest;
    return failed;
}

static void reads_every_type_in_both_spellings(void **state)
{
    (void)state;
    struct line line;
    static const char *const words[] = { "-l", "a",  "--name", "x=y", "--color=blue",
                                         "-n", "9",  "--tag",  "t",   "--tag=",
                                         "-",  "--", "--loud", NULL };
    assert_int_equal(read_line(&line, '\0', words), 0);
    assert_true(line.values.loud);
    assert_string_equal(line.values.name, "x=y");
    assert_string_equal(line.values.color, "blue");
    assert_int_equal(line.values.count, 9);
    assert_int_equal(line.values.tags.count, 2);
    assert_string_equal(line.values.tags.items[1], "");
    assert_int_equal(line.rest.count, 3);
    assert_string_equal(line.rest.items[1], "-");
    assert_string_equal(line.rest.items[2], "--loud");
    cbx_arena_done(&line.arena);
}

static void behind_the_first_argument_a_command_may_take_no_options(void **state)
{
    (void)state;
    struct line line;
    static const char *const words[] = { "--name=x", "FILE", "--name=y", "--nosuch", NULL };
    assert_int_equal(read_line(&line, 'a', words), 0);
    assert_string_equal(line.values.name, "x");
    assert_int_equal(line.rest.count, 3);
    assert_string_equal(line.rest.items[1], "--name=y");
    cbx_arena_done(&line.arena);
}

static void what_is_not_given_keeps_its_value(void **state)
{
    (void)state;
    struct line line;
    assert_int_equal(read_line(&line, '\0', (const char *const[]){ NULL }), 0);
    assert_int_equal(line.values.count, 4);
    assert_null(line.values.name);
    assert_int_equal(line.rest.count, 0);
    cbx_arena_done(&line.arena);
}

static void refuses_with_what_was_found_and_what_is_allowed(void **state)
{
    (void)state;
    static const struct {
        char command;
        const char *words[5], *message;
    } cases[] = {
        { 0, { "--colour", "red" }, "unknown option '--colour', did you mean '--color'" },
        { 0, { "--frobnicate" }, "unknown option '--frobnicate'; --help lists the options" },
        { 0, { "-x" }, "unknown option '-x'; --help lists the options" },
        { 0, { "-ln" }, "unknown option '-ln'; --help lists the options" },
        { 0, { "--color", "re" }, "--color is 're', allowed are: red green blue" },
        { 0, { "--color", "red green" }, "--color is 'red green', allowed are: red green blue" },
        { 0, { "--count", "10" }, "--count is '10', allowed are 1..9" },
        { 0, { "--count", "0" }, "--count is '0', allowed are 1..9" },
        { 0, { "--count", "-1" }, "--count is '-1', allowed are 1..9" },
        { 0, { "--count", "1x" }, "--count is '1x', allowed are 1..9" },
        { 0, { "--count=" }, "--count is '', allowed are 1..9" },
        { 0, { "--count", "99999999999999999999" }, "allowed are 1..9" },
        { 0, { "--tag=1", "--tag=2", "--tag=3" }, "--tag is given more than 2 times" },
        { 0, { "--name" }, "--name needs a value: FILE" },
        { 0, { "--loud=1" }, "--loud takes no value, it has '1'" },
        { 'a', { "--count", "1" }, "unknown option '--count'" }, /* another command's */
        { 'b', { "--name=1" }, "unknown option '--name'" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct line line;
        assert_int_equal(read_line(&line, cases[i].command, cases[i].words), CBX_EINVAL);
        assert_non_null(strstr(line.err.text, cases[i].message));
        cbx_arena_done(&line.arena);
    }
}

static void help_and_completions_name_the_options_of_the_command(void **state)
{
    (void)state;
    struct cbx_option_table table = table_of('a');
    static const char *const shells[] = { "help", "bash", "zsh", "fish", "man" };
    for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]); i++) {
        CBX_AUTO_DONE(buf) text;
        cbx_buf_init(&text, 1 << 16);
        if (i == 0) {
            cbx_options_help(&table, &text);
        } else {
            cbx_options_complete(&table, shells[i], &text);
        }
        assert_non_null(strstr(text.p, "name"));
        assert_non_null(strstr(text.p, "loud"));
        assert_null(strstr(text.p, "count"));
        assert_true(i == 1 || strcasestr(text.p, "red, green or blue, as it is painted") != NULL);
    }
    CBX_AUTO_DONE(buf) none;
    cbx_buf_init(&none, 1 << 16);
    cbx_options_complete(&table, "tcsh", &none);
    assert_int_equal(none.len, 0);
}

static void completions_offer_words_files_and_what_a_command_prints(void **state)
{
    (void)state;
    struct cbx_option_table table = table_of('\0');
    CBX_AUTO_DONE(buf) bash;
    cbx_buf_init(&bash, 1 << 16);
    cbx_options_complete(&table, "bash", &bash);
    assert_non_null(strstr(bash.p, "compgen -W \"red green blue\""));
    assert_non_null(strstr(bash.p, "compgen -f -W \"\""));
    assert_non_null(strstr(bash.p, "$(hosts --all | cut -d ' ' -f 1)"));
    assert_non_null(strstr(bash.p, "complete -o filenames -F _paint_it paint-it\n"));
    CBX_AUTO_DONE(buf) zsh;
    cbx_buf_init(&zsh, 1 << 16);
    cbx_options_complete(&table, "zsh", &zsh);
    assert_non_null(strstr(zsh.p, "what \\[it\\] is")); /* brackets would end the description */
    assert_non_null(strstr(zsh.p, ":C:(red green blue)"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_every_type_in_both_spellings),
        cmocka_unit_test(behind_the_first_argument_a_command_may_take_no_options),
        cmocka_unit_test(what_is_not_given_keeps_its_value),
        cmocka_unit_test(refuses_with_what_was_found_and_what_is_allowed),
        cmocka_unit_test(help_and_completions_name_the_options_of_the_command),
        cmocka_unit_test(completions_offer_words_files_and_what_a_command_prints),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
