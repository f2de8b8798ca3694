/* SPDX-License-Identifier: MIT
 * The options of codebox. */
#include "gateway/cli/settings/cli_options.h"

#include "docker/engine/kubernetes/cluster.h"
#include "gateway/cli/install/clients.h"
#include "policies/load/option_kinds.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct cbx_option_kind kinds[] = {
    CBX_OPTION_KINDS, { .name = "@client", .words = cbx_client_add_names }
};

static const struct cbx_option rows[] = {
#define CBX_OPTION(member, name, letter, type, value, words, lo, hi, commands, help)               \
    { name,                                                                                        \
      letter,                                                                                      \
      CBX_OPTION_##type,                                                                           \
      offsetof(struct cbx_options, member),                                                        \
      value,                                                                                       \
      words,                                                                                       \
      lo,                                                                                          \
      hi,                                                                                          \
      commands,                                                                                    \
      help },
#include "gateway/cli/settings/cli_options.def"
#undef CBX_OPTION
};

struct cbx_option_table cbx_cli_options_table(char command)
{
    return (struct cbx_option_table){ .program = "codebox",
                                      .rows = rows,
                                      .count = sizeof(rows) / sizeof(rows[0]),
                                      .kinds = kinds,
                                      .kind_count = sizeof(kinds) / sizeof(kinds[0]),
                                      .command = command,
                                      .first_argument_ends = command == 'r',
                                      .environment = "CODEBOX_" };
}

/* The commands that read the configuration file and the environment. `config` reads the file of
 * its argument itself. */
static const char with_settings[] = "smad";

/* Without the option, root's file is read if it exists; a dangling link is an error. */
static const char *settings_path(const struct cbx_options *options)
{
    struct stat status;
    const char *variable = getenv("CODEBOX_CONFIG");
    if (options->config != NULL) {
        return options->config;
    }
    if (variable != NULL && variable[0] != '\0') {
        return variable;
    }
    return geteuid() == 0 && lstat(CBX_SETTINGS_FILE, &status) == 0 ? CBX_SETTINGS_FILE : NULL;
}

static void clear_values(struct cbx_options *options)
{
    for (size_t i = 0; i < CBX_OPTION_ROWS; i++) {
        options->origins[i] = (struct cbx_option_origin){ 0 };
    }
#define CBX_OPTION(member, ...) memset(&options->member, 0, sizeof(options->member));
#include "gateway/cli/settings/cli_options.def"
#undef CBX_OPTION
}

static int read_line(struct cbx_options *options, struct cbx_err *err)
{
    struct cbx_option_table table = cbx_cli_options_table(options->line.command);
    struct cbx_option_values values = { .into = options,
                                        .arena = &options->arena,
                                        .origins = options->origins };
    int failed = cbx_options_read(&table, options->line.argc, options->line.argv,
                                  options->line.from, &values, err);
    options->arguments = values.rest;
    return failed;
}

/* Copies an absolute form of a path: processes of the gateway have other working folders. */
static int add_path(const char *path, struct cbx_buf *out, struct cbx_err *err)
{
    CBX_AUTO_MEM char *whole = path != NULL ? realpath(path, NULL) : NULL;
    if (path != NULL && whole == NULL) {
        return cbx_fail(err, CBX_EINVAL, "'%s': %s", path, strerror(errno));
    }
    if (whole != NULL && strchr(whole, ':') != NULL) {
        return cbx_fail(err, CBX_EINVAL, "'%s': a ':' in this path is not supported", whole);
    }
    return whole != NULL ? cbx_buf_add_cstr(out, whole) : 0;
}

/* An engine on a cluster has one address, as docker/engine/kubernetes/cluster.h defines it. */
static int choose_engine(struct cbx_options *options, struct cbx_err *err)
{
    bool named = options->engine != NULL;
    bool kubernetes = named ? strcmp(options->engine, "kubernetes") == 0
                            : options->kubeconfig != NULL || options->cluster != NULL;
    if (!kubernetes) {
        return 0;
    }
    if (options->docker_host != NULL) {
        return cbx_fail(err, CBX_EINVAL,
                        "--docker-host is an engine of its own; it excludes --engine kubernetes, "
                        "--kubeconfig and --cluster");
    }
    CBX_AUTO_DONE(buf) host;
    cbx_buf_init(&host, 2 * PATH_MAX + 64);
    cbx_buf_add_cstr(&host, CBX_CLUSTER_SCHEME);
    int failed = add_path(options->kubeconfig, &host, err);
    if (failed) {
        return failed;
    }
    cbx_buf_add_char(&host, ':');
    failed = add_path(options->cluster, &host, err);
    if (failed) {
        return failed;
    }
    options->docker_host = cbx_arena_copy(&options->arena, cbx_buf_str(&host)).p;
    return 0;
}

void cbx_cli_options_settings(struct cbx_options *options, struct cbx_problems *problems)
{
    struct cbx_option_table table = cbx_cli_options_table(options->line.command);
    struct cbx_option_values values = { .into = options,
                                        .arena = &options->arena,
                                        .origins = options->origins };
    struct cbx_err err = { 0 };
    const char *path = settings_path(options);
    clear_values(options);
    options->settings_path = path;
    memset(options->sections, 0, sizeof(options->sections));
    if (path != NULL) {
        cbx_settings_read(path, &table, &values, options->sections, problems);
    }
    if (cbx_options_read_environment(&table, &values, &err) != 0) {
        cbx_problems_add(problems, &err);
    }
    if (read_line(options, &err) != 0 || choose_engine(options, &err) != 0) {
        cbx_problems_add(problems, &err);
    }
}

int cbx_cli_options_read(char command, int argc, char **argv, int from, struct cbx_options *out,
                         struct cbx_err *err)
{
    static struct cbx_problems problems;
    *out = (struct cbx_options){
        .line = { .command = command, .argc = argc, .from = from, .argv = argv }
    };
    cbx_arena_init(&out->arena, CBX_OPTIONS_ARENA_MAX);
    int failed = read_line(out, err);
    if (!failed) {
        failed = choose_engine(out, err);
    }
    if (failed || out->help || strchr(with_settings, command) == NULL) {
        return failed;
    }
    problems.count = 0;
    cbx_cli_options_settings(out, &problems);
    if (problems.count > 0) {
        *err = problems.items[0];
        return problems.count == 1
                   ? err->code
                   : cbx_err_detail(err, "and %zu more: 'codebox config check' lists them",
                                    problems.count - 1);
    }
    return 0;
}

void cbx_cli_options_done(struct cbx_options *options)
{
    cbx_arena_done(&options->arena);
}

void cbx_cli_options_help(char command, struct cbx_buf *out)
{
    struct cbx_option_table table = cbx_cli_options_table(command);
    cbx_options_help(&table, out);
}

bool cbx_cli_options_complete(const char *shell, struct cbx_buf *out)
{
    struct cbx_option_table table = cbx_cli_options_table('\0');
    cbx_options_complete(&table, shell, out);
    return out->len > 0;
}
