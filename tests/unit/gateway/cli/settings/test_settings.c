/* SPDX-License-Identifier: MIT
 * The configuration file: its keys are the options, and every mistake has a place. */
#include "gateway/cli/settings/cli_options.h"
#include "tests/unit/gateway/scratch.h"

#include <stdlib.h>
#include <sys/stat.h>

struct read {
    struct cbx_options options;
    struct cbx_problems problems;
};

static void read_text(struct read *r, const char *text)
{
    *r = (struct read){ 0 };
    cbx_arena_init(&r->options.arena, 1 << 20);
    struct cbx_option_table table = cbx_cli_options_table('s');
    struct cbx_option_values values = { .into = &r->options,
                                        .arena = &r->options.arena,
                                        .origins = r->options.origins };
    cbx_settings_read_text(cbx_str_of(text), "f", &table, &values, r->options.sections,
                           &r->problems);
}

static void reads_the_options_by_their_names(void **state)
{
    (void)state;
    static struct read r;
    read_text(&r, "listen: 127.0.0.1:9000\nmax-runs: 8\npolicy: [default, strict]\n"
                  "egress-range: 10.1.0.0/16\npool-empty: fail\nprincipals: [{name: ann}]\n");
    assert_int_equal(r.problems.count, 0);
    assert_string_equal(r.options.listen, "127.0.0.1:9000");
    assert_int_equal(r.options.max_runs, 8);
    assert_int_equal(r.options.policies.count, 2);
    assert_string_equal(r.options.policies.items[1], "strict");
    assert_int_equal(r.options.egress_ranges.count, 1);
    assert_string_equal(r.options.pool_empty, "fail");
    assert_int_equal(r.options.origins[CBX_OPTION_ROW_max_runs].source, CBX_OPTION_OF_FILE);
    assert_int_equal(r.options.origins[CBX_OPTION_ROW_max_runs].line, 2);
    assert_non_null(r.options.sections[CBX_SETTINGS_principals]);
    assert_null(r.options.sections[CBX_SETTINGS_issuers]);
    cbx_cli_options_done(&r.options);
}

static void refuses_with_a_place(void **state)
{
    (void)state;
    static const struct {
        const char *text, *problem;
    } cases[] = {
        { "max-rums: 8\n", "f:1:1: unknown key 'max-rums', did you mean 'max-runs'" },
        { "config: x\n", "f:1:1: unknown key 'config'" },
        { "help: true\n", "f:1:1: unknown key 'help'" },
        { "max-runs: 8\nmax-runs: 9\n", "f:2:1: key 'max-runs' stands here twice" },
        { "\nmax-runs: 0\n", "f:2:11: key 'max-runs' is '0', allowed are 1..10000" },
        { "max-runs: [8]\n", "f:1:11: key 'max-runs' has a list, allowed is a whole number" },
        { "listen:\n", "f:1:8: key 'listen' has no value, allowed is a text" },
        { "listen: {a: b}\n", "f:1:9: key 'listen' has a mapping, allowed is a text" },
        { "policy: [default, [x]]\n", "f:1:19: key 'policy' has a list" },
        { "pool-empty: maybe\n", "allowed are: grow wait fail" },
        { "- a\n", "f:1:1: the file is no mapping" },
        { "listen: !!str x\n", "f:1:9: tags" },
        { "listen: \"a\n", "not valid YAML" },
        { "a: 1\n---\nb: 1\n", "one document" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        static struct read r;
        read_text(&r, cases[i].text);
        assert_int_equal(r.problems.count, 1);
        if (strstr(r.problems.items[0].text, cases[i].problem) == NULL) {
            fail_msg("%s: %s", cases[i].text, r.problems.items[0].text);
        }
        cbx_cli_options_done(&r.options);
    }
}

static void reports_every_problem(void **state)
{
    (void)state;
    static struct read r;
    read_text(&r, "a: 1\nb: 2\nmax-runs: x\nlisten: :1\n");
    assert_int_equal(r.problems.count, 3);
    assert_string_equal(r.options.listen, ":1");
    cbx_cli_options_done(&r.options);
}

/* The first problem of a command line, or "". */
static const char *problem_of(struct read *r, const char *const *words)
{
    static struct cbx_err err;
    int argc = 0;
    static char *argv[16];
    for (; words[argc] != NULL; argc++) {
        argv[argc] = (char *)(uintptr_t)words[argc];
    }
    err.text[0] = '\0';
    cbx_cli_options_read('s', argc, argv, 0, &r->options, &err);
    return err.text;
}

static void the_command_line_comes_before_the_environment_and_this_before_the_file(void **state)
{
    (void)state;
    static struct read r;
    struct scratch scratch;
    char path[512];
    scratch_make(&scratch);
    chmod(scratch.path, 0700);
    snprintf(path, sizeof(path), "%s/f.yaml", scratch.path);
    FILE *file = fopen(path, "we");
    fputs("max-runs: 1\nidle: 2\nlease: 3\npolicy: [default, strict]\nmount: /a\n", file);
    fclose(file);
    chmod(path, 0600);
    setenv("CODEBOX_MAX_RUNS", "11", 1);
    setenv("CODEBOX_IDLE", "12", 1);
    setenv("CODEBOX_POLICY", " a  b c ", 1);
    const char *const words[] = { "--config", path, "--max-runs", "21", NULL };
    assert_string_equal(problem_of(&r, words), "");
    assert_int_equal(r.options.max_runs, 21);
    assert_int_equal(r.options.idle_s, 12);
    assert_int_equal(r.options.lease_s, 3);
    assert_int_equal(r.options.policies.count, 3);
    assert_string_equal(r.options.policies.items[2], "c");
    assert_string_equal(r.options.config, path);
    assert_int_equal(r.options.origins[CBX_OPTION_ROW_max_runs].source, CBX_OPTION_OF_COMMAND_LINE);
    assert_int_equal(r.options.origins[CBX_OPTION_ROW_idle_s].source, CBX_OPTION_OF_ENVIRONMENT);
    cbx_cli_options_done(&r.options);

    setenv("CODEBOX_IDLE", "soon", 1);
    assert_string_equal(problem_of(&r, words), "CODEBOX_IDLE is 'soon', allowed are 1..1000000");
    cbx_cli_options_done(&r.options);
    unsetenv("CODEBOX_IDLE");

    chmod(path, 0620);
    assert_string_equal(
        problem_of(&r, words),
        "the configuration file has mode 620, allowed is a file that only its owner can write to");
    cbx_cli_options_done(&r.options);
    chmod(path, 0600);
    if (geteuid() == 0) {
        assert_int_equal(chown(path, 12345, 12345), 0);
        assert_string_equal(problem_of(&r, words),
                            "the configuration file belongs to uid 12345, allowed is root");
        cbx_cli_options_done(&r.options);
    }
    unlink(path);
    assert_non_null(strstr(problem_of(&r, words), "cannot be opened"));
    cbx_cli_options_done(&r.options);
    mkdir(path, 0700);
    assert_string_equal(problem_of(&r, words), "the configuration file is not a regular file");
    cbx_cli_options_done(&r.options);
    unsetenv("CODEBOX_MAX_RUNS");
    unsetenv("CODEBOX_POLICY");
    scratch_remove(&scratch);
}

static void what_serve_and_mcp_take_is_a_key(void **state)
{
    (void)state;
    struct cbx_option_table table = cbx_cli_options_table('\0');
    for (size_t i = 0; i < table.count; i++) {
        const struct cbx_option *row = &table.rows[i];
        bool serves = row->commands != NULL && strpbrk(row->commands, "sm") != NULL &&
                      strcmp(row->name, "config") != 0;
        assert_int_equal(cbx_settings_has(row), serves);
    }
}

static void the_example_is_comments_with_every_key(void **state)
{
    (void)state;
    struct cbx_option_table table = cbx_cli_options_table('c');
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, 1 << 20);
    cbx_settings_example(&table, &text);
    for (const char *line = text.p; *line != '\0'; line = strchr(line, '\n') + 1) {
        assert_true(*line == '#' || *line == '\n');
    }
    assert_non_null(strstr(text.p, "\n#max-runs: N\n"));
    assert_non_null(strstr(text.p, "\n#policy: [NAME|FILE]\n"));
    assert_non_null(strstr(text.p, "\n#issuers:\n"));
}

static void the_explanation_is_a_file_that_says_the_same(void **state)
{
    (void)state;
    static struct read r, again;
    read_text(&r, "listen: \"[::1]:1 # \\\" x\"\npolicy: [\"a b\", c]\nmax-runs: 7\n");
    struct cbx_option_table table = cbx_cli_options_table('c');
    struct cbx_option_values values = { .into = &r.options, .origins = r.options.origins };
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, 1 << 20);
    cbx_settings_explain(&table, &values, "f", r.options.sections, &text);
    assert_non_null(strstr(text.p, "max-runs: 7  # f:3\n"));
    assert_non_null(strstr(text.p, "#max-sessions:  # default: 32\n"));
    read_text(&again, text.p);
    assert_int_equal(again.problems.count, 0);
    assert_string_equal(again.options.listen, r.options.listen);
    assert_string_equal(again.options.policies.items[0], "a b");
    cbx_cli_options_done(&r.options);
    cbx_cli_options_done(&again.options);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_the_options_by_their_names),
        cmocka_unit_test(refuses_with_a_place),
        cmocka_unit_test(reports_every_problem),
        cmocka_unit_test(the_command_line_comes_before_the_environment_and_this_before_the_file),
        cmocka_unit_test(what_serve_and_mcp_take_is_a_key),
        cmocka_unit_test(the_example_is_comments_with_every_key),
        cmocka_unit_test(the_explanation_is_a_file_that_says_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
