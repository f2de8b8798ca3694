/* SPDX-License-Identifier: MIT
 * The objects in which a store puts its value. One note for each store under the name of the
 * object, under each name behind it (b = a; b.append(v)), and under the literal or the call that
 * makes the object. */
#include "analyzer/lang/names.h"
#include "analyzer/lang/stored_internal.h"

enum {
    NOTES_MAX = 20000,
    FILES_MAX = 256,
    BEHIND_MAX = 6,
    MADE_MAX = 4,
    CHAIN_MAX = 32,
    STEPS_MAX = 96
};

/* --- notes ------------------------------------------------------------------------------------ */

static struct cbx_stored_note *add(struct cbx_walk *walk, const struct cbx_store *s)
{
    struct cbx_stored_note *note = walk->stored.count < NOTES_MAX && s->value != NULL
                                       ? cbx_arena_alloc(walk->arena, sizeof(*note))
                                       : NULL;
    if (note != NULL) {
        *note = (struct cbx_stored_note){ .kind = s->kind,
                                          .attribute = s->attribute,
                                          .each = s->each,
                                          .inner = s->inner,
                                          .inner_attribute = s->inner_attribute,
                                          .key = s->key,
                                          .value = s->value,
                                          .before = walk->stored.last };
        walk->stored.last = note;
        walk->stored.count++;
    }
    return note;
}

/* `owner`: the scope that binds the name, NULL for an attribute, or the node that makes the object,
 * whose name is "". */
static struct cbx_stored_note *note_name(struct cbx_walk *walk, const void *owner,
                                         struct cbx_str name, const struct cbx_store *s)
{
    struct cbx_stored_note *note = add(walk, s);
    if (note != NULL) {
        void **slot = cbx_table_slot(walk->arena, &walk->stored.names, owner, cbx_name_hash(name));
        note->name = name;
        note->owner = owner;
        note->next = *slot;
        *slot = note;
    }
    return note;
}

static void note_made(struct cbx_walk *walk, struct cbx_node *made, const struct cbx_store *s)
{
    made->holds = true;
    note_name(walk, made, CBX_STR(""), s);
}

void cbx_store_in_file(struct cbx_walk *walk, struct cbx_node *path, const struct cbx_store *s)
{
    struct cbx_stored_note *note =
        path != NULL && walk->stored.file_count < FILES_MAX ? add(walk, s) : NULL;
    if (note != NULL) {
        note->path = path;
        note->next = walk->stored.files;
        walk->stored.files = note;
        walk->stored.file_count++;
    }
}

/* --- callees ---------------------------------------------------------------------------------- */

void cbx_stored_match_callee(struct cbx_walk *walk, const struct cbx_shape *callee,
                             struct cbx_stored_match *out)
{
    bool member = callee->kind == CBX_SHAPE_MEMBER;
    struct cbx_shape object = { .kind = CBX_SHAPE_OTHER };
    if (member) {
        object = walk->stored.lang->shape(walk, callee->object);
    }
    cbx_stored_match(object.kind == CBX_SHAPE_NAME ? object.name : CBX_STR(""),
                     member || callee->kind == CBX_SHAPE_NAME ? callee->name : CBX_STR(""), out);
}

static struct cbx_node *first_of(const struct cbx_node *list)
{
    return list != NULL ? list->first : NULL;
}

struct cbx_node *cbx_stored_argument(struct cbx_walk *walk, struct cbx_node *first, int at)
{
    struct cbx_str keyword = CBX_STR("");
    int n = 0;
    for (struct cbx_node *a = first; a != NULL; a = a->next) {
        if (a->named && n++ == at) {
            return walk->stored.lang->argument(walk, a, &keyword);
        }
    }
    return NULL;
}

struct cbx_node *cbx_stored_place(struct cbx_walk *walk, struct cbx_node *first, int to)
{
    for (struct cbx_node *a = first; a != NULL; a = a->next) {
        struct cbx_str keyword = CBX_STR("");
        struct cbx_node *value = a->named ? walk->stored.lang->argument(walk, a, &keyword) : NULL;
        if (keyword.len > 0 && cbx_stored_is(CBX_ROW_PLACE, keyword)) {
            return value;
        }
    }
    return cbx_stored_argument(walk, first, to);
}

/* Returns the scope that binds a variable, and sets *chain to its bindings; NULL if there is none. */
static struct cbx_scope *binder_of(struct cbx_walk *walk, const struct cbx_node *node,
                                   struct cbx_str name, struct cbx_binding **chain)
{
    struct cbx_scope *s = cbx_scope_around(walk, node);
    for (; s != NULL; s = s->parent) {
        *chain = cbx_scope_chain(walk, s, name);
        if (*chain != NULL && (*chain)->kind < CBX_BIND_GLOBAL) {
            break;
        }
    }
    return s;
}

/* Returns the scope that binds a variable to objects of the text; NULL for a module, a function or
 * a name that nothing binds. */
static struct cbx_scope *scope_of(struct cbx_walk *walk, const struct cbx_node *node,
                                  struct cbx_str name)
{
    struct cbx_binding *chain = NULL;
    struct cbx_scope *s = binder_of(walk, node, name, &chain);
    for (struct cbx_binding *b = s != NULL ? chain : NULL; b != NULL; b = b->next) {
        bool other = b->kind == CBX_BIND_NAME || b->kind == CBX_BIND_FUNCTION;
        if (other && cbx_str_equal(b->name, name)) {
            return NULL;
        }
    }
    return s;
}

/* Returns the expression that is the whole value of a binding; NULL if there is none. */
static struct cbx_node *whole_value(const struct cbx_binding *b)
{
    return b->kind == CBX_BIND_EXPR && !b->each && b->path.len == 0 ? b->node : NULL;
}

struct cbx_node *cbx_stored_value_of_name(struct cbx_walk *walk, const struct cbx_node *node,
                                          struct cbx_str name)
{
    struct cbx_binding *b = NULL;
    bool bound = binder_of(walk, node, name, &b) != NULL;
    for (int count = 0; bound && b != NULL && count < CHAIN_MAX; b = b->next, count++) {
        if (cbx_str_equal(b->name, name) && whole_value(b) != NULL) {
            return b->node;
        }
    }
    return NULL;
}

/* --- objects in which a value is stored ------------------------------------------------------- */

/* Stores in the results of a function of the text. */
static void store_in_returns(struct cbx_walk *walk, const struct cbx_shape *callee,
                             const struct cbx_node *node, const struct cbx_store *s)
{
    struct cbx_binding *b = NULL;
    struct cbx_scope *where = callee->kind == CBX_SHAPE_NAME ? cbx_scope_around(walk, node) : NULL;
    for (; where != NULL && b == NULL; where = where->parent) {
        b = cbx_scope_chain(walk, where, callee->name);
    }
    if (callee->kind == CBX_SHAPE_MEMBER) {
        b = cbx_scope_chain(walk, NULL, callee->name);
    }
    for (int count = 0; b != NULL && count < MADE_MAX; b = b->next, count++) {
        const struct cbx_scope *inner = b->node != NULL ? b->node->inner : NULL;
        bool function =
            inner != NULL && inner->node == b->node && inner->kind == CBX_SCOPE_FUNCTION;
        for (struct cbx_return *r = function ? inner->returns : NULL; r != NULL; r = r->next) {
            cbx_store_behind(walk, r->node, *s);
        }
    }
}

/* Returns true for a hash: hashlib.sha256(), createHash('md5').update(x). */
static bool is_digest(struct cbx_walk *walk, struct cbx_node *made)
{
    enum { METHODS_MAX = 8 };
    struct cbx_shape call = walk->stored.lang->shape(walk, made);
    for (int i = 0; i < METHODS_MAX && call.kind == CBX_SHAPE_CALL; i++) {
        struct cbx_shape callee = walk->stored.lang->shape(walk, call.object);
        if (cbx_stored_is(CBX_ROW_DIGESTS, callee.name)) {
            return true;
        }
        call =
            walk->stored.lang->shape(walk, callee.kind == CBX_SHAPE_MEMBER ? callee.object : NULL);
    }
    return false;
}

/* Stores in the object that a call returns: in what csv.writer(b) writes to, what vars(o) is of,
 * the file of open(p). */
static void store_in_result(struct cbx_walk *walk, struct cbx_node *call,
                            const struct cbx_shape *shape, struct cbx_store s)
{
    struct cbx_shape callee = walk->stored.lang->shape(walk, shape->object);
    struct cbx_node *first = first_of(shape->arguments);
    struct cbx_stored_match match;
    cbx_stored_match_callee(walk, &callee, &match);
    if (is_digest(walk, call)) {
        return;
    }
    if (match.rows[CBX_ROW_ATTRIBUTES] != NULL && first != NULL) {
        s.attribute = true;
        cbx_store_in(walk, cbx_stored_argument(walk, first, 0), s);
        return;
    }
    bool members = s.each && match.rows[CBX_ROW_MEMBERS] != NULL;
    if (!members && (match.rows[CBX_ROW_OPENS] != NULL || match.rows[CBX_ROW_WRAPS] != NULL)) {
        s.key = s.inner = CBX_STR("");
        s.each = false;
    }
    if (match.rows[CBX_ROW_OPENS] != NULL) {
        cbx_store_in_file(walk, cbx_stored_argument(walk, first, 0), &s);
    }
    if (match.rows[CBX_ROW_WRAPS] == NULL && !members) {
        note_made(walk, call, &s);
        store_in_returns(walk, &callee, call, &s);
        return;
    }
    if (callee.kind == CBX_SHAPE_MEMBER) {
        cbx_store_behind(walk, callee.object, s);
    }
    for (struct cbx_node *a = first; a != NULL; a = a->next) {
        struct cbx_str keyword = CBX_STR("");
        struct cbx_node *value = walk->stored.lang->argument(walk, a, &keyword);
        if (walk->stored.lang->shape(walk, value).kind == CBX_SHAPE_NAME) {
            cbx_store_in(walk, value, s);
        }
    }
}

/* Stores in the children of a literal that are at the place `key`; "" is any place. */
static void store_in_children(struct cbx_walk *walk, struct cbx_node *literal, struct cbx_str key,
                              struct cbx_store s)
{
    int at = 0;
    for (struct cbx_node *c = literal->first; c != NULL; c = c->next) {
        if (!c->named) {
            continue;
        }
        struct cbx_str keyword = CBX_STR("");
        struct cbx_node *value = walk->stored.lang->argument(walk, c, &keyword);
        struct cbx_str place = keyword.len > 0 ? keyword : cbx_arena_number(walk->arena, at);
        at++;
        if (key.len == 0 || cbx_str_equal(place, key)) {
            cbx_store_behind(walk, value, s);
        }
    }
}

/* Stores in a part of an object: in x of `x, y = made`. */
static void store_in_part(struct cbx_walk *walk, struct cbx_node *made, struct cbx_str path,
                          struct cbx_store s)
{
    const char *end = path.len > 0 ? memchr(path.p, CBX_PATH_SEPARATOR, path.len) : NULL;
    struct cbx_str key = end != NULL ? cbx_str_sub(path, 0, (size_t)(end - path.p)) : path;
    if (walk->stored.lang->shape(walk, made).kind == CBX_SHAPE_PARTS) {
        store_in_children(walk, made, key, s);
        return;
    }
    s.key = key;
    s.inner = CBX_STR("");
    s.kind = s.kind == CBX_NOTE_MEMBERS ? CBX_NOTE_VALUE : s.kind;
    s.attribute = false;
    cbx_store_behind(walk, made, s);
}

/* Stores in what a binding gives a name: in a member for `for x in made`. */
static void store_in_bound(struct cbx_walk *walk, const struct cbx_binding *b, struct cbx_store s)
{
    if (b->each) {
        s.key = s.each ? CBX_STR("") : s.key;
        s.inner = s.each ? CBX_STR("") : s.inner;
        s.each = true;
        cbx_store_behind(walk, b->node, s);
    } else if (b->path.len > 0) {
        store_in_part(walk, b->node, b->path, s);
    } else {
        cbx_store_behind(walk, b->node, s);
    }
}

/* Stores in the object that an expression gives a name. */
void cbx_store_behind(struct cbx_walk *walk, struct cbx_node *made, struct cbx_store s)
{
    if (++s.behind > BEHIND_MAX || ++walk->stored.steps > STEPS_MAX) {
        return;
    }
    struct cbx_shape shape = walk->stored.lang->shape(walk, made);
    switch (shape.kind) {
    case CBX_SHAPE_SAME:
        cbx_store_behind(walk, shape.object, s);
        return;
    case CBX_SHAPE_CHOICE:
        store_in_children(walk, made, CBX_STR(""), s);
        return;
    case CBX_SHAPE_ASSIGN:
        if (!shape.adds) {
            cbx_store_behind(walk, shape.value, s);
        }
        return;
    case CBX_SHAPE_PARTS:
        if (s.each) {
            s.each = false;
            store_in_children(walk, made, CBX_STR(""), s);
            return;
        }
        note_made(walk, made, &s);
        if (s.through) {
            struct cbx_str key = s.key;
            s.key = s.inner;
            s.attribute = s.inner_attribute;
            s.inner = CBX_STR("");
            s.through = false;
            store_in_children(walk, made, key, s);
        }
        return;
    case CBX_SHAPE_CALL:
        store_in_result(walk, made, &shape, s);
        return;
    case CBX_SHAPE_OTHER:
    case CBX_SHAPE_FIELD:
        return;
    default:
        cbx_store_in(walk, made, s);
        return;
    }
}

/* Handles new ReadableStream({ start(c) { c.enqueue(value); } }): `filler` is the function, or the
 * literal that has it. */
static void store_in_fed(struct cbx_walk *walk, struct cbx_node *filler, const struct cbx_store *s)
{
    enum { CLIMB_MAX = 5 };
    struct cbx_node *n = filler;
    for (int i = 0; n != NULL && i < CLIMB_MAX; i++, n = n->parent) {
        struct cbx_shape call = walk->stored.lang->shape(walk, n);
        struct cbx_shape callee = walk->stored.lang->shape(walk, call.object);
        if (call.kind == CBX_SHAPE_CALL && cbx_stored_is(CBX_ROW_FED, callee.name)) {
            struct cbx_store whole = { .value = s->value };
            note_made(walk, n, &whole);
            return;
        }
    }
}

static void store_in_name(struct cbx_walk *walk, const struct cbx_node *node, struct cbx_str name,
                          struct cbx_store s)
{
    struct cbx_scope *scope = scope_of(walk, node, name);
    struct cbx_binding *chain = scope != NULL ? cbx_scope_chain(walk, scope, name) : NULL;
    if (chain == NULL || is_digest(walk, whole_value(chain))) {
        return;
    }
    note_name(walk, scope, name, &s);
    store_in_fed(walk, scope->kind == CBX_SCOPE_FUNCTION ? scope->node : NULL, &s);
    int count = 0;
    for (struct cbx_binding *b = chain; b != NULL && count < MADE_MAX; b = b->next) {
        if (b->kind != CBX_BIND_EXPR || !cbx_str_equal(b->name, name)) {
            continue;
        }
        count++;
        store_in_bound(walk, b, s);
    }
}

void cbx_store_in_maker(struct cbx_walk *walk, struct cbx_node *maker, const struct cbx_store *s)
{
    note_name(walk, maker, CBX_STR(""), s);
    walk->stored.self_count++;
}

static void store_in_self(struct cbx_walk *walk, const struct cbx_node *node,
                          const struct cbx_store *s)
{
    struct cbx_node *maker = walk->stored.lang->maker(node);
    if (maker != NULL) {
        cbx_store_in_maker(walk, maker, s);
        store_in_fed(walk, maker, s);
    }
}

/* Returns true if two expressions may be the same object: two names are if they are equal, `self`
 * is in one class. */
static bool may_be_same(struct cbx_walk *walk, struct cbx_node *a, struct cbx_node *b)
{
    struct cbx_shape x = walk->stored.lang->shape(walk, a), y = walk->stored.lang->shape(walk, b);
    if (x.kind == CBX_SHAPE_SELF && y.kind == CBX_SHAPE_SELF) {
        return walk->stored.lang->maker(a) == walk->stored.lang->maker(b);
    }
    bool names = x.kind == CBX_SHAPE_NAME && y.kind == CBX_SHAPE_NAME;
    return !names || cbx_str_equal(x.name, y.name);
}

/* Stores in what the text assigns to an attribute or an item: o.x = a; o.x.append(value). */
static void store_in_assigned(struct cbx_walk *walk, const struct cbx_shape *target,
                              struct cbx_store s)
{
    int count = 0, made = 0;
    for (struct cbx_binding *b = cbx_scope_chain(walk, NULL, target->name);
         b != NULL && count < CHAIN_MAX && made < MADE_MAX; b = b->next, count++) {
        struct cbx_node *value = cbx_str_equal(b->name, target->name) ? whole_value(b) : NULL;
        struct cbx_shape assign =
            walk->stored.lang->shape(walk, value != NULL ? value->parent : NULL);
        struct cbx_shape left = walk->stored.lang->shape(walk, assign.object);
        bool part = left.kind == CBX_SHAPE_MEMBER || left.kind == CBX_SHAPE_ITEM;
        if (assign.kind == CBX_SHAPE_ASSIGN && part &&
            may_be_same(walk, left.object, target->object)) {
            made++;
            cbx_store_behind(walk, value, s);
        }
    }
}

/* Goes from o.name or o['name'] to o. Returns false if nothing in o is to be noted. */
static bool leave_part(struct cbx_walk *walk, const struct cbx_shape *part, struct cbx_store *s)
{
    struct cbx_stored_match match;
    cbx_stored_match(CBX_STR(""), part->name, &match);
    if (cbx_is_for_keys(part->name)) {
        return false;
    }
    if (match.rows[CBX_ROW_ATTRIBUTES] != NULL) {
        s->attribute = true;
        return true;
    }
    bool view = match.rows[CBX_ROW_VIEW] != NULL;
    if (part->name.len > 0 && !view) {
        note_name(walk, NULL, part->name, s);
        store_in_assigned(walk, part, *s);
    }
    bool one = !s->through && !s->each && !view; /* deeper keys are not kept */
    s->inner = one ? s->key : CBX_STR("");
    s->inner_attribute = one && s->attribute;
    s->each = false;
    s->key = view ? CBX_STR("") : part->name;
    s->kind = s->kind == CBX_NOTE_MEMBERS ? CBX_NOTE_VALUE : s->kind;
    s->attribute = part->kind == CBX_SHAPE_MEMBER && !view;
    s->through = !view;
    return true;
}

void cbx_store_in(struct cbx_walk *walk, struct cbx_node *target, struct cbx_store s)
{
    enum { PATH_MAX_NODES = 32 };
    for (int i = 0; i < PATH_MAX_NODES; i++) {
        struct cbx_shape shape = walk->stored.lang->shape(walk, target);
        switch (shape.kind) {
        case CBX_SHAPE_SAME:
            break;
        case CBX_SHAPE_NAME:
            store_in_name(walk, target, shape.name, s);
            return;
        case CBX_SHAPE_SELF:
            store_in_self(walk, target, &s);
            return;
        case CBX_SHAPE_MEMBER:
        case CBX_SHAPE_ITEM:
            if (!leave_part(walk, &shape, &s)) {
                return;
            }
            break;
        case CBX_SHAPE_CALL:
        case CBX_SHAPE_CHOICE:
            cbx_store_behind(walk, target, s);
            return;
        default:
            return;
        }
        target = shape.object;
    }
}

void cbx_store_in_log(struct cbx_walk *walk, const struct cbx_store *s)
{
    struct cbx_stored_note *note = note_name(walk, cbx_stored_log(), CBX_STR(""), s);
    if (note != NULL) {
        note->logged = true;
    }
}

bool cbx_store_in_opened(struct cbx_walk *walk, const struct cbx_node *node, struct cbx_str name,
                         const struct cbx_store *s)
{
    const struct cbx_scope *scope = scope_of(walk, node, name);
    struct cbx_binding *b = scope != NULL ? cbx_scope_chain(walk, scope, name) : NULL;
    bool opened = false;
    for (int count = 0; b != NULL && count < CHAIN_MAX; b = b->next, count++) {
        struct cbx_node *value = cbx_str_equal(b->name, name) ? whole_value(b) : NULL;
        struct cbx_shape open = walk->stored.lang->shape(walk, value);
        struct cbx_shape callee = walk->stored.lang->shape(walk, open.object);
        if (open.kind == CBX_SHAPE_CALL && cbx_stored_is(CBX_ROW_OPENS, callee.name)) {
            cbx_store_in_file(walk, cbx_stored_argument(walk, first_of(open.arguments), 0), s);
            opened = true;
        }
    }
    return opened;
}

void cbx_store_in_called(struct cbx_walk *walk, const struct cbx_node *node, struct cbx_str name,
                         const struct cbx_store *s)
{
    struct cbx_binding *chain = NULL;
    const struct cbx_scope *scope = binder_of(walk, node, name, &chain);
    if (scope != NULL && chain->given && scope->kind == CBX_SCOPE_FUNCTION) {
        store_in_fed(walk, scope->node, s);
    }
}
