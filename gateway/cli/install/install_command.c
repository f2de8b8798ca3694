/* SPDX-License-Identifier: MIT
 * `codebox install`: registers `codebox mcp` with an MCP client in the client's own configuration
 * file, or prints the entry. */
#include "gateway/cli/cli.h"
#include "gateway/cli/install/clients.h"
#include "gateway/cli/settings/config_file.h"
#include "gateway/ipc/master/policy_set.h"

#include <limits.h>
#include <stdlib.h>

static const char entry_name[] = "codebox";

/* One registration. */
struct install {
    const struct cbx_client *client;
    const struct cbx_options *options;
    bool project;
    char path[PATH_MAX];
    json_t *command, *members, *once; /* owned */
    struct cbx_client_entry entry;
};

/* A mistake in the options is reported now, not later in the log of a client. */
static int check_policies(const struct cbx_options *options, struct cbx_err *err)
{
    const struct cbx_flow_config config = cbx_options_flow(options);
    struct cbx_policies policies;
    int failed =
        cbx_policies_load(config.policies, config.policy_count, CBX_MODES_ENFORCED, &policies, err);
    if (!failed) {
        cbx_policies_done(&policies);
    }
    return failed;
}

static int prepare(struct install *x, struct cbx_err *err)
{
    const struct cbx_options *o = x->options;
    if (o->arguments.count > 0) {
        return cbx_fail(err, CBX_EINVAL, "install takes options only, not '%s'",
                        o->arguments.items[0]);
    }
    if (o->client == NULL) {
        CBX_AUTO_DONE(buf) names;
        cbx_buf_init(&names, 256);
        cbx_client_add_names(&names);
        return cbx_fail(err, CBX_EINVAL, "--client is missing, allowed are: %s", names.p);
    }
    x->client = cbx_client_find(o->client);
    x->project = o->scope != NULL && strcmp(o->scope, "project") == 0;
    int failed = 0;
    if (!o->print) {
        failed = cbx_client_path(x->client, x->project, x->path, err);
    }
    if (failed) {
        return failed;
    }
    failed = check_policies(o, err);
    if (failed) {
        return failed;
    }
    x->command = cbx_client_command(o, err);
    if (x->command == NULL) {
        return err->code;
    }
    cbx_client_members(x->client, x->command, &x->members, &x->once);
    x->entry = (struct cbx_client_entry){ .section = x->client->section,
                                          .name = entry_name,
                                          .members = x->members,
                                          .once = x->once,
                                          .head = x->client->head };
    return 0;
}

/* --- output ----------------------------------------------------------------------------------- */

/* Prints the entry as a new file has it. */
static void print_snippet(const struct install *x)
{
    CBX_AUTO_DONE(buf) text;
    enum cbx_splice what;
    struct cbx_err err = { 0 };
    cbx_buf_init(&text, CBX_SPLICE_TEXT_MAX);
    if (x->client->set(CBX_STR(""), &x->entry, &what, &text, &err) == 0) {
        printf("%s", text.p);
    }
}

static void print_command(const struct install *x)
{
    size_t i;
    const json_t *word;
    printf("command:");
    json_array_foreach(x->command, i, word)
    {
        printf(" %s", json_string_value(word));
    }
    printf("\n");
}

static void print_done(const struct install *x, const struct cbx_config_file *file,
                       enum cbx_splice what)
{
    static const char *const words[] = { [CBX_SPLICE_ADDED] = "added to",
                                         [CBX_SPLICE_REPLACED] = "replaced in",
                                         [CBX_SPLICE_SAME] = "already in, unchanged:" };
    const struct cbx_client *client = x->client;
    bool linked = strcmp(file->path, x->path) != 0;
    printf("%s: codebox %s %s%s%s\n", client->title, words[what], x->path,
           linked ? ", which leads to " : "", linked ? file->path : "");
    print_command(x);
    printf("undo: remove '%s' of '%s' from that file", entry_name, client->section);
    if (client->undo != NULL) {
        printf(", or: ");
        const char *scope = strstr(client->undo, "%s");
        printf("%.*s%s%s", (int)(scope - client->undo), client->undo,
               x->project ? "project" : "user", scope + 2);
    }
    printf("\n");
}

static int fail_with_snippet(const struct install *x, const struct cbx_err *err)
{
    cbx_cli_fail(err);
    fprintf(stderr, "codebox: '%s' is unchanged. Put this into it:\n", x->path);
    print_snippet(x);
    return 2;
}

static int edit_file(const struct install *x, struct cbx_config_file *file, enum cbx_splice *what,
                     struct cbx_err *err)
{
    CBX_AUTO_DONE(buf) before;
    CBX_AUTO_DONE(buf) after;
    cbx_buf_init(&before, CBX_SPLICE_TEXT_MAX);
    cbx_buf_init(&after, 2 * (size_t)CBX_SPLICE_TEXT_MAX);
    mode_t mode = x->project ? 0666 & ~x->options->umask : 0600;
    int failed = cbx_config_file_read(x->path, x->project, file, &before, err);
    if (failed) {
        return failed;
    }
    failed = x->client->set(cbx_buf_str(&before), &x->entry, what, &after, err);
    if (failed || *what == CBX_SPLICE_SAME) {
        return failed;
    }
    return cbx_config_file_replace(file, cbx_buf_str(&after), mode, err);
}

static int write_entry(const struct install *x)
{
    struct cbx_config_file file;
    enum cbx_splice what;
    struct cbx_err err = { 0 };
    if (edit_file(x, &file, &what, &err) != 0) {
        return fail_with_snippet(x, &err);
    }
    print_done(x, &file, what);
    return 0;
}

int cbx_install_command(const struct cbx_options *options)
{
    struct install x = { .options = options };
    struct cbx_err err = { 0 };
    if (prepare(&x, &err) != 0) {
        return cbx_cli_fail(&err);
    }
    int status = 0;
    if (options->print) {
        print_snippet(&x);
    } else {
        status = write_entry(&x);
    }
    json_decref(x.command);
    json_decref(x.members);
    json_decref(x.once);
    return status;
}
