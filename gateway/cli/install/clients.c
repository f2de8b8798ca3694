/* SPDX-License-Identifier: MIT
 * MCP clients. */
#include "gateway/cli/install/clients.h"

#include "policies/policy.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#define CBX_CLIENT_FORM(name, before, command, arguments, once)                                    \
    static const struct cbx_client_form form_##name = { before, command, arguments, once };
#include "gateway/cli/install/clients.def"

#define JSON      cbx_client_entry_json
#define TOML      cbx_client_entry_toml
#define YAML      cbx_client_entry_yaml
#define YAML_LIST cbx_client_entry_yaml_list
static const struct cbx_client clients[] = {
#define CBX_CLIENT(name, title, FORMAT, form, section, variable, folder, user_file, project_file,  \
                   head, undo)                                                                     \
    { name,   title,     FORMAT,       &form_##form, section, variable,                            \
      folder, user_file, project_file, head,         undo },
#include "gateway/cli/install/clients.def"
};
enum { CLIENTS = sizeof(clients) / sizeof(clients[0]) };

const struct cbx_client *cbx_client_find(const char *name)
{
    for (size_t i = 0; i < CLIENTS; i++) {
        if (strcmp(clients[i].name, name) == 0) {
            return &clients[i];
        }
    }
    return NULL;
}

void cbx_client_add_names(struct cbx_buf *out)
{
    for (size_t i = 0; i < CLIENTS; i++) {
        cbx_buf_printf(out, "%s%s", i > 0 ? " " : "", clients[i].name);
    }
}

/* --- files ------------------------------------------------------------------------------------ */

/* Finds the path below the folder, "" = the working directory. Of the names with '|' between
 * them it takes the first that exists, else the last. */
static int choose_file(const char *folder, const char *names, char *out, struct cbx_err *err)
{
    for (const char *at = names;;) {
        size_t len = strcspn(at, "|");
        int n =
            snprintf(out, PATH_MAX, "%s%s%.*s", folder, folder[0] != '\0' ? "/" : "", (int)len, at);
        if (n >= PATH_MAX) {
            return cbx_fail(err, CBX_ETOOBIG, "the path of the client's file is too long");
        }
        if (at[len] == '\0' || access(out, F_OK) == 0) {
            return 0;
        }
        at += len + 1;
    }
}

int cbx_client_path(const struct cbx_client *client, bool project, char *out, struct cbx_err *err)
{
    const char *names = project ? client->project_file : client->user_file;
    const char *base = client->variable != NULL ? getenv(client->variable) : NULL;
    const char *home = getenv("HOME");
    char folder[PATH_MAX] = "";
    if (names == NULL) {
        return cbx_fail(err, CBX_EINVAL,
                        "%s has no file %s; --print prints what to put into its settings",
                        client->title, project ? "of a project" : "that can be edited");
    }
    if (project) {
        return choose_file("", names, out, err);
    }
    if (base != NULL && base[0] == '/') {
        return choose_file(base, names, out, err);
    }
    if (home == NULL || home[0] != '/') {
        return cbx_fail(err, CBX_EINVAL, "$HOME is not an absolute path");
    }
    int n = snprintf(folder, sizeof(folder), "%s%s%s", home, client->folder[0] != '\0' ? "/" : "",
                     client->folder);
    if (n < (int)sizeof(folder)) {
        return choose_file(folder, names, out, err);
    }
    return cbx_fail(err, CBX_ETOOBIG, "$HOME is too long");
}

/* --- the options of mcp ----------------------------------------------------------------------- */

/* The options that install passes on to the entry. */
static const struct option {
    const char *name;
    enum cbx_option_type type;
    size_t offset;
    const char *words, *commands;
} options_table[] = {
#define CBX_OPTION(member, name, letter, type, value, words, lo, hi, commands, help)               \
    { name, CBX_OPTION_##type, offsetof(struct cbx_options, member), words, commands },
#include "gateway/cli/settings/cli_options.def"
#undef CBX_OPTION
};

static bool is_of_mcp(const struct option *option)
{
    return option->commands != NULL && strchr(option->commands, 'm') != NULL;
}

static bool is_preset(const char *name)
{
    size_t count;
    const struct cbx_preset *presets = cbx_preset_list(&count);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(presets[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

/* The path may not exist yet. */
static json_t *absolute(const char *path)
{
    char folder[PATH_MAX];
    if (path[0] == '/' || getcwd(folder, sizeof(folder)) == NULL) {
        return json_string(path);
    }
    return json_sprintf("%s/%s", strcmp(folder, "/") == 0 ? "" : folder, path);
}

static void add_text(const struct option *option, const char *text, json_t *arguments)
{
    const char *kind = option->words != NULL ? option->words : "";
    bool is_file = strcmp(kind, "@file") == 0 || (strcmp(kind, "@policy") == 0 && !is_preset(text));
    json_array_append_new(arguments, json_sprintf("--%s", option->name));
    json_array_append_new(arguments, is_file ? absolute(text) : json_string(text));
}

static void add_option(const struct option *option, const struct cbx_options *options,
                       json_t *arguments)
{
    const char *member = (const char *)options + option->offset;
    const char *text = NULL;
    char number[32] = "";
    switch (option->type) {
    case CBX_OPTION_TEXT:
    case CBX_OPTION_WORD:
        text = *(const char *const *)(const void *)member;
        break;
    case CBX_OPTION_NUMBER:
        snprintf(number, sizeof(number), "%lld", (long long)*(const int64_t *)(const void *)member);
        text = strcmp(number, "0") != 0 ? number : NULL;
        break;
    case CBX_OPTION_LIST: {
        const struct cbx_words *words = (const void *)member;
        for (size_t i = 0; i < words->count; i++) {
            add_text(option, words->items[i], arguments);
        }
        break;
    }
    default:
        break;
    }
    if (text != NULL) {
        add_text(option, text, arguments);
    }
}

/* The state directory has its default if the option was not given. */
static struct cbx_options with_environment(const struct cbx_options *given)
{
    struct cbx_options options = *given;
    const char *engine = getenv("DOCKER_HOST"), *state = getenv("XDG_STATE_HOME");
    bool state_given = given->state_dir != given->state_buffer;
    if (options.docker_host == NULL && engine != NULL && engine[0] != '\0') {
        options.docker_host = engine;
    }
    if (!state_given) {
        bool by_environment = state != NULL && state[0] == '/' &&
                              cbx_str_starts(cbx_str_of(given->state_buffer), cbx_str_of(state));
        options.state_dir = by_environment ? given->state_buffer : NULL;
    }
    return options;
}

json_t *cbx_client_command(const struct cbx_options *options, struct cbx_err *err)
{
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
    if (n < 0) {
        cbx_fail(err, CBX_EIO, "the path of this program: %s", strerror(errno));
        return NULL;
    }
    self[n] = '\0';
    const struct cbx_options complete = with_environment(options);
    json_t *command = json_array();
    json_array_append_new(command, cbx_json_text(cbx_str_of(self)));
    json_array_append_new(command, json_string("mcp"));
    for (size_t i = 0; i < sizeof(options_table) / sizeof(options_table[0]); i++) {
        if (is_of_mcp(&options_table[i])) {
            add_option(&options_table[i], &complete, command);
        }
    }
    return command;
}

void cbx_client_members(const struct cbx_client *client, const json_t *command, json_t **members,
                        json_t **once)
{
    const struct cbx_client_form *form = client->form;
    json_t *json = form->before != NULL ? json_loads(form->before, 0, NULL) : json_object();
    *once = form->once != NULL ? json_loads(form->once, 0, NULL) : NULL;
    if (form->arguments == NULL) {
        json_object_set(json, form->command, (json_t *)(uintptr_t)command);
    } else {
        json_t *arguments = json_copy((json_t *)(uintptr_t)command);
        json_object_set(json, form->command, json_array_get(command, 0));
        json_array_remove(arguments, 0);
        json_object_set_new(json, form->arguments, arguments);
    }
    *members = json;
}
