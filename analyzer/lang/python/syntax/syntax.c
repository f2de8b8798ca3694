/* SPDX-License-Identifier: MIT
 * The grammar of Python, and the names in its trees. */
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

/* Accepts class A[T = int], class A[**P = [int]]: the start of a type parameter that has a
 * default (PEP 696), up to the equals sign. */
bool cbx_py_reads_error(TSNode error, struct cbx_str text)
{
    TSNode node = ts_node_parent(error);
    bool parameter = false;
    for (int i = 0; i < 5 && !ts_node_is_null(node) && !parameter; i++) {
        parameter = strcmp(ts_node_type(node), "type_parameter") == 0;
        node = ts_node_parent(node);
    }
    text = cbx_fold_trim(text);
    if (cbx_str_ends(text, CBX_STR("*"))) { /* class A[*Ts = *tuple[int]] */
        text = cbx_fold_trim(cbx_str_sub(text, 0, text.len - 1));
    }
    bool plain = parameter && text.len > 1 && text.p[text.len - 1] == '=';
    for (size_t i = 0; plain && i < text.len; i++) {
        plain = memchr("()'\"{}", text.p[i], 6) == NULL;
    }
    return plain;
}

struct cbx_str cbx_py_text(struct cbx_walk *py, const struct cbx_node *node)
{
    return cbx_fold_nfkc(py->arena, cbx_walk_text(py, node));
}

/* Returns the name of a definition or of a keyword argument. */
struct cbx_str cbx_py_name(struct cbx_walk *py, const struct cbx_node *node)
{
    return cbx_py_text(py, cbx_child_of(node, CBX_FIELD_name));
}

/* Returns the identifier of a parameter, without its type and default. */
struct cbx_node *cbx_py_parameter(struct cbx_node *parameter)
{
    struct cbx_node *name = parameter;
    while (name != NULL && cbx_py_kind(name) != PY_identifier) {
        struct cbx_node *named = cbx_child_of(name, CBX_FIELD_name);
        name = named != NULL ? named : cbx_child_at(name, 0);
    }
    return name;
}
