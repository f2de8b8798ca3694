/* SPDX-License-Identifier: MIT
 * `codebox config`: checks and explains the configuration of serve and mcp: file, environment and
 * options. */
#include "gateway/cli/cli.h"
#include "gateway/cli/serve/serve_start.h"
#include "gateway/cli/settings/settings.h"
#include "gateway/ipc/master/state.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void warn_taken(const char *what, const char *text)
{
    fprintf(stderr, "codebox: warning: %s '%s' is in use; that is right when this gateway runs\n",
            what, text);
}

static void check_variables(struct cbx_problems *problems)
{
    struct cbx_option_table table = cbx_cli_options_table('\0');
    struct cbx_err err = { 0 };
    const char *unknown = cbx_settings_unknown_variable(&table);
    if (unknown != NULL) {
        cbx_fail(&err, CBX_EINVAL,
                 "the variable '%s' of the environment is no option; 'codebox config explain' "
                 "lists them",
                 unknown);
        cbx_problems_add(problems, &err);
    }
}

static void check_serve(const struct cbx_options *options, struct cbx_serve_start *start,
                        struct cbx_problems *problems, struct cbx_problems *warnings)
{
    static struct cbx_options with_state;
    struct cbx_err err = { 0 };
    with_state = *options;
    if (with_state.state_dir == NULL) {
        with_state.state_dir = with_state.state_buffer;
        if (cbx_state_default(with_state.state_buffer, sizeof(with_state.state_buffer), &err)) {
            cbx_problems_add(problems, &err);
            return;
        }
    }
    cbx_serve_check(&with_state, start, problems, warnings);
}

static int check(const struct cbx_options *options, struct cbx_problems *problems)
{
    CBX_AUTO_DONE(serve_start) start = { 0 };
    static struct cbx_problems warnings;
    check_variables(problems);
    check_serve(options, &start, problems, &warnings);
    for (size_t i = 0; i < warnings.count; i++) {
        cbx_err_print(&warnings.items[i], "codebox: warning", stderr);
    }
    for (size_t i = 0; i < problems->count; i++) {
        cbx_err_print(&problems->items[i], "codebox", stderr);
    }
    if (problems->count > 0) {
        fprintf(stderr, "codebox: %zu problem%s\n", problems->count,
                problems->count > 1 ? "s" : "");
        return 1;
    }
    if (start.address_taken) {
        warn_taken("the address", options->listen != NULL ? options->listen : "127.0.0.1:8000");
    }
    if (start.socket_taken) {
        warn_taken("the socket", options->socket);
    }
    printf("%s: ok\n",
           options->settings_path != NULL ? options->settings_path : "no configuration file");
    return 0;
}

static void print_buffer(const struct cbx_buf *text)
{
    fwrite(text->p, 1, text->len, stdout);
}

static int explain(const struct cbx_options *options, struct cbx_problems *problems)
{
    if (problems->count > 0) {
        return cbx_cli_fail(&problems->items[0]);
    }
    struct cbx_option_table table = cbx_cli_options_table('c');
    struct cbx_options copy = *options;
    struct cbx_option_values values = { .into = &copy, .origins = copy.origins };
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, 1024 * 1024);
    cbx_settings_explain(&table, &values, options->settings_path, options->sections, &text);
    print_buffer(&text);
    return 0;
}

static int example(const struct cbx_options *options, struct cbx_problems *problems)
{
    (void)options;
    (void)problems;
    struct cbx_option_table table = cbx_cli_options_table('c');
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, 256 * 1024);
    cbx_settings_example(&table, &text);
    print_buffer(&text);
    return 0;
}

static const struct verb {
    const char *name;
    int (*run)(const struct cbx_options *options, struct cbx_problems *problems);
    size_t arguments; /* at most */
    const char *help;
} verbs[] = {
    { "check", check, 1, "[FILE]: all that is wrong with it; exit status 1 when anything is" },
    { "explain", explain, 1, "[FILE]: every setting, its value, and where the value comes from" },
    { "example", example, 0, "a file with every key, commented out" },
};
enum { VERBS = sizeof(verbs) / sizeof(verbs[0]) };

int cbx_config_command(const struct cbx_options *options)
{
    static struct cbx_problems problems;
    size_t count = options->arguments.count;
    const char *name = count > 0 ? options->arguments.items[0] : "";
    for (size_t i = 0; i < VERBS; i++) {
        if (strcmp(name, verbs[i].name) != 0) {
            continue;
        }
        if (count - 1 > verbs[i].arguments) {
            fprintf(stderr, "codebox: config %s takes %zu argument, not '%s'\n", name,
                    verbs[i].arguments, options->arguments.items[1 + verbs[i].arguments]);
            return 2;
        }
        static struct cbx_options with_file;
        with_file = *options;
        cbx_arena_init(&with_file.arena, CBX_OPTIONS_ARENA_MAX);
        if (verbs[i].arguments > 0) {
            with_file.config = count > 1 ? options->arguments.items[1] : options->config;
            cbx_cli_options_settings(&with_file, &problems);
        }
        int status = verbs[i].run(&with_file, &problems);
        cbx_cli_options_done(&with_file);
        return status;
    }
    fprintf(stderr, "codebox: the verb of config is '%s', allowed are\n", name);
    for (size_t i = 0; i < VERBS; i++) {
        fprintf(stderr, "  %-12s %s\n", verbs[i].name, verbs[i].help);
    }
    return 2;
}
