/* SPDX-License-Identifier: MIT
 * The statements of a text that store values in objects and files: assignments to parts of objects,
 * and calls with a row in stored.def. */
#include "analyzer/lang/names.h"
#include "analyzer/lang/stored_internal.h"

/* --- assignments ------------------------------------------------------------------------------ */

/* Handles o.name = value, o['name'] = value, o[k] += value. */
static void read_assignment(struct cbx_walk *walk, const struct cbx_shape *assign)
{
    struct cbx_shape target = walk->stored.lang->shape(walk, assign->object);
    bool part = target.kind == CBX_SHAPE_MEMBER || target.kind == CBX_SHAPE_ITEM;
    if (!part || assign->value == NULL || cbx_is_for_keys(target.name)) {
        return;
    }
    bool view = cbx_stored_is(CBX_ROW_VIEW, target.name);
    cbx_store_in(walk, target.object,
                 (struct cbx_store){ .key = view ? CBX_STR("") : target.name,
                                     .attribute = target.kind == CBX_SHAPE_MEMBER && !view,
                                     .value = assign->value });
}

/* --- calls ------------------------------------------------------------------------------------ */

/* A call that may store: the callee, its rows, and the first argument. */
struct call {
    struct cbx_shape callee;
    struct cbx_stored_match match;
    struct cbx_node *first;
};

/* Stores the arguments from `from` on; a keyword argument `key` of the object is stored there. */
static void store_arguments(struct cbx_walk *walk, struct cbx_node *object, struct cbx_node *first,
                            int from, struct cbx_store s)
{
    int n = 0;
    struct cbx_str key = s.key;
    for (struct cbx_node *a = first; a != NULL; a = a->next) {
        struct cbx_str keyword = CBX_STR("");
        s.value = a->named ? walk->stored.lang->argument(walk, a, &keyword) : NULL;
        if (s.value != NULL && n++ >= from && !cbx_is_for_keys(keyword)) {
            struct cbx_store one = s;
            one.key = keyword.len > 0 ? keyword : key;
            one.kind = keyword.len > 0 ? CBX_NOTE_VALUE : s.kind;
            cbx_store_in(walk, object, one);
        }
    }
}

/* Stores the values from argument `at` + 1 on under the key at `at`; a key that is no literal may
 * be any. */
static void store_keyed(struct cbx_walk *walk, struct cbx_node *object, struct cbx_node *first,
                        int at, bool attribute)
{
    struct cbx_store s = { .attribute = attribute };
    if (!walk->stored.lang->literal(walk, cbx_stored_argument(walk, first, at), &s.key)) {
        s.key = CBX_STR("");
    }
    if (!cbx_is_for_keys(s.key)) {
        store_arguments(walk, object, first, at + 1, s);
    }
}

/* Handles o.set('key', value) and o.set(value). */
static void read_keyed(struct cbx_walk *walk, struct cbx_node *object, struct cbx_node *first,
                       bool attribute)
{
    if (cbx_stored_argument(walk, first, 1) != NULL) {
        store_keyed(walk, object, first, 0, attribute);
    } else {
        store_arguments(walk, object, first, 0, (struct cbx_store){ .attribute = attribute });
    }
}

static void store_in_place(struct cbx_walk *walk, struct cbx_node *place, struct cbx_store s)
{
    cbx_store_in_file(walk, place, &s);
    cbx_store_in(walk, place, s);
}

/* Stores the arguments in the one that is their place: json.dump(value, file),
 * print(value, file=f), fs.writeFileSync(path, value). */
static void read_into(struct cbx_walk *walk, const struct call *call, int to,
                      enum cbx_stored_kind kind)
{
    struct cbx_node *place = cbx_stored_place(walk, call->first, to);
    for (struct cbx_node *a = place != NULL ? call->first : NULL; a != NULL; a = a->next) {
        struct cbx_str keyword = CBX_STR("");
        struct cbx_node *value = a->named ? walk->stored.lang->argument(walk, a, &keyword) : NULL;
        if (value != NULL && value != place) {
            store_in_place(walk, place, (struct cbx_store){ .kind = kind, .value = value });
        }
    }
}

/* Returns true for the name of a file, rather than a text that is written to one. */
static bool looks_like_path(struct cbx_str text)
{
    return text.len > 0 && memchr(text.p, '.', text.len) != NULL &&
           memchr(text.p, ' ', text.len) == NULL && memchr(text.p, '\n', text.len) == NULL;
}

/* Stores an object in the file that an argument is the path of, or that it is. Returns true if it is
 * such a file: then the file is not stored in the object. */
static bool save_self(struct cbx_walk *walk, const struct call *call)
{
    const struct cbx_stored_row *row = call->match.rows[CBX_ROW_SAVES_SELF];
    struct cbx_node *place = row != NULL ? cbx_stored_argument(walk, call->first, row->to) : NULL;
    struct cbx_store s = { .value = call->callee.object };
    struct cbx_shape name = walk->stored.lang->shape(walk, place);
    struct cbx_str path;
    if (name.kind == CBX_SHAPE_NAME) {
        return cbx_store_in_opened(walk, place, name.name, &s);
    }
    bool saves = walk->stored.lang->literal(walk, place, &path) && looks_like_path(path);
    if (saves) {
        cbx_store_in_file(walk, place, &s);
    }
    return saves;
}

/* Returns the name of the attribute for an option: an_option of '--an-option'. */
static struct cbx_str attribute_of(struct cbx_walk *walk, struct cbx_str option)
{
    while (option.len > 0 && option.p[0] == '-') {
        option = cbx_str_sub(option, 1, option.len);
    }
    struct cbx_str dash = CBX_STR("-"), underscore = CBX_STR("_");
    return cbx_fold_replace(walk->arena, option, dash, underscore);
}

/* Handles parser.add_argument('-t', '--token', default=value): the last option names it. */
static void read_option(struct cbx_walk *walk, const struct call *call)
{
    struct cbx_store s = { .attribute = true, .key = CBX_STR("") };
    for (struct cbx_node *a = call->first; a != NULL; a = a->next) {
        struct cbx_str keyword = CBX_STR(""), option;
        struct cbx_node *value = a->named ? walk->stored.lang->argument(walk, a, &keyword) : NULL;
        if (cbx_str_is(keyword, "default")) {
            s.value = value;
        } else if (walk->stored.lang->literal(walk, value, &option) &&
                   (keyword.len == 0 || cbx_str_is(keyword, "dest"))) {
            s.key = attribute_of(walk, option);
        }
    }
    if (s.value != NULL && s.key.len > 0) {
        cbx_store_in(walk, call->callee.object, s);
    }
}

/* Reads the rows of o.method(...). */
static void read_method(struct cbx_walk *walk, const struct call *call)
{
    const struct cbx_stored_row *const *rows = call->match.rows;
    struct cbx_node *object = call->callee.object;
    struct cbx_store whole = { .key = CBX_STR("") };
    if (!save_self(walk, call) && rows[CBX_ROW_STORES] != NULL) {
        store_arguments(walk, object, call->first, 0, whole);
    }
    if (rows[CBX_ROW_MERGES] != NULL) {
        whole.kind = CBX_NOTE_MEMBERS;
        store_arguments(walk, object, call->first, 0, whole);
    }
    if (rows[CBX_ROW_STORES_KEYED] != NULL || rows[CBX_ROW_SETS_KEYED] != NULL) {
        read_keyed(walk, object, call->first, rows[CBX_ROW_SETS_KEYED] != NULL);
    }
    if (rows[CBX_ROW_STORES_OPTION] != NULL) {
        read_option(walk, call);
    }
    if (rows[CBX_ROW_STORES_FILE] != NULL) {
        cbx_store_behind(walk, object,
                         (struct cbx_store){ .value = cbx_stored_argument(walk, call->first, 0) });
    }
    const struct cbx_stored_row *self = rows[CBX_ROW_STORES_SELF];
    struct cbx_node *to = self != NULL ? cbx_stored_argument(walk, call->first, self->to) : NULL;
    if (to != NULL) {
        store_in_place(walk, to, (struct cbx_store){ .value = object });
    }
}

/* Reads the rows of f(...), which may be a method of a module too. */
static void read_function(struct cbx_walk *walk, const struct call *call)
{
    const struct cbx_stored_row *const *rows = call->match.rows;
    const struct cbx_stored_row *at = rows[CBX_ROW_STORES_AT], *copies = rows[CBX_ROW_COPIES_FILE];
    if (rows[CBX_ROW_STORES_INTO] != NULL) {
        read_into(walk, call, rows[CBX_ROW_STORES_INTO]->to, CBX_NOTE_VALUE);
    }
    if (rows[CBX_ROW_MERGES_INTO] != NULL) {
        read_into(walk, call, rows[CBX_ROW_MERGES_INTO]->to, CBX_NOTE_MEMBERS);
    }
    at = at != NULL ? at : rows[CBX_ROW_SETS_AT];
    struct cbx_node *object = at != NULL ? cbx_stored_argument(walk, call->first, at->to) : NULL;
    if (object != NULL) {
        store_keyed(walk, object, call->first, at->to + 1, at->kind == CBX_ROW_SETS_AT);
    }
    if (copies != NULL) {
        struct cbx_store s = { .kind = CBX_NOTE_FILE,
                               .value = cbx_stored_argument(walk, call->first, copies->from) };
        cbx_store_in_file(walk, cbx_stored_argument(walk, call->first, copies->to), &s);
    }
    if (rows[CBX_ROW_LOG_TO] != NULL) {
        struct cbx_node *place = cbx_stored_place(walk, call->first, rows[CBX_ROW_LOG_TO]->to);
        walk->stored.logs |= place != NULL;
        if (place != NULL) {
            store_in_place(walk, place, (struct cbx_store){ .kind = CBX_NOTE_LOG, .value = place });
        }
    }
}

/* Replaces x.push.call(o, v), f = x.push and f = x.push.bind(o) by the method and its object. */
static void resolve(struct cbx_walk *walk, struct call *call)
{
    struct cbx_shape *callee = &call->callee;
    if (callee->kind == CBX_SHAPE_NAME) {
        struct cbx_shape value = walk->stored.lang->shape(
            walk, cbx_stored_value_of_name(walk, call->first->parent, callee->name));
        struct cbx_shape bind = walk->stored.lang->shape(walk, value.object);
        bool bound = value.kind == CBX_SHAPE_CALL && bind.kind == CBX_SHAPE_MEMBER &&
                     cbx_str_is(bind.name, "bind");
        struct cbx_shape method = walk->stored.lang->shape(walk, bound ? bind.object : NULL);
        if (value.kind == CBX_SHAPE_MEMBER) {
            *callee = value;
        } else if (method.kind == CBX_SHAPE_MEMBER) {
            *callee = method;
        }
        return;
    }
    bool through = cbx_str_is(callee->name, "call") || cbx_str_is(callee->name, "apply");
    struct cbx_shape method = walk->stored.lang->shape(walk, through ? callee->object : NULL);
    if (method.kind == CBX_SHAPE_MEMBER) {
        *callee = method;
        callee->object = call->first;
        call->first = call->first->next;
    }
}

static void read_call(struct cbx_walk *walk, const struct cbx_shape *shape)
{
    struct call call = { .callee = walk->stored.lang->shape(walk, shape->object),
                         .first = shape->arguments != NULL ? shape->arguments->first : NULL };
    bool named = call.callee.kind == CBX_SHAPE_NAME || call.callee.kind == CBX_SHAPE_MEMBER;
    if (!named || call.first == NULL) {
        return;
    }
    if (call.callee.kind == CBX_SHAPE_NAME) {
        struct cbx_store s = { .value = cbx_stored_argument(walk, call.first, 0) };
        cbx_store_in_called(walk, shape->object, call.callee.name, &s);
    }
    resolve(walk, &call);
    cbx_stored_match_callee(walk, &call.callee, &call.match);
    read_function(walk, &call);
    if (call.callee.kind == CBX_SHAPE_MEMBER) {
        read_method(walk, &call);
    }
}

/* Notes the arguments of logger.info(value). */
static void read_log(struct cbx_walk *walk, const struct cbx_shape *call)
{
    struct cbx_shape callee = walk->stored.lang->shape(walk, call->object);
    if (callee.kind != CBX_SHAPE_MEMBER || !cbx_stored_is(CBX_ROW_LOGS, callee.name)) {
        return;
    }
    for (struct cbx_node *a = call->arguments != NULL ? call->arguments->first : NULL; a != NULL;
         a = a->next) {
        struct cbx_str keyword = CBX_STR("");
        struct cbx_store s = { 0 };
        s.value = a->named ? walk->stored.lang->argument(walk, a, &keyword) : NULL;
        cbx_store_in_log(walk, &s);
    }
}

/* --- the text --------------------------------------------------------------------------------- */

/* Returns true if a value of the text may be a secret: it names the environment, or it continues a
 * session. */
static bool may_have_secrets(const struct cbx_walk *walk)
{
    struct cbx_str text = walk->parsed->text;
    return walk->parsed->recall != NULL ||
           (text.len > 0 && memmem(text.p, text.len, "env", 3) != NULL);
}

/* Notes a variable in the body of a class as an attribute of its objects. */
static void read_field(struct cbx_walk *walk, struct cbx_node *node, const struct cbx_shape *field)
{
    struct cbx_node *maker = walk->stored.lang->maker(node);
    struct cbx_store s = { .attribute = true, .key = field->name, .value = field->value };
    if (maker != NULL && field->value != NULL) {
        cbx_store_in_maker(walk, maker, &s);
    }
}

void cbx_stored_read(struct cbx_walk *walk, const struct cbx_stored_lang *lang)
{
    if (!may_have_secrets(walk)) {
        return;
    }
    walk->stored.lang = lang;
    for (uint32_t i = 0; i < walk->syntax.count; i++) {
        struct cbx_shape shape = lang->shape(walk, &walk->syntax.nodes[i]);
        walk->stored.steps = 0;
        if (shape.kind == CBX_SHAPE_ASSIGN) {
            read_assignment(walk, &shape);
        } else if (shape.kind == CBX_SHAPE_CALL) {
            read_call(walk, &shape);
        } else if (shape.kind == CBX_SHAPE_FIELD) {
            read_field(walk, &walk->syntax.nodes[i], &shape);
        }
    }
    for (uint32_t i = 0; walk->stored.logs && i < walk->syntax.count; i++) {
        struct cbx_shape shape = lang->shape(walk, &walk->syntax.nodes[i]);
        if (shape.kind == CBX_SHAPE_CALL) {
            read_log(walk, &shape);
        }
    }
}

/* --- other names of an object ----------------------------------------------------------------- */

static bool is_class(const struct cbx_value *v)
{
    const struct cbx_scope *scope = v->scope;
    return v->kind == CBX_V_FUNCTION && (scope == NULL || scope->kind == CBX_SCOPE_CLASS);
}

/* Returns true if the expression may give an object in which values can be stored. `any`: "anything"
 * counts, unless it is a text or a number. */
static bool may_hold(struct cbx_walk *walk, struct cbx_node *node, bool any)
{
    const struct cbx_values *values = walk->eval(walk, node, cbx_scope_around(walk, node));
    bool holds = false;
    for (uint32_t i = 0; i < values->count && !holds; i++) {
        const struct cbx_value *v = values->items[i];
        holds = v->kind == CBX_V_LIST || v->kind == CBX_V_MAP ||
                (v->kind == CBX_V_NAME && v->number == CBX_NAME_OBJECT) ||
                (any && v->kind == CBX_V_UNKNOWN && v->number == 0 && v->text.len == 0);
    }
    return holds;
}

static bool has_other_name(struct cbx_walk *walk, struct cbx_node *node, bool any, int depth);

static bool child_has_other_name(struct cbx_walk *walk, struct cbx_node *first, bool any, int depth)
{
    for (struct cbx_node *c = first; c != NULL; c = c->next) {
        struct cbx_str keyword = CBX_STR("");
        struct cbx_node *value = c->named ? walk->stored.lang->argument(walk, c, &keyword) : NULL;
        if (has_other_name(walk, value, any, depth)) {
            return true;
        }
    }
    return false;
}

static bool is_store(const struct cbx_stored_match *match)
{
    return match->rows[CBX_ROW_STORES] != NULL || match->rows[CBX_ROW_STORES_KEYED] != NULL ||
           match->rows[CBX_ROW_MERGES] != NULL;
}

/* Returns true for a call that gives another name to an argument: C(a), a.push.bind(a). */
static bool keeps_argument(struct cbx_walk *walk, const struct cbx_shape *call, bool any, int depth)
{
    const struct cbx_values *callee =
        walk->eval(walk, call->object, cbx_scope_around(walk, call->object));
    bool keeps = callee->count > 0 && is_class(callee->items[0]);
    keeps |= cbx_str_is(walk->stored.lang->shape(walk, call->object).name, "bind");
    return keeps && call->arguments != NULL &&
           child_has_other_name(walk, call->arguments->first, any, depth);
}

/* Returns true if the result of an expression is an object that has another name too, or a method
 * that stores in it: b = a, d = {'x': a}, C(a), a.append. */
static bool has_other_name(struct cbx_walk *walk, struct cbx_node *node, bool any, int depth)
{
    enum { DEPTH_MAX = 4 };
    struct cbx_shape shape = walk->stored.lang->shape(walk, node);
    struct cbx_stored_match match;
    if (depth > DEPTH_MAX) {
        return true;
    }
    switch (shape.kind) {
    case CBX_SHAPE_SAME:
        return has_other_name(walk, shape.object, any, depth + 1);
    case CBX_SHAPE_ASSIGN:
        return !shape.adds && may_hold(walk, shape.value, any);
    case CBX_SHAPE_NAME:
        return may_hold(walk, node, any);
    case CBX_SHAPE_MEMBER:
        cbx_stored_match(CBX_STR(""), shape.name, &match);
        return is_store(&match) || may_hold(walk, node, false);
    case CBX_SHAPE_ITEM:
        return may_hold(walk, node, false);
    case CBX_SHAPE_PARTS:
    case CBX_SHAPE_CHOICE:
        return child_has_other_name(walk, node->first, any, depth + 1);
    case CBX_SHAPE_CALL:
        return keeps_argument(walk, &shape, any, depth + 1);
    default:
        return false;
    }
}

bool cbx_stored_is_shared(struct cbx_walk *walk, struct cbx_node *node, struct cbx_node *other)
{
    return walk->stored.lang != NULL && node == other && may_hold(walk, node, true);
}

bool cbx_stored_goes_on(struct cbx_walk *walk, struct cbx_node *node, bool part)
{
    if (walk->stored.lang == NULL) {
        return false;
    }
    struct cbx_shape shape = walk->stored.lang->shape(walk, node);
    struct cbx_shape callee = walk->stored.lang->shape(walk, shape.object);
    struct cbx_stored_match match;
    cbx_stored_match(CBX_STR(""), shape.kind == CBX_SHAPE_CALL ? callee.name : CBX_STR(""), &match);
    return match.rows[CBX_ROW_WRAPS] != NULL || match.rows[CBX_ROW_OPENS] != NULL ||
           match.rows[CBX_ROW_DIGESTS] != NULL ||
           (shape.kind == CBX_SHAPE_MEMBER && cbx_stored_is(CBX_ROW_VIEW, shape.name)) ||
           has_other_name(walk, node, !part, 0);
}
