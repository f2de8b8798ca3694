/* SPDX-License-Identifier: MIT
 * The values of calls in Python: callables of the tables, methods of constants, functions of this
 * source (function.c). */
#include "analyzer/facts/sinks.h"
#include "analyzer/lang/python/internal.h"

enum { APPLY_MAX = 256, APPLY_DEPTH_MAX = 60 };

static const struct cbx_str no_keyword;

/* --- arguments -------------------------------------------------------------------------------- */

static void add_spread(struct cbx_walk *py, const struct cbx_values *values, bool map,
                       struct cbx_actuals *out)
{
    const struct cbx_value *list = map ? NULL : cbx_py_sequence(py, values),
                           *pairs = map ? cbx_values_container(values, CBX_V_MAP) : NULL;
    if (list == NULL && pairs == NULL) {
        out->spread = true;
        out->unknown =
            out->unknown != NULL ? cbx_values_join(py->arena, out->unknown, values) : values;
    }
    for (uint32_t i = 0; list != NULL && i < list->count; i++) {
        cbx_actuals_add(out, no_keyword, NULL, NULL, list->members[i]);
    }
    for (uint32_t i = 0; pairs != NULL && i < pairs->count; i++) {
        cbx_actuals_add(out, pairs->keys[i], NULL, NULL, pairs->members[i]);
    }
}

void cbx_py_actuals(struct cbx_walk *py, struct cbx_node *call, struct cbx_scope *scope,
                    struct cbx_actuals *out)
{
    struct cbx_node *list = cbx_child_of(call, CBX_FIELD_arguments);
    out->count = 0;
    out->spread = false;
    out->unknown = NULL;
    if (cbx_py_kind(list) == PY_generator_expression) {
        cbx_actuals_add(out, no_keyword, list, scope, NULL);
        return;
    }
    for (struct cbx_node *a = list != NULL ? list->first : NULL; a != NULL; a = a->next) {
        enum cbx_py_kind kind = cbx_py_kind(a);
        if (kind == PY_keyword_argument) {
            cbx_actuals_add(out, cbx_walk_text(py, cbx_child_of(a, CBX_FIELD_name)),
                            cbx_child_of(a, CBX_FIELD_value), scope, NULL);
        } else if (kind == PY_list_splat || kind == PY_dictionary_splat) {
            add_spread(py, cbx_py_eval(py, cbx_child_at(a, 0), scope), kind == PY_dictionary_splat,
                       out);
        } else {
            cbx_actuals_add(out, no_keyword, a, scope, NULL);
        }
    }
}

/* --- callables that call ---------------------------------------------------------------------- */

static const struct cbx_values *apply_to(struct cbx_walk *py, const struct cbx_values *callee,
                                         const struct cbx_values *a, const struct cbx_values *b)
{
    struct cbx_actuals actuals = { 0 };
    cbx_actuals_add(&actuals, no_keyword, NULL, NULL, a);
    if (b != NULL) {
        cbx_actuals_add(&actuals, no_keyword, NULL, NULL, b);
    }
    return cbx_py_apply(py, callee, &actuals, py->module);
}

/* Returns the result of map(f, xs, ys): member by member if they are known, else any number of
 * any member. */
static const struct cbx_values *apply_map(struct cbx_walk *py, struct cbx_actuals *actuals)
{
    const struct cbx_values *callee = cbx_actual_values(py, actuals, 0, NULL),
                            *xs = cbx_actual_values(py, actuals, 1, NULL),
                            *ys = cbx_actual_values(py, actuals, 2, NULL);
    bool two = cbx_actual_find(actuals, 2, NULL) != NULL;
    const struct cbx_value *a = cbx_py_sequence(py, xs), *b = two ? cbx_py_sequence(py, ys) : NULL;
    if (a == NULL || (two && b == NULL) || a->count > APPLY_MAX) {
        const struct cbx_values *y = two ? cbx_py_members(py, ys) : NULL;
        return cbx_values_each(py->arena, apply_to(py, callee, cbx_py_members(py, xs), y));
    }
    uint32_t count = two && b->count < a->count ? b->count : a->count;
    const struct cbx_values **members = cbx_arena_array(py->arena, count + 1u, sizeof(*members));
    for (uint32_t i = 0; members != NULL && i < count; i++) {
        members[i] = apply_to(py, callee, a->members[i], two ? b->members[i] : NULL);
    }
    return cbx_values_list(py->arena, members, count);
}

/* Returns the result of starmap(f, [(a, b)]). */
static const struct cbx_values *apply_starmap(struct cbx_walk *py, const struct cbx_values *callee,
                                              const struct cbx_values *rows)
{
    const struct cbx_values *out = &cbx_values_nothing;
    const struct cbx_value *list = cbx_py_sequence(py, rows);
    for (uint32_t i = 0; list != NULL && i < list->count && i < 16; i++) {
        struct cbx_actuals actuals = { 0 };
        add_spread(py, list->members[i], false, &actuals);
        out = cbx_values_join(py->arena, out, cbx_py_apply(py, callee, &actuals, py->module));
    }
    return cbx_values_each(py->arena, cbx_values_some(out));
}

static const struct cbx_values *apply_reduce(struct cbx_walk *py, struct cbx_actuals *actuals)
{
    const struct cbx_values *callee = cbx_actual_values(py, actuals, 0, NULL),
                            *xs = cbx_actual_values(py, actuals, 1, NULL);
    bool initial = cbx_actual_find(actuals, 2, "initial") != NULL;
    const struct cbx_value *list = cbx_py_sequence(py, xs);
    if (list == NULL || list->count > APPLY_MAX) {
        const struct cbx_values *any = cbx_py_members(py, xs);
        const struct cbx_values *from =
            initial ? cbx_actual_values(py, actuals, 2, "initial") : any;
        return cbx_values_join(py->arena, apply_to(py, callee, from, any), from);
    }
    uint32_t i = initial ? 0 : 1;
    const struct cbx_values *out = initial           ? cbx_actual_values(py, actuals, 2, "initial")
                                   : list->count > 0 ? list->members[0]
                                                     : &cbx_values_unknown;
    for (; i < list->count; i++) {
        out = apply_to(py, callee, out, list->members[i]);
    }
    return out;
}

static const struct cbx_values *accumulate(struct cbx_walk *py, const struct cbx_values *xs,
                                           const struct cbx_values *callee)
{
    struct cbx_actuals swapped = { 0 };
    cbx_actuals_add(&swapped, no_keyword, NULL, NULL, callee);
    cbx_actuals_add(&swapped, no_keyword, NULL, NULL, xs);
    return cbx_values_each(
        py->arena, cbx_values_join(py->arena, apply_reduce(py, &swapped), cbx_py_members(py, xs)));
}

static const struct cbx_values *make_partial(struct cbx_walk *py, struct cbx_actuals *actuals)
{
    const struct cbx_values **members =
        cbx_arena_array(py->arena, actuals->count + 1u, sizeof(*members));
    uint32_t n = 0;
    for (uint32_t i = 0; members != NULL && cbx_actual_find(actuals, i, NULL) != NULL; i++) {
        members[n++] = cbx_actual_values(py, actuals, i, NULL);
    }
    struct cbx_value partial = { .kind = CBX_V_PARTIAL, .members = members, .count = n };
    return n > 0 ? cbx_values_one(py->arena, &partial) : &cbx_values_unknown;
}

void cbx_py_whole(const struct cbx_value *partial, const struct cbx_actuals *actuals,
                  struct cbx_actuals *whole)
{
    *whole = (struct cbx_actuals){ .spread = actuals->spread, .unknown = actuals->unknown };
    for (uint32_t i = 1; i < partial->count; i++) {
        cbx_actuals_add(whole, no_keyword, NULL, NULL, partial->members[i]);
    }
    for (uint32_t i = 0; i < actuals->count; i++) {
        const struct cbx_actual *a = &actuals->items[i];
        cbx_actuals_add(whole, a->keyword, a->node, a->scope, a->values);
    }
}

static const struct cbx_values *apply_partial(struct cbx_walk *py, const struct cbx_value *partial,
                                              struct cbx_actuals *actuals, struct cbx_scope *scope)
{
    struct cbx_actuals whole;
    cbx_py_whole(partial, actuals, &whole);
    return cbx_py_apply(py, partial->members[0], &whole, scope);
}

/* attrgetter('a.b') is getattr with another order of arguments: returns a partial of this name. */
static const struct cbx_values *make_getter(struct cbx_walk *py, const char *name,
                                            struct cbx_actuals *actuals)
{
    struct cbx_actuals with_name = { 0 };
    cbx_actuals_shift(actuals, 0, cbx_values_name(py->arena, cbx_str_of(name)), &with_name);
    return make_partial(py, &with_name);
}

/* Returns object.a.b for every "a.b" that the name may be. */
static const struct cbx_values *read_dotted(struct cbx_walk *py, const struct cbx_values *object,
                                            const struct cbx_values *paths)
{
    const struct cbx_values *out = &cbx_values_nothing;
    for (uint32_t i = 0; i < paths->count; i++) {
        const struct cbx_values *value = object;
        struct cbx_str path = paths->items[i]->text;
        bool text = paths->items[i]->kind == CBX_V_TEXT;
        while (text && path.len > 0) {
            const char *dot = memchr(path.p, '.', path.len);
            size_t len = dot != NULL ? (size_t)(dot - path.p) : path.len;
            value = cbx_py_read(py, value, cbx_str_sub(path, 0, len));
            path = cbx_str_sub(path, len + 1, path.len);
        }
        out = cbx_values_join(py->arena, out, text ? value : &cbx_values_unknown);
    }
    return cbx_values_some(out);
}

const struct cbx_values *cbx_py_method_called(struct cbx_walk *py, struct cbx_actuals *actuals,
                                              struct cbx_actuals *rest)
{
    /* the arguments of the call: name, arguments, object */
    uint32_t last = actuals->count > 0 ? actuals->count - 1 : 0;
    const struct cbx_values *object = cbx_actual_values(py, actuals, last, NULL);
    cbx_actuals_shift(actuals, 1, NULL, rest);
    rest->count -= rest->count > 0;
    return read_dotted(py, object, cbx_actual_values(py, actuals, 0, NULL));
}

static const struct cbx_values *call_getter(struct cbx_walk *py, struct cbx_str name,
                                            struct cbx_actuals *actuals)
{
    const struct cbx_values *key = cbx_actual_values(py, actuals, 0, NULL);
    struct cbx_actuals rest = { 0 };
    if (cbx_str_is(name, CBX_PY_METHOD_CALLER)) {
        const struct cbx_values *method = cbx_py_method_called(py, actuals, &rest);
        return cbx_py_apply(py, method, &rest, py->module);
    }
    bool attribute = cbx_str_is(name, "operator.attrgetter()");
    /* the arguments of the call: names, and the object */
    uint32_t last = actuals->count > 0 ? actuals->count - 1 : 0;
    const struct cbx_values *object = cbx_actual_values(py, actuals, last, NULL);
    const struct cbx_values **members =
        last > 1 ? cbx_arena_array(py->arena, last, sizeof(*members)) : NULL;
    for (uint32_t i = 0; members != NULL && i < last; i++) {
        const struct cbx_values *one = cbx_actual_values(py, actuals, i, NULL);
        members[i] =
            attribute ? read_dotted(py, object, one) : cbx_py_item(py, object, one, py->module);
    }
    return members != NULL ? cbx_values_list(py->arena, members, last)
           : attribute     ? read_dotted(py, object, key)
                           : cbx_py_item(py, object, key, py->module);
}

/* --- callables of the table ------------------------------------------------------------------- */

/* Returns any member of a module; it may be another module. */
static const struct cbx_values *any_of_module(struct cbx_walk *py, const struct cbx_values *object)
{
    bool module =
        object->count == 1 && object->items[0]->kind == CBX_V_NAME && object->items[0]->number == 0;
    const struct cbx_values *out = &cbx_values_unknown;
    if (module) {
        out = cbx_values_join(py->arena, out, cbx_values_name(py->arena, CBX_STR("os")));
        out = cbx_values_join(py->arena, out, cbx_values_name(py->arena, CBX_STR("builtins")));
    }
    return out;
}

/* Returns the pair of name and value of inspect.getmembers(x). */
static const struct cbx_values *name_and(struct cbx_walk *py, const struct cbx_values *any)
{
    const struct cbx_values *member = cbx_values_marked(py->arena, CBX_UNKNOWN_MEMBER);
    return cbx_py_pair(py, cbx_values_marked(py->arena, CBX_UNKNOWN_NAMES),
                       cbx_values_join(py->arena, any, member));
}

/* Returns getattr(object, name) for every possible name. */
static const struct cbx_values *read_any(struct cbx_walk *py, const struct cbx_values *object,
                                         const struct cbx_values *names)
{
    const struct cbx_values *out = &cbx_values_nothing;
    uint32_t held = cbx_py_flags(object) & (CBX_UNKNOWN_SECRET | CBX_UNKNOWN_ENVIRONMENT);
    for (uint32_t i = 0; i < names->count; i++) {
        bool text = names->items[i]->kind == CBX_V_TEXT;
        bool named = names->items[i]->kind == CBX_V_UNKNOWN &&
                     ((uint32_t)names->items[i]->number & CBX_UNKNOWN_NAMES) != 0;
        out = cbx_values_join(py->arena, out,
                              text ? cbx_py_read(py, object, names->items[i]->text)
                                   : any_of_module(py, object));
        out = cbx_values_join(py->arena, out,
                              named ? cbx_values_marked(py->arena, CBX_UNKNOWN_MEMBER)
                                    : &cbx_values_nothing);
        out = !text && held != 0
                  ? cbx_values_join(py->arena, out, cbx_values_marked(py->arena, held))
                  : out;
    }
    return cbx_values_some(out);
}

/* Returns the module for each possible name; __import__('a.b') returns a. */
static const struct cbx_values *import_any(struct cbx_walk *py, const struct cbx_values *names,
                                           bool top)
{
    const struct cbx_values *out = &cbx_values_nothing;
    for (uint32_t i = 0; i < names->count; i++) {
        struct cbx_str name = names->items[i]->text;
        const char *dot = top && name.len > 0 ? memchr(name.p, '.', name.len) : NULL;
        name = dot != NULL ? cbx_str_sub(name, 0, (size_t)(dot - name.p)) : name;
        bool text = names->items[i]->kind == CBX_V_TEXT;
        out = cbx_values_join(py->arena, out,
                              text ? cbx_values_name(py->arena, cbx_py_canonical(py, name))
                                   : &cbx_values_unknown);
    }
    return cbx_values_some(out);
}

/* Returns a for inspect.getmodule(a.b); an unknown module for an unknown object. */
static const struct cbx_values *module_of(struct cbx_walk *py, const struct cbx_values *object)
{
    const struct cbx_values *out = &cbx_values_unknown;
    for (uint32_t i = 0; i < object->count; i++) {
        const struct cbx_value *v = object->items[i];
        const char *dot = v->kind == CBX_V_NAME ? memrchr(v->text.p, '.', v->text.len) : NULL;
        if (dot != NULL) {
            struct cbx_str module = cbx_str_sub(v->text, 0, (size_t)(dot - v->text.p));
            out = cbx_values_join(py->arena, out, cbx_values_name(py->arena, module));
        }
    }
    return out;
}

/* Returns the result of operator.call(f, ...). */
static const struct cbx_values *call_first(struct cbx_walk *py, struct cbx_actuals *actuals,
                                           struct cbx_scope *scope)
{
    struct cbx_actuals rest = { 0 };
    cbx_actuals_shift(actuals, 1, NULL, &rest);
    return cbx_py_apply(py, cbx_actual_values(py, actuals, 0, NULL), &rest, scope);
}

static const struct cbx_values *apply_meaning(struct cbx_walk *py, enum cbx_py_call meaning,
                                              struct cbx_str name, struct cbx_actuals *actuals,
                                              struct cbx_scope *scope)
{
    const char *keyword =
        meaning == PY_CALL_IMPORT || meaning == PY_CALL_IMPORT_TOP ? "name" : NULL;
    const struct cbx_values *first = cbx_actual_values(py, actuals, 0, keyword),
                            *second = cbx_actual_values(py, actuals, 1, NULL);
    switch (meaning) {
    case PY_CALL_GETATTR:
        return read_any(py, first, second);
    case PY_CALL_IMPORT_TOP:
        return import_any(py, first, cbx_actual_find(actuals, 3, "fromlist") == NULL);
    case PY_CALL_IMPORT:
        return import_any(py, first, false);
    case PY_CALL_MAP:
        return apply_map(py, actuals);
    case PY_CALL_STARMAP:
        return apply_starmap(py, first, second);
    case PY_CALL_FILTER:
        return cbx_values_each(py->arena, cbx_py_members(py, second));
    case PY_CALL_ACCUMULATE:
        return accumulate(py, first, second);
    case PY_CALL_REDUCE:
        return apply_reduce(py, actuals);
    case PY_CALL_CALL:
        return call_first(py, actuals, scope);
    case PY_CALL_PARTIAL:
    case PY_CALL_METHOD:
        return make_partial(py, actuals);
    case PY_CALL_GETTER:
        return make_getter(py, "operator.attrgetter()", actuals);
    case PY_CALL_ITEM_GETTER:
        return make_getter(py, "operator.itemgetter()", actuals);
    case PY_CALL_METHOD_CALLER:
        return make_getter(py, CBX_PY_METHOD_CALLER, actuals);
    case PY_CALL_NAMESPACE:
        return cbx_values_name(py->arena, cbx_str_is(name, "globals") ? CBX_STR("globals()")
                                                                      : CBX_STR("locals()"));
    case PY_CALL_VARS:
        return cbx_actual_find(actuals, 0, NULL) == NULL
                   ? cbx_values_name(py->arena, CBX_STR("locals()"))
                   : cbx_py_read(py, first, CBX_STR("__dict__"));
    case PY_CALL_RESULT: {
        struct cbx_actuals self = { 0 };
        cbx_actuals_add(&self, no_keyword, NULL, NULL, &cbx_values_unknown);
        return cbx_values_join(py->arena, cbx_py_apply(py, first, &self, scope), first);
    }
    case PY_CALL_MODULE_OF:
        return module_of(py, first);
    case PY_CALL_RESOLVED:
        return import_any(py, first, false);
    case PY_CALL_MEMBERS_OF:
        return cbx_values_each(py->arena, name_and(py, any_of_module(py, first)));
    default:
        return cbx_py_make(py, meaning, actuals, scope);
    }
}

/* Returns the result of str.upper(text), text.upper(). */
static const struct cbx_values *apply_text_method(struct cbx_walk *py, struct cbx_str method,
                                                  struct cbx_actuals *actuals)
{
    struct cbx_str self;
    struct cbx_actuals rest = { 0 };
    if (cbx_str_is(method, "maketrans")) {
        self = CBX_STR("");
    } else if (!cbx_values_is_text(cbx_actual_values(py, actuals, 0, NULL), &self)) {
        return &cbx_values_unknown;
    }
    struct cbx_actual *first = cbx_actual_find(actuals, 0, NULL);
    bool bare = cbx_str_is(method, "maketrans") && first != NULL && actuals->count == 2;
    cbx_actuals_shift(actuals, bare ? 0 : 1, NULL, &rest);
    const struct cbx_values *out = cbx_py_text_method(py, self, method, &rest);
    return out != NULL ? out : &cbx_values_unknown;
}

/* Returns the result of globals().get('x'), os.__dict__.pop('system'),
 * sys.modules.setdefault(...). */
static const struct cbx_values *apply_namespace_method(struct cbx_walk *py, struct cbx_str name,
                                                       struct cbx_actuals *actuals,
                                                       struct cbx_scope *scope)
{
    static const char *const readers[] = { ".get", ".pop", ".setdefault", ".__getitem__" };
    struct cbx_str items = CBX_STR(".__dict__.items"), values = CBX_STR(".__dict__.values");
    bool pairs = cbx_str_ends(name, items);
    if (pairs || cbx_str_ends(name, values)) {
        size_t len = name.len - (pairs ? items.len : values.len);
        const struct cbx_values *any =
            any_of_module(py, cbx_values_name(py->arena, cbx_str_sub(name, 0, len)));
        return cbx_values_each(py->arena, pairs ? name_and(py, any) : any);
    }
    for (size_t i = 0; i < sizeof(readers) / sizeof(readers[0]); i++) {
        struct cbx_str reader = cbx_str_of(readers[i]);
        struct cbx_str space = cbx_str_sub(name, 0, name.len - reader.len);
        if (cbx_str_ends(name, reader) &&
            (cbx_str_ends(space, CBX_STR("__dict__")) || cbx_str_ends(space, CBX_STR("()")))) {
            return cbx_py_item(py, cbx_values_name(py->arena, space),
                               cbx_actual_values(py, actuals, 0, NULL), scope);
        }
    }
    return NULL;
}

/* Returns true if the name looks like a class with methods that have rows in the sinks, or that
 * send their arguments. */
static bool is_class(struct cbx_str name)
{
    const char *dot = name.len > 0 ? memrchr(name.p, '.', name.len) : NULL;
    return dot != NULL && dot + 1 < name.p + name.len && dot[1] >= 'A' && dot[1] <= 'Z' &&
           (cbx_sinks_within(CBX_PYTHON, name) || cbx_py_sends(name));
}

/* Returns the result of a callable that is not followed: an object of a type with a known name,
 * or anything. */
static const struct cbx_values *make_object(struct cbx_walk *py, struct cbx_str name)
{
    const char *type = cbx_py_makes(name);
    struct cbx_value object = { .kind = CBX_V_NAME,
                                .text = type != NULL ? cbx_str_of(type) : name,
                                .number = CBX_NAME_OBJECT };
    return type != NULL ? cbx_values_one(py->arena, &object)
           : is_class(name)
               ? cbx_values_join(py->arena, cbx_values_one(py->arena, &object), &cbx_values_unknown)
               : &cbx_values_unknown;
}

static const struct cbx_values *apply_any_name(struct cbx_walk *py, struct cbx_str name,
                                               struct cbx_actuals *actuals, struct cbx_scope *scope)
{
    enum cbx_py_call meaning = cbx_py_call_meaning(name);
    const char *dot = name.len > 0 ? memrchr(name.p, '.', name.len) : NULL;
    if (meaning != PY_CALL_NONE) {
        const struct cbx_values *out = apply_meaning(py, meaning, name, actuals, scope);
        bool patched = dot != NULL &&
                       (py->patched &
                        cbx_name_bit(cbx_str_sub(name, (size_t)(dot - name.p) + 1, name.len))) != 0;
        return patched ? cbx_values_join(py->arena, out, &cbx_values_unknown) : out;
    }
    if (cbx_str_starts(name, CBX_STR("str."))) {
        return apply_text_method(py, cbx_str_sub(name, 4, name.len), actuals);
    }
    if (cbx_str_starts(name, CBX_STR("bytes.")) || cbx_str_starts(name, CBX_STR("bytearray."))) {
        size_t type = name.p[5] == '.' ? 5 : 9;
        return apply_text_method(py, cbx_str_sub(name, type + 1, name.len), actuals);
    }
    if (cbx_str_ends(name, CBX_STR("()")) && cbx_str_starts(name, CBX_STR("operator."))) {
        return call_getter(py, name, actuals);
    }
    const struct cbx_values *space = apply_namespace_method(py, name, actuals, scope);
    return space != NULL ? space : make_object(py, name);
}

static const struct cbx_values *apply_name(struct cbx_walk *py, struct cbx_str name,
                                           struct cbx_actuals *actuals, struct cbx_scope *scope)
{
    return cbx_py_mark(py, name, actuals, apply_any_name(py, name, actuals, scope));
}

/* Returns the result if an unknown callee is one of the escaped callables. */
static const struct cbx_values *apply_escaped(struct cbx_walk *py, struct cbx_actuals *actuals,
                                              struct cbx_scope *scope)
{
    if (py->escaped_calls == NULL || py->escaped_calls->count == 0 || py->applying ||
        actuals->count == 0) {
        return &cbx_values_unknown;
    }
    /* inside of a cycle the values would lack alternatives */
    for (uint32_t i = 0; i < actuals->count; i++) {
        struct cbx_actual *a = &actuals->items[i];
        a->values = a->values != NULL ? a->values : py->eval(py, a->node, a->scope);
    }
    py->applying = true;
    const struct cbx_values *out = cbx_py_apply(py, py->escaped_calls, actuals, scope);
    py->applying = false;
    return cbx_values_join(py->arena, out, &cbx_values_unknown);
}

static const struct cbx_values *apply_value(struct cbx_walk *py, const struct cbx_value *v,
                                            struct cbx_actuals *actuals, struct cbx_scope *scope)
{
    switch (v->kind) {
    case CBX_V_NAME:
        return apply_name(py, v->text, actuals, scope);
    case CBX_V_FUNCTION:
        return cbx_py_call_function(py, v, actuals);
    case CBX_V_PARTIAL:
        return apply_partial(py, v, actuals, scope);
    default:
        return apply_escaped(py, actuals, scope);
    }
}

const struct cbx_values *cbx_py_apply(struct cbx_walk *py, const struct cbx_values *callee,
                                      struct cbx_actuals *actuals, struct cbx_scope *scope)
{
    const struct cbx_values *out = &cbx_values_nothing;
    if (py->apply_depth >= APPLY_DEPTH_MAX) {
        return &cbx_values_unknown;
    }
    py->apply_depth++;
    for (uint32_t i = 0; i < callee->count; i++) {
        out = cbx_values_join(py->arena, out, apply_value(py, callee->items[i], actuals, scope));
    }
    if (callee->count == 0) {
        out = apply_escaped(py, actuals, scope);
    }
    py->apply_depth--;
    uint32_t flags = cbx_unknown_inherited(cbx_values_flags(callee));
    out = flags != 0 ? cbx_values_join(py->arena, out, cbx_values_marked(py->arena, flags)) : out;
    return cbx_values_some(out);
}
