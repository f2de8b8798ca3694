/* SPDX-License-Identifier: MIT
 * Pass two over Python: the facts. One loop over the nodes; the evaluator gives the values. */
#include "analyzer/lang/python/internal.h"
#include "analyzer/lang/python/syntax/syntax_indent.h"
#include "analyzer/lang/stored.h"

#include "analyzer/facts/sinks.h"
#include "analyzer/lang/python/notebook/magics.h"
#include "analyzer/lang/python/notebook/notebook.h"
#include "policies/load/index.h"

enum { DECORATORS_MAX = 32, THROUGH_DEPTH_MAX = 4, THROUGH_ITEMS_MAX = 16 };

static void add(struct cbx_walk *py, enum cbx_fact_kind kind, struct cbx_str name,
                const struct cbx_node *node)
{
    cbx_facts_add(py->facts, kind, name, node->start, node->end);
}

/* --- calls ------------------------------------------------------------------------------------ */

static const struct cbx_arg *read_arguments(struct cbx_walk *py, struct cbx_actuals *actuals)
{
    struct cbx_arg *args = cbx_arena_array(py->arena, actuals->count + 1u, sizeof(*args));
    uint32_t position = 0;
    for (uint32_t i = 0; args != NULL && i < actuals->count; i++) {
        struct cbx_actual *a = &actuals->items[i];
        a->values = a->values != NULL ? a->values : cbx_py_eval(py, a->node, a->scope);
        const struct cbx_value *v = a->values->count == 1 ? a->values->items[0] : NULL;
        bool path =
            v != NULL && v->kind == CBX_V_NAME && v->count == 1 && v->members[0]->count == 1;
        v = path ? v->members[0]->items[0] : v;
        args[i].keyword = a->keyword;
        args[i].position = a->keyword.len > 0 ? UINT32_MAX : position++;
        args[i].known = v != NULL &&
                        (v->kind == CBX_V_TEXT || v->kind == CBX_V_NUMBER || v->kind == CBX_V_NAME);
        args[i].constant = args[i].known && v->kind != CBX_V_NAME;
        args[i].value = args[i].known ? v->text : CBX_STR("");
        if (!args[i].known) {
            args[i].texts = cbx_values_texts(py->arena, a->values, &args[i].text_count);
            args[i].likely = a->values->count == 1 && args[i].text_count == 1;
        }
        if (!args[i].constant) {
            args[i].partials = cbx_values_partials(py->arena, a->values, &args[i].partial_count);
        }
    }
    return args;
}

/* Returns true for a powerful module of the interpreter: a computed attribute may be any of its
 * members. */
static bool is_powerful(const struct cbx_values *values)
{
    for (uint32_t i = 0; i < values->count; i++) {
        const struct cbx_value *v = values->items[i];
        if (v->kind == CBX_V_NAME && v->number != CBX_NAME_OBJECT &&
            (cbx_str_is(v->text, "__builtins__") || cbx_str_is(v->text, "builtins") ||
             (v->number != CBX_NAME_BARE && cbx_py_is_powerful(v->text)))) {
            return true;
        }
    }
    return false;
}

static void add_value_references(struct cbx_walk *py, const struct cbx_values *values,
                                 const struct cbx_node *node);

/* Returns true for q.get(), x[0]: the unknown result of an object that is not followed may be a
 * module that escaped. */
static bool comes_from_call(struct cbx_walk *py, const struct cbx_actual *object)
{
    enum cbx_py_kind kind = cbx_py_kind(object->node);
    return (kind == PY_call || kind == PY_subscript) && py->escaped->count > 0 &&
           cbx_values_has_unknown(cbx_py_eval(py, object->node, object->scope));
}

static void extract_getattr(struct cbx_walk *py, struct cbx_actuals *actuals,
                            const struct cbx_node *call)
{
    if (cbx_actual_find(actuals, 1, NULL) == NULL) {
        return;
    }
    const struct cbx_values *names = cbx_actual_values(py, actuals, 1, NULL);
    for (uint32_t i = 0; i < names->count; i++) {
        if (names->items[i]->kind == CBX_V_TEXT) {
            cbx_py_extract_attribute(py, names->items[i]->text, call);
            cbx_py_check_owned(py, cbx_actual_values(py, actuals, 0, NULL), names->items[i]->text,
                               call);
            add_value_references(
                py, cbx_py_read(py, cbx_actual_values(py, actuals, 0, NULL), names->items[i]->text),
                call);
        }
    }
    uint32_t flags = cbx_values_flags(names);
    if ((flags & CBX_UNKNOWN_PICKED) != 0) {
        cbx_py_special(py, CBX_FACT_DUNDER_WALK, CBX_STR("dir"), call);
    } else if ((flags & CBX_UNKNOWN_NAMES) != 0) {
        cbx_py_check_owned(py, cbx_actual_values(py, actuals, 0, NULL), CBX_STR("__dict__"), call);
    }
    if (!cbx_values_all_text(names)) {
        const struct cbx_actual *object = cbx_actual_find(actuals, 0, NULL);
        const struct cbx_values *values = cbx_actual_values(py, actuals, 0, NULL);
        bool twice = cbx_py_kind(object->node) == PY_call &&
                     cbx_str_is(cbx_walk_text(py, cbx_child_of(object->node, CBX_FIELD_function)),
                                "getattr");
        bool module = twice || is_powerful(values) ||
                      (comes_from_call(py, object) && is_powerful(py->escaped));
        if (py->applying && (!module || py->applying_method)) {
            return; /* the callee is unknown, and hardly getattr */
        }
        cbx_py_special(py, module ? CBX_FACT_COMPUTED_ATTRIBUTE : CBX_FACT_COMPUTED_MEMBER,
                       cbx_walk_text(py, cbx_child_of(call, CBX_FIELD_function)), call);
    }
}

/* Adds the facts of setattr(sys, 'executable', x). */
static void extract_setattr(struct cbx_walk *py, struct cbx_actuals *actuals, struct cbx_node *call)
{
    const struct cbx_values *object = cbx_actual_values(py, actuals, 0, NULL),
                            *names = cbx_actual_values(py, actuals, 1, NULL);
    struct cbx_str name;
    if (cbx_values_is_text(names, &name)) {
        cbx_py_note_definition(py, name, call);
    }
    if (cbx_values_is_text(names, &name) && cbx_str_is(name, "__annotations__")) {
        cbx_py_check_annotations(py, cbx_actual_values(py, actuals, 2, NULL), call);
    }
    for (uint32_t i = 0; i < object->count && cbx_values_is_text(names, &name); i++) {
        struct cbx_actuals value = { 0 };
        if (object->items[i]->kind == CBX_V_NAME) {
            struct cbx_str full = cbx_py_qualify(py, object->items[i], name);
            cbx_actuals_add(&value, (struct cbx_str){ 0 }, NULL, NULL,
                            cbx_actual_values(py, actuals, 2, NULL));
            cbx_py_extract_call(py, CBX_JOIN(py->arena, CBX_STR("set:"), full), &value, call);
        }
    }
}

/* Returns true for a module object, or the name of this module. */
static bool is_module_object(const struct cbx_value *v)
{
    return v->kind == CBX_V_NAME && (v->number == 0 || cbx_str_is(v->text, "__name__") ||
                                     cbx_str_is(v->text, "__package__"));
}

static void extract_import_call(struct cbx_walk *py, struct cbx_str callee,
                                struct cbx_actuals *actuals, const struct cbx_node *call)
{
    const struct cbx_values *values = cbx_actual_values(py, actuals, 0, "name");
    const struct cbx_values *package = cbx_actual_values(py, actuals, 1, "package");
    bool known = values->count > 0;
    for (uint32_t i = 0; i < values->count; i++) {
        struct cbx_str name = values->items[i]->text, base;
        bool text = values->items[i]->kind == CBX_V_TEXT;
        known &= text || (cbx_py_call_meaning(callee) == PY_CALL_IMPORT_NAME &&
                          is_module_object(values->items[i]));
        /* relative to the package in the arguments */
        if (text && cbx_str_starts(name, CBX_STR("."))) {
            known &= cbx_values_is_text(package, &base);
            name =
                cbx_values_is_text(package, &base) ? cbx_fold_concat(py->arena, base, name) : name;
        }
        if (text) {
            cbx_py_add_import(py, name, call);
        }
    }
    if (!known) {
        cbx_py_special(py, CBX_FACT_DYNAMIC_IMPORT, callee, call);
    }
}

/* Handles __import__('a', fromlist=['b']), which may import a.b too. */
static void extract_from_list(struct cbx_walk *py, struct cbx_str callee,
                              struct cbx_actuals *actuals, const struct cbx_node *call)
{
    const struct cbx_actual *list = cbx_actual_find(actuals, 3, "fromlist");
    struct cbx_str package;
    if (list == NULL || !cbx_values_is_text(cbx_actual_values(py, actuals, 0, "name"), &package)) {
        return;
    }
    const struct cbx_value *names =
        cbx_py_sequence(py, cbx_actual_values(py, actuals, 3, "fromlist"));
    for (uint32_t i = 0; names != NULL && i < names->count && i < THROUGH_ITEMS_MAX; i++) {
        struct cbx_str name;
        if (!cbx_values_is_text(names->members[i], &name)) {
            names = NULL;
            break;
        }
        struct cbx_value object = { .kind = CBX_V_NAME, .text = package };
        cbx_py_add_import(py, cbx_py_qualify(py, &object, name), call);
    }
    if (names == NULL || names->number != 0 || names->count > THROUGH_ITEMS_MAX) {
        cbx_py_special(py, CBX_FACT_DYNAMIC_IMPORT, callee, call);
    }
}

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

static struct cbx_str judged_line(struct cbx_walk *py, struct cbx_str method,
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

/* Returns true if the modules or the code in the arguments are constant. */
static bool is_judged_call(struct cbx_walk *py, struct cbx_str name, struct cbx_actuals *actuals)
{
    uint32_t position = 0;
    const char *keyword = "name";
    if (cbx_str_starts(name, CBX_STR(CBX_PY_SHELL "."))) {
        return judged_line(py, name, actuals).p != NULL;
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
        return is_judged_call(py, v->text, actuals);
    }
    if (v->kind != CBX_V_PARTIAL || v->members[0]->count != 1 ||
        v->members[0]->items[0]->kind != CBX_V_NAME) {
        return false;
    }
    cbx_py_whole(v, actuals, &whole);
    return is_judged_call(py, v->members[0]->items[0]->text, &whole);
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

static void found_in_format(struct cbx_walk *py, const struct cbx_values *values,
                            struct cbx_str name, void *context)
{
    const struct cbx_node *call = context;
    for (uint32_t i = 0; i < values->count; i++) {
        if (values->items[i]->kind == CBX_V_NAME) {
            add(py, CBX_IS_REFERENCE, values->items[i]->text, call);
        }
    }
    cbx_py_extract_attribute(py, name, call);
}

/* Handles '{0.a}'.format(x), which reads x.a. */
static void extract_format(struct cbx_walk *py, struct cbx_str callee, struct cbx_actuals *actuals,
                           struct cbx_node *call)
{
    struct cbx_str text;
    struct cbx_actuals rest = { 0 };
    bool formatter = cbx_str_starts(callee, CBX_STR("string.Formatter"));
    if ((!formatter && !cbx_str_is(callee, "str.format") &&
         !cbx_str_is(callee, "str.format_map")) ||
        !cbx_values_is_text(cbx_actual_values(py, actuals, formatter ? 1 : 0, NULL), &text)) {
        return;
    }
    cbx_actuals_shift(actuals, formatter ? 2 : 1, NULL, &rest);
    cbx_py_format_fields(py, text, &rest, found_in_format, call);
}

static void extract_values_call(struct cbx_walk *py, const struct cbx_values *callee,
                                struct cbx_actuals *actuals, struct cbx_node *call, int depth);

/* Handles a callable that calls one of its arguments. */
static void extract_through(struct cbx_walk *py, struct cbx_str name, struct cbx_actuals *actuals,
                            struct cbx_node *call, int depth)
{
    uint32_t function, first;
    struct cbx_actuals rest = { 0 };
    if (depth >= THROUGH_DEPTH_MAX || !cbx_py_calls_through(name, &function, &first) ||
        cbx_actual_find(actuals, function, NULL) == NULL) {
        return;
    }
    const struct cbx_values *callee = cbx_actual_values(py, actuals, function, NULL);
    if (first != 99) {
        cbx_actuals_shift(actuals, first, NULL, &rest);
        extract_values_call(py, callee, &rest, call, depth + 1);
        return;
    }
    const struct cbx_values *items = cbx_actual_values(py, actuals, function + 1, NULL);
    const struct cbx_value *list = cbx_py_sequence(py, items);
    uint32_t count = list != NULL && list->count <= THROUGH_ITEMS_MAX ? list->count : 1;
    for (uint32_t i = 0; i < count; i++) {
        bool known = list != NULL && list->count <= THROUGH_ITEMS_MAX;
        rest.count = 0;
        cbx_actuals_add(&rest, (struct cbx_str){ 0 }, NULL, NULL,
                        known ? list->members[i] : cbx_py_members(py, items));
        for (uint32_t k = function + 2; cbx_actual_find(actuals, k, NULL) != NULL; k++) {
            const struct cbx_values *more = cbx_actual_values(py, actuals, k, NULL);
            cbx_actuals_add(&rest, (struct cbx_str){ 0 }, NULL, NULL, cbx_py_members(py, more));
        }
        extract_values_call(py, callee, &rest, call, depth + 1);
    }
}

static void extract_named_call(struct cbx_walk *py, struct cbx_str name,
                               struct cbx_actuals *actuals, struct cbx_node *call, int depth)
{
    struct cbx_fact *fact = cbx_facts_add(py->facts, CBX_IS_CALL, name, call->start, call->end);
    if (fact != NULL) {
        const struct cbx_arg *args = read_arguments(py, actuals);
        fact->args = args;
        fact->arg_count = args != NULL ? actuals->count : 0;
        fact->spread = actuals->spread;
        struct cbx_node *callee = cbx_child_of(call, CBX_FIELD_function);
        bool shell = cbx_str_is(name, "get_ipython") && callee != NULL &&
                     cbx_py_harmless_read(py, callee).len > 0;
        fact->cleared = cbx_str_ends(name, CBX_STR(".__set__"))      ? UINT32_MAX
                        : shell || is_judged_call(py, name, actuals) ? CBX_PY_JUDGED
                                                                     : 0;
    }
    switch (cbx_py_call_meaning(name)) {
    case PY_CALL_SETATTR:
        extract_setattr(py, actuals, call);
        /* fall through */
    case PY_CALL_GETATTR:
        extract_getattr(py, actuals, call);
        break;
    case PY_CALL_IMPORT:
    case PY_CALL_IMPORT_TOP:
    case PY_CALL_IMPORT_NAME:
        extract_import_call(py, name, actuals, call);
        extract_from_list(py, name, actuals, call);
        break;
    default:
        break;
    }
    if (cbx_py_call_meaning(name) == PY_CALL_VARS ||
        cbx_py_call_meaning(name) == PY_CALL_MEMBERS_OF) {
        cbx_py_check_owned(py, cbx_actual_values(py, actuals, 0, NULL), CBX_STR("__dict__"), call);
    }
    if (cbx_py_call_meaning(name) == PY_CALL_MEMBERS_OF &&
        is_powerful(cbx_actual_values(py, actuals, 0, NULL))) {
        cbx_py_special(py, CBX_FACT_COMPUTED_ATTRIBUTE, name, call);
    }
    if (cbx_str_starts(name, CBX_STR(CBX_PY_SHELL "."))) {
        struct cbx_str line = judged_line(py, name, actuals);
        cbx_parse_inner(py->parsed, "ipython", line, call->start, call->end);
    }
    cbx_py_extract_writer(py, name, actuals, call);
    cbx_py_check_sent(py, name, actuals, call);
    cbx_py_extract_code(py, name, actuals, call);
    cbx_py_extract_doctest(py, name, actuals, call);
    extract_format(py, name, actuals, call);
    extract_through(py, name, actuals, call, depth);
}

void cbx_py_extract_call(struct cbx_walk *py, struct cbx_str name, struct cbx_actuals *actuals,
                         struct cbx_node *call)
{
    extract_named_call(py, name, actuals, call, 0);
}

/* Returns true for names whose mention is harmless, but not their call: methods of constants,
 * and the type of functions, which type(f) also gives. */
static bool is_of_text(struct cbx_str name)
{
    return cbx_str_is(name, "types.FunctionType") || cbx_str_is(name, "types.LambdaType") ||
           cbx_str_starts(name, CBX_STR("str.")) || cbx_str_starts(name, CBX_STR("list.")) ||
           cbx_str_starts(name, CBX_STR("dict."));
}

static void extract_partial_call(struct cbx_walk *py, const struct cbx_value *partial,
                                 struct cbx_actuals *actuals, struct cbx_node *call, int depth)
{
    struct cbx_actuals whole, rest = { 0 };
    const struct cbx_values *callee = partial->members[0];
    cbx_py_whole(partial, actuals, &whole);
    for (uint32_t i = 0; i < callee->count; i++) {
        const struct cbx_value *v = callee->items[i];
        if (v->kind == CBX_V_NAME && is_of_text(v->text)) {
            extract_format(py, v->text, &whole, call);
        } else if (v->kind == CBX_V_NAME && cbx_str_is(v->text, CBX_PY_METHOD_CALLER)) {
            extract_values_call(py, cbx_py_method_called(py, &whole, &rest), &rest, call,
                                depth + 1);
        } else {
            extract_values_call(py, cbx_values_one(py->arena, v), &whole, call, depth + 1);
        }
    }
}

/* Returns true for marshal in marshal(x) if nothing in this text binds `marshal`: a module
 * cannot be called, so the name is a function of an earlier cell. */
static bool is_own_function(const struct cbx_value *v)
{
    return v->number == CBX_NAME_BARE && cbx_sinks_is_module(CBX_PYTHON, v->text);
}

static void extract_values_call(struct cbx_walk *py, const struct cbx_values *callee,
                                struct cbx_actuals *actuals, struct cbx_node *call, int depth)
{
    for (uint32_t i = 0; i < callee->count && depth < THROUGH_DEPTH_MAX; i++) {
        const struct cbx_value *v = callee->items[i];
        if (v->kind == CBX_V_NAME && is_own_function(v)) {
            continue;
        }
        if (v->kind == CBX_V_NAME) {
            extract_named_call(py, v->text, actuals, call, depth);
        } else if (v->kind == CBX_V_PARTIAL) {
            extract_partial_call(py, v, actuals, call, depth);
        }
    }
}

/* Handles x.submit(f, a), x.query(text), x.format(...) of an unknown x. */
static void extract_method_through(struct cbx_walk *py, const struct cbx_node *callee,
                                   struct cbx_actuals *actuals, struct cbx_node *call)
{
    char name[40];
    struct cbx_str method = cbx_walk_text(py, cbx_child_of(callee, CBX_FIELD_attribute));
    if (actuals->count == 0 && cbx_str_is(method, "load")) {
        cbx_walk_trigger(py, call);
    }
    if (method.len + 3 < sizeof(name)) {
        snprintf(name, sizeof(name), "*.%.*s", (int)method.len, method.p);
        if (actuals->count > 0) {
            extract_through(py, cbx_str_of(name), actuals, call, 0);
            cbx_py_extract_code(py, cbx_str_of(name), actuals, call);
        }
        if (cbx_sinks_of(CBX_PYTHON, cbx_str_of(name)) != 0 &&
            !cbx_py_is_judged_callee(py, cbx_child_of(call, CBX_FIELD_function))) {
            extract_named_call(py, cbx_arena_copy(py->arena, cbx_str_of(name)), actuals, call, 0);
        }
    }
    struct cbx_str text;
    struct cbx_actuals rest = { 0 };
    if (cbx_str_is(method, "format") && actuals->count > 1 &&
        cbx_values_is_text(cbx_actual_values(py, actuals, 0, NULL), &text)) {
        cbx_actuals_shift(actuals, 1, NULL, &rest); /* a Formatter of the program */
        cbx_py_format_fields(py, text, &rest, found_in_format, call);
    }
}

/* Returns true for Dense(8)(x): the callee is the result of a library function or of a class of
 * this source. */
static bool is_of_known_call(struct cbx_walk *py, struct cbx_node *callee, struct cbx_scope *scope)
{
    if (cbx_py_kind(callee) != PY_call) {
        return false;
    }
    const struct cbx_values *maker =
        cbx_py_eval(py, cbx_child_of(callee, CBX_FIELD_function), scope);
    const struct cbx_value *v = maker->items[0];
    return maker->count == 1 &&
           ((v->kind == CBX_V_NAME && (v->number == 0 || cbx_str_is(v->text, "type"))) ||
            (v->kind == CBX_V_FUNCTION && cbx_py_kind(v->node) == PY_class_definition));
}

/* Returns true if the name is bound by `as`, or to the result of a library function: its
 * attributes are unknown. */
static bool is_of_library(struct cbx_walk *py, struct cbx_node *name, struct cbx_scope *scope)
{
    struct cbx_binding *b = NULL;
    struct cbx_str text = cbx_py_text(py, name);
    for (struct cbx_scope *s = scope; s != NULL && b == NULL; s = s->parent) {
        b = cbx_scope_chain(py, s, text);
    }
    for (int steps = 0; b != NULL && steps < DECORATORS_MAX; b = b->next, steps++) {
        if (b->kind != CBX_BIND_EXPR || !cbx_str_equal(b->name, text)) {
            continue;
        }
        if (cbx_py_kind(b->node->parent) == PY_as_pattern) {
            return true;
        }
        const struct cbx_values *maker =
            cbx_py_kind(b->node) == PY_call
                ? cbx_py_eval(py, cbx_child_of(b->node, CBX_FIELD_function), b->where)
                : &cbx_values_nothing;
        if (maker->count == 1 && maker->items[0]->kind == CBX_V_NAME &&
            maker->items[0]->number == 0) {
            return true;
        }
    }
    return false;
}

/* Returns true if the callee comes from a module in a way that is not followed. Values of the
 * program's own lists, arguments and objects are judged where the program stores them. */
static bool comes_from_module(struct cbx_walk *py, struct cbx_node *callee, struct cbx_scope *scope)
{
    for (;;) {
        switch (cbx_py_kind(callee)) {
        case PY_attribute:
        case PY_subscript:
        case PY_call:
        case PY_parenthesized_expression:
        case PY_await:
            callee = cbx_child_at(callee, 0);
            continue;
        default:
            break;
        }
        break;
    }
    const struct cbx_values *root = cbx_py_eval(py, callee, scope);
    for (uint32_t i = 0; i < root->count; i++) {
        const struct cbx_value *v = root->items[i];
        if (v->kind == CBX_V_NAME && v->number != CBX_NAME_BARE && !cbx_py_is_plain(v->text)) {
            return true;
        }
    }
    return cbx_py_kind(callee) == PY_identifier && is_of_library(py, callee, scope);
}

/* Returns true for a call of isinstance and the like, even if globals() may bind the name. */
static bool is_builtin_callee(const struct cbx_node *callee, const struct cbx_values *targets,
                              struct cbx_str text)
{
    bool builtin = false;
    for (uint32_t i = 0; cbx_py_kind(callee) == PY_identifier && i < targets->count; i++) {
        builtin |= targets->items[i]->kind == CBX_V_NAME &&
                   targets->items[i]->number == CBX_NAME_BARE &&
                   cbx_str_equal(targets->items[i]->text, text);
    }
    return builtin;
}

static bool has_unbound_module(struct cbx_walk *py, struct cbx_node *node, struct cbx_scope *scope);

static void extract_call(struct cbx_walk *py, struct cbx_node *call, struct cbx_scope *scope)
{
    struct cbx_node *callee = cbx_child_of(call, CBX_FIELD_function);
    const struct cbx_values *targets = cbx_py_eval(py, callee, scope);
    struct cbx_actuals actuals;
    cbx_py_actuals(py, call, scope, &actuals);
    size_t before = py->facts->count;
    extract_values_call(py, targets, &actuals, call, 0);
    if (py->facts->count > before && has_unbound_module(py, callee, scope)) {
        cbx_py_mark_alone(py, before);
    }
    if (cbx_values_has_unknown(targets) && py->escaped_calls->count > 0 &&
        !is_builtin_callee(callee, targets, cbx_walk_text(py, callee))) {
        read_arguments(py, &actuals);
        py->applying = true;
        py->applying_method = cbx_py_kind(callee) == PY_attribute;
        extract_values_call(py, py->escaped_calls, &actuals, call, 1);
        py->applying = false;
        if (actuals.spread && !py->applying_method &&
            is_powerful(py->escaped)) { /* f(*args) may be getattr with os and a name */
            cbx_py_special(py, CBX_FACT_COMPUTED_ATTRIBUTE,
                           cbx_str_sub(cbx_walk_text(py, callee), 0, 80), call);
        }
    }
    while (cbx_py_kind(callee) == PY_parenthesized_expression) {
        callee = cbx_child_at(callee, 0);
    }
    enum cbx_py_kind kind = cbx_py_kind(callee);
    struct cbx_node *object = kind == PY_attribute ? cbx_child_of(callee, CBX_FIELD_object) : NULL;
    if (cbx_values_has_more(targets) ||
        (object != NULL && cbx_values_has_more(cbx_py_eval(py, object, scope)))) {
        cbx_py_special(py, CBX_FACT_TOO_COMPLEX, CBX_STR("alternatives"), call);
    }
    if (kind == PY_attribute) {
        extract_method_through(py, callee, &actuals, call);
    } else if (kind != PY_identifier && cbx_values_has_unknown(targets) &&
               !is_of_known_call(py, callee, scope) && comes_from_module(py, callee, scope)) {
        cbx_py_special(py, CBX_FACT_UNRESOLVED_CALL, cbx_str_sub(cbx_walk_text(py, callee), 0, 80),
                       call);
    }
}

/* Handles a decorator: a call with the definition below it. */
static void extract_decorator(struct cbx_walk *py, struct cbx_node *node, struct cbx_scope *scope)
{
    struct cbx_actuals actuals = { 0 };
    struct cbx_node *below = node;
    for (int i = 0; below->next != NULL && i < DECORATORS_MAX; i++) {
        below = below->next;
    }
    cbx_actuals_add(&actuals, (struct cbx_str){ 0 }, below, scope,
                    below->next != NULL ? &cbx_values_unknown : NULL);
    extract_values_call(py, cbx_py_eval(py, cbx_child_at(node, 0), scope), &actuals, node, 0);
}

/* Adds a reference, for rules, for each name that an expression may have as its value. */
static void add_value_references(struct cbx_walk *py, const struct cbx_values *values,
                                 const struct cbx_node *node)
{
    for (uint32_t i = 0; i < values->count; i++) {
        const struct cbx_value *v = values->items[i];
        if (v->kind == CBX_V_NAME && !is_of_text(v->text)) {
            add(py, CBX_IS_REFERENCE, v->text, node);
        } else if (v->kind == CBX_V_PARTIAL) {
            const struct cbx_values *callee = v->members[0];
            for (uint32_t k = 0; k < callee->count; k++) {
                if (callee->items[k]->kind == CBX_V_NAME && !is_of_text(callee->items[k]->text)) {
                    add(py, CBX_IS_REFERENCE, callee->items[k]->text, node);
                }
            }
        }
    }
}

/* Returns true in isinstance(x, types.FunctionType), x is types.FunctionType: the type is
 * compared, not used. */
static bool is_asked_about(struct cbx_walk *py, const struct cbx_node *node)
{
    const struct cbx_node *list = node->parent;
    if (cbx_py_kind(node) != PY_attribute || cbx_py_kind(list) != PY_argument_list) {
        return cbx_py_kind(node) == PY_attribute && cbx_py_kind(list) == PY_comparison_operator;
    }
    struct cbx_str callee = cbx_walk_text(py, cbx_child_of(list->parent, CBX_FIELD_function));
    return cbx_str_is(callee, "isinstance") || cbx_str_is(callee, "issubclass");
}

/* Returns true for os.environ itself; reads of its items have their own facts. */
static bool is_environment(const struct cbx_values *values)
{
    return values->count == 1 && values->items[0]->kind == CBX_V_NAME &&
           cbx_str_is(values->items[0]->text, "os.environ");
}

static bool is_read_of(const struct cbx_node *node)
{
    return (cbx_py_kind(node->parent) == PY_subscript && node->field == CBX_FIELD_value) ||
           (cbx_py_kind(node->parent) == PY_attribute && node->field == CBX_FIELD_object);
}

/* Returns true for `importlib` in importlib.metadata.version(): the fact has the whole name. */
static bool is_module_named(const struct cbx_node *node, const struct cbx_values *values)
{
    return cbx_py_kind(node) == PY_identifier && cbx_py_kind(node->parent) == PY_attribute &&
           values->count == 1 && values->items[0]->kind == CBX_V_NAME &&
           values->items[0]->number == 0 &&
           memchr(values->items[0]->text.p, '.', values->items[0]->text.len) == NULL;
}

static bool has_power(const struct cbx_values *values)
{
    bool power = false;
    for (uint32_t i = 0; i < values->count; i++) {
        const struct cbx_value *v = values->items[i];
        power |= v->kind == CBX_V_PARTIAL ||
                 (v->kind == CBX_V_NAME && cbx_sinks_of(CBX_PYTHON, v->text) != 0);
    }
    return power;
}

/* Returns true for subprocess.run if nothing in the text binds `subprocess`: in another cell it
 * may be a function or a variable of the program. A builtin is no such name. */
static bool has_unbound_module(struct cbx_walk *py, struct cbx_node *node, struct cbx_scope *scope)
{
    while (cbx_py_kind(node) == PY_attribute || cbx_py_kind(node) == PY_call ||
           cbx_py_kind(node) == PY_subscript || cbx_py_kind(node) == PY_parenthesized_expression) {
        node = cbx_child_at(node, 0);
    }
    const struct cbx_values *root =
        cbx_py_kind(node) == PY_identifier ? cbx_py_eval(py, node, scope) : &cbx_values_nothing;
    const struct cbx_value *v = root->count == 1 ? root->items[0] : NULL;
    return v != NULL && v->kind == CBX_V_NAME && v->number == CBX_NAME_BARE &&
           (cbx_sinks_of(CBX_PYTHON, v->text) == 0 || cbx_sinks_is_module(CBX_PYTHON, v->text)) &&
           (cbx_sinks_of_module(CBX_PYTHON, v->text) != 0 || cbx_sinks_within(CBX_PYTHON, v->text));
}

static void add_references(struct cbx_walk *py, struct cbx_node *node, struct cbx_scope *scope)
{
    const struct cbx_values *values = cbx_py_eval(py, node, scope);
    const struct cbx_value *v = values->count == 1 ? values->items[0] : NULL;
    bool powerful = has_power(values);
    bool called = node->field == CBX_FIELD_function && cbx_py_kind(node->parent) == PY_call &&
                  v != NULL && v->kind == CBX_V_NAME && is_own_function(v);
    bool spoken_for =
        called || (is_read_of(node) && (is_environment(values) || is_module_named(node, values))) ||
        (powerful && (cbx_py_harmless_read(py, node).len > 0 || cbx_py_is_judged_callee(py, node)));
    if (!is_asked_about(py, node) && !spoken_for) {
        size_t before = py->facts->count;
        add_value_references(py, values, node);
        if (py->facts->count > before && has_unbound_module(py, node, scope)) {
            cbx_py_mark_alone(py, before);
        }
    }
}

/* Handles os.environ['X'] as a call with 'X', so that rules can match the variable. */
static void extract_variable(struct cbx_walk *py, struct cbx_node *node, struct cbx_scope *scope)
{
    struct cbx_actuals actuals = { 0 };
    struct cbx_node *key = cbx_child_of(node, CBX_FIELD_subscript);
    if (!is_environment(cbx_py_eval(py, cbx_child_of(node, CBX_FIELD_value), scope))) {
        return;
    }
    cbx_actuals_add(&actuals, (struct cbx_str){ 0 }, key, scope, NULL);
    extract_named_call(py, CBX_STR("os.environ.__getitem__"), &actuals, node, 0);
}

/* --- the walk --------------------------------------------------------------------------------- */

/* Returns the part of a notebook line that a node is in: the facts of a rewritten line come from
 * the line itself, and from the expressions in it. */
static enum cbx_notebook_part part_of(const struct cbx_walk *py, const struct cbx_node *node)
{
    const struct cbx_parsed *parsed = py->parsed;
    return parsed->magic_count == 0
               ? CBX_PART_PYTHON
               : cbx_notebook_part(parsed->magics, parsed->magic_count, node->start, node->end);
}

/* Returns true for an identifier that is no use of a name: an attribute, a keyword, a
 * definition, a target. */
static bool is_plain_name(const struct cbx_node *name)
{
    switch (cbx_py_kind(name->parent)) {
    case PY_dotted_name:
    case PY_global_statement:
    case PY_nonlocal_statement:
    case PY_parameters:
    case PY_lambda_parameters:
    case PY_pattern_list:
    case PY_tuple_pattern:
    case PY_list_pattern:
    case PY_keyword_pattern:
    case PY_splat_pattern:
        return name->field == CBX_FIELD_NONE;
    case PY_attribute:
        return name->field == CBX_FIELD_attribute;
    case PY_assignment:
    case PY_for_statement:
    case PY_for_in_clause:
        return name->field == CBX_FIELD_left;
    case PY_as_pattern_target:
        return true;
    case PY_keyword_argument:
    case PY_function_definition:
    case PY_class_definition:
    case PY_default_parameter:
    case PY_typed_default_parameter:
        return name->field == CBX_FIELD_name;
    default:
        return false;
    }
}

/* Handles __match_args__ = ('a',): a pattern reads the attribute from any object that it
 * matches. */
static void extract_match_names(struct cbx_walk *py, struct cbx_node *assignment,
                                struct cbx_scope *scope)
{
    struct cbx_node *left = cbx_child_of(assignment, CBX_FIELD_left);
    struct cbx_node *name =
        cbx_py_kind(left) == PY_attribute ? cbx_child_of(left, CBX_FIELD_attribute) : left;
    if (!cbx_str_is(cbx_walk_text(py, name), "__match_args__")) {
        return;
    }
    const struct cbx_values *names =
        cbx_py_members(py, cbx_py_eval(py, cbx_child_of(assignment, CBX_FIELD_right), scope));
    for (uint32_t i = 0; i < names->count; i++) {
        if (names->items[i]->kind == CBX_V_TEXT) {
            cbx_py_extract_attribute(py, names->items[i]->text, assignment);
            add_value_references(py, cbx_py_read(py, &cbx_values_unknown, names->items[i]->text),
                                 assignment);
        } else {
            cbx_py_special(py, CBX_FACT_COMPUTED_MEMBER, CBX_STR("__match_args__"), assignment);
        }
    }
}

static void extract_read(struct cbx_walk *py, struct cbx_node *node, struct cbx_scope *scope)
{
    struct cbx_node *attribute = cbx_child_of(node, CBX_FIELD_attribute);
    struct cbx_str name = cbx_py_text(py, attribute);
    cbx_py_extract_attribute(py, name, attribute);
    cbx_py_check_owned(py, cbx_py_eval(py, cbx_child_of(node, CBX_FIELD_object), scope), name,
                       attribute);
}

static void extract_subscript(struct cbx_walk *py, struct cbx_node *node, struct cbx_scope *scope)
{
    add_references(py, node, scope);
    cbx_py_extract_written(py, node, scope);
    extract_variable(py, node, scope);
    cbx_py_extract_generic(py, node, scope);
    cbx_py_check_names(py, node, scope);
    cbx_py_check_dictionary(py, node, scope);
}

/* Adds the facts of a node; returns false if its children must not be visited. */
static bool extract_node(struct cbx_walk *py, struct cbx_node *node, struct cbx_scope *scope)
{
    switch (cbx_py_kind(node)) {
    case PY_import_statement:
    case PY_import_from_statement:
        cbx_py_extract_import(py, node);
        return false;
    case PY_future_import_statement:
        return false;
    case PY_print_statement:
    case PY_exec_statement:
        cbx_py_special(py, CBX_FACT_SYNTAX, CBX_STR("Python 2 statement"), node);
        return true;
    case PY_identifier:
        if (!is_plain_name(node)) {
            add_references(py, node, scope);
        }
        cbx_py_extract_definition(py, node);
        return false;
    case PY_string_content:
        cbx_py_extract_definition(py, node);
        return false;
    case PY_attribute:
        extract_read(py, node, scope);
        add_references(py, node, scope);
        cbx_py_check_dictionary(py, node, scope);
        cbx_py_extract_written(py, node, scope);
        cbx_py_extract_annotation_change(py, node);
        return true;
    case PY_subscript:
        extract_subscript(py, node, scope);
        return true;
    case PY_keyword_pattern: /* case X(name=y): reads x.name */
        cbx_py_extract_attribute(py, cbx_py_text(py, cbx_child_at(node, 0)), node);
        return true;
    case PY_call:
        extract_call(py, node, scope);
        cbx_py_check_names(py, node, scope);
        add_references(py, node, scope);
        cbx_py_extract_text(py, node, scope);
        cbx_py_extract_built(py, node, scope);
        return true;
    case PY_binary_operator:
        if (cbx_py_kind(node->parent) != PY_binary_operator) {
            cbx_py_extract_text(py, node, scope);
            cbx_py_extract_built(py, node, scope);
        }
        return true;
    case PY_comparison_operator:
        cbx_py_check_names(py, node, scope);
        return true;
    case PY_concatenated_string:
    case PY_augmented_assignment:
        cbx_py_extract_text(py, node, scope);
        return true;
    case PY_string:
        if (cbx_py_kind(node->parent) != PY_expression_statement) {
            cbx_py_extract_text(py, node, scope);
            cbx_py_extract_built(py, node, scope);
        }
        return true;
    case PY_assignment:
        extract_match_names(py, node, scope);
        cbx_py_extract_annotations(py, node, scope);
        return true;
    case PY_pair:
        cbx_py_extract_annotations(py, node, scope);
        return true;
    case PY_decorator:
        extract_decorator(py, node, scope);
        return true;
    case PY_type:
        cbx_py_extract_annotation(py, node);
        return true;
    case PY_for_statement:
    case PY_for_in_clause:
        cbx_py_check_iteration(py, node, scope);
        return true;
    default:
        return true;
    }
}

void cbx_extract_python(struct cbx_parsed *parsed)
{
    struct cbx_walk *py = cbx_arena_alloc(parsed->arena, sizeof(*py));
    if (py == NULL || !cbx_walk_begin(py, parsed, cbx_py_grammar())) {
        return;
    }
    cbx_py_bind_all(py);
    cbx_py_flow_all(py);
    cbx_stored_read(py, &cbx_py_stored);
    parsed->walk = py;
    cbx_magic_resolve(py);
    struct cbx_node *end = py->syntax.nodes + py->syntax.count;
    for (struct cbx_node *node = py->syntax.nodes; node < end;) {
        enum cbx_notebook_part part = part_of(py, node);
        bool down =
            part == CBX_PART_AROUND ||
            (part == CBX_PART_PYTHON &&
             (node->kind == PY_OTHER || extract_node(py, node, cbx_scope_around(py, node))));
        node = down ? node + 1 : (struct cbx_node *)(uintptr_t)cbx_node_behind(node, end);
    }
    cbx_walk_fire(py, CBX_STR("(entry point).load"));
    cbx_walk_end(py);
}

const TSLanguage *tree_sitter_python(void);
const struct cbx_lang_code cbx_lang_code_python = { .grammar = tree_sitter_python,
                                                    .extract = cbx_extract_python,
                                                    .between = CBX_PY_BETWEEN,
                                                    .reads_error = cbx_py_reads_error,
                                                    .correct = cbx_py_correct,
                                                    .misindents = cbx_indent_find,
                                                    .cookie = true };
