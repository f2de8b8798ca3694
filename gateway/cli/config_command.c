/* SPDX-License-Identifier: MIT
 * `codebox config`: checks and explains the configuration of serve and mcp: file, environment and
 * options. */
#include "gateway/cli/cli.h"
#include "gateway/cli/identity_options.h"
#include "gateway/cli/network_options.h"
#include "gateway/cli/settings.h"
#include "gateway/cli/tls_options.h"
#include "gateway/ipc/reload.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void add_failed(int failed, const struct cbx_err *err, struct cbx_problems *problems)
{
    if (failed) {
        cbx_problems_add(problems, err);
    }
}

/* Each policy by itself, so that all that do not load are reported, then all together. */
static void check_policies(const struct cbx_options *options, const struct cbx_flow_config *config,
                           struct cbx_problems *problems)
{
    bool identified = options->sections[CBX_SETTINGS_principals] != NULL;
    size_t before = problems->count;
    for (size_t i = 0; i <= config->policy_count; i++) {
        struct cbx_err err = { 0 };
        struct cbx_policies loaded = { 0 };
        bool all = i == config->policy_count;
        int failed =
            all && problems->count > before
                ? 0
                : cbx_policies_load(all ? config->policies : &config->policies[i],
                                    all ? config->policy_count : 1,
                                    identified ? CBX_MODES_ALL : CBX_MODES_ENFORCED, &loaded, &err);
        if (failed && !all) {
            cbx_wrap(&err, "policy '%s'", config->policies[i]);
        }
        add_failed(failed, &err, problems);
        cbx_policies_done(&loaded);
    }
}

/* Rows whose value is a FILE; folders may be made later. */
static void check_files(const struct cbx_options *options, struct cbx_problems *problems)
{
    struct cbx_option_table table = cbx_cli_options_table('c');
    for (size_t i = 0; i < table.count; i++) {
        const struct cbx_option *row = &table.rows[i];
        const char *path =
            cbx_settings_has(row) && row->type == CBX_OPTION_TEXT && strcmp(row->value, "FILE") == 0
                ? *(const char *const *)(const void *)((const char *)options + row->offset)
                : NULL;
        struct cbx_err err = { 0 };
        if (path != NULL && access(path, R_OK) < 0) {
            add_failed(
                cbx_fail(&err, CBX_EINVAL, "%s: '%s' is no file that can be read", row->name, path),
                &err, problems);
        }
    }
}

/* The keys of issuers, and the origin of --public-url. The sections themselves were checked as they were read. */
static void check_identity(const struct cbx_options *options, struct cbx_problems *problems)
{
    struct cbx_err err = { 0 };
    struct cbx_identity_config config;
    char folder[PATH_MAX];
    CBX_AUTO_DONE(buf) bytes;
    cbx_buf_init(&bytes, CBX_IDENTITY_BYTES_MAX);
    cbx_options_identity_config(options, folder, &config);
    add_failed(cbx_options_check_url(options->public_url, &err), &err, problems);
    if (problems->count == 0) {
        add_failed(cbx_identity_load(&config, &bytes, &err), &err, problems);
    }
}

static void check_tls(const struct cbx_options *options, struct cbx_problems *problems)
{
    struct cbx_err err = { 0 };
    CBX_AUTO_DONE(buf) bytes;
    cbx_buf_init(&bytes, CBX_RELOAD_BYTES_MAX);
    if (cbx_options_tls(options)) {
        add_failed(cbx_options_tls_read(options, &bytes, &err), &err, problems);
        explicit_bzero(bytes.p, bytes.len);
    }
}

static void check_all(const struct cbx_options *options, struct cbx_problems *problems)
{
    struct cbx_option_table table = cbx_cli_options_table('\0');
    struct cbx_err err = { 0 };
    const char *unknown = cbx_settings_unknown_variable(&table);
    add_failed(unknown != NULL ? cbx_fail(&err, CBX_EINVAL,
                                          "the variable '%s' of the environment is no option; "
                                          "'codebox config explain' lists them",
                                          unknown)
                               : 0,
               &err, problems);
    add_failed(cbx_options_check(options, &err), &err, problems);
    struct cbx_listen_address address;
    add_failed(options->listen != NULL ? cbx_cli_parse_listen(options->listen, &address, &err) : 0,
               &err, problems);
    CBX_AUTO_JSON mounts = NULL;
    add_failed(cbx_options_mounts(options, &mounts, &err), &err, problems);
    struct cbx_flow_config config = cbx_options_flow(options);
    struct cbx_network_settings network = { 0 };
    add_failed(cbx_network_ranges(config.egress_ranges, config.egress_range_count, &network, &err),
               &err, problems);
    check_files(options, problems);
    check_policies(options, &config, problems);
    check_identity(options, problems);
    check_tls(options, problems);
}

static int check(const struct cbx_options *options, struct cbx_problems *problems)
{
    check_all(options, problems);
    for (size_t i = 0; i < problems->count; i++) {
        cbx_err_print(&problems->items[i], "codebox", stderr);
    }
    if (problems->count > 0) {
        fprintf(stderr, "codebox: %zu problem%s\n", problems->count,
                problems->count > 1 ? "s" : "");
        return 1;
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
