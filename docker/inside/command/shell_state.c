/* SPDX-License-Identifier: MIT
 * Reads the output of declare, trap and umask. Any text that bash does not print is refused. */
#include "docker/inside/command/shell_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Linux accepts strings of the environment up to 128 KiB. */
enum { FUNCTION_MAX = 128 * 1024 - 256 };

/* The parts of the script, in their order. Attributes follow all values: an integer attribute
 * evaluates the assigned text, a reference passes it on. Traps and options come last, as they
 * affect the commands after them. */
enum part { PART_FOLDER, PART_VALUES, PART_ATTRIBUTES, PART_TRAPS, PART_OPTIONS, PARTS };

struct builder {
    FILE *part[PARTS];
    char **env;
    size_t env_count;
};

/* --- tokens ----------------------------------------------------------------------------------- */

/* These functions return the position after the token, or NULL if it is missing. Records are
 * terminated. */

static const char *skip(const char *at, const char *text)
{
    return at != NULL && strncmp(at, text, strlen(text)) == 0 ? at + strlen(text) : NULL;
}

static const char *skip_name(const char *at)
{
    size_t n = strspn(at, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789");
    return n > 0 && (at[0] < '0' || at[0] > '9') ? at + n : NULL;
}

/* Skips "...", without any expansion of bash. */
static const char *skip_double_quoted(const char *at)
{
    for (at++; *at != '"'; at++) {
        if (*at == '\0' || *at == '$' || *at == '`' ||
            (*at == '\\' && (*++at == '\0' || strchr("\"$`\\", *at) == NULL))) {
            return NULL;
        }
    }
    return at + 1;
}

/* Skips $'...'. */
static const char *skip_escaped(const char *at)
{
    for (at += 2; *at != '\''; at++) {
        if (*at == '\0' || (*at == '\\' && *++at == '\0')) {
            return NULL;
        }
    }
    return at + 1;
}

static const char *skip_quoted(const char *at)
{
    return *at == '"'                      ? skip_double_quoted(at)
           : at[0] == '$' && at[1] == '\'' ? skip_escaped(at)
                                           : NULL;
}

/* Skips 'it'\''s'. */
static const char *skip_single_quoted(const char *at)
{
    for (at = skip(at, "'"); at != NULL && (at = strchr(at, '\'')) != NULL; at += 4) {
        if (strncmp(at, "'\\''", 4) != 0) {
            return at + 1;
        }
    }
    return NULL;
}

/* bash evaluates the subscript of an indexed array, so only a number is accepted. */
static const char *skip_subscript(const char *at, bool is_indexed)
{
    size_t n = is_indexed ? strspn(at, "0123456789") : strcspn(at, " \t\n\"'\\$`()<>;|&*?[]{}!^");
    return n > 0 ? at + n : is_indexed ? NULL : skip_quoted(at);
}

static const char *skip_array(const char *at, bool is_indexed)
{
    for (at = skip(at, "("); at != NULL && *at != ')';
         at = at != NULL && *at == ' ' ? at + 1 : at) {
        at = skip(at, "[");
        at = at != NULL ? skip_subscript(at, is_indexed) : NULL;
        at = skip(at, "]=");
        at = at != NULL ? skip_quoted(at) : NULL;
    }
    return at != NULL ? at + 1 : NULL;
}

/* --- records ---------------------------------------------------------------------------------- */

static bool is_name(const char *at, const char *end, const char *name)
{
    return strlen(name) == (size_t)(end - at) && memcmp(at, name, (size_t)(end - at)) == 0;
}

/* Variables that each shell, or bash_session.sh, sets by itself. */
static bool is_own(const char *at, const char *end)
{
    static const char *const own[] = { "BASHOPTS",  "BASH_VERSINFO", "EUID", "PPID",
                                       "SHELLOPTS", "UID",           "_" };
    bool found = strncmp(at, "__codebox_", 10) == 0;
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
        found |= is_name(at, end, own[i]);
    }
    return found;
}

static void put(FILE *out, const char *from, const char *to)
{
    fwrite(from, 1, (size_t)(to - from), out);
}

static void put_variable(struct builder *to, const char *flags, const char *name, const char *end,
                         const char *value_end)
{
    size_t count = strcspn(flags, " ");
    bool is_array = memchr(flags, 'a', count) != NULL || memchr(flags, 'A', count) != NULL;
    bool is_reference = memchr(flags, 'n', count) != NULL;
    FILE *values = to->part[PART_VALUES];
    if (*end == '=' && !is_reference) {
        /* A function may be named "declare", so arrays are assigned without a command. */
        fputs(!is_array                           ? "\\builtin declare +i -- "
              : memchr(flags, 'a', count) != NULL ? "\\builtin declare -a "
                                                  : "\\builtin declare -A ",
              values);
        put(values, name, is_array ? end : name);
        fputs(is_array ? "\n" : "", values);
        put(values, name, value_end);
        putc('\n', values);
    }
    if (count > 1 && flags[1] != '-') {
        fputs("\\builtin declare ", to->part[PART_ATTRIBUTES]);
        put(to->part[PART_ATTRIBUTES], flags, flags + count);
        putc(' ', to->part[PART_ATTRIBUTES]);
        put(to->part[PART_ATTRIBUTES], name, is_reference ? value_end : end);
        putc('\n', to->part[PART_ATTRIBUTES]);
    }
}

/* Reads lines "declare -FLAGS NAME=VALUE", or without a value; "local -" of a function that ran. */
static bool read_variables(struct builder *to, const char *at)
{
    for (const char *next; *at != '\0';) {
        if ((next = skip(at, "local -\n")) != NULL) {
            at = next;
            continue;
        }
        const char *flags = skip(at, "declare ");
        size_t count = flags != NULL ? strspn(flags, "-aAcilnrtux") : 0;
        if (count < 2 || flags[0] != '-' || flags[count] != ' ') {
            return false;
        }
        const char *name = flags + count + 1, *end = skip_name(name), *value_end = end;
        if (end != NULL && *end == '=') {
            bool is_indexed = memchr(flags, 'a', count) != NULL;
            value_end = end[1] == '(' ? skip_array(end + 1, is_indexed) : skip_quoted(end + 1);
        }
        if (value_end == NULL || *value_end != '\n') {
            return false;
        }
        if (!is_own(name, end)) {
            put_variable(to, flags, name, end, value_end);
        }
        at = value_end + 1;
    }
    return true;
}

static void put_word(FILE *out, const char *from, const char *to)
{
    putc('\'', out);
    for (; from < to; from++) {
        fputs(*from == '\'' ? "'\\''" : (const char[]){ *from, '\0' }, out);
    }
    putc('\'', out);
}

/* The environment accepts "BASH_FUNC_NAME%%=() { ...". A name with a slash is not accepted. */
static bool read_function(struct builder *to, const char *at)
{
    static const char prefix[] = "BASH_FUNC_", head[] = " () \n{ \n";
    const char *body = strstr(at, head);
    size_t size = strlen(at) + sizeof(prefix) + sizeof(head);
    if (body == NULL || body == at || size > FUNCTION_MAX ||
        memchr(at, '\n', (size_t)(body - at))) {
        return false;
    }
    if (strncmp(at, "__codebox_", 10) == 0 || memchr(at, '/', (size_t)(body - at)) != NULL) {
        return true;
    }
    char *text = malloc(size);
    char **env = realloc(to->env, (to->env_count + 2) * sizeof(*env));
    if (text == NULL || env == NULL) {
        abort();
    }
    snprintf(text, size, "%s%.*s%%%%=() %s", prefix, (int)(body - at), at, body + 5);
    to->env = env;
    to->env[to->env_count++] = text;
    to->env[to->env_count] = NULL;
    return true;
}

/* Reads lines "declare -f NAME", "declare -frx NAME". The environment exported all functions. */
static bool read_function_attributes(struct builder *to, const char *at)
{
    while (*at != '\0') {
        const char *flags = skip(at, "declare -f");
        const char *name = flags != NULL ? flags + strspn(flags, "rtx") : NULL;
        const char *end = name != NULL ? strchr(name, '\n') : NULL;
        if (end == NULL || *name++ != ' ' || name == end) {
            return false;
        }
        static const struct {
            char flag;
            bool when;
            const char *command;
        } commands[] = { { 'x', false, "export -nf" },
                         { 't', true, "declare -ft" },
                         { 'r', true, "readonly -f" } };
        for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
            bool has = memchr(flags, commands[i].flag, (size_t)(name - flags)) != NULL;
            if (has == commands[i].when && strncmp(name, "__codebox_", 10) != 0) {
                fprintf(to->part[PART_ATTRIBUTES], "\\builtin %s -- ", commands[i].command);
                put_word(to->part[PART_ATTRIBUTES], name, end);
                putc('\n', to->part[PART_ATTRIBUTES]);
            }
        }
        at = end + 1;
    }
    return true;
}

/* Reads lines "trap -- 'COMMAND' SIGNAL". The EXIT trap is the session's own; the DEBUG and
 * RETURN traps would act on the commands of the kernel. */
static bool read_traps(struct builder *to, const char *at)
{
    while (*at != '\0') {
        const char *end = skip(at, "trap -- ");
        end = end != NULL ? skip_single_quoted(end) : NULL;
        const char *signal = skip(end, " ");
        end = signal != NULL ? skip_name(signal) : NULL;
        end = skip(end != NULL ? end + strspn(end, "+-0123456789") : NULL, "\n");
        if (end == NULL) {
            return false;
        }
        if (skip(signal, "EXIT\n") == NULL && skip(signal, "DEBUG\n") == NULL &&
            skip(signal, "RETURN\n") == NULL) {
            fputs("\\builtin ", to->part[PART_TRAPS]);
            put(to->part[PART_TRAPS], at, end);
        }
        at = end;
    }
    return true;
}

static bool read_mask(struct builder *to, const char *at)
{
    size_t n = strspn(at, "01234567");
    fprintf(to->part[PART_VALUES], "\\builtin umask %.*s\n", (int)n, at);
    return n > 0 && strcmp(at + n, "\n") == 0;
}

static bool read_folder(struct builder *to, const char *at)
{
    fputs("\\builtin cd -- ", to->part[PART_FOLDER]);
    put_word(to->part[PART_FOLDER], at, at + strlen(at));
    putc('\n', to->part[PART_FOLDER]);
    return true;
}

/* Reads names between colons, each for `command`. */
static bool read_options(FILE *out, const char *command, const char *at)
{
    for (size_t n; *at != '\0'; at += n + (at[n] == ':')) {
        n = strspn(at, "abcdefghijklmnopqrstuvwxyz_-0123456789");
        if (n == 0 || (at[n] != ':' && at[n] != '\0')) {
            return false;
        }
        fprintf(out, "\\builtin %s %.*s\n", command, (int)n, at);
    }
    return true;
}

static bool read_shell_options(struct builder *to, const char *at)
{
    fputs("\\builtin shopt -u ${BASHOPTS//:/ }\n", to->part[PART_FOLDER]);
    return read_options(to->part[PART_FOLDER], "shopt -s", at);
}

static bool read_set_options(struct builder *to, const char *at)
{
    fputs("\\builtin set +BCEHPTabefhkmtuvx\n", to->part[PART_OPTIONS]);
    return read_options(to->part[PART_OPTIONS], "set -o", at);
}

static bool read_record(struct builder *to, const char *at)
{
    static const struct {
        char type;
        bool (*read)(struct builder *to, const char *at);
    } readers[] = {
        { 'v', read_variables },     { 'f', read_function },   { 'a', read_function_attributes },
        { 't', read_traps },         { 'm', read_mask },       { 'd', read_folder },
        { 's', read_shell_options }, { 'o', read_set_options }
    };
    for (size_t i = 0; i < sizeof(readers) / sizeof(readers[0]); i++) {
        if (*at == readers[i].type) {
            return readers[i].read(to, at + 1);
        }
    }
    return false;
}

/* --- all of it -------------------------------------------------------------------------------- */

static void join(char *const text[PARTS], const size_t size[PARTS], struct cbx_shell_restore *out)
{
    size_t len = 0;
    for (size_t i = 0; i < PARTS; i++) {
        len += size[i];
    }
    out->script = malloc(len + 1);
    if (out->script == NULL) {
        abort();
    }
    out->len = 0;
    for (size_t i = 0; i < PARTS; i++) {
        memcpy(out->script + out->len, text[i], size[i]);
        out->len += size[i];
    }
    out->script[len] = '\0';
}

bool cbx_shell_restore_read(const char *records, size_t len, struct cbx_shell_restore *out)
{
    struct builder builder = { 0 };
    struct cbx_shell_restore made = { 0 };
    char *text[PARTS];
    size_t size[PARTS];
    for (size_t i = 0; i < PARTS; i++) {
        builder.part[i] = open_memstream(&text[i], &size[i]);
        if (builder.part[i] == NULL) {
            abort();
        }
    }
    bool valid = len == 0 || records[len - 1] == '\0';
    for (const char *at = records; valid && at < records + len; at += strlen(at) + 1) {
        valid = read_record(&builder, at);
    }
    for (size_t i = 0; i < PARTS; i++) {
        fclose(builder.part[i]);
    }
    join(text, size, &made);
    for (size_t i = 0; i < PARTS; i++) {
        free(text[i]);
    }
    made.env = builder.env;
    if (valid) {
        *out = made;
    } else {
        cbx_shell_restore_done(&made);
    }
    return valid;
}

void cbx_shell_restore_done(struct cbx_shell_restore *restore)
{
    for (size_t i = 0; restore->env != NULL && restore->env[i] != NULL; i++) {
        free(restore->env[i]);
    }
    free(restore->env);
    free(restore->script);
    *restore = (struct cbx_shell_restore){ 0 };
}
