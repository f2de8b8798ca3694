/* SPDX-License-Identifier: MIT
 * What objects and files hold by the notes of stores.c. A note has the node of the value; the flags
 * of a value are computed when the object is read, so that notes cost no evaluation. */
#include "analyzer/lang/stored.h"

#include "analyzer/lang/names.h"
#include "analyzer/lang/stored_internal.h"

enum { READ_MAX = 256, MEMBERS_MAX = 64, FILES_DEPTH_MAX = 4, BASES_DEPTH_MAX = 4 };

/* --- rows ------------------------------------------------------------------------------------- */

/* clang-format off */
#define ROW(row_kind, object_name, row_name, from_at, to_at) \
    { .kind = CBX_ROW_##row_kind, .object = CBX_LITERAL(object_name), .name = CBX_LITERAL(row_name), .from = (from_at), .to = (to_at) },
static const struct cbx_stored_row rows[] = {
#define CBX_STORES(name)                        ROW(STORES, "", name, 0, 0)
#define CBX_STORES_KEYED(name)                  ROW(STORES_KEYED, "", name, 0, 0)
#define CBX_SETS_KEYED(name)                    ROW(SETS_KEYED, "", name, 0, 0)
#define CBX_STORES_OPTION(name)                 ROW(STORES_OPTION, "", name, 0, 0)
#define CBX_MERGES(name)                        ROW(MERGES, "", name, 0, 0)
#define CBX_MERGES_INTO(object, name, to)       ROW(MERGES_INTO, object, name, 0, to)
#define CBX_STORES_INTO(name, to)               ROW(STORES_INTO, "", name, 0, to)
#define CBX_STORES_AT(object, name, to)         ROW(STORES_AT, object, name, 0, to)
#define CBX_SETS_AT(object, name, to)           ROW(SETS_AT, object, name, 0, to)
#define CBX_STORES_SELF(name, to)               ROW(STORES_SELF, "", name, 0, to)
#define CBX_SAVES_SELF(name, to)                ROW(SAVES_SELF, "", name, 0, to)
#define CBX_STORES_FILE(name)                   ROW(STORES_FILE, "", name, 0, 0)
#define CBX_COPIES_FILE(object, name, from, to) ROW(COPIES_FILE, object, name, from, to)
#define CBX_LOGS(name)                          ROW(LOGS, "", name, 0, 0)
#define CBX_LOG_TO(name, to)                    ROW(LOG_TO, "", name, 0, to)
#define CBX_PLACE(name)                         ROW(PLACE, "", name, 0, 0)
#define CBX_WRAPS(name)                         ROW(WRAPS, "", name, 0, 0)
#define CBX_MEMBERS(name)                       ROW(MEMBERS, "", name, 0, 0)
#define CBX_FED(name)                           ROW(FED, "", name, 0, 0)
#define CBX_DIGESTS(name)                       ROW(DIGESTS, "", name, 0, 0)
#define CBX_VIEW(name)                          ROW(VIEW, "", name, 0, 0)
#define CBX_ATTRIBUTES(name)                    ROW(ATTRIBUTES, "", name, 0, 0)
#define CBX_OPENS(name)                         ROW(OPENS, "", name, 0, 0)
#define CBX_READS(name)                         ROW(READS, "", name, 0, 0)
#define CBX_FOR_KEYS(name)                      ROW(FOR_KEYS, "", name, 0, 0)
#include "analyzer/lang/stored.def"
#undef CBX_STORES
#undef CBX_STORES_KEYED
#undef CBX_SETS_KEYED
#undef CBX_STORES_OPTION
#undef CBX_MERGES
#undef CBX_MERGES_INTO
#undef CBX_STORES_INTO
#undef CBX_STORES_AT
#undef CBX_SETS_AT
#undef CBX_STORES_SELF
#undef CBX_SAVES_SELF
#undef CBX_STORES_FILE
#undef CBX_COPIES_FILE
#undef CBX_LOGS
#undef CBX_LOG_TO
#undef CBX_PLACE
#undef CBX_WRAPS
#undef CBX_MEMBERS
#undef CBX_FED
#undef CBX_DIGESTS
#undef CBX_VIEW
#undef CBX_ATTRIBUTES
#undef CBX_OPENS
#undef CBX_READS
#undef CBX_FOR_KEYS
};
/* clang-format on */

void cbx_stored_match(struct cbx_str object, struct cbx_str name, struct cbx_stored_match *out)
{
    *out = (struct cbx_stored_match){ 0 };
    for (size_t i = 0; name.len > 0 && i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct cbx_stored_row *row = &rows[i];
        bool of_object = row->object.len == 0 || cbx_str_equal(row->object, object);
        if (of_object && out->rows[row->kind] == NULL && cbx_str_equal(row->name, name)) {
            out->rows[row->kind] = row;
        }
    }
}

bool cbx_stored_is(enum cbx_stored_rows kind, struct cbx_str name)
{
    struct cbx_stored_match match;
    cbx_stored_match(CBX_STR(""), name, &match);
    return match.rows[kind] != NULL;
}

bool cbx_is_for_keys(struct cbx_str name)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].kind == CBX_ROW_FOR_KEYS && rows[i].name.len == name.len &&
            cbx_str_is_nocase(name, rows[i].name.p)) {
            return true;
        }
    }
    return false;
}

const void *cbx_stored_log(void)
{
    return &rows[0];
}

/* --- what a note stores ----------------------------------------------------------------------- */

static const struct cbx_values *value_of(struct cbx_walk *walk, struct cbx_node *node,
                                         struct cbx_scope *run)
{
    struct cbx_scope *where = cbx_scope_around(walk, node);
    where = run != NULL && where == run->origin ? run : where;
    return walk->eval(walk, node, where);
}

static uint32_t flags_in_files(struct cbx_walk *walk, const struct cbx_values *path);
static uint32_t flags_of(struct cbx_walk *walk, const struct cbx_stored_note *note,
                         struct cbx_scope *run);

static uint32_t flags_of_log(struct cbx_walk *walk)
{
    uint32_t flags = 0;
    int count = 0;
    const struct cbx_stored_note *note =
        cbx_table_find(&walk->stored.names, cbx_stored_log(), cbx_name_hash(CBX_STR("")));
    for (; note != NULL && count < READ_MAX; note = note->next, count++) {
        flags |= flags_of(walk, note, NULL);
    }
    return flags;
}

static uint32_t flags_of(struct cbx_walk *walk, const struct cbx_stored_note *note,
                         struct cbx_scope *run)
{
    switch (note->kind) {
    case CBX_NOTE_FILE:
        return flags_in_files(walk, value_of(walk, note->value, run));
    case CBX_NOTE_LOG:
        return flags_of_log(walk);
    default:
        return walk->stored.lang->secrets(walk, value_of(walk, note->value, run));
    }
}

/* --- what an object holds --------------------------------------------------------------------- */

/* Returns a mapping with one key; it may have others. `text`: as that of a mapping (value.h). */
static const struct cbx_values *keyed(struct cbx_walk *walk, struct cbx_str key,
                                      struct cbx_str text, const struct cbx_values *value)
{
    struct cbx_str *keys = cbx_arena_array(walk->arena, 1, sizeof(*keys));
    const struct cbx_values **members = cbx_arena_array(walk->arena, 1, sizeof(*members));
    if (keys == NULL || members == NULL) {
        return value;
    }
    keys[0] = key.len > 0 ? key : CBX_STR("\xff");
    members[0] = value;
    struct cbx_value map = {
        .kind = CBX_V_MAP, .text = text, .number = 1, .keys = keys, .members = members, .count = 1
    };
    return cbx_values_one(walk->arena, &map);
}

/* Returns what is secret of the values, under the keys that it has; nothing if nothing is.
 * `attributes`: the keys become attributes. */
static const struct cbx_values *secret_part(struct cbx_walk *walk, const struct cbx_values *values,
                                            bool attributes, int depth)
{
    enum { DEPTH_MAX = 3 };
    struct cbx_union out = { .values = &cbx_values_nothing };
    for (uint32_t i = 0; i < values->count; i++) {
        const struct cbx_value *v = values->items[i];
        uint32_t flags = walk->stored.lang->secrets(walk, cbx_values_one(walk->arena, v));
        bool map = v->kind == CBX_V_MAP && v->keys != NULL && depth < DEPTH_MAX;
        struct cbx_str text = attributes ? CBX_STR(CBX_MAP_OBJECT) : v->text;
        for (uint32_t k = 0; map && flags != 0 && k < v->count && k < MEMBERS_MAX; k++) {
            const struct cbx_values *one = secret_part(walk, v->members[k], false, depth + 1);
            if (one->count > 0) {
                cbx_union_add(walk->arena, &out, keyed(walk, v->keys[k], text, one));
            }
        }
        if (!map && flags != 0) {
            cbx_union_add(walk->arena, &out, cbx_values_marked(walk->arena, flags));
        }
    }
    return out.values;
}

/* Returns what a note stores; nothing if it is no secret. What is stored anywhere in an object is
 * a part of each of its members, so it has no keys of its own. */
static const struct cbx_values *stored_by(struct cbx_walk *walk, const struct cbx_stored_note *note,
                                          struct cbx_scope *run)
{
    bool at_key = note->kind == CBX_NOTE_VALUE && note->key.len > 0;
    if (at_key || note->kind == CBX_NOTE_MEMBERS) {
        bool attributes = note->kind == CBX_NOTE_MEMBERS && note->attribute;
        return secret_part(walk, value_of(walk, note->value, run), attributes, 0);
    }
    uint32_t flags = flags_of(walk, note, run);
    return flags != 0 ? cbx_values_marked(walk->arena, flags) : &cbx_values_nothing;
}

/* Adds what a note stores. `instance`: the note is about the objects of a class. */
static void add_note(struct cbx_walk *walk, const struct cbx_stored_note *note,
                     struct cbx_scope *run, bool instance, struct cbx_union *out)
{
    const struct cbx_values *one = stored_by(walk, note, run);
    struct cbx_str object = CBX_STR(CBX_MAP_OBJECT), none = CBX_STR("");
    struct cbx_str text = note->attribute ? object : none;
    if (one->count == 0) {
        return;
    }
    if (note->inner.len > 0) {
        one = keyed(walk, note->inner, note->inner_attribute ? object : none, one);
    }
    if (instance) {
        one = keyed(walk, note->key, CBX_STR(CBX_MAP_INSTANCE), one);
    } else if (note->key.len > 0) {
        one = keyed(walk, note->key, text, one);
    }
    cbx_union_add(walk->arena, out, note->each ? cbx_values_each(walk->arena, one) : one);
}

static const struct cbx_values *read_notes(struct cbx_walk *walk, const void *owner,
                                           struct cbx_str name, struct cbx_scope *run,
                                           bool instance)
{
    struct cbx_union out = { .values = &cbx_values_nothing };
    int count = 0;
    const struct cbx_stored_note *note =
        cbx_table_find(&walk->stored.names, owner, cbx_name_hash(name));
    for (; note != NULL && count < READ_MAX; note = note->next) {
        if (cbx_str_equal(note->name, name)) {
            count++;
            add_note(walk, note, run, instance, &out);
        }
    }
    return out.values;
}

/* Returns true if a class or one of its bases stores in `self`. */
static bool has_self(struct cbx_walk *walk, const struct cbx_node *maker, int depth)
{
    void *const yes = (void *)(uintptr_t)1, *const no = (void *)(uintptr_t)2;
    void *said = cbx_table_find(&walk->stored.classes, maker, 1);
    if (said != NULL) {
        return said == yes;
    }
    bool has = cbx_table_find(&walk->stored.names, maker, cbx_name_hash(CBX_STR(""))) != NULL;
    *cbx_table_slot(walk->arena, &walk->stored.classes, maker, 1) = no; /* a base of itself */
    const struct cbx_values *bases = has || depth >= BASES_DEPTH_MAX
                                         ? &cbx_values_nothing
                                         : walk->stored.lang->bases(walk, maker);
    for (uint32_t i = 0; i < bases->count && !has; i++) {
        const struct cbx_value *base = bases->items[i];
        has = base->kind == CBX_V_FUNCTION && base->node != NULL &&
              has_self(walk, base->node, depth + 1);
    }
    *cbx_table_slot(walk->arena, &walk->stored.classes, maker, 1) = has ? yes : no;
    return has;
}

const struct cbx_values *cbx_stored_instance(struct cbx_walk *walk, struct cbx_node *maker)
{
    struct cbx_value map = {
        .kind = CBX_V_MAP, .text = CBX_STR(CBX_MAP_INSTANCE), .number = 1, .node = maker
    };
    return walk->stored.self_count > 0 && maker != NULL && has_self(walk, maker, 0)
               ? cbx_values_one(walk->arena, &map)
               : &cbx_values_nothing;
}

static const struct cbx_values *stored_in_class(struct cbx_walk *walk, const struct cbx_node *maker,
                                                int depth)
{
    const struct cbx_values **slot =
        (const struct cbx_values **)cbx_table_slot(walk->arena, &walk->stored.classes, maker, 0);
    if (*slot != NULL) {
        return *slot;
    }
    *slot = &cbx_values_nothing; /* an object that stores itself adds nothing */
    const struct cbx_values *out = read_notes(walk, maker, CBX_STR(""), NULL, true);
    const struct cbx_values *bases =
        depth < BASES_DEPTH_MAX ? walk->stored.lang->bases(walk, maker) : &cbx_values_nothing;
    for (uint32_t i = 0; i < bases->count; i++) {
        const struct cbx_value *base = bases->items[i];
        if (base->kind == CBX_V_FUNCTION && base->node != NULL) {
            out = cbx_values_join(walk->arena, out, stored_in_class(walk, base->node, depth + 1));
        }
    }
    *cbx_table_slot(walk->arena, &walk->stored.classes, maker, 0) = (void *)(uintptr_t)out;
    return out;
}

const struct cbx_values *cbx_stored_in_self(struct cbx_walk *walk, const struct cbx_node *maker)
{
    return walk->stored.self_count > 0 && maker != NULL ? stored_in_class(walk, maker, 0)
                                                        : &cbx_values_nothing;
}

const struct cbx_values *cbx_stored_in(struct cbx_walk *walk, const struct cbx_scope *scope,
                                       struct cbx_str name, struct cbx_scope *run)
{
    if (walk->stored.count == 0) {
        return &cbx_values_nothing;
    }
    bool method = walk->stored.self_count > 0 && scope != NULL &&
                  scope->kind == CBX_SCOPE_FUNCTION && scope->parent != NULL &&
                  scope->parent->kind == CBX_SCOPE_CLASS;
    const struct cbx_values *out = read_notes(walk, scope, name, run, false);
    return method && cbx_str_equal(name, walk->stored.lang->self)
               ? cbx_values_join(walk->arena, out, cbx_stored_instance(walk, scope->parent->node))
               : out;
}

const struct cbx_values *cbx_stored_in_made(struct cbx_walk *walk, const struct cbx_node *made)
{
    return read_notes(walk, made, CBX_STR(""), NULL, false);
}

enum cbx_stored_where cbx_stored_within(struct cbx_walk *walk, uint32_t start, uint32_t end)
{
    enum cbx_stored_where out = CBX_STORED_NOWHERE;
    for (const struct cbx_stored_note *n = walk->stored.last; n != NULL; n = n->before) {
        bool everywhere = n->path != NULL || n->kind == CBX_NOTE_LOG || n->logged;
        enum cbx_stored_where where = everywhere ? CBX_STORED_IN_FILE : CBX_STORED_IN_OBJECT;
        bool within = n->value->start >= start && n->value->end <= end;
        /* a later cell may log a secret */
        bool holds =
            where > out && within && (n->kind == CBX_NOTE_LOG || flags_of(walk, n, NULL) != 0);
        out = holds ? where : out;
    }
    return out;
}

void cbx_stored_names(struct cbx_walk *walk, uint32_t start, uint32_t end,
                      void (*each)(void *context, struct cbx_str name, bool attribute),
                      void *context)
{
    for (const struct cbx_stored_note *n = walk->stored.last; n != NULL; n = n->before) {
        bool named = n->name.len > 0 && (n->owner == NULL || n->owner == walk->module);
        bool within = n->value->start >= start && n->value->end <= end;
        if (named && within && flags_of(walk, n, NULL) != 0) {
            each(context, n->name, n->owner == NULL);
        }
    }
}

uint32_t cbx_stored_of_members(struct cbx_walk *walk, const struct cbx_values *values)
{
    uint32_t flags = 0;
    for (uint32_t i = 0; walk->stored.lang != NULL && i < values->count; i++) {
        if (values->items[i]->kind == CBX_V_NAME) {
            const struct cbx_values *one = cbx_values_one(walk->arena, values->items[i]);
            flags |= walk->stored.lang->secrets(walk, one);
        }
    }
    return flags;
}

/* --- what a file holds ------------------------------------------------------------------------ */

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

static uint32_t flags_in_files(struct cbx_walk *walk, const struct cbx_values *path)
{
    uint32_t flags = 0, count = 0;
    const struct cbx_str *texts = cbx_values_texts(walk->arena, path, &count);
    if (count == 0 || walk->stored.depth >= FILES_DEPTH_MAX) {
        return 0;
    }
    walk->stored.depth++;
    for (const struct cbx_stored_note *n = walk->stored.files; n != NULL; n = n->next) {
        uint32_t others = 0;
        const struct cbx_values *to = walk->eval(walk, n->path, cbx_scope_around(walk, n->path));
        const struct cbx_str *paths = cbx_values_texts(walk->arena, to, &others);
        flags |= meet(texts, count, paths, others) ? flags_of(walk, n, NULL) : 0;
    }
    walk->stored.depth--;
    return flags;
}

uint32_t cbx_stored_in_file(struct cbx_walk *walk, struct cbx_str callee,
                            const struct cbx_values *path)
{
    const char *dot = callee.len > 0 ? memrchr(callee.p, '.', callee.len) : NULL;
    struct cbx_str word =
        dot != NULL ? cbx_str_sub(callee, (size_t)(dot - callee.p) + 1, callee.len) : callee;
    bool opens = walk->stored.files != NULL &&
                 (cbx_stored_is(CBX_ROW_OPENS, word) || cbx_stored_is(CBX_ROW_READS, word));
    return opens ? flags_in_files(walk, path) : 0;
}
