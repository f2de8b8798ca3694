/* SPDX-License-Identifier: MIT
 * Facts about C. Every name that the source does not declare is a library name and becomes a fact,
 * called or only mentioned; so pointers to it need not be followed. A called value that is not the
 * name of a function is an unresolved call. */
#include "analyzer/facts/value.h"
#include "analyzer/lang/c/names.h"
#include "analyzer/lang/command_line.h"
#include "analyzer/syntax/tree_memory.h"

#include <pthread.h>

static struct cbx_grammar grammar;
static pthread_once_t grammar_once = PTHREAD_ONCE_INIT;

static void fill_grammar(void)
{
    static const char *const names[] = {
#define CBX_KINDS "analyzer/lang/c/kinds.def"
#include "analyzer/lang/kind_names.def"
    };
    cbx_grammar_fill(&grammar, cbx_lang_grammar(CBX_C), names, sizeof(names) / sizeof(names[0]));
}

/* --- places ----------------------------------------------------------------------------------- */

/* Finds the place in the source of [start, end) in the expanded text. */
static void place_of(const struct cbx_c_walk *c, uint32_t start, uint32_t end, uint32_t *from,
                     uint32_t *to)
{
    const struct cbx_c_token *first = cbx_c_token_at(c, start),
                             *last = cbx_c_token_at(c, end > start ? end - 1 : start);
    *from = first != NULL ? first->start : 0;
    *to = last != NULL && last->end > *from ? last->end : first != NULL ? first->end : 1;
}

struct cbx_fact *cbx_c_add(struct cbx_c_walk *c, enum cbx_fact_kind kind, struct cbx_str name,
                           const struct cbx_node *node)
{
    uint32_t from, to;
    place_of(c, node->start, node->end, &from, &to);
    return cbx_facts_add(c->facts, kind, name, from, to);
}

void cbx_c_add_special(struct cbx_c_walk *c, enum cbx_fact_id id, struct cbx_str name,
                       const struct cbx_node *node)
{
    uint32_t from, to;
    place_of(c, node->start, node->end, &from, &to);
    cbx_facts_add_special(c->facts, id, name, from, to);
}

/* --- values ----------------------------------------------------------------------------------- */

struct cbx_node *cbx_c_strip(struct cbx_node *node)
{
    for (;;) {
        enum cbx_c_node_kind kind = cbx_c_kind(node);
        if (kind == CN_cast_expression && cbx_child_of(node, CBX_FIELD_value) != NULL) {
            node = cbx_child_of(node, CBX_FIELD_value);
        } else if (kind == CN_parenthesized_expression && cbx_child_at(node, 0) != NULL) {
            node = cbx_child_at(node, 0);
        } else {
            return node;
        }
    }
}

/* Reads { 'a', 98, 0 }: a text as a list of its characters. */
static bool read_characters(struct cbx_c_walk *c, const struct cbx_node *list, struct cbx_str *out)
{
    uint32_t count = cbx_child_count(list);
    char *text = count >= 2 && count <= 4096 ? cbx_arena_alloc(c->arena, count + 1u) : NULL;
    size_t n = 0;
    bool printable = text != NULL, ended = false;
    for (struct cbx_node *item = list->first; printable && item != NULL; item = item->next) {
        struct cbx_str literal = cbx_c_text(c, item), value;
        int64_t number = -1;
        if (!item->named) {
            continue;
        }
        if (cbx_c_kind(item) == CN_char_literal) {
            value = cbx_c_unescape(c->arena, literal);
            number = value.len == 1 ? (unsigned char)value.p[0] : -1;
        } else if (cbx_c_kind(item) != CN_number_literal || !cbx_fold_integer(literal, &number)) {
            return false;
        }
        ended |= number == 0;
        printable = ended || (number >= 0x20 && number < 0x7F);
        if (!ended && printable) {
            text[n++] = (char)number;
        }
    }
    *out = (struct cbx_str){ .p = text, .len = n };
    return printable && n >= 2;
}

/* Reads a constant text: one literal, several in a row, or a list of characters. */
bool cbx_c_read_text(struct cbx_c_walk *c, struct cbx_node *node, struct cbx_str *out)
{
    enum cbx_c_node_kind kind = cbx_c_kind(node);
    if (kind == CN_string_literal) {
        *out = cbx_c_unescape(c->arena, cbx_c_text(c, node));
        return true;
    }
    if (kind == CN_initializer_list) {
        return read_characters(c, node, out);
    }
    if (kind != CN_concatenated_string) {
        return false;
    }
    bool whole = true;
    *out = CBX_STR("");
    for (struct cbx_node *part = node->first; part != NULL && out->p != NULL; part = part->next) {
        if (cbx_c_kind(part) == CN_string_literal) {
            struct cbx_str text = cbx_c_unescape(c->arena, cbx_c_text(c, part));
            *out = out->len == 0 ? text : cbx_fold_concat(c->arena, *out, text);
        } else {
            whole &= !part->named; /* PRId64, which a header defines */
        }
    }
    return whole && out->p != NULL;
}

/* Reads O_WRONLY | O_CREAT, 0644, PROT_READ: names of the library and numbers. The result has no
 * blanks. */
static bool read_flags(struct cbx_c_walk *c, const struct cbx_node *node, struct cbx_str *out)
{
    char text[256];
    size_t n = 0;
    const struct cbx_node *end = cbx_node_behind(node, c->syntax.nodes + c->syntax.count);
    for (const struct cbx_node *at = node; at < end; at++) {
        enum cbx_c_node_kind kind = cbx_c_kind(at);
        bool leaf = kind == CN_identifier || kind == CN_number_literal || kind == CN_null;
        bool bar = !at->named && cbx_str_is(cbx_c_text(c, at), "|");
        if (kind == CN_identifier && cbx_c_name_find(c, at) != NULL) {
            return false;
        }
        if (!leaf && !bar && kind != CN_binary_expression && kind != CN_parenthesized_expression) {
            return false;
        }
        struct cbx_str part = leaf || bar ? cbx_c_text(c, at) : CBX_STR("");
        if (n + part.len >= sizeof(text)) {
            return false;
        }
        memcpy(text + n, part.p, part.len);
        n += part.len;
    }
    *out = cbx_arena_copy(c->arena, (struct cbx_str){ .p = text, .len = n });
    return n > 0;
}

enum { TEXTS_MAX = CBX_C_VALUES_MAX * 2 };
struct texts {
    struct cbx_str items[TEXTS_MAX];
    uint32_t count;
    bool all; /* true if the value is certainly one of `items` */
};

static void add_texts(struct cbx_c_walk *c, struct cbx_node *node, struct texts *out, int depth)
{
    struct cbx_str text;
    node = cbx_c_strip(node);
    if (node == NULL || depth > 4) {
        out->all = false;
    } else if (cbx_c_read_text(c, node, &text)) {
        if (out->count < TEXTS_MAX) {
            out->items[out->count++] = text;
        }
    } else if (cbx_c_kind(node) == CN_conditional_expression) {
        add_texts(c, cbx_child_of(node, CBX_FIELD_consequence), out, depth + 1);
        add_texts(c, cbx_child_of(node, CBX_FIELD_alternative), out, depth + 1);
    } else if (cbx_c_kind(node) == CN_identifier) {
        const struct cbx_c_name *values = cbx_c_values(c, cbx_c_text(c, node));
        out->all = false; /* the program may change the text in place */
        for (uint32_t i = 0; values != NULL && i < values->value_count; i++) {
            add_texts(c, values->values[i], out, depth + 1);
        }
    } else {
        out->all = false;
    }
}

static void read_argument(struct cbx_c_walk *c, struct cbx_node *node, uint32_t position,
                          struct cbx_arg *out)
{
    struct texts texts = { .all = true };
    struct cbx_str flags;
    *out = (struct cbx_arg){ .position = position };
    if (read_flags(c, node, &flags)) {
        out->known = out->constant = true;
        out->value = flags;
        return;
    }
    struct cbx_node *value = cbx_c_strip(node);
    const struct cbx_c_built *built =
        cbx_c_kind(value) == CN_identifier ? cbx_c_built(c, cbx_c_text(c, value)) : NULL;
    if (built != NULL && built->gaps) {
        struct cbx_str *partial = cbx_arena_array(c->arena, 1, sizeof(*partial));
        if (partial != NULL) {
            *partial = built->text;
            out->partials = partial;
            out->partial_count = 1;
        }
    }
    add_texts(c, node, &texts, 0);
    if (built != NULL && !built->gaps && texts.count < TEXTS_MAX) {
        texts.items[texts.count++] = built->text;
    }
    if (texts.all && texts.count == 1) {
        out->known = out->constant = true;
        out->value = texts.items[0];
    } else if (texts.count > 0) {
        struct cbx_str *items = cbx_arena_array(c->arena, texts.count, sizeof(*items));
        if (items != NULL) {
            memcpy(items, texts.items, texts.count * sizeof(*items));
            out->texts = items;
            out->text_count = texts.count;
        }
    }
}

/* --- calls ------------------------------------------------------------------------------------ */

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
    place_of(c, call->start, call->end, &from, &to);
    for (size_t i = 0; i < sizeof(runners) / sizeof(runners[0]); i++) {
        struct texts texts = { .all = true };
        if (!cbx_str_is(name, runners[i].name)) {
            continue;
        }
        if (runners[i].line >= 0) {
            add_texts(c, cbx_child_at(list, (uint32_t)runners[i].line), &texts, 0);
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
        read_argument(c, cbx_child_at(list, i), i, &args[i]);
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

static void extract_name(struct cbx_c_walk *c, struct cbx_node *node)
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

/* --- values that may be called ---------------------------------------------------------------- */

/* Returns true if the value may be the address of something other than a function. A name that
 * the source does not declare is a library function, which has its own fact, or a constant such
 * as SIG_IGN. */
static bool is_doubtful_target(const struct cbx_c_walk *c, struct cbx_node *node, int depth)
{
    node = cbx_c_strip(node);
    struct cbx_node *inner = cbx_child_of(node, CBX_FIELD_argument);
    const struct cbx_c_name *name;
    struct cbx_str text = cbx_c_text(c, node);
    switch (cbx_c_kind(node)) {
    case CN_OTHER:
    case CN_null:
    case CN_call_expression: /* the expressions that the function returns were checked */
    case CN_assignment_expression:
        return false;
    case CN_identifier:
        name = cbx_c_name_find(c, node);
        return name != NULL && name->what == CBX_C_OBJECT;
    case CN_number_literal:
        return !cbx_str_is(text, "0");
    case CN_pointer_expression: /* &f, *f */
        return depth < 8 && is_doubtful_target(c, inner, depth + 1);
    case CN_conditional_expression:
        return depth < 8 &&
               (is_doubtful_target(c, cbx_child_of(node, CBX_FIELD_consequence), depth + 1) ||
                is_doubtful_target(c, cbx_child_of(node, CBX_FIELD_alternative), depth + 1));
    case CN_comma_expression:
        return depth < 8 && is_doubtful_target(c, cbx_child_of(node, CBX_FIELD_right), depth + 1);
    case CN_field_expression:
    case CN_subscript_expression:
    case CN_initializer_list:
        return false;
    case CN_compound_literal_expression: /* (void *[]){ address } */
        inner = cbx_child_of(node, CBX_FIELD_value);
        for (inner = inner != NULL ? inner->first : NULL; inner != NULL && depth < 8;
             inner = inner->next) {
            if (inner->named && is_doubtful_target(c, inner, depth + 1)) {
                return true;
            }
        }
        return false;
    default:
        return true;
    }
}

bool cbx_c_is_doubtful_target(const struct cbx_c_walk *c, struct cbx_node *node)
{
    return is_doubtful_target(c, node, 0);
}

/* Checks (void (*)(void))address; casts of members and elements count as casts of data. */
static void check_cast(struct cbx_c_walk *c, struct cbx_node *cast)
{
    struct cbx_node *value = cbx_c_strip(cbx_child_of(cast, CBX_FIELD_value));
    enum cbx_c_node_kind kind = cbx_c_kind(value);
    if (!cbx_c_is_callable_type(c, cbx_child_of(cast, CBX_FIELD_type))) {
        return;
    }
    bool member =
        (kind == CN_field_expression &&
         !cbx_c_is_function_field(c, cbx_c_text(c, cbx_child_of(value, CBX_FIELD_field)))) ||
        kind == CN_subscript_expression;
    if (member || is_doubtful_target(c, value, 0)) {
        cbx_c_add_special(c, CBX_FACT_UNRESOLVED_CALL, cbx_str_sub(cbx_c_text(c, value), 0, 40),
                          cast);
    }
}

/* Checks a pointer to a function whose initial or assigned value is no function. */
static void check_assigned(struct cbx_c_walk *c, struct cbx_node *node)
{
    bool begins = cbx_c_kind(node) == CN_init_declarator;
    struct cbx_node *left = cbx_child_of(node, begins ? CBX_FIELD_declarator : CBX_FIELD_left),
                    *value = cbx_child_of(node, begins ? CBX_FIELD_value : CBX_FIELD_right);
    enum cbx_c_what what = CBX_C_OBJECT;
    struct cbx_node *declared = begins && left != NULL ? cbx_c_declared(left, &what) : left;
    cbx_c_check_record_value(c, left, value);
    bool pointer = what == CBX_C_POINTER;
    if (cbx_c_kind(declared) == CN_identifier) {
        const struct cbx_c_name *name = cbx_c_name_find(c, declared);
        pointer |= name != NULL && name->what == CBX_C_POINTER;
    } else if (cbx_c_kind(left) == CN_field_expression) {
        pointer = cbx_c_is_function_field(c, cbx_c_text(c, cbx_child_of(left, CBX_FIELD_field)));
    }
    bool cast =
        cbx_c_kind(value) == CN_cast_expression &&
        cbx_c_is_callable_type(c, cbx_child_of(value, CBX_FIELD_type)); /* check_cast handles it */
    if (pointer && !cast && is_doubtful_target(c, value, 0)) {
        cbx_c_add_special(c, CBX_FACT_UNRESOLVED_CALL, cbx_str_sub(cbx_c_text(c, value), 0, 40),
                          value);
    }
}

/* Checks &f of a pointer to a function that is cast or passed on: other code may write its
 * bytes. */
static void check_address(struct cbx_c_walk *c, struct cbx_node *node)
{
    const struct cbx_node *token = node->first;
    const struct cbx_node *inner = cbx_c_strip(cbx_child_of(node, CBX_FIELD_argument));
    bool address = token != NULL && cbx_str_is(cbx_c_text(c, token), "&");
    const struct cbx_c_name *name =
        address && cbx_c_kind(inner) == CN_identifier ? cbx_c_name_find(c, inner) : NULL;
    const struct cbx_node *up = node->parent;
    while (cbx_c_kind(up) == CN_parenthesized_expression) {
        up = up->parent;
    }
    bool away = cbx_c_kind(up) == CN_cast_expression || cbx_c_kind(up) == CN_argument_list;
    if (name != NULL && name->what == CBX_C_POINTER && away) {
        cbx_c_add_special(c, CBX_FACT_UNRESOLVED_CALL, cbx_c_text(c, inner), node);
    }
}

/* --- the walk --------------------------------------------------------------------------------- */

static void extract_literal(struct cbx_c_walk *c, struct cbx_node *node)
{
    struct cbx_str text = { 0 };
    bool part = cbx_c_kind(node->parent) == CN_concatenated_string;
    bool read =
        !part && (cbx_c_read_text(c, node, &text) || cbx_c_kind(node) == CN_concatenated_string);
    if (read && text.p != NULL && text.len > 0) {
        cbx_c_add(c, CBX_IS_LITERAL, text, node);
    }
}

/* const char main[] = "..." */
static void check_main(struct cbx_c_walk *c, struct cbx_node *declaration)
{
    for (struct cbx_node *child = declaration->first; child != NULL; child = child->next) {
        enum cbx_c_what what = CBX_C_FUNCTION;
        struct cbx_node *name =
            child->field == CBX_FIELD_declarator ? cbx_c_declared(child, &what) : NULL;
        if (name != NULL && what != CBX_C_FUNCTION && cbx_str_is(cbx_c_text(c, name), "main") &&
            cbx_c_kind(declaration->parent) == CN_translation_unit) {
            cbx_c_add_special(c, CBX_FACT_UNRESOLVED_CALL, CBX_STR("main"), declaration);
        }
    }
}

static void extract_node(struct cbx_c_walk *c, struct cbx_node *node)
{
    switch (cbx_c_kind(node)) {
    case CN_identifier:
        extract_name(c, node);
        return;
    case CN_string_literal:
    case CN_concatenated_string:
    case CN_initializer_list:
        extract_literal(c, node);
        return;
    case CN_cast_expression:
        check_cast(c, node);
        cbx_c_check_record_cast(c, node);
        return;
    case CN_function_definition:
        cbx_c_check_definition(c, node);
        return;
    case CN_field_identifier:
        if (cbx_c_kind(node->parent) == CN_field_expression) {
            cbx_c_check_field(c, node);
        }
        return;
    case CN_init_declarator:
    case CN_assignment_expression:
        check_assigned(c, node);
        return;
    case CN_pointer_expression:
        check_address(c, node);
        return;
    case CN_binary_expression:
        cbx_c_check_offset(c, node);
        return;
    case CN_declaration:
        check_main(c, node);
        return;
    case CN_call_expression:
        cbx_c_check_union(c, node);
        return;
    default:
        return;
    }
}

/* Adds facts for tokens whose meaning does not depend on the context. */
static void extract_tokens(struct cbx_c_walk *c)
{
    static const char *const words[] = { "asm", "__asm", "__asm__" };
    for (size_t i = 0; i < c->tokens->count; i++) {
        const struct cbx_c_token *token = &c->tokens->items[i];
        for (size_t w = 0; w < sizeof(words) / sizeof(words[0]); w++) {
            if (token->kind == C_IDENTIFIER && cbx_c_is(token, words[w])) {
                cbx_facts_add(c->facts, CBX_IS_REFERENCE, CBX_STR("asm"), token->start, token->end);
            }
        }
        if (cbx_c_is(token, "_Pragma")) {
            cbx_facts_add(c->facts, CBX_IS_REFERENCE, CBX_STR("pragma.operator"), token->start,
                          token->end);
        }
    }
}

static void map_places(struct cbx_c_walk *c, size_t from)
{
    for (size_t i = from; c->facts->base_end == 0 && i < c->facts->count; i++) {
        struct cbx_fact *fact = &c->facts->items[i];
        place_of(c, fact->start - c->facts->base, fact->end - c->facts->base, &fact->start,
                 &fact->end);
        fact->start += c->facts->base;
        fact->end += c->facts->base;
    }
}

static void judge(struct cbx_c_walk *c, TSTree *tree)
{
    size_t before = c->facts->count;
    cbx_parse_errors(c->parsed, tree, c->facts);
    map_places(c, before);
    pthread_once(&grammar_once, fill_grammar);
    if (!cbx_syntax_read(tree, &grammar, CBX_TREE_DEPTH_MAX, c->arena, &c->syntax)) {
        return;
    }
    if (c->syntax.too_deep != NULL) {
        cbx_c_add_special(c, CBX_FACT_TOO_COMPLEX, CBX_STR("nesting"), c->syntax.too_deep);
        return;
    }
    cbx_c_names_collect(c);
    cbx_c_records_collect(c);
    for (uint32_t i = 0; i < c->syntax.count; i++) {
        enum cbx_c_node_kind kind = cbx_c_kind(&c->syntax.nodes[i]);
        if (kind == CN_assignment_expression || kind == CN_initializer_pair) {
            cbx_c_note_union(c, &c->syntax.nodes[i]);
        }
    }
    for (uint32_t i = 0; i < c->syntax.count; i++) {
        cbx_c_names_enter(c, &c->syntax.nodes[i]);
        extract_node(c, &c->syntax.nodes[i]);
    }
}

/* Replaces the tokens and the tree by those with mended uses of unknown macros, if the grammar reads
 * them. */
static void read_otherwise(struct cbx_c_walk *c, TSTree **tree)
{
    struct cbx_c_walk *other = cbx_arena_alloc(c->arena, sizeof(*other));
    struct cbx_c_tokens *mended = cbx_arena_alloc(c->arena, sizeof(*mended));
    if (!ts_node_has_error(ts_tree_root_node(*tree)) || other == NULL || mended == NULL) {
        return;
    }
    *mended = (struct cbx_c_tokens){ 0 };
    *other = *c;
    other->tokens = mended;
    if (!cbx_c_mend_macros(c->arena, c->tokens, mended) || !cbx_c_join(other)) {
        return;
    }
    TSTree *read = cbx_parse_tree(cbx_lang_grammar(CBX_C), other->text, c->parsed->deadline_ms);
    if (read == NULL || ts_node_has_error(ts_tree_root_node(read))) {
        cbx_tree_delete(read);
        return;
    }
    cbx_tree_delete(*tree);
    *tree = read;
    *c = *other;
}

static void extract(struct cbx_parsed *parsed)
{
    struct cbx_c_tokens in = { 0 }, out = { 0 };
    cbx_c_tokens_read(parsed, parsed->text, &in);
    cbx_c_preprocess(parsed, &in, &out);
    struct cbx_c_walk *c = cbx_arena_alloc(parsed->arena, sizeof(*c));
    if (c == NULL) {
        return;
    }
    c->parsed = parsed;
    c->arena = parsed->arena;
    c->facts = parsed->facts;
    c->tokens = &out;
    if (!cbx_c_join(c)) {
        return;
    }
    extract_tokens(c);
    TSTree *tree = cbx_parse_tree(cbx_lang_grammar(CBX_C), c->text, parsed->deadline_ms);
    if (tree == NULL) {
        cbx_facts_add_special(parsed->facts, CBX_FACT_TOO_COMPLEX, CBX_STR("time"), 0, 1);
        return;
    }
    read_otherwise(c, &tree);
    judge(c, tree);
    cbx_tree_delete(tree);
}

const TSLanguage *tree_sitter_c(void);
const struct cbx_lang_code cbx_lang_code_c = { .grammar = tree_sitter_c,
                                               .extract = extract,
                                               .reads = true };
