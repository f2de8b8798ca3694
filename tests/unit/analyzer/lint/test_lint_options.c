/* SPDX-License-Identifier: MIT
 * Command lines of codebox-lint, and the texts that are made of the option table. */
#include "analyzer/lint/lint_options.h"
#include "tests/unit/unit.h"

static int parse(const char *const *words, struct cbx_lint_options *out, struct cbx_err *err)
{
    int argc = 1;
    char *argv[16] = { (char *)(uintptr_t) "codebox-lint" };
    for (; words[argc - 1] != NULL; argc++) {
        argv[argc] = (char *)(uintptr_t)words[argc - 1];
    }
    return cbx_lint_options_parse(argc, argv, out, err);
}

static void reads_options_and_paths(void **state)
{
    (void)state;
    CBX_AUTO_DONE(lint_options) o = { 0 };
    struct cbx_err err;
    static const char *const words[] = { "a",       "--policy",  "strict",  "--format=json",
                                         "-",       "--exclude", "x",       "--exclude=y",
                                         "--quiet", "--",        "--quiet", NULL };
    assert_int_equal(parse(words, &o, &err), 0);
    assert_string_equal(o.policy, "strict");
    assert_string_equal(o.format, "json");
    assert_true(o.quiet);
    assert_false(o.no_ignore);
    assert_null(o.language);
    assert_int_equal(o.exclude.count, 2);
    assert_string_equal(o.exclude.items[1], "y");
    assert_int_equal(o.paths.count, 3);
    assert_string_equal(o.paths.items[1], "-");
    assert_string_equal(o.paths.items[2], "--quiet");
}

static void names_the_fault(void **state)
{
    (void)state;
    static const struct {
        const char *words[3], *message;
    } cases[] = {
        { { "--polcy", "x" }, "unknown option '--polcy', did you mean '--policy'" },
        { { "--frobnicate" }, "unknown option '--frobnicate'; --help lists the options" },
        { { "-x" }, "unknown option '-x'; --help lists the options" },
        { { "--policy" }, "--policy needs a value: NAME|FILE" },
        { { "--quiet=1" }, "--quiet takes no value, it has '1'" },
        { { "--format", "xml" }, "--format is 'xml', allowed are: text json sarif github" },
        { { "--format", "" }, "--format is '', allowed are: text json sarif github" },
        { { "--format=json sarif" }, "--format is 'json sarif'" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        CBX_AUTO_DONE(lint_options) o = { 0 };
        struct cbx_err err = { 0 };
        const char *words[] = { cases[i].words[0], cases[i].words[1], NULL };
        assert_int_equal(parse(words, &o, &err), CBX_EINVAL);
        assert_non_null(strstr(err.text, cases[i].message));
    }
}

static void every_option_is_in_every_list(void **state)
{
    (void)state;
    static const char *const names[] = {
#define CBX_OPTION(member, name, letter, type, value, words, lo, hi, help) name,
#include "analyzer/lint/lint_options.def"
#undef CBX_OPTION
    };
    CBX_AUTO_DONE(buf) help;
    cbx_buf_init(&help, 1 << 20);
    cbx_lint_help(&help);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        static const char *const shells[] = { "bash", "zsh", "fish", "man" };
        assert_non_null(strstr(help.p, names[i]));
        for (size_t s = 0; s < 4; s++) {
            CBX_AUTO_DONE(buf) text;
            cbx_buf_init(&text, 1 << 20);
            cbx_lint_completion(shells[s], &text);
            assert_non_null(strstr(text.p, names[i]));
        }
    }
}

static void keeps_help_within_a_terminal(void **state)
{
    (void)state;
    CBX_AUTO_DONE(buf) help;
    cbx_buf_init(&help, 1 << 20);
    cbx_lint_help(&help);
    for (const char *line = help.p; *line != '\0'; line = strchr(line, '\n') + 1) {
        size_t length = strcspn(line, "\n");
        assert_true(length <= 100);
        assert_true(length == 0 || line[length - 1] != ' ');
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_options_and_paths),
        cmocka_unit_test(names_the_fault),
        cmocka_unit_test(every_option_is_in_every_list),
        cmocka_unit_test(keeps_help_within_a_terminal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
