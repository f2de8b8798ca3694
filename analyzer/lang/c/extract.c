/* SPDX-License-Identifier: MIT
 * Facts about C. Every name that the source does not declare is a library name and becomes a fact,
 * called or only mentioned; so pointers to it need not be followed. A called value that is not the
 * name of a function is an unresolved call. */
#include "analyzer/lang/c/names.h"
#include "analyzer/syntax/tree_memory.h"

#include <ctype.h>
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

void cbx_c_place_of(const struct cbx_c_walk *c, uint32_t start, uint32_t end, uint32_t *from,
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
    cbx_c_place_of(c, node->start, node->end, &from, &to);
    return cbx_facts_add(c->facts, kind, name, from, to);
}

void cbx_c_add_special(struct cbx_c_walk *c, enum cbx_fact_id id, struct cbx_str name,
                       const struct cbx_node *node)
{
    uint32_t from, to;
    cbx_c_place_of(c, node->start, node->end, &from, &to);
    cbx_facts_add_special(c->facts, id, name, from, to);
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
        cbx_c_extract_name(c, node);
        return;
    case CN_string_literal:
    case CN_concatenated_string:
    case CN_initializer_list:
        extract_literal(c, node);
        return;
    case CN_cast_expression:
        cbx_c_check_cast(c, node);
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
        cbx_c_check_assigned(c, node);
        return;
    case CN_initializer_pair:
        cbx_c_check_member(c, node);
        return;
    case CN_return_statement:
        cbx_c_check_returned(c, node);
        return;
    case CN_pointer_expression:
        cbx_c_check_address(c, node);
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

/* Adds the facts of _Pragma("weak run = system"): the names in it, and what renames functions. */
static void extract_pragma(struct cbx_c_walk *c, const struct cbx_c_token *string)
{
    struct cbx_str text = cbx_c_unescape(c->arena, string->text);
    bool macro = memmem(text.p, text.len, "_macro", 6) != NULL, quoted = false;
    for (size_t i = 0; i < text.len; i++) {
        size_t end = i;
        while (end < text.len && (isalnum((unsigned char)text.p[end]) != 0 || text.p[end] == '_')) {
            end++;
        }
        struct cbx_str word = cbx_str_sub(text, i, end);
        if (word.len > 0 && (macro || !quoted)) {
            bool renames = cbx_str_is(word, "weak") || cbx_str_is(word, "redefine_extname");
            cbx_facts_add(c->facts, CBX_IS_REFERENCE,
                          renames ? CBX_JOIN(c->arena, CBX_STR("pragma."), word)
                                  : cbx_c_canonical(word),
                          string->start, string->end);
        }
        quoted ^= end < text.len && text.p[end] == '"';
        i = end;
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
            if (i + 2 < c->tokens->count && token[2].kind == C_STRING) {
                extract_pragma(c, &token[2]);
            }
        }
    }
}

static void map_places(struct cbx_c_walk *c, size_t from)
{
    for (size_t i = from; c->facts->base_end == 0 && i < c->facts->count; i++) {
        struct cbx_fact *fact = &c->facts->items[i];
        cbx_c_place_of(c, fact->start - c->facts->base, fact->end - c->facts->base, &fact->start,
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
