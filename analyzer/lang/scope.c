/* SPDX-License-Identifier: MIT
 * Scopes and bindings. */
#include "analyzer/lang/scope.h"

#include <pthread.h>

const TSLanguage *tree_sitter_python(void);
const TSLanguage *tree_sitter_javascript(void);
const TSLanguage *tree_sitter_bash(void);

uint64_t cbx_name_hash(struct cbx_str text)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < text.len; i++) {
        hash = (hash ^ (unsigned char)text.p[i]) * 0x100000001b3u;
    }
    return hash;
}

/* Both words are addresses or hashes; all bits of both must reach the low ones. */
static size_t place_of(const void *a, uint64_t b, size_t size)
{
    uint64_t hash = ((uintptr_t)a ^ b >> 7 ^ b << 25) * 0x9E3779B97F4A7C15u;
    return (size_t)(hash ^ hash >> 29) & (size - 1);
}

static void grow(struct cbx_walk *walk, struct cbx_table *table)
{
    size_t size = table->size == 0 ? 256 : table->size * 2;
    struct cbx_slot *slots = cbx_arena_array(walk->arena, size, sizeof(*slots));
    if (slots == NULL) {
        return;
    }
    for (size_t i = 0; i < table->size; i++) {
        if (table->slots[i].value != NULL) {
            size_t at = place_of(table->slots[i].a, table->slots[i].b, size);
            while (slots[at].value != NULL) {
                at = (at + 1) & (size - 1);
            }
            slots[at] = table->slots[i];
        }
    }
    table->slots = slots;
    table->size = size;
}

void *cbx_table_find(const struct cbx_table *table, const void *a, uint64_t b)
{
    if (table->size == 0) {
        return NULL;
    }
    size_t at = place_of(a, b, table->size);
    while (table->slots[at].value != NULL && (table->slots[at].a != a || table->slots[at].b != b)) {
        at = (at + 1) & (table->size - 1);
    }
    return table->slots[at].value;
}

void **cbx_table_slot(struct cbx_walk *walk, struct cbx_table *table, const void *a, uint64_t b)
{
    static void *nowhere;
    if (table->count * 2 >= table->size) {
        grow(walk, table);
    }
    if (table->size == 0 || table->count + 1 >= table->size) {
        nowhere = NULL;
        return &nowhere;
    }
    size_t at = place_of(a, b, table->size);
    while (table->slots[at].value != NULL && (table->slots[at].a != a || table->slots[at].b != b)) {
        at = (at + 1) & (table->size - 1);
    }
    if (table->slots[at].value == NULL) {
        table->slots[at].a = a;
        table->slots[at].b = b;
        table->count++;
    }
    return &table->slots[at].value;
}

struct cbx_binding *cbx_scope_bind(struct cbx_walk *walk, struct cbx_scope *scope,
                                   struct cbx_scope *where, struct cbx_str name, enum cbx_bind kind,
                                   TSNode node)
{
    struct cbx_binding *binding = cbx_arena_alloc(walk->arena, sizeof(*binding));
    if (binding == NULL) {
        return NULL;
    }
    *binding = (struct cbx_binding){
        .kind = kind, .name = name, .scope = scope, .where = where, .node = node
    };
    void **slot = cbx_table_slot(walk, &walk->bindings, scope, cbx_name_hash(name));
    binding->next = *slot;
    *slot = binding;
    return binding;
}

struct cbx_scope *cbx_scope_open(struct cbx_walk *walk, struct cbx_scope *parent, TSNode node,
                                 int kind)
{
    struct cbx_scope *scope = cbx_arena_alloc(walk->arena, sizeof(*scope));
    if (scope == NULL) {
        return parent;
    }
    *scope = (struct cbx_scope){ .parent = parent, .node = node.id };
    scope->kind = kind;
    *cbx_table_slot(walk, &walk->scopes, node.id, 0) = scope;
    return scope;
}

struct cbx_scope *cbx_scope_of(struct cbx_walk *walk, TSNode node, struct cbx_scope *otherwise)
{
    struct cbx_scope *scope = cbx_table_find(&walk->scopes, node.id, 0);
    return scope != NULL ? scope : otherwise;
}

void cbx_scope_return(struct cbx_walk *walk, struct cbx_scope *scope, TSNode node)
{
    struct cbx_return *ret = cbx_arena_alloc(walk->arena, sizeof(*ret));
    if (ret != NULL && !ts_node_is_null(node)) {
        *ret = (struct cbx_return){ .node = node, .next = scope->returns };
        scope->returns = ret;
    }
}

struct cbx_str cbx_walk_text(const struct cbx_walk *walk, TSNode node)
{
    if (ts_node_is_null(node)) {
        return (struct cbx_str){ .p = "", .len = 0 };
    }
    uint32_t start = ts_node_start_byte(node), end = ts_node_end_byte(node);
    return (struct cbx_str){ .p = walk->src + start, .len = end - start };
}

/* --- values of names -------------------------------------------------------------------------- */

enum { EVAL_DEPTH_MAX = 120, EVAL_STEPS_MAX = 2000000, ALTERNATIVES_MAX = 256 };

static const struct cbx_values nothing;

/* {a: {b}} = value: a, then b. */
static const struct cbx_values *eval_keys(struct cbx_walk *walk, const struct cbx_binding *b)
{
    const struct cbx_values *values = walk->eval(walk, b->node, b->where);
    struct cbx_str rest = b->qualified;
    while (rest.len > 0) {
        const char *dot = memchr(rest.p, '.', rest.len);
        size_t len = dot != NULL ? (size_t)(dot - rest.p) : rest.len;
        values = walk->member(walk, values, cbx_str_sub(rest, 0, len));
        rest = cbx_str_sub(rest, len + 1, rest.len);
    }
    return values;
}

static const struct cbx_values *eval_binding(struct cbx_walk *walk, const struct cbx_binding *b)
{
    char index[16];
    struct cbx_value function = { .kind = CBX_V_FUNCTION, .node = b->node };
    switch (b->kind) {
    case CBX_BIND_NAME:
        return cbx_values_name(walk->arena, b->qualified);
    case CBX_BIND_EXPR:
        return walk->eval(walk, b->node, b->where);
    case CBX_BIND_ITEM:
        snprintf(index, sizeof(index), "%u", b->index);
        return cbx_values_member(walk->arena, walk->eval(walk, b->node, b->where),
                                 cbx_arena_copy(walk->arena, cbx_str_of(index)));
    case CBX_BIND_MEMBER:
        return cbx_values_members(walk->arena, walk->eval(walk, b->node, b->where));
    case CBX_BIND_KEY:
        return eval_keys(walk, b);
    case CBX_BIND_FUNCTION:
        function.scope = cbx_scope_of(walk, b->node, NULL);
        return cbx_values_one(walk->arena, &function);
    default:
        return &cbx_values_unknown;
    }
}

const struct cbx_values *cbx_scope_lookup(struct cbx_walk *walk, struct cbx_scope *scope,
                                          struct cbx_str name)
{
    struct cbx_binding *chain = cbx_table_find(&walk->bindings, scope, cbx_name_hash(name));
    if (chain == NULL) {
        return NULL;
    }
    if (chain->kind == CBX_BIND_GLOBAL && scope != walk->module) {
        const struct cbx_values *outer = cbx_scope_lookup(walk, walk->module, name);
        return outer != NULL ? outer : cbx_values_bare(walk->arena, name);
    }
    if (chain->memo != NULL || chain->busy) {
        return chain->memo != NULL ? chain->memo : &nothing;
    }
    chain->busy = true;
    const struct cbx_values *out = &nothing;
    int count = 0;
    for (const struct cbx_binding *b = chain; b != NULL; b = b->next) {
        if (!cbx_str_equal(b->name, name)) {
            continue;
        }
        bool more = ++count <= ALTERNATIVES_MAX;
        out = cbx_values_join(walk->arena, out, more ? eval_binding(walk, b) : &cbx_values_unknown);
        if (!more) {
            break;
        }
    }
    chain->busy = false;
    chain->memo = out->count > 0 ? out : &cbx_values_unknown;
    return chain->memo;
}

const struct cbx_values *
cbx_scope_eval(struct cbx_walk *walk, TSNode node, struct cbx_scope *scope,
               const struct cbx_values *(*eval_kind)(struct cbx_walk *, TSNode, struct cbx_scope *))
{
    if (ts_node_is_null(node) || walk->depth >= EVAL_DEPTH_MAX || ++walk->steps > EVAL_STEPS_MAX) {
        return &cbx_values_unknown;
    }
    uint64_t key = (uintptr_t)scope;
    const struct cbx_values *memo = cbx_table_find(&walk->memo, node.id, key);
    if (memo != NULL) {
        return memo;
    }
    /* What is being worked out already is nothing new to itself: a = b; b = a. */
    *cbx_table_slot(walk, &walk->memo, node.id, key) = (void *)(uintptr_t)&nothing;
    walk->depth++;
    const struct cbx_values *out = eval_kind(walk, node, scope);
    walk->depth--;
    *cbx_table_slot(walk, &walk->memo, node.id, key) = (void *)(uintptr_t)out;
    return out;
}

/* --- tables of names -------------------------------------------------------------------------- */

const struct cbx_name_row *cbx_name_find(const struct cbx_name_row *rows, size_t count,
                                         struct cbx_str name)
{
    static const struct cbx_name_row none;
    for (size_t i = 0; i < count; i++) {
        if (cbx_str_is(name, rows[i].name)) {
            return &rows[i];
        }
    }
    return &none;
}

/* --- grammars --------------------------------------------------------------------------------- */

void cbx_kinds_fill(const TSLanguage *language, const char *const *names, size_t count,
                    uint8_t out[CBX_SYMBOLS_MAX])
{
    uint32_t symbols = ts_language_symbol_count(language);
    for (uint32_t s = 0; s < symbols && s < CBX_SYMBOLS_MAX; s++) {
        bool regular = ts_language_symbol_type(language, (TSSymbol)s) == TSSymbolTypeRegular;
        for (size_t i = 0; regular && i < count; i++) {
            if (strcmp(ts_language_symbol_name(language, (TSSymbol)s), names[i]) == 0) {
                out[s] = (uint8_t)(i + 1);
            }
        }
    }
}

/* Numbers of the fields, once per process and grammar: asking by name costs more than reading the
 * node. */
struct field_ids {
    const TSLanguage *language;
    TSFieldId ids[CBX_FIELDS];
};

static struct field_ids grammars[3];
static pthread_once_t fields_once = PTHREAD_ONCE_INIT;

static void fill_fields(void)
{
    static const char *const names[] = {
#define CBX_FIELD(name) #name,
#include "analyzer/lang/fields.def"
#undef CBX_FIELD
    };
    const TSLanguage *const languages[] = { tree_sitter_python(), tree_sitter_javascript(),
                                            tree_sitter_bash() };
    for (size_t g = 0; g < sizeof(grammars) / sizeof(grammars[0]); g++) {
        grammars[g].language = languages[g];
        for (size_t f = 0; f < CBX_FIELDS; f++) {
            grammars[g].ids[f] =
                ts_language_field_id_for_name(languages[g], names[f], (uint32_t)strlen(names[f]));
        }
    }
}

TSNode cbx_node_field(TSNode node, enum cbx_field field)
{
    static const TSNode none;
    pthread_once(&fields_once, fill_fields);
    const TSLanguage *language = ts_node_is_null(node) ? NULL : ts_node_language(node);
    for (size_t g = 0; language != NULL && g < sizeof(grammars) / sizeof(grammars[0]); g++) {
        if (grammars[g].language == language) {
            return grammars[g].ids[field] != 0
                       ? ts_node_child_by_field_id(node, grammars[g].ids[field])
                       : none;
        }
    }
    return none;
}
