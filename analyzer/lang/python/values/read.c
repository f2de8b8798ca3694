/* SPDX-License-Identifier: MIT
 * Reads in Python: attributes, items, slices. */
#include "analyzer/lang/python/internal.h"
#include "analyzer/lang/stored.h"

/* --- attributes ------------------------------------------------------------------------------- */

/* Returns a method of `self`: the function of the type, with `self` as its first argument. */
static const struct cbx_values *bind_method(struct cbx_walk *py, struct cbx_str type,
                                            const struct cbx_value *self, struct cbx_str method)
{
    const struct cbx_values **members = cbx_arena_array(py->arena, 2, sizeof(*members));
    struct cbx_value object = { .kind = CBX_V_NAME, .text = type, .number = CBX_NAME_OBJECT };
    if (members == NULL) {
        return &cbx_values_unknown;
    }
    members[0] = cbx_values_name(py->arena, cbx_py_qualify(py, &object, method));
    members[1] = cbx_values_one(py->arena, self);
    struct cbx_value bound = { .kind = CBX_V_PARTIAL, .members = members, .count = 2 };
    return cbx_values_one(py->arena, &bound);
}

/* Returns true for importlib's own members: `import importlib.metadata` binds importlib too, and
 * its row is for the whole module. */
static bool is_member_of_importlib(struct cbx_str attribute)
{
    static const char *const members[] = {
        "import_module", "__import__", "util", "machinery",          "abc",
        "_bootstrap",    "sys",        "_imp", "find_loader",        "simple",
        "types",         "readers",    "_abc", "_bootstrap_external"
    };
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        if (cbx_str_is(attribute, members[i])) {
            return true;
        }
    }
    return false;
}

static const struct cbx_values *read_escaped(struct cbx_walk *py, const struct cbx_value *object,
                                             struct cbx_str attribute)
{
    if (cbx_str_is(object->text, "importlib") && !is_member_of_importlib(attribute)) {
        return &cbx_values_nothing;
    }
    return cbx_values_name(py->arena, cbx_py_qualify(py, object, attribute));
}

/* Returns the values of an attribute of an unknown object: any value that the text assigns to an
 * attribute of that name, or the attribute of an escaped module. */
static const struct cbx_values *read_anything(struct cbx_walk *py, struct cbx_str attribute)
{
    const struct cbx_values *fields = cbx_scope_lookup(py, NULL, attribute);
    const struct cbx_values *out = fields != NULL
                                       ? cbx_values_join(py->arena, fields, &cbx_values_unknown)
                                       : &cbx_values_unknown;
    out = py->changes ? cbx_values_loose(py->arena, out) : out;
    const char *module = fields == NULL ? cbx_py_module_anywhere(attribute) : NULL;
    if (module != NULL) {
        out = cbx_values_join(py->arena, out, cbx_values_name(py->arena, cbx_str_of(module)));
    }
    return cbx_py_is_common(attribute)
               ? out
               : cbx_values_join(py->arena, out,
                                 cbx_walk_escaped(py, attribute, CBX_PYTHON, read_escaped));
}

/* Returns x.__getattribute__: getattr of x; of a class it takes the object. */
static const struct cbx_values *read_getattr(struct cbx_walk *py, const struct cbx_value *v)
{
    bool class = v->kind == CBX_V_NAME && v->number == CBX_NAME_BARE &&
                 (cbx_str_is(v->text, "object") || cbx_str_is(v->text, "type"));
    const struct cbx_values **members = cbx_arena_array(py->arena, 2, sizeof(*members));
    const struct cbx_values *get = cbx_values_bare(py->arena, CBX_STR("getattr"));
    if (class || members == NULL) {
        return get;
    }
    members[0] = get;
    members[1] = cbx_values_one(py->arena, v);
    struct cbx_value bound = { .kind = CBX_V_PARTIAL, .members = members, .count = 2 };
    /* v may be a class: then the attribute is a function that takes the object as an argument */
    return cbx_values_join(py->arena, cbx_values_one(py->arena, &bound), get);
}

static bool is_builtin_function(const struct cbx_value *v)
{
    static const char *const names[] = {
        "abs",
        "all",
        "any",
        "ascii",
        "bin",
        "callable",
        "chr",
        "delattr",
        "dir",
        "divmod",
        "format",
        "getattr",
        "globals",
        "hasattr",
        "hash",
        "hex",
        "id",
        "input",
        "iter",
        "isinstance",
        "issubclass",
        "len",
        "locals",
        "max",
        "min",
        "next",
        "oct",
        "open",
        "ord",
        "pow",
        "print",
        "repr",
        "round",
        "setattr",
        "sorted",
        "sum",
        "vars",
        "compile",
        "eval",
        "exec",
        "__build_class__",
        "__import__",
    };
    for (size_t i = 0; v->kind == CBX_V_NAME && i < sizeof(names) / sizeof(names[0]); i++) {
        if (cbx_str_is(v->text, names[i])) {
            return true;
        }
    }
    return false;
}

/* Returns the __name__ of a function or class of this source; "" for other values, and if the
 * text sets any __name__. */
static struct cbx_str own_name(struct cbx_walk *py, const struct cbx_value *v)
{
    enum cbx_py_kind kind = v->kind == CBX_V_FUNCTION ? cbx_py_kind(v->node) : PY_OTHER;
    bool named = kind == PY_function_definition || kind == PY_class_definition,
         set = cbx_scope_chain(py, NULL, CBX_STR("__name__")) != NULL;
    return named && !set ? cbx_py_name(py, v->node) : CBX_STR("");
}

/* Returns an attribute of an object with known attributes, or a method that returns them. */
static const struct cbx_values *read_object(struct cbx_walk *py, const struct cbx_value *v,
                                            struct cbx_str attribute)
{
    char name[32];
    int len = snprintf(name, sizeof(name), "object.%.*s", CBX_STR_ARG(attribute));
    struct cbx_str method = { .p = name, .len = (size_t)len };
    return method.len < sizeof(name) && cbx_py_call_meaning(method) != PY_CALL_NONE
               ? bind_method(py, CBX_STR("object"), v, attribute)
               : cbx_value_member(py->arena, v, attribute);
}

/* Returns the attributes of objects, and of classes of the text, as mappings: o.__dict__. */
static const struct cbx_values *attributes_of(struct cbx_walk *py, const struct cbx_values *object)
{
    const struct cbx_values *out = &cbx_values_nothing;
    for (uint32_t i = 0; i < object->count; i++) {
        struct cbx_value v = *object->items[i];
        bool made = v.node != NULL && (v.kind == CBX_V_FUNCTION || v.kind == CBX_V_MAP);
        const struct cbx_values *one = made ? cbx_stored_in_self(py, v.node) : &cbx_values_nothing;
        if (v.kind == CBX_V_MAP && v.text.len > 0 && v.node == NULL) {
            v.text = CBX_STR("");
            one = cbx_values_one(py->arena, &v);
        } else if (one->count > 0) {
            one = attributes_of(py, one);
        }
        out = cbx_values_join(py->arena, out, one);
    }
    return out;
}

static const struct cbx_values *read_one(struct cbx_walk *py, const struct cbx_value *v,
                                         struct cbx_str attribute, bool *opaque)
{
    if (cbx_str_is(attribute, "__getattribute__")) {
        return read_getattr(py, v);
    }
    if (cbx_str_is(attribute, "__self__")) { /* for a builtin function __self__ is the module */
        *opaque |= v->kind != CBX_V_NAME;
        const char *dot = v->kind == CBX_V_NAME && v->number != CBX_NAME_OBJECT
                              ? memrchr(v->text.p, '.', v->text.len)
                              : NULL;
        struct cbx_str module =
            dot != NULL ? cbx_str_sub(v->text, 0, (size_t)(dot - v->text.p)) : CBX_STR("builtins");
        return cbx_values_name(py->arena,
                               is_builtin_function(v) ? CBX_STR("__builtins__") : module);
    }
    struct cbx_str own = own_name(py, v);
    if (cbx_str_is(attribute, "__name__") && own.len > 0) {
        return cbx_values_text(py->arena, own);
    }
    if (v->kind == CBX_V_NAME && cbx_str_is(v->text, "builtins") &&
        cbx_str_is(attribute, "__dict__")) {
        return cbx_values_one(py->arena, v);
    }
    bool path = v->kind == CBX_V_NAME && v->number == CBX_NAME_OBJECT && v->count == 1 &&
                cbx_str_is(v->text, "pathlib.Path");
    if (path && (cbx_str_is(attribute, "parent") || cbx_str_is(attribute, "parents"))) {
        const struct cbx_values *parents = cbx_py_path_parents(py, v);
        return attribute.len == 7 ? parents : cbx_values_member(py->arena, parents, CBX_STR("0"));
    }
    switch (v->kind) {
    case CBX_V_NAME:
        return v->number == CBX_NAME_OBJECT
                   ? bind_method(py, v->text, v, attribute)
                   : cbx_values_name(py->arena, cbx_py_qualify(py, v, attribute));
    case CBX_V_TEXT:
        return bind_method(py, CBX_STR("str"), v, attribute);
    case CBX_V_LIST:
        return bind_method(py, CBX_STR("list"), v, attribute);
    case CBX_V_MAP:
        *opaque = true;
        return v->text.len > 0 ? read_object(py, v, attribute)
                               : bind_method(py, CBX_STR("dict"), v, attribute);
    case CBX_V_PARTIAL: /* x.tk.eval: an attribute of an attribute of x */
        *opaque = true;
        return v->count == 2 && v->members[1]->items[0]->number == CBX_NAME_OBJECT &&
                       v->members[0]->items[0]->kind == CBX_V_NAME
                   ? cbx_values_name(py->arena,
                                     cbx_py_qualify(py, v->members[0]->items[0], attribute))
                   : &cbx_values_nothing;
    default:
        *opaque = true;
        return &cbx_values_nothing;
    }
}

const struct cbx_values *cbx_py_read(struct cbx_walk *py, const struct cbx_values *object,
                                     struct cbx_str attribute)
{
    const struct cbx_values *out = &cbx_values_nothing;
    bool opaque = object->count == 0;
    if (cbx_str_is(attribute, "__call__") || cbx_str_is(attribute, "__wrapped__") ||
        cbx_str_is(attribute, "func")) {
        out = object; /* f.__call__ is f */
    }
    if (cbx_str_is(attribute, "__dict__")) {
        out = attributes_of(py, object);
    }
    for (uint32_t i = 0; i < object->count; i++) {
        out = cbx_values_join(py->arena, out, read_one(py, object->items[i], attribute, &opaque));
    }
    const struct cbx_values *fields = !opaque && (py->patched & cbx_name_bit(attribute)) != 0
                                          ? cbx_scope_lookup(py, NULL, attribute)
                                          : NULL;
    if (opaque || fields != NULL) {
        out = cbx_values_join(py->arena, out, opaque ? read_anything(py, attribute) : fields);
    }
    uint32_t flags = cbx_unknown_inherited(cbx_values_flags(object));
    flags |= opaque ? cbx_py_gives_anywhere(attribute) : 0;
    out = flags != 0 ? cbx_values_join(py->arena, out, cbx_values_marked(py->arena, flags)) : out;
    return cbx_values_some(out);
}

/* --- subscripts ------------------------------------------------------------------------------- */

const struct cbx_values *cbx_py_variable(struct cbx_walk *py, struct cbx_str name)
{
    uint32_t secret = cbx_is_secret_name(name) ? CBX_UNKNOWN_SECRET : 0;
    if (cbx_str_is(name, "HOME")) {
        return cbx_values_likely(py->arena, CBX_STR("~"));
    }
    if (cbx_str_is(name, "PWD")) {
        return cbx_values_likely(py->arena, CBX_STR("."));
    }
    if (cbx_str_is(name, "PATH")) {
        return cbx_values_likely(py->arena, CBX_STR("/usr/bin:/bin"));
    }
    return cbx_values_marked(py->arena, CBX_UNKNOWN_TEXT | secret);
}

static const struct cbx_values *read_namespace(struct cbx_walk *py, const struct cbx_value *space,
                                               struct cbx_str key, struct cbx_scope *scope)
{
    struct cbx_str name = space->text, dict = CBX_STR(".__dict__");
    bool globals = cbx_str_is(name, "globals()");
    if (cbx_str_is(name, "sys.modules")) {
        return cbx_values_name(py->arena, cbx_py_canonical(py, key));
    }
    if (globals || cbx_str_is(name, "locals()")) {
        return cbx_py_eval_name(py, key, globals ? py->module : scope);
    }
    if (cbx_str_is(name, "os.environ") || cbx_str_is(name, "os.environb")) {
        return cbx_py_variable(py, key);
    }
    if (cbx_str_is(name, "__builtins__") || cbx_str_is(name, "builtins")) {
        return cbx_values_bare(py->arena, key);
    }
    if (cbx_str_ends(name, dict)) {
        struct cbx_value module = { .kind = CBX_V_NAME,
                                    .text = cbx_str_sub(name, 0, name.len - dict.len) };
        return cbx_values_name(py->arena, cbx_py_qualify(py, &module, key));
    }
    return &cbx_values_unknown;
}

/* The range of a slice: from, from + step, ... before `to`. */
struct bounds {
    int64_t from, to, step;
};

/* Returns the place of a part of a slice; `absent` if the part is missing (INT64_MIN). */
static int64_t place_of(int64_t part, int64_t absent, int64_t len)
{
    if (part == INT64_MIN) {
        return absent;
    }
    return part < 0 ? part + len : part;
}

static int64_t clamp(int64_t place, int64_t low, int64_t high)
{
    if (place < low) {
        return low;
    }
    return place > high ? high : place;
}

static bool slice_bounds(struct cbx_walk *py, const struct cbx_node *slice, struct cbx_scope *scope,
                         int64_t len, struct bounds *out)
{
    int64_t part[3] = { INT64_MIN, INT64_MIN, 1 };
    int at = 0;
    for (struct cbx_node *child = slice->first; child != NULL; child = child->next) {
        if (!child->named) {
            at++;
        } else if (at > 2 || !cbx_values_is_number(cbx_py_eval(py, child, scope), &part[at])) {
            return false;
        }
    }
    if (part[2] == 0) {
        return false;
    }
    bool up = part[2] > 0;
    int64_t low = up ? 0 : -1, high = up ? len : len - 1;
    int64_t from = place_of(part[0], up ? 0 : len - 1, len);
    int64_t to = place_of(part[1], up ? len : -1, len);
    *out = (struct bounds){ .from = clamp(from, low, high),
                            .to = clamp(to, low, high),
                            .step = part[2] };
    return true;
}

static bool is_in(const struct bounds *b, int64_t i, int64_t len)
{
    return (b->step > 0 ? i < b->to : i > b->to) && i >= 0 && i < len;
}

static const struct cbx_values *slice_text(struct cbx_walk *py, const struct cbx_value *v,
                                           struct cbx_node *slice, struct cbx_scope *scope)
{
    struct bounds b;
    bool bytes = v->number == CBX_TEXT_BYTES;
    if (v->text.len > CBX_FOLD_MAX_BYTES || (!bytes && !cbx_str_is_ascii(v->text)) ||
        !slice_bounds(py, slice, scope, (int64_t)v->text.len, &b)) {
        return &cbx_values_unknown;
    }
    if (b.step == 1) {
        struct cbx_str part =
            cbx_str_sub(v->text, (size_t)b.from, (size_t)(b.to > b.from ? b.to : b.from));
        return bytes ? cbx_values_bytes(py->arena, part) : cbx_values_text(py->arena, part);
    }
    char *p = cbx_arena_alloc(py->arena, v->text.len + 1);
    size_t n = 0;
    for (int64_t i = b.from; p != NULL && is_in(&b, i, (int64_t)v->text.len); i += b.step) {
        p[n++] = v->text.p[i];
    }
    struct cbx_str out = { .p = p, .len = n };
    return bytes ? cbx_values_bytes(py->arena, out) : cbx_values_text(py->arena, out);
}

static const struct cbx_values *slice_list(struct cbx_walk *py, const struct cbx_value *list,
                                           struct cbx_node *slice, struct cbx_scope *scope)
{
    struct bounds b;
    uint32_t n = 0;
    const struct cbx_values **members =
        cbx_arena_array(py->arena, list->count + 1u, sizeof(*members));
    if (members == NULL || !slice_bounds(py, slice, scope, list->count, &b)) {
        return cbx_values_each(py->arena,
                               cbx_values_members(py->arena, cbx_values_one(py->arena, list)));
    }
    for (int64_t i = b.from; is_in(&b, i, list->count); i += b.step) {
        members[n++] = list->members[i];
    }
    return cbx_values_list(py->arena, members, n);
}

static bool all_functions(const struct cbx_values *values)
{
    bool all = values->count > 0;
    for (uint32_t i = 0; i < values->count; i++) {
        all &= values->items[i]->kind == CBX_V_FUNCTION || values->items[i]->kind == CBX_V_NAME;
    }
    return all;
}

static const struct cbx_values *item_of(struct cbx_walk *py, const struct cbx_value *v,
                                        const struct cbx_values *key, struct cbx_scope *scope)
{
    struct cbx_str text;
    int64_t number;
    bool is_number = cbx_values_is_number(key, &number), is_text = cbx_values_is_text(key, &text);
    if (v->kind == CBX_V_MAP && (is_text || is_number)) {
        struct cbx_str k = is_text ? text : cbx_arena_number(py->arena, number);
        return cbx_values_some(cbx_value_member(py->arena, v, k));
    }
    const struct cbx_values *one = cbx_values_one(py->arena, v);
    if (cbx_py_is_symbolic(v)) {
        return one;
    }
    if (v->kind == CBX_V_NAME) {
        return is_text ? read_namespace(py, v, text, scope)
                       : cbx_values_marked(py->arena, cbx_py_flags(one));
    }
    if (v->kind != CBX_V_MAP && is_number) {
        const struct cbx_value *sequence = cbx_py_sequence(py, one);
        return cbx_values_some(cbx_value_member(py->arena, sequence != NULL ? sequence : v,
                                                cbx_arena_number(py->arena, number)));
    }
    bool container = v->kind == CBX_V_LIST || v->kind == CBX_V_MAP;
    const struct cbx_values *any = cbx_values_members(py->arena, one);
    /* An unknown item of a table of functions is one of the functions. */
    return container && v->number == 0 && v->count > 0 && all_functions(any)
               ? any
               : cbx_values_join(py->arena, any, &cbx_values_unknown);
}

const struct cbx_values *cbx_py_item(struct cbx_walk *py, const struct cbx_values *object,
                                     const struct cbx_values *key, struct cbx_scope *scope)
{
    struct cbx_str text;
    int64_t number;
    bool opaque = object->count == 0, plain = cbx_values_is_text(key, &text);
    if (!plain && cbx_values_is_number(key, &number)) {
        text = key->items[0]->text;
        plain = true;
    }
    struct cbx_union out = { .values = &cbx_values_nothing };
    for (uint32_t i = 0; i < object->count; i++) {
        opaque |= object->items[i]->kind != CBX_V_NAME;
        cbx_union_add(py->arena, &out, item_of(py, object->items[i], key, scope));
    }
    if (cbx_values_is_number(key, &number) &&
        (cbx_values_flags(out.values) & CBX_UNKNOWN_NAMES) != 0) {
        cbx_union_add(py->arena, &out, cbx_values_marked(py->arena, CBX_UNKNOWN_PICKED));
    }
    const struct cbx_values *items = opaque && plain ? cbx_scope_lookup(py, NULL, text) : NULL;
    if (items != NULL) {
        cbx_union_add(py->arena, &out, items);
    }
    return cbx_values_some(out.values);
}

/* Returns x[a:b] for each possible value. */
const struct cbx_values *cbx_py_slice(struct cbx_walk *py, const struct cbx_values *object,
                                      struct cbx_node *slice, struct cbx_scope *scope)
{
    const struct cbx_values *out = &cbx_values_nothing;
    for (uint32_t i = 0; i < object->count; i++) {
        const struct cbx_value *v = object->items[i];
        out = cbx_values_join(py->arena, out,
                              v->kind == CBX_V_TEXT ? slice_text(py, v, slice, scope)
                              : v->kind == CBX_V_LIST
                                  ? slice_list(py, v, slice, scope)
                                  : cbx_values_members(py->arena, cbx_values_one(py->arena, v)));
    }
    return cbx_values_some(out);
}

const struct cbx_values *cbx_py_member(struct cbx_walk *py, const struct cbx_values *object,
                                       struct cbx_str key)
{
    const char *colon = key.len > 0 ? memchr(key.p, ':', key.len) : NULL;
    bool index = key.len > 0 && (key.p[0] == '-' || (key.p[0] >= '0' && key.p[0] <= '9'));
    if (!index) {
        return cbx_py_read(py, object, key);
    }
    if (object->count == 1 && cbx_py_is_symbolic(object->items[0])) {
        return object;
    }
    const struct cbx_value *list = cbx_py_sequence(py, object);
    if (colon == NULL) {
        return cbx_values_member(py->arena, list != NULL ? cbx_values_one(py->arena, list) : object,
                                 key);
    }
    int64_t from = 0, behind = 0;
    struct cbx_value rest = list != NULL ? *list : (struct cbx_value){ 0 };
    if (list == NULL || !cbx_fold_integer(cbx_str_sub(key, 0, (size_t)(colon - key.p)), &from) ||
        !cbx_fold_integer(cbx_str_sub(key, (size_t)(colon - key.p) + 1, key.len), &behind) ||
        from + behind > list->count) {
        return cbx_values_each(py->arena, cbx_py_members(py, object));
    }
    rest.members += from;
    rest.count -= (uint32_t)(from + behind);
    return cbx_values_one(py->arena, &rest);
}
