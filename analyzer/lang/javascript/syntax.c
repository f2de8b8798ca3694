/* SPDX-License-Identifier: MIT
 * The grammars of JavaScript and TypeScript, and the names in their trees. */
#include "analyzer/lang/javascript/internal.h"

#include "analyzer/syntax/syntax_scan.h"
#include "analyzer/syntax/tree_memory.h"

#include <pthread.h>

static struct cbx_grammar javascript, typescript, tsx;
static pthread_once_t grammar_once = PTHREAD_ONCE_INIT;

static void fill_grammar(void)
{
    static const char *const names[] = {
#define CBX_KINDS "analyzer/lang/javascript/kinds.def"
#include "analyzer/lang/kind_names.def"
    };
    size_t count = sizeof(names) / sizeof(names[0]);
    cbx_grammar_fill(&javascript, cbx_lang_grammar(CBX_JAVASCRIPT), names, count);
    cbx_grammar_fill(&typescript, cbx_lang_grammar(CBX_TYPESCRIPT), names, count);
    cbx_grammar_fill(&tsx, cbx_tsx_grammar(), names, count);
}

const struct cbx_grammar *cbx_js_grammar(const TSTree *tree)
{
    const TSLanguage *language = ts_tree_language(tree);
    pthread_once(&grammar_once, fill_grammar);
    return language == cbx_tsx_grammar()                  ? &tsx
           : language == cbx_lang_grammar(CBX_TYPESCRIPT) ? &typescript
                                                          : &javascript;
}

const TSLanguage *tree_sitter_tsx(void);
const TSLanguage *cbx_tsx_grammar(void)
{
    return tree_sitter_tsx();
}

/* --- JSX -------------------------------------------------------------------------------------- */

enum { AMPERSANDS_MAX = 4096 };

/* Returns true if the byte is text of JSX: of an element, or in the value of an attribute. */
static bool is_jsx_text(TSNode root, uint32_t byte)
{
    TSNode node = ts_node_descendant_for_byte_range(root, byte, byte + 1);
    for (int i = 0; i < 3 && !ts_node_is_null(node); i++) {
        const char *type = ts_node_type(node);
        if (strcmp(type, "jsx_text") == 0 || strcmp(type, "jsx_attribute") == 0) {
            return true;
        }
        if (strcmp(type, "jsx_expression") == 0) {
            return false;
        }
        node = ts_node_parent(node);
    }
    return false;
}

/* The grammars reject an ampersand in the text of JSX (Tom & Jerry, href="?a=1&b=2"). With
 * another operator in its place code stays code, and text of JSX stays text: so each ampersand
 * that is text in that reading is replaced, and the others are kept. */
struct cbx_str cbx_jsx_mend(const struct cbx_parsed *parsed, const TSLanguage *grammar)
{
    struct cbx_str text = parsed->text, none = { 0 };
    size_t count = 0;
    char *copy = cbx_arena_alloc(parsed->arena, text.len + 1);
    for (size_t i = 0; copy != NULL && i < text.len; i++) {
        bool two = text.p[i] == '&' &&
                   ((i + 1 < text.len && text.p[i + 1] == '&') || (i > 0 && text.p[i - 1] == '&'));
        copy[i] = text.p[i] != '&' ? text.p[i] : two ? '|' : '+';
        count += text.p[i] == '&';
    }
    if (copy == NULL || count == 0 || count > AMPERSANDS_MAX ||
        memchr(text.p, '<', text.len) == NULL) {
        return none;
    }
    struct cbx_str mended = { .p = copy, .len = text.len };
    TSTree *tree = cbx_parse_tree(grammar, mended, parsed->deadline_ms);
    if (tree == NULL) {
        return none;
    }
    bool read = !ts_node_has_error(ts_tree_root_node(tree));
    for (size_t i = 0; read && i < text.len; i++) {
        if (text.p[i] == '&' && !is_jsx_text(ts_tree_root_node(tree), (uint32_t)i)) {
            copy[i] = '&';
        }
    }
    cbx_tree_delete(tree);
    return read ? mended : none;
}

/* --- typographic characters in names ---------------------------------------------------------- */

enum { PASTED_MAX = 1000 };

bool cbx_js_misnames(const TSTree *tree, struct cbx_str text, uint32_t *start, uint32_t *end)
{
    size_t count = 0;
    for (size_t i = 0; i < text.len && count < PASTED_MAX; i++) {
        /* the first byte of a character beyond ASCII */
        if ((unsigned char)text.p[i] < 0xC2 ||
            !cbx_syntax_is_pasted(cbx_str_sub(text, i, text.len))) {
            continue;
        }
        uint32_t at = (uint32_t)i;
        TSNode node = ts_node_descendant_for_byte_range(ts_tree_root_node(tree), at, at + 1);
        count++;
        if (strstr(ts_node_type(node), "identifier") != NULL) {
            *start = ts_node_start_byte(node);
            *end = ts_node_end_byte(node);
            return true;
        }
    }
    return false;
}

bool cbx_js_is_function(enum cbx_js_kind kind)
{
    return kind == JS_arrow_function || kind == JS_function_declaration ||
           kind == JS_function_expression || kind == JS_generator_function ||
           kind == JS_generator_function_declaration || kind == JS_method_definition;
}

struct cbx_str cbx_js_name(struct cbx_walk *js, const struct cbx_node *node)
{
    return cbx_fold_unescape(js->arena, cbx_walk_text(js, node), false);
}
