/* SPDX-License-Identifier: MIT
 * The grammars of JavaScript and TypeScript, and the names that stand in their trees. */
#include "analyzer/lang/javascript/internal.h"

#include <pthread.h>

static struct cbx_grammar javascript, typescript;
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
}

const struct cbx_grammar *cbx_js_grammar(enum cbx_language language)
{
    pthread_once(&grammar_once, fill_grammar);
    return language == CBX_TYPESCRIPT ? &typescript : &javascript;
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
