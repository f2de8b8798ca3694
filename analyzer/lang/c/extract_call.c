/* SPDX-License-Identifier: MIT
 * The facts about names of the library in C, called or only mentioned, and about the commands that
 * calls run. */
#include "analyzer/facts/value.h"
#include "analyzer/lang/c/names.h"
#include "analyzer/lang/command_line.h"

/* `line`: position of the argument that is a line of shell; `words`: position of the first word
 * of a program. */
static const struct {
    const char *name;
    int line, words;
} runners[] = {
    { "system", 0, -1 }, { "popen", 0, -1 },  { "wordexp", 0, -1 },
    { "execl", -1, 1 },  { "execlp", -1, 1 }, { "execle", -1, 1 },
};

static void extract_line(struct cbx_c_walk *c, const struct cbx_node *call, struct cbx_node *list,
                         struct cbx_str name)
{
    enum { WORDS_MAX = 32 };
    uint32_t from, to;
    cbx_c_place_of(c, call->start, call->end, &from, &to);
    for (size_t i = 0; i < sizeof(runners) / sizeof(runners[0]); i++) {
        struct cbx_c_texts texts = { .all = true };
        if (!cbx_str_is(name, runners[i].name)) {
            continue;
        }
        if (runners[i].line >= 0) {
            cbx_c_add_texts(c, cbx_child_at(list, (uint32_t)runners[i].line), &texts);
            for (uint32_t t = 0; t < texts.count; t++) {
                cbx_parse_shell_line(c->parsed, texts.items[t], from, to);
            }
            if (!texts.all) {
                cbx_facts_add_special(c->facts, CBX_FACT_SHELL_UNRESOLVED, CBX_STR("command"), from,
                                      to);
            }
            return;
        }
        const struct cbx_values *words[WORDS_MAX];
        uint32_t count = 0;
        bool open = false;
        for (uint32_t w = (uint32_t)runners[i].words; count < WORDS_MAX; w++) {
            struct cbx_node *word = cbx_c_strip(cbx_child_at(list, w));
            struct cbx_str text;
            if (word == NULL || cbx_c_kind(word) == CN_null ||
                cbx_c_kind(word) == CN_number_literal) {
                break;
            }
            open |= count + 1 == WORDS_MAX;
            words[count++] = cbx_c_read_text(c, word, &text) ? cbx_values_text(c->arena, text)
                                                             : &cbx_values_unknown;
        }
        cbx_command_line(c->parsed, words, count, open, from, to);
        return;
    }
}

static void extract_call(struct cbx_c_walk *c, struct cbx_str name, struct cbx_node *call)
{
    enum { ARGUMENTS_MAX = 16 };
    struct cbx_node *list = cbx_child_of(call, CBX_FIELD_arguments);
    uint32_t count = cbx_child_count(list);
    count = count > ARGUMENTS_MAX ? ARGUMENTS_MAX : count;
    struct cbx_arg *args = cbx_arena_array(c->arena, count + 1u, sizeof(*args));
    struct cbx_fact *fact = cbx_c_add(c, CBX_IS_CALL, name, call);
    if (fact == NULL || args == NULL) {
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        cbx_c_read_argument(c, cbx_child_at(list, i), i, &args[i]);
    }
    fact->args = args;
    fact->arg_count = count;
    cbx_c_build(c, name, list, call);
    cbx_c_check_callback(c, name, list, call);
    cbx_c_check_written(c, name, list, call);
    extract_line(c, call, list, name);
}

/* Returns the call whose target is the identifier: f(), (f)(), (*f)(), ((T)f)(). */
static struct cbx_node *call_of(struct cbx_node *node)
{
    for (struct cbx_node *up = node->parent; up != NULL; node = up, up = up->parent) {
        enum cbx_c_node_kind kind = cbx_c_kind(up);
        if (kind == CN_call_expression) {
            return node->field == CBX_FIELD_function ? up : NULL;
        }
        if (kind != CN_parenthesized_expression && kind != CN_pointer_expression &&
            !(kind == CN_cast_expression && node->field == CBX_FIELD_value)) {
            return NULL;
        }
    }
    return NULL;
}

static bool is_in_attribute(const struct cbx_node *node)
{
    int depth = 0;
    for (; node != NULL && depth < 6; node = node->parent, depth++) {
        enum cbx_c_node_kind kind = cbx_c_kind(node);
        if (kind == CN_attribute_specifier || kind == CN_attribute_declaration ||
            kind == CN_attribute) {
            return true;
        }
    }
    return false;
}

void cbx_c_extract_name(struct cbx_c_walk *c, struct cbx_node *node)
{
    struct cbx_str text = cbx_c_text(c, node);
    if (is_in_attribute(node)) {
        struct cbx_str bare = cbx_c_bare(text);
        cbx_c_add(c, CBX_IS_REFERENCE, CBX_JOIN(c->arena, CBX_STR("attribute."), bare), node);
    }
    if (cbx_c_name_find(c, node) != NULL) {
        return;
    }
    struct cbx_node *call = call_of(node);
    struct cbx_str name = cbx_c_canonical(text);
    if (call != NULL) {
        extract_call(c, name, call);
    } else {
        cbx_c_add(c, CBX_IS_REFERENCE, name, node);
    }
}
