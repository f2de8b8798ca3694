/* SPDX-License-Identifier: MIT
 * MCP clients. */
#include "gateway/cli/clients.h"

#include "policies/policy.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

static const struct cbx_client clients[] = {
#define CBX_CLIENT(name, title, section, typed, user_file, project_file, undo)                     \
    { name, title, section, typed, user_file, project_file, undo },
#include "gateway/cli/clients.def"
#undef CBX_CLIENT
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

/* --- the options of mcp ----------------------------------------------------------------------- */

/* The options that install hands on. */
static const struct option {
    const char *name;
    enum cbx_option_type type;
    size_t offset;
    const char *words, *commands;
} options_table[] = {
#define CBX_OPTION(member, name, letter, type, value, words, lo, hi, commands, help)               \
    { name, CBX_OPTION_##type, offsetof(struct cbx_options, member), words, commands },
#include "gateway/cli/options.def"
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

/* The path need not exist yet. */
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

/* The state directory was filled in with its default when it was not given. */
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

json_t *cbx_client_entry(const struct cbx_client *client, const struct cbx_options *options,
                         struct cbx_err *err)
{
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
    if (n < 0) {
        cbx_fail(err, CBX_EIO, "the path of this program: %s", strerror(errno));
        return NULL;
    }
    self[n] = '\0';
    const struct cbx_options complete = with_environment(options);
    json_t *arguments = json_pack("[s]", "mcp");
    for (size_t i = 0; i < sizeof(options_table) / sizeof(options_table[0]); i++) {
        if (is_of_mcp(&options_table[i])) {
            add_option(&options_table[i], &complete, arguments);
        }
    }
    json_t *entry = client->typed ? json_pack("{s:s}", "type", "stdio") : json_object();
    json_object_set_new(entry, "command", cbx_json_text(cbx_str_of(self)));
    json_object_set_new(entry, "args", arguments);
    return entry;
}
