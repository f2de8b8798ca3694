/* SPDX-License-Identifier: MIT
 * Reading of summaries: the parts that a walk takes from their records, and the state of a walk
 * in a record. */
#include "analyzer/lang/recall.h"

#include "analyzer/facts/value_bytes.h"
#include "analyzer/lang/scope.h"
#include "analyzer/past/written.h"
#include "policies/base/array.h"

static bool next_name(struct cbx_str *names, struct cbx_str *out)
{
    if (names->len == 0) {
        return false;
    }
    const char *end = memchr(names->p, CBX_NAME_END, names->len);
    *out = cbx_str_sub(*names, 0, end != NULL ? (size_t)(end - names->p) : names->len);
    *names = cbx_str_sub(*names, out->len + 1, names->len);
    return true;
}

/* Hashes eight bytes a step, because each cell hashes all names of its session. */
static uint32_t hash_of(struct cbx_str name)
{
    uint64_t hash = name.len, part = 0;
    size_t at = 0;
    for (; at + sizeof(part) <= name.len; at += sizeof(part)) {
        memcpy(&part, name.p + at, sizeof(part));
        hash = (hash ^ part) * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 32;
    }
    for (part = 0; at < name.len; at++) {
        part = part << 8 | (unsigned char)name.p[at];
    }
    hash = (hash ^ part) * 0x9E3779B97F4A7C15u;
    return (uint32_t)(hash ^ hash >> 32);
}

/* Returns the record at this offset, at which cbx_recall_new has read one. */
static struct cbx_record record_at(const struct cbx_recall *r, uint32_t at)
{
    struct cbx_str rest = cbx_str_sub(r->records, at, r->records.len);
    struct cbx_record record = { .kind = CBX_RECORD_CELL };
    (void)cbx_record_next(&rest, &record);
    return record;
}

/* Adds an entry for each name of the record. Returns false if the arena is exhausted. */
static bool add_names(struct cbx_recall *r, const struct cbx_record *record, uint32_t piece)
{
    struct cbx_str names = record->names, name;
    while (next_name(&names, &name)) {
        if (!CBX_ARRAY_RESERVE(r->arena, r->entries, r->entry_count, &r->entry_size, 1,
                               UINT32_MAX - 1)) {
            return false;
        }
        r->entries[r->entry_count++] =
            (struct cbx_recall_entry){ .name = name.p,
                                       .name_bytes = (uint32_t)name.len,
                                       .hash = hash_of(name),
                                       .piece = piece,
                                       .is_values = record->kind == CBX_RECORD_VALUES };
    }
    return true;
}

static bool add_record(struct cbx_recall *r, const struct cbx_record *record, uint32_t at)
{
    if (record->kind == CBX_RECORD_WALK) {
        r->walk = record->body;
        return true;
    }
    if (record->kind == CBX_RECORD_VALUES) {
        return add_names(r, record, at);
    }
    if (!CBX_ARRAY_RESERVE(r->arena, r->pieces, r->piece_count, &r->piece_size, 1,
                           UINT32_MAX - 1)) {
        return false;
    }
    uint32_t piece = (uint32_t)r->piece_count++;
    r->pieces[piece] = (struct cbx_recall_piece){
        .words = record->kind == CBX_RECORD_PIECE ? record->words.p : NULL,
        .at = at,
        .taken = record->kind == CBX_RECORD_CELL || cbx_str_is(record->names, CBX_NAMES_ALWAYS)
    };
    return add_names(r, record, piece);
}

static bool index_entries(struct cbx_recall *r)
{
    r->index_size = 64;
    while (r->index_size < 2 * r->entry_count) {
        r->index_size *= 2;
    }
    r->index = cbx_arena_array(r->arena, r->index_size, sizeof(*r->index));
    for (size_t i = 0; r->index != NULL && i < r->entry_count; i++) {
        uint32_t *slot = &r->index[r->entries[i].hash & (r->index_size - 1)];
        r->entries[i].next = *slot;
        *slot = (uint32_t)i + 1;
    }
    return r->index != NULL;
}

enum { TYPICAL_BYTES = 128 }; /* typical size of a record with one name */

struct cbx_recall *cbx_recall_new(struct cbx_str records, struct cbx_arena *arena)
{
    struct cbx_recall *r = cbx_arena_alloc(arena, sizeof(*r));
    struct cbx_record record;
    if (r == NULL) {
        return NULL;
    }
    *r = (struct cbx_recall){ .arena = arena, .records = records };
    /* an estimate of the number of names, so that the array rarely grows */
    bool good = CBX_ARRAY_RESERVE(arena, r->entries, r->entry_count, &r->entry_size,
                                  records.len / TYPICAL_BYTES + 1, UINT32_MAX - 1);
    for (size_t at = 0; good && cbx_record_next(&records, &record);
         at = r->records.len - records.len) {
        good = at <= UINT32_MAX && add_record(r, &record, (uint32_t)at);
    }
    if (!good) {
        return NULL;
    }
    return records.len == 0 && index_entries(r) ? r : NULL;
}

static bool has_name(const struct cbx_recall_entry *entry, struct cbx_str name, uint32_t hash)
{
    struct cbx_str own = { .p = entry->name, .len = entry->name_bytes };
    return entry->hash == hash && cbx_str_equal(own, name);
}

/* Returns the next entry of this name after `entry`; the first one if `entry` is NULL. */
static struct cbx_recall_entry *next_entry(struct cbx_recall *r, struct cbx_str name, uint32_t hash,
                                           const struct cbx_recall_entry *entry)
{
    uint32_t at = entry != NULL ? entry->next : r->index[hash & (r->index_size - 1)];
    while (at != 0 && !has_name(&r->entries[at - 1], name, hash)) {
        at = r->entries[at - 1].next;
    }
    return at != 0 ? &r->entries[at - 1] : NULL;
}

static bool is_word(unsigned char c)
{
    return c == '_' || c == '$' || c >= 0x80 || (c >= '0' && c <= '9') ||
           ((c | 32) >= 'a' && (c | 32) <= 'z');
}

bool cbx_recall_next_word(struct cbx_str *text, struct cbx_str *out)
{
    size_t start = 0;
    while (start < text->len && !is_word((unsigned char)text->p[start])) {
        start++;
    }
    size_t end = start;
    while (end < text->len && is_word((unsigned char)text->p[end])) {
        end++;
    }
    *out = cbx_str_sub(*text, start, end);
    *text = cbx_str_sub(*text, end, text->len);
    return out->len > 0;
}

/* Returns an attribute's name as records contain it: ".name". */
static struct cbx_str dotted(struct cbx_str name, char *to, size_t size)
{
    if (name.len + 1 > size) {
        return (struct cbx_str){ 0 };
    }
    to[0] = '.';
    memcpy(to + 1, name.p, name.len);
    return (struct cbx_str){ .p = to, .len = name.len + 1 };
}

static void take_pieces(struct cbx_recall *r, struct cbx_str name)
{
    uint32_t hash = hash_of(name);
    for (struct cbx_recall_entry *e = next_entry(r, name, hash, NULL); e != NULL;
         e = next_entry(r, name, hash, e)) {
        struct cbx_recall_piece *piece = e->is_values ? NULL : &r->pieces[e->piece];
        if (piece != NULL && !piece->taken) {
            piece->taken = true;
            piece->needed = true; /* follow() takes the pieces that its words name */
        }
    }
}

static void take_words(struct cbx_recall *r, struct cbx_str text)
{
    struct cbx_str word;
    char attribute[CBX_RECALL_NAME_BYTES_MAX];
    while (r->piece_count > 0 && cbx_recall_next_word(&text, &word)) {
        take_pieces(r, word);
        take_pieces(r, dotted(word, attribute, sizeof(attribute)));
    }
}

/* Takes the pieces that the words of the taken pieces name, until there are no more. */
static void follow(struct cbx_recall *r)
{
    for (bool more = true; more;) {
        more = false;
        for (uint32_t i = 0; i < r->piece_count; i++) {
            if (r->pieces[i].taken && r->pieces[i].needed) {
                r->pieces[i].needed = false;
                take_words(r, record_at(r, r->pieces[i].at).body);
                more = true;
            }
        }
    }
}

void cbx_recall_words(struct cbx_recall *r, struct cbx_str text)
{
    for (uint32_t i = 0; i < r->piece_count; i++) { /* include the cells that are always taken */
        r->pieces[i].needed = r->pieces[i].taken;
    }
    take_words(r, text);
    follow(r);
}

bool cbx_recall_more(struct cbx_recall *r)
{
    bool more = false;
    for (uint32_t i = 0; i < r->piece_count; i++) {
        if (r->pieces[i].needed && !r->pieces[i].taken) {
            r->pieces[i].taken = true;
            more = true;
        }
    }
    follow(r);
    for (uint32_t i = 0; i < r->entry_count; i++) {
        r->entries[i].given = false; /* reset for the next walk */
    }
    return more;
}

void cbx_recall_need_all(struct cbx_recall *r)
{
    for (uint32_t i = 0; i < r->piece_count; i++) {
        r->pieces[i].needed |= !r->pieces[i].taken;
    }
}

void cbx_recall_all(struct cbx_recall *r)
{
    for (uint32_t i = 0; i < r->piece_count; i++) {
        r->pieces[i].taken = true;
        r->pieces[i].needed = false;
    }
}

bool cbx_recall_each(const struct cbx_recall *r,
                     bool (*take_one)(void *context, const struct cbx_record *record),
                     void *context)
{
    bool good = true;
    for (uint32_t i = 0; good && i < r->piece_count; i++) {
        if (r->pieces[i].taken) {
            struct cbx_record record = record_at(r, r->pieces[i].at);
            good = take_one(context, &record);
        }
    }
    return good;
}

/* --- walks ------------------------------------------------------------------------------------ */

/* The state of a walk that holds for all names: the body of WALK. After it come the values of
 * `escaped` and `escaped_calls`, the imported modules, the modules with a star import, and the
 * modules whose files earlier cells wrote. */
struct walk_head {
    uint64_t patched, imported, givers;
    uint8_t changes, namespaces, examples, uses_arguments, withs, armed, spare[2];
};

static const struct cbx_values *names_of(struct cbx_arena *arena, const struct cbx_str *names,
                                         size_t count)
{
    const struct cbx_values **members = cbx_arena_array(arena, count + 1, sizeof(*members));
    for (size_t i = 0; members != NULL && i < count; i++) {
        members[i] = cbx_values_text(arena, names[i]);
    }
    return cbx_values_list(arena, members, (uint32_t)count);
}

void cbx_recall_written(const struct cbx_recall *r, struct cbx_written *out)
{
    for (uint32_t i = 0; i < r->written.count && out->count < CBX_WRITTEN_MAX; i++) {
        out->modules[out->count++] = r->written.modules[i];
    }
}

bool cbx_recall_write_walk(const struct cbx_walk *walk, struct cbx_buf *out)
{
    struct walk_head head = { .patched = walk->patched,
                              .imported = walk->imported,
                              .givers = walk->givers,
                              .changes = walk->changes,
                              .namespaces = walk->namespaces,
                              .examples = walk->examples,
                              .uses_arguments = walk->uses_arguments,
                              .withs = walk->withs,
                              .armed = walk->armed };
    struct cbx_written written;
    cbx_written_read(walk->facts, &written);
    cbx_recall_written(walk->parsed->recall, &written);
    cbx_buf_add_bytes(out, &head, sizeof(head));
    return cbx_values_encode(walk->escaped, 0, out) &&
           cbx_values_encode(
               walk->escaped_calls != NULL ? walk->escaped_calls : &cbx_values_nothing, 0, out) &&
           cbx_values_encode(names_of(walk->arena, walk->import_items, walk->import_count), 0,
                             out) &&
           cbx_values_encode(names_of(walk->arena, walk->star_items, walk->stars.count), 0, out) &&
           cbx_values_encode(names_of(walk->arena, written.modules, written.count), 0, out);
}

static uint32_t read_names(struct cbx_str *bytes, struct cbx_arena *arena, struct cbx_str *out,
                           uint32_t max)
{
    const struct cbx_values *values = cbx_values_decode(bytes, arena, 0);
    const struct cbx_value *list = values != NULL ? cbx_values_container(values, CBX_V_LIST) : NULL;
    uint32_t count = 0;
    for (uint32_t i = 0; list != NULL && i < list->count && count < max; i++) {
        count += cbx_values_is_text(list->members[i], &out[count]);
    }
    return count;
}

void cbx_recall_walk(struct cbx_walk *walk)
{
    struct cbx_str bytes = walk->parsed->recall->walk;
    struct walk_head head = { 0 };
    if (bytes.len < sizeof(head)) {
        return;
    }
    memcpy(&head, bytes.p, sizeof(head));
    cbx_str_take(&bytes, sizeof(head));
    walk->patched = head.patched;
    walk->imported = head.imported;
    walk->givers = head.givers;
    walk->changes = head.changes;
    walk->namespaces = head.namespaces;
    walk->examples = head.examples;
    walk->uses_arguments = head.uses_arguments;
    walk->withs = head.withs;
    walk->armed = walk->parsed->recall->armed = head.armed;
    const struct cbx_values *escaped = cbx_values_decode(&bytes, walk->arena, 0);
    walk->gave_up |= escaped == NULL;
    walk->escaped = escaped != NULL ? escaped : walk->escaped;
    walk->parsed->recall->escaped = walk->escaped;
    const struct cbx_values *calls = cbx_values_decode(&bytes, walk->arena, 0);
    walk->gave_up |= calls == NULL;
    walk->parsed->recall->escaped_calls = calls != NULL && calls->count > 0 ? calls : NULL;
    walk->import_count = read_names(&bytes, walk->arena, walk->import_items, CBX_IMPORTS_MAX);
    walk->stars.count = read_names(&bytes, walk->arena, walk->star_items,
                                   sizeof(walk->star_items) / sizeof(walk->star_items[0]));
    walk->stars.items = walk->star_items;
    struct cbx_written *written = &walk->parsed->recall->written;
    written->count = read_names(&bytes, walk->arena, written->modules, CBX_WRITTEN_MAX);
}

static struct cbx_binding *bind_past(struct cbx_walk *walk, const struct cbx_scope *scope,
                                     struct cbx_str name, enum cbx_bind kind)
{
    struct cbx_binding *binding =
        cbx_scope_bind(walk, scope == NULL ? NULL : walk->module, walk->module, name, kind, NULL);
    if (binding != NULL) {
        binding->at = UINT32_MAX;
        binding->given = false;
    }
    return binding;
}

/* Binds the values of a name; an object with a qualified name is bound as an import binds it. */
static void bind_values(struct cbx_walk *walk, const struct cbx_scope *scope, struct cbx_str name,
                        const struct cbx_values *values)
{
    const struct cbx_values *rest = &cbx_values_nothing;
    for (uint32_t i = 0; i < values->count; i++) {
        const struct cbx_value *v = values->items[i];
        struct cbx_binding *thing = v->kind == CBX_V_NAME && v->number == 0 && v->members == NULL
                                        ? bind_past(walk, scope, name, CBX_BIND_NAME)
                                        : NULL;
        if (thing != NULL) {
            thing->path = v->text;
        } else {
            rest = cbx_values_join(walk->arena, rest, cbx_values_one(walk->arena, v));
        }
    }
    struct cbx_binding *others =
        rest->count > 0 ? bind_past(walk, scope, name, CBX_BIND_VALUES) : NULL;
    if (others != NULL) {
        others->values = rest;
    }
}

const struct cbx_values *cbx_recall_calls(const struct cbx_walk *walk)
{
    return walk->parsed->recall != NULL ? walk->parsed->recall->escaped_calls : NULL;
}

void cbx_recall_name(struct cbx_walk *walk, const struct cbx_scope *scope, struct cbx_str name)
{
    struct cbx_recall *r = walk->parsed->recall;
    char attribute[CBX_RECALL_NAME_BYTES_MAX];
    struct cbx_str key = scope == NULL ? dotted(name, attribute, sizeof(attribute)) : name;
    uint32_t hash = hash_of(key);
    for (struct cbx_recall_entry *e = next_entry(r, key, hash, NULL); e != NULL;
         e = next_entry(r, key, hash, e)) {
        if (!e->is_values) {
            r->pieces[e->piece].needed = true;
        } else if (!e->given) {
            struct cbx_str bytes = record_at(r, e->piece).body;
            e->given = true;
            const struct cbx_values *values = cbx_values_decode(&bytes, walk->arena, 0);
            bind_values(walk, scope, cbx_arena_copy(walk->arena, name),
                        values != NULL ? values : &cbx_values_unknown);
        }
    }
}
