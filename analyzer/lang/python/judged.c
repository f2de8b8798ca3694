/* SPDX-License-Identifier: MIT
 * Calls whose modules, code or notebook lines are constants: these are judged in the place of the
 * call. */
#include "analyzer/lang/python/internal.h"

#include "analyzer/facts/sinks.h"
#include "analyzer/lang/python/notebook/magics.h"

/* Returns the notebook line that a method of IPython's shell runs; {NULL, 0} if the line is not
 * constant, or has expressions that IPython would expand. The first argument is the shell. */
static struct cbx_str magic_line(struct cbx_walk *py, struct cbx_str method,
                                 struct cbx_actuals *actuals)
{
    bool line = cbx_str_is(method, CBX_PY_SHELL ".run_line_magic"),
         cell = cbx_str_is(method, CBX_PY_SHELL ".run_cell_magic"),
         whole = cbx_str_is(method, CBX_PY_SHELL ".magic");
    struct cbx_str name, rest = CBX_STR(""), body = CBX_STR(""), none = { 0 };
    bool known = (line || cell || whole) && !actuals->spread &&
                 cbx_values_is_text(
                     cbx_actual_values(py, actuals, 1, whole ? "arg_s" : "magic_name"), &name) &&
                 (whole || cbx_values_is_text(cbx_actual_values(py, actuals, 2, "line"), &rest)) &&
                 (!cell || cbx_values_is_text(cbx_actual_values(py, actuals, 3, "cell"), &body));
    if (!known || !cbx_magic_is_python(name) || memchr(name.p, '\n', name.len) != NULL ||
        memchr(rest.p, '\n', rest.len) != NULL) {
        return none;
    }
    struct cbx_str head = CBX_JOIN(py->arena, cbx_str_of(cell ? "%%" : "%"), name, CBX_STR(" "),
                                   rest, cbx_str_of(cell ? "\n" : ""));
    bool expands = head.p == NULL || memchr(head.p, '{', head.len) != NULL ||
                   memchr(head.p, '$', head.len) != NULL;
    return expands ? none : CBX_JOIN(py->arena, head, body);
}

struct cbx_str cbx_py_judged_line(struct cbx_walk *py, struct cbx_str method,
                                  struct cbx_actuals *actuals)
{
    struct cbx_str line = magic_line(py, method, actuals);
    return line.p != NULL ? line : cbx_py_shell_line(py, method, actuals);
}

/* Returns true for a module whose import no rule against power can match, and which leads to no
 * module whose import a rule can match. */
static bool is_harmless_module(struct cbx_walk *py, struct cbx_str name)
{
    const uint32_t harmless = 1u << CBX_CAN_HTTP | 1u << CBX_CAN_FILE_READ |
                              1u << CBX_CAN_FILE_WRITE | 1u << CBX_CAN_EXPRESSION |
                              1u << CBX_CAN_ENVIRONMENT | 1u << CBX_CAN_SYSTEM_INFO |
                              1u << CBX_CAN_DATABASE | 1u << CBX_CAN_WEAK_HASH;
    struct cbx_str module = cbx_py_canonical(py, name);
    return (cbx_sinks_of_module(CBX_PYTHON, module) & ~harmless) == 0 &&
           !cbx_str_is(module, "os") && !cbx_str_is(module, "sys") && !cbx_str_is(module, "shutil");
}

static bool are_harmless_modules(struct cbx_walk *py, const struct cbx_values *names)
{
    bool harmless = cbx_values_all_text(names);
    for (uint32_t i = 0; harmless && i < names->count; i++) {
        harmless = is_harmless_module(py, names->items[i]->text);
    }
    return harmless;
}

bool cbx_py_is_judged_call(struct cbx_walk *py, struct cbx_str name, struct cbx_actuals *actuals)
{
    uint32_t position = 0;
    const char *keyword = "name";
    if (cbx_str_starts(name, CBX_STR(CBX_PY_SHELL "."))) {
        return cbx_py_judged_line(py, name, actuals).p != NULL;
    }
    if (!cbx_py_judges_constant(name) || actuals->spread) {
        return false;
    }
    cbx_py_runs(name, 0, &position, &keyword);
    return cbx_py_call_meaning(name) != PY_CALL_NONE
               ? are_harmless_modules(py, cbx_actual_values(py, actuals, 0, "name"))
               : cbx_values_all_text(cbx_actual_values(py, actuals, position, keyword));
}

static bool is_judged_value(struct cbx_walk *py, const struct cbx_value *v,
                            struct cbx_actuals *actuals)
{
    struct cbx_actuals whole;
    if (v->kind == CBX_V_NAME) {
        return cbx_py_is_judged_call(py, v->text, actuals);
    }
    if (v->kind != CBX_V_PARTIAL || v->members[0]->count != 1 ||
        v->members[0]->items[0]->kind != CBX_V_NAME) {
        return false;
    }
    cbx_py_whole(v, actuals, &whole);
    return cbx_py_is_judged_call(py, v->members[0]->items[0]->text, &whole);
}

bool cbx_py_is_judged_callee(struct cbx_walk *py, struct cbx_node *callee)
{
    struct cbx_node *call = callee->parent;
    struct cbx_scope *scope = cbx_scope_around(py, callee);
    if (callee->field != CBX_FIELD_function || cbx_py_kind(call) != PY_call) {
        return false;
    }
    const struct cbx_values *values = cbx_py_eval(py, callee, scope);
    struct cbx_actuals actuals;
    cbx_py_actuals(py, call, scope, &actuals);
    bool judged = values->count > 0;
    for (uint32_t i = 0; judged && i < values->count; i++) {
        judged = values->items[i]->kind == CBX_V_UNKNOWN
                     ? values->count > 1 /* the other alternatives decide */
                     : is_judged_value(py, values->items[i], &actuals);
    }
    return judged;
}
