/* SPDX-License-Identifier: MIT
 * Shell to facts: every command word, every redirection, installs; code that is handed to an
 * interpreter is judged as that language. */
#include "analyzer/lang.h"
#include "analyzer/packages.h"
#include "analyzer/value.h"

enum { WORDS_MAX = 256 };

struct shell {
    struct cbx_parsed *parsed;
    const char *src;
};

static struct cbx_str text_of(const struct shell *s, TSNode node)
{
    uint32_t start = ts_node_start_byte(node), end = ts_node_end_byte(node);
    return (struct cbx_str){ .p = s->src + start, .len = end - start };
}

static bool type_is(TSNode node, const char *type)
{
    return !ts_node_is_null(node) && strcmp(ts_node_type(node), type) == 0;
}

/* Backslashes of an unquoted word taken away. */
static struct cbx_str plain(struct shell *s, struct cbx_str text)
{
    if (text.len == 0 || memchr(text.p, '\\', text.len) == NULL) {
        return text;
    }
    char *p = cbx_arena_alloc(s->parsed->arena, text.len + 1);
    size_t n = 0;
    for (size_t i = 0; p != NULL && i < text.len; i++) {
        i += text.p[i] == '\\' && i + 1 < text.len;
        p[n++] = text.p[i];
    }
    return (struct cbx_str){ .p = p, .len = n };
}

/* A word without expansions; what has any is not known. In notebook cells {x} is IPython's own
 * expansion. */
static bool fold_word(struct shell *s, TSNode node, struct cbx_str *out, int depth)
{
    struct cbx_str text = text_of(s, node);
    if (type_is(node, "word") || type_is(node, "number") || type_is(node, "string_content")) {
        bool glob = !type_is(node, "string_content") && text.len > 0 &&
                    (memchr(text.p, '{', text.len) != NULL ||
                     (text.p[0] == '~' && text.len > 1 && text.p[1] != '/'));
        *out = type_is(node, "string_content") ? text : plain(s, text);
        return !glob;
    }
    if (type_is(node, "raw_string")) {
        *out = cbx_str_sub(text, 1, text.len > 0 ? text.len - 1 : 0);
        return true;
    }
    if (!(type_is(node, "string") || type_is(node, "concatenation") ||
          type_is(node, "command_name")) ||
        depth > 4) {
        return false;
    }
    struct cbx_str joined = CBX_STR(""), part;
    for (uint32_t i = 0, n = ts_node_named_child_count(node); i < n && i < 64; i++) {
        if (!fold_word(s, ts_node_named_child(node, i), &part, depth + 1)) {
            return false;
        }
        joined = cbx_fold_concat(s->parsed->arena, joined, part);
    }
    *out = joined;
    return joined.p != NULL;
}

static size_t read_words(struct shell *s, TSNode command, struct cbx_word *words)
{
    size_t count = 0;
    TSTreeCursor cursor = ts_tree_cursor_new(command);
    for (bool more = ts_tree_cursor_goto_first_child(&cursor); more && count < WORDS_MAX;
         more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        TSNode child = ts_tree_cursor_current_node(&cursor);
        if (type_is(child, "variable_assignment") || type_is(child, "file_redirect") ||
            type_is(child, "herestring_redirect") || type_is(child, "comment")) {
            continue;
        }
        struct cbx_word *word = &words[count++];
        *word =
            (struct cbx_word){ .start = ts_node_start_byte(child), .end = ts_node_end_byte(child) };
        /* '?', '*' and the like stand as unnamed children too; they are words. */
        word->known = ts_node_is_named(child) ? fold_word(s, child, &word->text, 0) : true;
        if (!ts_node_is_named(child)) {
            word->text = text_of(s, child);
        }
    }
    ts_tree_cursor_delete(&cursor);
    return count;
}

static bool listed(const struct cbx_strs *list, struct cbx_str word)
{
    for (size_t i = 0; i < list->count; i++) {
        if (cbx_str_equal(list->items[i], word)) {
            return true;
        }
    }
    return false;
}

static void add(struct shell *s, enum cbx_fact_id id, const struct cbx_word *word)
{
    cbx_facts_add_special(s->parsed->facts, id, word->text, word->start, word->end);
}

/* Commands that run the command behind them. */
static const char *const wrappers[] = { "env",    "xargs",   "nohup", "timeout", "nice",  "ionice",
                                        "sudo",   "command", "exec",  "builtin", "time",  "stdbuf",
                                        "setsid", "watch",   "doas",  "chroot",  "strace" };
/* Interpreters: the option that takes code, and its language. */
static const struct {
    const char *word, *option, *language;
} interpreters[] = {
    { "sh", "-c", "shell" },          { "bash", "-c", "shell" },
    { "dash", "-c", "shell" },        { "zsh", "-c", "shell" },
    { "python", "-c", "python" },     { "python3", "-c", "python" },
    { "node", "-e", "javascript" },   { "node", "--eval", "javascript" },
    { "nodejs", "-e", "javascript" }, { "node", "-p", "javascript" },
    { "ipython", "-c", "ipython" },
};

static void check_command(struct shell *s, const struct cbx_word *words, size_t count, int depth)
{
    if (count == 0 || depth > 8) {
        return;
    }
    if (!words[0].known || words[0].text.len == 0) {
        cbx_facts_add_special(s->parsed->facts, CBX_FACT_SHELL_UNRESOLVED, CBX_STR("command word"),
                              words[0].start, words[0].end);
        return;
    }
    struct cbx_str word = words[0].text;
    if (!listed(&s->parsed->policy->shell_allow, word)) {
        add(s, CBX_FACT_SHELL_NOT_LISTED, &words[0]);
    }
    cbx_packages_read(s->parsed, words, count);
    for (size_t i = 0; i < sizeof(interpreters) / sizeof(interpreters[0]); i++) {
        for (size_t w = 1; cbx_str_is(word, interpreters[i].word) && w + 1 < count; w++) {
            if (words[w].known && cbx_str_is(words[w].text, interpreters[i].option)) {
                if (words[w + 1].known) {
                    cbx_parse_inner(s->parsed, interpreters[i].language, words[w + 1].text,
                                    words[w + 1].start, words[w + 1].end);
                } else {
                    cbx_facts_add_special(s->parsed->facts, CBX_FACT_SHELL_UNRESOLVED,
                                          CBX_STR("code"), words[w + 1].start, words[w + 1].end);
                }
            }
        }
    }
    for (size_t i = 0; i < sizeof(wrappers) / sizeof(wrappers[0]); i++) {
        if (!cbx_str_is(word, wrappers[i])) {
            continue;
        }
        size_t w = 1; /* options, assignments and durations stand before the command */
        while (w < count && words[w].known && words[w].text.len > 0 &&
               (words[w].text.p[0] == '-' ||
                memchr(words[w].text.p, '=', words[w].text.len) != NULL ||
                (words[w].text.p[0] >= '0' && words[w].text.p[0] <= '9'))) {
            w++;
        }
        check_command(s, words + w, count - w, depth + 1);
    }
    for (size_t w = 1; cbx_str_is(word, "find") && w + 1 < count; w++) {
        if (words[w].known &&
            (cbx_str_is(words[w].text, "-exec") || cbx_str_is(words[w].text, "-execdir") ||
             cbx_str_is(words[w].text, "-ok"))) {
            check_command(s, words + w + 1, count - w - 1, depth + 1);
        }
    }
}

static bool is_inside(struct cbx_str path)
{
    if (memmem(path.p, path.len, "..", 2) != NULL) {
        return false;
    }
    return path.len > 0 &&
           (path.p[0] != '/' || cbx_str_starts(path, CBX_STR("/workspace/")) ||
            cbx_str_starts(path, CBX_STR("/tmp/")) || cbx_str_is(path, "/dev/null")) &&
           path.p[0] != '~';
}

static void check_redirect(struct shell *s, TSNode node)
{
    TSNode destination = ts_node_child_by_field_name(node, "destination", 11);
    struct cbx_str path = CBX_STR("(computed)");
    if (ts_node_is_null(destination) || type_is(destination, "number")) {
        return;
    }
    if (!fold_word(s, destination, &path, 0) || !is_inside(path)) {
        cbx_facts_add_special(s->parsed->facts, CBX_FACT_SHELL_REDIRECT,
                              path.p != NULL ? path : CBX_STR("(computed)"),
                              ts_node_start_byte(node), ts_node_end_byte(node));
    }
}

static void extract_node(struct shell *s, TSNode node, struct cbx_word *words)
{
    const char *type = ts_node_type(node);
    if (strcmp(type, "command") == 0) {
        check_command(s, words, read_words(s, node, words), 0);
    } else if (strcmp(type, "file_redirect") == 0) {
        check_redirect(s, node);
    } else if (strcmp(type, "process_substitution") == 0 ||
               strcmp(type, "function_definition") == 0 ||
               strcmp(type, "variable_assignment") == 0 ||
               strcmp(type, "declaration_command") == 0) {
        /* PATH=.  LD_PRELOAD=x  ls() { ...; }: what a word means afterwards is not what it says. */
        cbx_facts_add_special(s->parsed->facts, CBX_FACT_SHELL_UNRESOLVED,
                              cbx_str_sub(text_of(s, node), 0, 60), ts_node_start_byte(node),
                              ts_node_end_byte(node));
    } else if (strcmp(type, "raw_string") == 0 || strcmp(type, "word") == 0 ||
               strcmp(type, "string") == 0) {
        struct cbx_str text;
        if (fold_word(s, node, &text, 0)) {
            cbx_facts_add(s->parsed->facts, CBX_IS_LITERAL, text, ts_node_start_byte(node),
                          ts_node_end_byte(node));
        }
    }
}

void cbx_extract_shell(struct cbx_parsed *parsed)
{
    struct shell s = { .parsed = parsed, .src = parsed->text.p };
    struct cbx_word *words = cbx_arena_array(parsed->arena, WORDS_MAX, sizeof(*words));
    if (words == NULL) {
        return;
    }
    TSTreeCursor cursor = ts_tree_cursor_new(ts_tree_root_node(parsed->tree));
    int depth = 0;
    for (;;) {
        TSNode node = ts_tree_cursor_current_node(&cursor);
        if (ts_node_is_named(node)) {
            extract_node(&s, node, words);
        }
        if (depth >= CBX_TREE_DEPTH_MAX && ts_node_child_count(node) > 0) {
            cbx_facts_add_special(parsed->facts, CBX_FACT_TOO_COMPLEX, CBX_STR("nesting"),
                                  ts_node_start_byte(node), ts_node_end_byte(node));
        } else if (ts_tree_cursor_goto_first_child(&cursor)) {
            depth++;
            continue;
        }
        while (!ts_tree_cursor_goto_next_sibling(&cursor)) {
            if (depth == 0 || !ts_tree_cursor_goto_parent(&cursor)) {
                ts_tree_cursor_delete(&cursor);
                return;
            }
            depth--;
        }
    }
}
