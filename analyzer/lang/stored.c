/* SPDX-License-Identifier: MIT
 * A note for each store: the object's name, and the node of the value. The flags of a value are
 * computed when the object is read, so that notes cost no evaluation. */
#include "analyzer/lang/stored.h"

#include "analyzer/lang/names.h"

enum { NOTES_MAX = 20000, FILES_MAX = 256, READ_MAX = 256, BEHIND_MAX = 3, MADE_MAX = 4 };

/* One store, in an object of a name or in a file. */
struct cbx_stored_note {
    struct cbx_str name, key; /* "" as key: anywhere in the object */
    struct cbx_node *path;    /* of a file */
    struct cbx_node *value;
    struct cbx_stored_note *next;
    struct cbx_stored_note *before; /* the note before this one, of any object */
};

/* --- rows ------------------------------------------------------------------------------------- */

enum row_kind {
    STORES,
    STORES_KEYED,
    STORES_INTO,
    STORES_SELF,
    STORES_FILE,
    WRAPS,
    FED,
    VIEW,
    OPENS,
    FOR_KEYS,
};

static const struct row {
    enum row_kind kind;
    const char *name;
    int to;
} rows[] = {
#define CBX_STORES(name)          { STORES, name, 0 },
#define CBX_STORES_KEYED(name)    { STORES_KEYED, name, 0 },
#define CBX_STORES_INTO(name, to) { STORES_INTO, name, to },
#define CBX_STORES_SELF(name, to) { STORES_SELF, name, to },
#define CBX_STORES_FILE(name)     { STORES_FILE, name, 0 },
#define CBX_WRAPS(name)           { WRAPS, name, 0 },
#define CBX_FED(name)             { FED, name, 0 },
#define CBX_VIEW(name)            { VIEW, name, 0 },
#define CBX_OPENS(name)           { OPENS, name, 0 },
#define CBX_FOR_KEYS(name)        { FOR_KEYS, name, 0 },
#include "analyzer/lang/stored.def"
#undef CBX_STORES
#undef CBX_STORES_KEYED
#undef CBX_STORES_INTO
#undef CBX_STORES_SELF
#undef CBX_STORES_FILE
#undef CBX_WRAPS
#undef CBX_FED
#undef CBX_VIEW
#undef CBX_OPENS
#undef CBX_FOR_KEYS
};

static const struct row *find(enum row_kind kind, struct cbx_str name)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].kind == kind && cbx_str_is(name, rows[i].name)) {
            return &rows[i];
        }
    }
    return NULL;
}

bool cbx_is_for_keys(struct cbx_str name)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].kind == FOR_KEYS && cbx_str_is_nocase(name, rows[i].name)) {
            return true;
        }
    }
    return false;
}

/* --- notes ------------------------------------------------------------------------------------ */

static struct cbx_stored_note *add(struct cbx_walk *walk, struct cbx_node *value)
{
    struct cbx_stored_note *note =
        walk->stored.count < NOTES_MAX ? cbx_arena_alloc(walk->arena, sizeof(*note)) : NULL;
    if (note != NULL) {
        *note = (struct cbx_stored_note){ .value = value, .before = walk->stored.last };
        walk->stored.last = note;
        walk->stored.count++;
    }
    return note;
}

/* `owner`: the scope that binds the name, NULL for an attribute, or the call that makes the
 * object. */
static void note_name(struct cbx_walk *walk, const void *owner, struct cbx_str name,
                      struct cbx_str key, struct cbx_node *value)
{
    struct cbx_stored_note *note = add(walk, value);
    if (note != NULL) {
        void **slot = cbx_table_slot(walk->arena, &walk->stored.names, owner, cbx_name_hash(name));
        note->name = name;
        note->key = key;
        note->next = *slot;
        *slot = note;
    }
}

static void note_file(struct cbx_walk *walk, struct cbx_node *path, struct cbx_node *value)
{
    struct cbx_stored_note *note =
        path != NULL && walk->stored.file_count < FILES_MAX ? add(walk, value) : NULL;
    if (note != NULL) {
        note->path = path;
        note->next = walk->stored.files;
        walk->stored.files = note;
        walk->stored.file_count++;
    }
}

/* A store that is being noted: in which place of which object. */
struct store {
    struct cbx_str key;
    struct cbx_node *value;
    int behind; /* number of names that were followed */
};

static void store_in(struct cbx_walk *walk, struct cbx_node *target, struct store s);

static struct cbx_node *argument_at(struct cbx_walk *walk, const struct cbx_node *list, int at)
{
    struct cbx_str keyword = CBX_STR("");
    struct cbx_node *a = list != NULL ? list->first : NULL;
    for (int n = 0; a != NULL; a = a->next) {
        if (a->named && n++ == at) {
            return walk->stored.lang->argument(walk, a, &keyword);
        }
    }
    return NULL;
}

/* Returns the last word of a callee: `dump` of json.dump. */
static struct cbx_str last_word(const struct cbx_shape *callee)
{
    bool named = callee->kind == CBX_SHAPE_NAME || callee->kind == CBX_SHAPE_MEMBER;
    return named ? callee->name : CBX_STR("");
}

/* Stores in what an object is made of: `w = csv.writer(b)`, `q = url.searchParams`. */
static void store_behind(struct cbx_walk *walk, struct cbx_node *made, struct store s)
{
    struct cbx_shape shape = walk->stored.lang->shape(walk, made);
    if (++s.behind > BEHIND_MAX || walk->stored.count >= NOTES_MAX) {
        return;
    }
    if (shape.kind == CBX_SHAPE_SAME) {
        store_behind(walk, shape.object, s);
        return;
    }
    if (shape.kind != CBX_SHAPE_CALL) {
        store_in(walk, made, s);
        return;
    }
    struct cbx_shape callee = walk->stored.lang->shape(walk, shape.object);
    struct cbx_str word = last_word(&callee);
    s.key = CBX_STR("");
    if (find(OPENS, word) != NULL) {
        note_file(walk, argument_at(walk, shape.arguments, 0), s.value);
    }
    if (find(WRAPS, word) == NULL) {
        return;
    }
    if (callee.kind == CBX_SHAPE_MEMBER) {
        store_behind(walk, callee.object, s);
    }
    for (struct cbx_node *a = shape.arguments != NULL ? shape.arguments->first : NULL; a != NULL;
         a = a->next) {
        struct cbx_str keyword = CBX_STR("");
        struct cbx_node *value = walk->stored.lang->argument(walk, a, &keyword);
        if (walk->stored.lang->shape(walk, value).kind == CBX_SHAPE_NAME) {
            store_in(walk, value, s);
        }
    }
}

/* Returns the scope that binds a variable to objects of the text; NULL for a module, a function or
 * a name that nothing binds. */
static struct cbx_scope *scope_of(struct cbx_walk *walk, const struct cbx_node *node,
                                  struct cbx_str name)
{
    struct cbx_binding *chain = NULL;
    struct cbx_scope *s = cbx_scope_around(walk, node);
    for (; s != NULL; s = s->parent) {
        chain = cbx_scope_chain(walk, s, name);
        if (chain != NULL && chain->kind < CBX_BIND_GLOBAL) {
            break;
        }
    }
    for (struct cbx_binding *b = s != NULL ? chain : NULL; b != NULL; b = b->next) {
        bool other = b->kind == CBX_BIND_NAME || b->kind == CBX_BIND_FUNCTION;
        if (other && cbx_str_equal(b->name, name)) {
            return NULL;
        }
    }
    return s;
}

/* Handles new ReadableStream({ start(c) { c.enqueue(value); } }). */
static void store_in_fed(struct cbx_walk *walk, const struct cbx_scope *scope, struct store s)
{
    enum { CLIMB_MAX = 5 };
    const struct cbx_node *n = scope->kind == CBX_SCOPE_FUNCTION ? scope->node : NULL;
    for (int i = 0; n != NULL && i < CLIMB_MAX; i++, n = n->parent) {
        struct cbx_shape call = walk->stored.lang->shape(walk, (struct cbx_node *)(uintptr_t)n);
        struct cbx_shape callee = walk->stored.lang->shape(walk, call.object);
        if (call.kind == CBX_SHAPE_CALL && find(FED, last_word(&callee)) != NULL) {
            note_name(walk, n, CBX_STR(""), CBX_STR(""), s.value);
            return;
        }
    }
}

static void store_in_name(struct cbx_walk *walk, const struct cbx_node *node, struct cbx_str name,
                          struct store s)
{
    struct cbx_scope *scope = scope_of(walk, node, name);
    if (scope == NULL) {
        return;
    }
    note_name(walk, scope, name, s.key, s.value);
    store_in_fed(walk, scope, s);
    int count = 0;
    for (struct cbx_binding *b = cbx_scope_chain(walk, scope, name); b != NULL && count < MADE_MAX;
         b = b->next) {
        bool whole = b->kind == CBX_BIND_EXPR && !b->each && b->path.len == 0;
        if (whole && cbx_str_equal(b->name, name)) {
            count++;
            store_behind(walk, b->node, s);
        }
    }
}

static void store_in(struct cbx_walk *walk, struct cbx_node *target, struct store s)
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
        case CBX_SHAPE_CALL:
            store_behind(walk, target, s);
            return;
        case CBX_SHAPE_MEMBER:
        case CBX_SHAPE_ITEM:
            if (cbx_is_for_keys(shape.name)) {
                return;
            }
            if (shape.name.len > 0) {
                note_name(walk, NULL, shape.name, s.key, s.value);
            }
            s.key = find(VIEW, shape.name) != NULL ? CBX_STR("") : shape.name;
            break;
        default:
            return;
        }
        target = shape.object;
    }
}

/* --- statements that store -------------------------------------------------------------------- */

/* Handles o.name = value, o['name'] = value, o[k] += value. */
static void read_assignment(struct cbx_walk *walk, const struct cbx_shape *assign)
{
    struct cbx_shape target = walk->stored.lang->shape(walk, assign->object);
    bool part = target.kind == CBX_SHAPE_MEMBER || target.kind == CBX_SHAPE_ITEM;
    if (!part || assign->value == NULL || cbx_is_for_keys(target.name)) {
        return;
    }
    bool view = find(VIEW, target.name) != NULL;
    store_in(walk, target.object,
             (struct store){ .key = view ? CBX_STR("") : target.name, .value = assign->value });
}

/* Stores the arguments from `from` on; a keyword argument `key` of the object is stored there. */
static void store_arguments(struct cbx_walk *walk, struct cbx_node *object,
                            const struct cbx_node *list, int from, struct cbx_str key)
{
    int n = 0;
    for (struct cbx_node *a = list->first; a != NULL; a = a->next) {
        struct cbx_str keyword = CBX_STR("");
        struct cbx_node *value = a->named ? walk->stored.lang->argument(walk, a, &keyword) : NULL;
        if (value != NULL && n++ >= from && !cbx_is_for_keys(keyword)) {
            store_in(walk, object,
                     (struct store){ .key = keyword.len > 0 ? keyword : key, .value = value });
        }
    }
}

/* Handles o.set('key', value); a key that is no literal may be any. */
static void read_keyed(struct cbx_walk *walk, struct cbx_node *object, struct cbx_node *list)
{
    struct cbx_str key = CBX_STR("");
    if (!walk->stored.lang->literal(walk, argument_at(walk, list, 0), &key)) {
        key = CBX_STR("");
    }
    if (!cbx_is_for_keys(key)) {
        store_arguments(walk, object, list, 1, key);
    }
}

static void store_in_place(struct cbx_walk *walk, struct cbx_node *place, struct cbx_node *value)
{
    note_file(walk, place, value);
    store_in(walk, place, (struct store){ .value = value });
}

/* Handles json.dump(value, file), print(value, file=f), fs.writeFileSync(path, value). */
static void read_into(struct cbx_walk *walk, const struct row *row, const struct cbx_node *list)
{
    struct cbx_node *to = argument_at(walk, list, row->to);
    for (struct cbx_node *a = list->first; a != NULL; a = a->next) {
        struct cbx_str keyword = CBX_STR("");
        struct cbx_node *value = a->named ? walk->stored.lang->argument(walk, a, &keyword) : NULL;
        to = cbx_str_is(keyword, "file") || cbx_str_is(keyword, "fp") ? value : to;
    }
    for (struct cbx_node *a = to != NULL ? list->first : NULL; a != NULL; a = a->next) {
        struct cbx_str keyword = CBX_STR("");
        struct cbx_node *value = a->named ? walk->stored.lang->argument(walk, a, &keyword) : NULL;
        if (value != NULL && value != to) {
            store_in_place(walk, to, value);
        }
    }
}

static void read_call(struct cbx_walk *walk, const struct cbx_shape *call)
{
    struct cbx_shape callee = walk->stored.lang->shape(walk, call->object);
    struct cbx_str word = last_word(&callee);
    struct cbx_node *list = call->arguments;
    if (word.len == 0 || list == NULL || list->first == NULL) {
        return;
    }
    bool method = callee.kind == CBX_SHAPE_MEMBER;
    if (method && find(STORES, word) != NULL) {
        store_arguments(walk, callee.object, list, 0, CBX_STR(""));
    }
    if (method && find(STORES_KEYED, word) != NULL) {
        read_keyed(walk, callee.object, list);
    }
    if (method && find(STORES_FILE, word) != NULL) {
        store_behind(walk, callee.object, (struct store){ .value = argument_at(walk, list, 0) });
    }
    const struct row *into = find(STORES_INTO, word);
    if (into != NULL) {
        read_into(walk, into, list);
    }
    const struct row *self = method ? find(STORES_SELF, word) : NULL;
    struct cbx_node *to = self != NULL ? argument_at(walk, list, self->to) : NULL;
    if (to != NULL) {
        store_in_place(walk, to, callee.object);
    }
}

/* Returns true if a value of the text may be a secret: it names the environment, or it continues a
 * session. */
static bool may_have_secrets(const struct cbx_walk *walk)
{
    struct cbx_str text = walk->parsed->text;
    return walk->parsed->recall != NULL ||
           (text.len > 0 && memmem(text.p, text.len, "env", 3) != NULL);
}

void cbx_stored_read(struct cbx_walk *walk, const struct cbx_stored_lang *lang)
{
    if (!may_have_secrets(walk)) {
        return;
    }
    walk->stored.lang = lang;
    for (uint32_t i = 0; i < walk->syntax.count; i++) {
        struct cbx_shape shape = lang->shape(walk, &walk->syntax.nodes[i]);
        if (shape.kind == CBX_SHAPE_ASSIGN) {
            read_assignment(walk, &shape);
        } else if (shape.kind == CBX_SHAPE_CALL) {
            read_call(walk, &shape);
        }
    }
}

/* --- what an object holds --------------------------------------------------------------------- */

static uint32_t flags_of(struct cbx_walk *walk, const struct cbx_stored_note *note,
                         struct cbx_scope *run)
{
    struct cbx_scope *where = cbx_scope_around(walk, note->value);
    where = run != NULL && where == run->origin ? run : where;
    return walk->stored.lang->secrets(walk->eval(walk, note->value, where));
}

/* Returns a mapping with one key; it may have others. */
static const struct cbx_values *keyed(struct cbx_walk *walk, struct cbx_str key,
                                      const struct cbx_values *value)
{
    struct cbx_str *keys = cbx_arena_array(walk->arena, 1, sizeof(*keys));
    const struct cbx_values **members = cbx_arena_array(walk->arena, 1, sizeof(*members));
    if (keys == NULL || members == NULL) {
        return value;
    }
    keys[0] = key;
    members[0] = value;
    struct cbx_value map = {
        .kind = CBX_V_MAP, .number = 1, .keys = keys, .members = members, .count = 1
    };
    return cbx_values_one(walk->arena, &map);
}

static const struct cbx_values *read_notes(struct cbx_walk *walk, const void *owner,
                                           struct cbx_str name, struct cbx_scope *run)
{
    const struct cbx_values *out = &cbx_values_nothing;
    int count = 0;
    const struct cbx_stored_note *note =
        cbx_table_find(&walk->stored.names, owner, cbx_name_hash(name));
    for (; note != NULL && count < READ_MAX; note = note->next) {
        if (!cbx_str_equal(note->name, name)) {
            continue;
        }
        count++;
        uint32_t flags = flags_of(walk, note, run);
        if (flags != 0) {
            const struct cbx_values *marked = cbx_values_marked(walk->arena, flags);
            out = cbx_values_join(walk->arena, out,
                                  note->key.len > 0 ? keyed(walk, note->key, marked) : marked);
        }
    }
    return out;
}

const struct cbx_values *cbx_stored_in(struct cbx_walk *walk, const struct cbx_scope *scope,
                                       struct cbx_str name, struct cbx_scope *run)
{
    return walk->stored.count > 0 ? read_notes(walk, scope, name, run) : &cbx_values_nothing;
}

const struct cbx_values *cbx_stored_in_call(struct cbx_walk *walk, const struct cbx_node *call)
{
    return walk->stored.count > 0 ? read_notes(walk, call, CBX_STR(""), NULL) : &cbx_values_nothing;
}

bool cbx_stored_goes_on(struct cbx_walk *walk, struct cbx_node *node)
{
    if (walk->stored.lang == NULL) {
        return false;
    }
    struct cbx_shape shape = walk->stored.lang->shape(walk, node);
    struct cbx_shape callee = walk->stored.lang->shape(walk, shape.object);
    return (shape.kind == CBX_SHAPE_CALL && find(WRAPS, last_word(&callee)) != NULL) ||
           (shape.kind == CBX_SHAPE_MEMBER && find(VIEW, shape.name) != NULL);
}

enum cbx_stored_where cbx_stored_within(struct cbx_walk *walk, uint32_t start, uint32_t end)
{
    enum cbx_stored_where out = CBX_STORED_NOWHERE;
    for (const struct cbx_stored_note *n = walk->stored.last; n != NULL; n = n->before) {
        enum cbx_stored_where where = n->path != NULL ? CBX_STORED_IN_FILE : CBX_STORED_IN_OBJECT;
        bool within = n->value->start >= start && n->value->end <= end;
        if (where > out && within && flags_of(walk, n, NULL) != 0) {
            out = where;
        }
    }
    return out;
}

static struct cbx_str without_dot(struct cbx_str path)
{
    return cbx_str_starts(path, CBX_STR("./")) ? cbx_str_sub(path, 2, path.len) : path;
}

/* Returns true if two sets of texts have one text in common. */
static bool meet(const struct cbx_str *a, uint32_t a_count, const struct cbx_str *b,
                 uint32_t b_count)
{
    for (uint32_t i = 0; i < a_count; i++) {
        for (uint32_t k = 0; k < b_count; k++) {
            if (cbx_str_equal(without_dot(a[i]), without_dot(b[k]))) {
                return true;
            }
        }
    }
    return false;
}

uint32_t cbx_stored_in_file(struct cbx_walk *walk, struct cbx_str callee,
                            const struct cbx_values *path)
{
    const char *dot = callee.len > 0 ? memrchr(callee.p, '.', callee.len) : NULL;
    struct cbx_str word =
        dot != NULL ? cbx_str_sub(callee, (size_t)(dot - callee.p) + 1, callee.len) : callee;
    uint32_t flags = 0, count = 0;
    if (walk->stored.files == NULL || find(OPENS, word) == NULL) {
        return 0;
    }
    const struct cbx_str *texts = cbx_values_texts(walk->arena, path, &count);
    for (const struct cbx_stored_note *n = count > 0 ? walk->stored.files : NULL; n != NULL;
         n = n->next) {
        uint32_t others = 0;
        const struct cbx_values *to = walk->eval(walk, n->path, cbx_scope_around(walk, n->path));
        const struct cbx_str *paths = cbx_values_texts(walk->arena, to, &others);
        flags |= meet(texts, count, paths, others) ? flags_of(walk, n, NULL) : 0;
    }
    return flags;
}

uint32_t cbx_stored_of_members(const struct cbx_walk *walk, const struct cbx_values *values)
{
    uint32_t flags = 0;
    for (uint32_t i = 0; walk->stored.lang != NULL && i < values->count; i++) {
        if (values->items[i]->kind == CBX_V_NAME) {
            const struct cbx_values *one = cbx_values_one(walk->arena, values->items[i]);
            flags |= walk->stored.lang->secrets(one);
        }
    }
    return flags;
}
