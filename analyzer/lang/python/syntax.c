/* SPDX-License-Identifier: MIT
 * The grammar of Python, and the names that stand in its trees. */
#include "analyzer/lang/python/internal.h"

#include <pthread.h>

const TSLanguage *tree_sitter_python(void);

static struct cbx_grammar grammar;
static pthread_once_t grammar_once = PTHREAD_ONCE_INIT;

static void fill_grammar(void)
{
    static const char *const names[] = {
#define CBX_KINDS "analyzer/lang/python/kinds.def"
#include "analyzer/lang/kind_names.def"
    };
    cbx_grammar_fill(&grammar, tree_sitter_python(), names, sizeof(names) / sizeof(names[0]));
}

const struct cbx_grammar *cbx_py_grammar(void)
{
    pthread_once(&grammar_once, fill_grammar);
    return &grammar;
}

struct cbx_str cbx_py_text(struct cbx_walk *py, const struct cbx_node *node)
{
    return cbx_fold_nfkc(py->arena, cbx_walk_text(py, node));
}

/* The name of a definition or of a keyword argument. */
struct cbx_str cbx_py_name(struct cbx_walk *py, const struct cbx_node *node)
{
    return cbx_py_text(py, cbx_child_of(node, CBX_FIELD_name));
}

/* The identifier of a parameter, whatever is around it. */
struct cbx_node *cbx_py_parameter(struct cbx_node *parameter)
{
    struct cbx_node *name = parameter;
    while (name != NULL && cbx_py_kind(name) != PY_identifier) {
        struct cbx_node *named = cbx_child_of(name, CBX_FIELD_name);
        name = named != NULL ? named : cbx_child_at(name, 0);
    }
    return name;
}
