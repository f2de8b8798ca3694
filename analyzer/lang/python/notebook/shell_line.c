/* SPDX-License-Identifier: MIT
 * Calls of IPython's shell that stand for a notebook line: exported notebooks have calls instead
 * of lines. */
#include "analyzer/lang/python/internal.h"

struct cbx_str cbx_py_shell_line(struct cbx_walk *py, struct cbx_str method,
                                 struct cbx_actuals *actuals)
{
    bool shell = cbx_str_is(method, CBX_PY_SHELL ".system") ||
                 cbx_str_is(method, CBX_PY_SHELL ".getoutput"),
         line = cbx_str_is(method, CBX_PY_SHELL ".run_line_magic");
    struct cbx_str text, rest = CBX_STR(""), none = { 0 };
    if ((!shell && !line) || actuals->spread ||
        !cbx_values_is_text(cbx_actual_values(py, actuals, 1, shell ? "cmd" : "magic_name"),
                            &text) ||
        (line && !cbx_values_is_text(cbx_actual_values(py, actuals, 2, "line"), &rest))) {
        return none;
    }
    struct cbx_str whole = cbx_fold_concat(py->arena, shell ? CBX_STR("!") : CBX_STR("%"), text);
    if (line) {
        whole = cbx_fold_concat(py->arena, whole, CBX_STR(" "));
        whole = cbx_fold_concat(py->arena, whole, rest);
    }
    bool expands = whole.p == NULL || memchr(whole.p, '{', whole.len) != NULL ||
                   memchr(whole.p, '$', whole.len) != NULL ||
                   memchr(whole.p, '\n', whole.len) != NULL;
    return expands ? none : whole;
}
