/* SPDX-License-Identifier: MIT
 * Scopes and bindings. */
#include "analyzer/lang/scope.h"

#include "analyzer/facts/name_filter.h"
#include "analyzer/lang/stored.h"
#include "analyzer/lang/summary.h"
#include "policies/base/array.h"

static uint64_t bit_of(uint64_t hash)
{
    return 1ull << (hash >> 20 & 63);
}

uint64_t cbx_name_bit(struct cbx_str name)
{
    return bit_of(cbx_name_hash(name));
}

/* Returns false if the arena is exhausted. A language with text around its files opens their
 * scopes itself when it binds that text. */
static bool open_files(struct cbx_walk *walk)
{
    size_t count = walk->parsed->files.count;
    bool opens = count > 0 && walk->parsed->lang->code->around_file == NULL;
    walk->files = count > 0 ? cbx_arena_array(walk->arena, count, sizeof(*walk->files)) : NULL;
    for (size_t i = 0; i < count && walk->files != NULL && opens; i++) {
        walk->files[i] = cbx_arena_alloc(walk->arena, sizeof(**walk->files));
    }
    return count == 0 || (walk->files != NULL && !walk->arena->exhausted);
}

bool cbx_walk_begin(struct cbx_walk *walk, struct cbx_parsed *parsed,
                    const struct cbx_grammar *grammar)
{
    *walk = (struct cbx_walk){ .parsed = parsed,
                               .arena = parsed->arena,
                               .facts = parsed->facts,
                               .src = parsed->text.p,
                               .escaped = &cbx_values_nothing };
    walk->module = cbx_arena_alloc(walk->arena, sizeof(*walk->module));
    if (walk->module == NULL ||
        !cbx_syntax_read(parsed->tree, grammar, CBX_TREE_DEPTH_MAX, walk->arena, &walk->syntax)) {
        return false;
    }
    if (!open_files(walk)) {
        return false;
    }
    const struct cbx_node *deep = walk->syntax.too_deep;
    if (deep != NULL) {
        cbx_facts_add_special(walk->facts, CBX_FACT_TOO_COMPLEX, CBX_STR("nesting"), deep->start,
                              deep->end);
    }
    if (parsed->recall != NULL) {
        cbx_recall_walk(walk);
    }
    return deep == NULL && walk->syntax.count > 0; /* the source is denied anyway */
}

void cbx_walk_trigger(struct cbx_walk *walk, const struct cbx_node *node)
{
    if (CBX_ARRAY_RESERVE(walk->arena, walk->triggers, walk->trigger_count, &walk->trigger_size, 1,
                          SIZE_MAX)) {
        walk->triggers[walk->trigger_count++] = node;
    }
}

void cbx_walk_fire(struct cbx_walk *walk, struct cbx_str name)
{
    for (size_t i = 0; walk->armed && i < walk->trigger_count; i++) {
        cbx_facts_add(walk->facts, CBX_IS_REFERENCE, name, walk->triggers[i]->start,
                      walk->triggers[i]->end);
    }
}

/* Notes the ranges of the outermost functions. */
static void note_functions(struct cbx_walk *walk, struct cbx_ranges *out)
{
    for (uint32_t i = 0, end = 0; i < walk->syntax.count; i++) {
        const struct cbx_node *node = &walk->syntax.nodes[i];
        const struct cbx_scope *inner = node->start >= end ? node->inner : NULL;
        if (inner != NULL && inner->kind == CBX_SCOPE_FUNCTION && inner->node == node &&
            CBX_ARRAY_RESERVE(walk->arena, out->items, out->count, &out->size, 1, SIZE_MAX)) {
            out->items[out->count++] = (struct cbx_range){ node->start, node->end };
            end = node->end;
        }
    }
}

void cbx_walk_end(struct cbx_walk *walk)
{
    if (walk->parsed->functions != NULL) {
        note_functions(walk, walk->parsed->functions);
    }
    if (walk->parsed->recall != NULL) {
        cbx_summary_make(walk);
    }
    if (walk->gave_up) {
        cbx_facts_add_special(walk->facts, CBX_FACT_TOO_COMPLEX, CBX_STR("names"), 0, 1);
    }
}

struct cbx_str cbx_walk_text(const struct cbx_walk *walk, const struct cbx_node *node)
{
    return node == NULL
               ? CBX_STR("")
               : (struct cbx_str){ .p = walk->src + node->start, .len = node->end - node->start };
}

/* --- scopes ----------------------------------------------------------------------------------- */

/* Returns the scope of the file that contains a statement; the module's if there is none. */
static struct cbx_scope *file_around(const struct cbx_walk *walk, const struct cbx_node *node)
{
    const struct cbx_ranges *files = &walk->parsed->files;
    for (size_t i = 0; i < files->count && files->items[i].start <= node->start; i++) {
        if (node->start < files->items[i].end && walk->files[i] != NULL) {
            return walk->files[i];
        }
    }
    return walk->module;
}

struct cbx_scope *cbx_scope_around(const struct cbx_walk *walk, const struct cbx_node *node)
{
    if (walk->files != NULL && node->parent != NULL && node->parent->parent == NULL) {
        return file_around(walk, node);
    }
    return node->parent != NULL ? node->parent->inner : walk->module;
}

struct cbx_scope *cbx_scope_root(struct cbx_scope *scope)
{
    while (scope->parent != NULL) {
        scope = scope->parent;
    }
    return scope;
}

uint64_t cbx_walk_file_names(const struct cbx_walk *walk)
{
    uint64_t bits = 0;
    for (size_t i = 0; walk->files != NULL && i < walk->parsed->files.count; i++) {
        bits |= walk->files[i] != NULL ? walk->files[i]->bound : 0;
    }
    return bits;
}

struct cbx_scope *cbx_scope_open(struct cbx_walk *walk, struct cbx_scope *parent,
                                 struct cbx_node *node, int kind)
{
    struct cbx_scope *scope = cbx_arena_alloc(walk->arena, sizeof(*scope));
    if (scope == NULL) {
        return parent;
    }
    scope->parent = parent;
    scope->node = node;
    scope->kind = kind;
    return scope;
}

enum { RUN_DEPTH_MAX = 5, RUNS_MAX = 8192, RUNS_OF_ONE_MAX = 24, RUNS_OF_LOOP_MAX = 2048 };

struct cbx_scope *cbx_scope_run(struct cbx_walk *walk, struct cbx_scope *origin,
                                struct cbx_scope *parent)
{
    origin = origin != NULL && origin->origin != NULL ? origin->origin : origin;
    if (origin == NULL || walk->run_depth >= RUN_DEPTH_MAX || ++walk->runs > RUNS_MAX ||
        ++origin->runs >
            (origin->kind == CBX_SCOPE_COMPREHENSION ? RUNS_OF_LOOP_MAX : RUNS_OF_ONE_MAX)) {
        return NULL;
    }
    struct cbx_scope *scope = cbx_scope_open(walk, parent, origin->node, origin->kind);
    if (scope == parent) {
        return NULL;
    }
    scope->origin = origin;
    scope->bound = origin->bound;
    scope->returns = origin->returns;
    return scope;
}

/* Returns the scope in which an assignment of the name in `scope` binds it. */
static struct cbx_scope *target_scope(struct cbx_walk *walk, struct cbx_scope *scope,
                                      struct cbx_str name)
{
    const struct cbx_binding *first = cbx_scope_chain(walk, scope, name);
    if (first == NULL || first->kind < CBX_BIND_GLOBAL) {
        return scope;
    }
    struct cbx_scope *s = scope->parent;
    while (first->kind == CBX_BIND_NONLOCAL && s != NULL &&
           (s->kind == CBX_SCOPE_CLASS || cbx_scope_chain(walk, s, name) == NULL)) {
        s = s->parent;
    }
    return first->kind == CBX_BIND_NONLOCAL && s != NULL ? s : cbx_scope_root(scope);
}

struct cbx_binding *cbx_scope_chain(struct cbx_walk *walk, const struct cbx_scope *scope,
                                    struct cbx_str name)
{
    uint64_t hash = cbx_name_hash(name);
    if (walk->parsed->recall != NULL && (scope == NULL || scope == walk->module)) {
        cbx_recall_name(walk, scope, name);
    }
    if (scope != NULL && (scope->bound & bit_of(hash)) == 0) {
        return NULL;
    }
    struct cbx_binding *chain = cbx_table_find(&walk->bindings, scope, hash);
    while (chain != NULL && !cbx_str_equal(chain->name, name)) {
        chain = chain->next;
    }
    return chain;
}

struct cbx_binding *cbx_scope_bind(struct cbx_walk *walk, struct cbx_scope *scope,
                                   struct cbx_scope *where, struct cbx_str name, enum cbx_bind kind,
                                   struct cbx_node *node)
{
    struct cbx_binding *binding = cbx_arena_alloc(walk->arena, sizeof(*binding));
    if (binding == NULL) {
        return NULL;
    }
    uint64_t hash = cbx_name_hash(name);
    if (scope != NULL && kind < CBX_BIND_GLOBAL && (scope->bound & bit_of(hash)) != 0) {
        scope = target_scope(walk, scope, name);
    }
    *binding = (struct cbx_binding){ .kind = kind,
                                     .name = name,
                                     .where = where,
                                     .node = node,
                                     .given = walk->giving,
                                     .at = walk->at };
    void **slot = cbx_table_slot(walk->arena, &walk->bindings, scope, hash);
    binding->next = *slot;
    *slot = binding;
    if (scope != NULL) {
        scope->bound |= bit_of(hash);
        walk->rebound |= bit_of(hash) & walk->builtins;
    }
    return binding;
}

bool cbx_scope_assigns(struct cbx_walk *walk, const struct cbx_scope *scope, struct cbx_str name)
{
    for (const struct cbx_binding *b = cbx_scope_chain(walk, scope, name); b != NULL; b = b->next) {
        if (!b->given && cbx_str_equal(b->name, name)) {
            return true;
        }
    }
    return false;
}

void cbx_scope_return(struct cbx_walk *walk, struct cbx_scope *scope, struct cbx_node *node,
                      enum cbx_result kind)
{
    struct cbx_return *ret = node != NULL ? cbx_arena_alloc(walk->arena, sizeof(*ret)) : NULL;
    if (ret != NULL) {
        *ret = (struct cbx_return){ .node = node, .kind = kind, .next = scope->returns };
        scope->returns = ret;
    }
}

void cbx_walk_escape(struct cbx_walk *walk, struct cbx_str name, bool first)
{
    const struct cbx_values *one = cbx_values_name(walk->arena, name);
    walk->escaped = first ? cbx_values_join(walk->arena, one, walk->escaped)
                          : cbx_values_join(walk->arena, walk->escaped, one);
}

const struct cbx_values *cbx_walk_escaped(
    struct cbx_walk *walk, struct cbx_str attribute, enum cbx_language language,
    const struct cbx_values *(*read)(struct cbx_walk *walk, const struct cbx_value *object,
                                     struct cbx_str attribute))
{
    if (walk->escaped->count == 0) {
        return &cbx_values_nothing;
    }
    const struct cbx_binding *said = cbx_scope_chain(walk, &walk->escapes, attribute);
    if (said != NULL) {
        return said->values;
    }
    const struct cbx_values *out = &cbx_values_nothing;
    for (uint32_t i = 0; i < walk->escaped->count; i++) {
        const struct cbx_value *object = walk->escaped->items[i];
        const struct cbx_values *one =
            object->kind == CBX_V_NAME ? read(walk, object, attribute) : &cbx_values_nothing;
        bool matters = one->count == 1 && one->items[0]->kind == CBX_V_NAME &&
                       cbx_name_matters(walk->parsed->policy, language, one->items[0]->text);
        out = matters ? cbx_values_join(walk->arena, out, one) : out;
    }
    struct cbx_binding *memo =
        cbx_scope_bind(walk, &walk->escapes, &walk->escapes, attribute, CBX_BIND_VALUES, NULL);
    if (memo != NULL) {
        memo->values = out;
    }
    return out;
}

/* --- values of names -------------------------------------------------------------------------- */

enum { EVAL_DEPTH_MAX = 400, EVAL_STEPS_MAX = 2000000, ALTERNATIVES_MAX = 256, RETURNS_MAX = 64 };

/* The value of a binding while it is evaluated: a value that depends on itself adds nothing (a =
 * b; b = a). */
static const struct cbx_value anything = { .kind = CBX_V_UNKNOWN };
static const struct cbx_values in_progress = { .count = 0, .items = { &anything } };

/* A value that was computed inside a cycle may lack alternatives. It is kept until the outermost
 * evaluation ends and is then discarded, at most twice per value: otherwise cycles would cost
 * more than linear time. */
static void note_tentative(struct cbx_walk *walk, const struct cbx_values **place, uint8_t *retries,
                           uint32_t cycles)
{
    if (walk->depth > 0) {
        if (walk->cycles != cycles && *retries < 2 && walk->tentative_count < CBX_TENTATIVE_MAX) {
            (*retries)++;
            walk->tentative[walk->tentative_count++] = place;
        }
        return;
    }
    for (uint32_t i = 0; i < walk->tentative_count; i++) {
        *walk->tentative[i] = NULL;
    }
    walk->tentative_count = 0;
}

const struct cbx_values *cbx_scope_returns(struct cbx_walk *walk, struct cbx_scope *scope)
{
    const struct cbx_values *out = &cbx_values_nothing, *yielded = &cbx_values_nothing;
    int count = 0;
    for (const struct cbx_return *r = scope->returns; r != NULL; r = r->next) {
        const struct cbx_values *one =
            ++count <= RETURNS_MAX ? walk->eval(walk, r->node, scope) : &cbx_values_unknown;
        if (r->kind != CBX_RETURNS) {
            one = r->kind == CBX_YIELDS_FROM ? cbx_values_members(walk->arena, one) : one;
            yielded = cbx_values_join(walk->arena, yielded, one);
        } else {
            out = cbx_values_join(walk->arena, out, one);
        }
        if (count > RETURNS_MAX) {
            break;
        }
    }
    return yielded->count > 0
               ? cbx_values_join(walk->arena, out, cbx_values_each(walk->arena, yielded))
               : out;
}

/* Reads a path of a value: {a: {b}} = value reads a, then b. */
static const struct cbx_values *read_path(struct cbx_walk *walk, const struct cbx_values *values,
                                          struct cbx_str rest)
{
    while (rest.len > 0) {
        const char *end = memchr(rest.p, CBX_PATH_SEPARATOR, rest.len);
        size_t len = end != NULL ? (size_t)(end - rest.p) : rest.len;
        values = walk->member(walk, values, cbx_str_sub(rest, 0, len));
        rest = cbx_str_sub(rest, len + 1, rest.len);
    }
    return values;
}

static const struct cbx_values *members_of(struct cbx_walk *walk, const struct cbx_values *values)
{
    const struct cbx_values *out = cbx_values_members(walk->arena, values);
    uint32_t flags = cbx_stored_of_members(walk, values);
    return flags != 0 ? cbx_values_join(walk->arena, out, cbx_values_marked(walk->arena, flags))
                      : out;
}

const struct cbx_values *cbx_binding_eval(struct cbx_walk *walk, const struct cbx_binding *b,
                                          struct cbx_scope *where)
{
    const struct cbx_values *values;
    struct cbx_value function = { .kind = CBX_V_FUNCTION, .node = b->node };
    switch (b->kind) {
    case CBX_BIND_NAME:
        return cbx_values_name(walk->arena, b->path);
    case CBX_BIND_EXPR:
        values = walk->eval(walk, b->node, where);
        values = b->each ? members_of(walk, values) : values;
        return read_path(walk, values, b->path);
    case CBX_BIND_FUNCTION:
        function.scope = b->node->inner;
        return cbx_values_one(walk->arena, &function);
    case CBX_BIND_VALUES:
        return b->values;
    case CBX_BIND_KEY:
        values = walk->eval(walk, b->node, where);
        return cbx_values_marked(walk->arena, cbx_stored_of_members(walk, values));
    case CBX_BIND_FIELD:
        values = cbx_scope_lookup(walk, NULL, b->path);
        return values != NULL ? values : &cbx_values_nothing;
    default:
        return &cbx_values_unknown;
    }
}

/* Returns the values of the whole chain, which `scope` binds to the name; `run` replaces the scope
 * of which it is a run. */
static const struct cbx_values *eval_chain(struct cbx_walk *walk, const struct cbx_binding *chain,
                                           const struct cbx_scope *scope, struct cbx_str name,
                                           struct cbx_scope *run)
{
    struct cbx_union out = { .values = &cbx_values_nothing };
    int count = 0;
    for (const struct cbx_binding *b = chain; b != NULL; b = b->next) {
        if (!cbx_str_equal(b->name, name)) {
            continue;
        }
        bool more = ++count <= ALTERNATIVES_MAX;
        struct cbx_scope *where = run != NULL && b->where == run->origin ? run : b->where;
        cbx_union_add(walk->arena, &out,
                      more ? cbx_binding_eval(walk, b, where) : &cbx_values_unknown);
        if (!more) {
            break;
        }
    }
    cbx_union_add(walk->arena, &out, cbx_stored_in(walk, scope, name, run));
    return cbx_values_some(out.values);
}

/* Returns the values of a name in one run of a function: a known parameter, or a local name that
 * may depend on one. */
static const struct cbx_values *lookup_in_run(struct cbx_walk *walk, struct cbx_scope *run,
                                              struct cbx_str name)
{
    struct cbx_binding *own = cbx_scope_chain(walk, run, name);
    if (own != NULL) {
        walk->cycles += own->values == &in_progress;
        return own->values;
    }
    struct cbx_binding *chain = cbx_scope_chain(walk, run->origin, name);
    if (chain == NULL || chain->kind >= CBX_BIND_GLOBAL) {
        return chain != NULL ? cbx_scope_lookup(walk, run->origin, name) : NULL;
    }
    struct cbx_binding *memo = cbx_scope_bind(walk, run, run, name, CBX_BIND_VALUES, chain->node);
    if (memo == NULL) {
        return &cbx_values_unknown;
    }
    memo->values = &in_progress;
    memo->values = eval_chain(walk, chain, run->origin, name, run);
    return memo->values;
}

static const struct cbx_values *lookup_outside(struct cbx_walk *walk, struct cbx_scope *scope,
                                               enum cbx_bind kind, struct cbx_str name)
{
    const struct cbx_values *out = NULL;
    struct cbx_scope *s = kind == CBX_BIND_GLOBAL ? cbx_scope_root(scope) : scope->parent;
    for (; s != NULL && out == NULL; s = s->parent) {
        out = s->kind != CBX_SCOPE_CLASS && s != scope ? cbx_scope_lookup(walk, s, name) : NULL;
    }
    return out != NULL ? out : cbx_values_bare(walk->arena, name);
}

static const struct cbx_values *lookup_in(struct cbx_walk *walk, struct cbx_scope *scope,
                                          struct cbx_str name)
{
    if (scope != NULL && scope->origin != NULL) {
        return lookup_in_run(walk, scope, name);
    }
    struct cbx_binding *chain = cbx_scope_chain(walk, scope, name);
    if (chain == NULL) {
        return NULL;
    }
    if (chain->kind >= CBX_BIND_GLOBAL && scope->parent != NULL) {
        return lookup_outside(walk, scope, chain->kind, name);
    }
    if (chain->memo != NULL) {
        walk->cycles += chain->memo == &in_progress;
        return chain->memo;
    }
    uint32_t cycles = walk->cycles;
    chain->memo = &in_progress;
    const struct cbx_values *out = eval_chain(walk, chain, scope, name, NULL);
    chain->memo = out;
    note_tentative(walk, &chain->memo, &chain->retries, cycles);
    return out;
}

const struct cbx_values *cbx_scope_lookup(struct cbx_walk *walk, struct cbx_scope *scope,
                                          struct cbx_str name)
{
    const struct cbx_values *out = lookup_in(walk, scope, name);
    if (scope != NULL || walk->files == NULL) {
        return out;
    }
    for (size_t i = 0; i < walk->parsed->files.count;
         i++) { /* names of a file are attributes too */
        const struct cbx_values *one =
            walk->files[i] != NULL ? lookup_in(walk, walk->files[i], name) : NULL;
        out = out == NULL ? one : one == NULL ? out : cbx_values_join(walk->arena, out, one);
    }
    return out;
}

/* Stores values in the memo: in the node for the node's own scope (NULL), else in the table. */
static void remember(struct cbx_walk *walk, struct cbx_node *node, struct cbx_scope *scope,
                     const struct cbx_values *values)
{
    if (scope == NULL) {
        node->memo = values;
    } else {
        *cbx_table_slot(walk->arena, &walk->memo, node, (uintptr_t)scope) =
            (void *)(uintptr_t)values;
    }
}

const struct cbx_values *cbx_scope_eval(
    struct cbx_walk *walk, struct cbx_node *node, struct cbx_scope *scope,
    const struct cbx_values *(*eval_kind)(struct cbx_walk *, struct cbx_node *, struct cbx_scope *))
{
    if (node == NULL) {
        return &cbx_values_unknown;
    }
    bool own = cbx_scope_around(walk, node) == scope;
    const struct cbx_values *memo =
        own ? node->memo : cbx_table_find(&walk->memo, node, (uintptr_t)scope);
    if (memo != NULL) {
        walk->cycles += memo == &in_progress;
        return memo;
    }
    if (walk->depth >= EVAL_DEPTH_MAX || ++walk->steps > EVAL_STEPS_MAX) {
        walk->gave_up = true;
        return &cbx_values_unknown;
    }
    uint32_t cycles = walk->cycles;
    remember(walk, node, own ? NULL : scope, &in_progress);
    walk->depth++;
    const struct cbx_values *out = eval_kind(walk, node, scope);
    out = node->holds ? cbx_values_join(walk->arena, out, cbx_stored_in_made(walk, node)) : out;
    walk->depth--;
    remember(walk, node, own ? NULL : scope, out);
    if (own) {
        note_tentative(walk, &node->memo, &node->retries, cycles);
    }
    return out;
}
