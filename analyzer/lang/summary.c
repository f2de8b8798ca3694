/* SPDX-License-Identifier: MIT
 * Summaries of cells: the records that a walk adds. recall.c reads them. */
#include "analyzer/lang/summary.h"

#include "analyzer/facts/places.h"
#include "analyzer/facts/value_bytes.h"
#include "analyzer/lang/builtins.h"
#include "analyzer/lang/recall.h"
#include "analyzer/lang/scope.h"
#include "analyzer/lang/stored.h"
#include "analyzer/past/written.h"
#include "policies/base/array.h"
#include "policies/base/sort.h"

/* --- making ----------------------------------------------------------------------------------- */

/* A binding in a new statement of a name that later cells can use. */
struct bound {
    struct cbx_binding *binding;
    bool attribute;
};

enum { NAMES_BYTES_MAX = 16 * 1024, VALUES_BYTES_MAX = 64 * 1024 };

struct making {
    struct cbx_walk *walk;
    struct bound *bound; /* in the order of their places in the text */
    size_t bound_count, bound_size;
    struct cbx_buf names, body, out;
    uint32_t steps; /* steps of add_mentioned for the current piece */
    bool too_many;  /* the current piece may change too many names: every reader needs it */
    /* a function of an earlier cell changes to a folder that its caller may choose */
    bool moves;
    bool stores; /* code of the text stores a secret in an object */
};

static void collect(struct making *m)
{
    const struct cbx_table *table = &m->walk->bindings;
    struct cbx_range fresh = m->walk->parsed->fresh;
    for (size_t i = 0; i < table->size; i++) {
        const struct cbx_slot *slot = &table->slots[i];
        bool attribute = slot->a == NULL;
        if (slot->value == NULL || (!attribute && slot->a != m->walk->module)) {
            continue;
        }
        for (struct cbx_binding *b = slot->value; b != NULL; b = b->next) {
            if (b->at >= fresh.start && b->at < fresh.end && !b->given && !b->builtin &&
                CBX_ARRAY_RESERVE(m->walk->arena, m->bound, m->bound_count, &m->bound_size, 1,
                                  SIZE_MAX)) {
                m->bound[m->bound_count++] = (struct bound){ b, attribute };
            }
        }
    }
}

static int by_place(const void *a, const void *b)
{
    uint32_t x = ((const struct bound *)a)->binding->at, y = ((const struct bound *)b)->binding->at;
    return x < y ? -1 : x > y;
}

/* Returns the bindings in [start, end) and sets *count; NULL if there are none. */
static const struct bound *bound_in(const struct making *m, uint32_t start, uint32_t end,
                                    size_t *count)
{
    size_t low = 0, high = m->bound_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (m->bound[middle].binding->at < start) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    size_t from = low;
    while (low < m->bound_count && m->bound[low].binding->at < end) {
        low++;
    }
    *count = low - from;
    return *count > 0 ? m->bound + from : NULL;
}

/* Returns true for a value through which code can call or reach something: a function; with
 * `names_too` a name, unless it is an object that a callable returned. */
static bool has_power(const struct cbx_values *values, bool names_too, int depth)
{
    bool has = false;
    for (uint32_t i = 0; i < values->count && !has; i++) {
        const struct cbx_value *v = values->items[i];
        has = v->kind == CBX_V_FUNCTION ||
              (names_too && ((v->kind == CBX_V_NAME && v->number != CBX_NAME_OBJECT) ||
                             v->kind == CBX_V_PARTIAL));
        for (uint32_t k = 0; !has && v->members != NULL && v->kind != CBX_V_NAME && k < v->count;
             k++) {
            has = depth >= CBX_VALUES_DEPTH_MAX || has_power(v->members[k], names_too, depth + 1);
        }
    }
    return has;
}

static const struct cbx_values *values_of(struct making *m, const struct cbx_node *node)
{
    struct cbx_node *n = (struct cbx_node *)(uintptr_t)node;
    return m->walk->eval(m->walk, n, cbx_scope_around(m->walk, n));
}

static const struct cbx_node *behind(const struct making *m, const struct cbx_node *node)
{
    return cbx_node_behind(node, m->walk->syntax.nodes + m->walk->syntax.count);
}

/* Returns the call whose callee is this node; NULL if there is none. */
static const struct cbx_node *call_of(const struct cbx_node *node)
{
    return node->field == CBX_FIELD_function &&
                   cbx_child_of(node->parent, CBX_FIELD_arguments) != NULL
               ? node->parent
               : NULL;
}

/* Returns true if the arguments of a call have nothing that the callee could keep or call. */
static bool is_plain_call(struct making *m, const struct cbx_node *call)
{
    const struct cbx_node *arguments = cbx_child_of(call, CBX_FIELD_arguments);
    const struct cbx_node *end = behind(m, arguments);
    bool plain = true;
    for (const struct cbx_node *n = arguments + 1; plain && n < end; n++) {
        plain = n->kind == 0 || !has_power(values_of(m, n), call_of(n) == NULL, 0);
    }
    return plain;
}

static bool opens_code(const struct cbx_node *node)
{
    const struct cbx_scope *inner = node->inner;
    return inner != NULL && inner->node == node && inner->kind != CBX_SCOPE_COMPREHENSION &&
           inner->kind != CBX_SCOPE_MODULE;
}

static bool binds_builtin(const struct cbx_walk *walk, struct cbx_str name)
{
    const struct cbx_builtins *b = walk->builtin_names;
    size_t i = 0;
    while (b != NULL && i < b->count && !cbx_str_is(name, b->names[i])) {
        i++;
    }
    return b != NULL && i < b->count;
}

static const struct cbx_values *value_of_binding(struct making *m, const struct bound *b)
{
    return cbx_binding_eval(m->walk, b->binding, b->binding->where);
}

/* Returns true if rules judge how the value is written: o[k] with a computed key. */
static bool counts_as_written(struct making *m, const struct bound *b)
{
    const struct cbx_node *key =
        b->binding->kind == CBX_BIND_EXPR ? cbx_child_of(b->binding->node, CBX_FIELD_index) : NULL;
    const struct cbx_values *values = key != NULL ? values_of(m, key) : NULL;
    return values != NULL && (values->count != 1 || (values->items[0]->kind != CBX_V_TEXT &&
                                                     values->items[0]->kind != CBX_V_NUMBER));
}

static bool calls_own_function(struct making *m, const struct cbx_node *statement)
{
    const struct cbx_node *end = behind(m, statement);
    for (const struct cbx_node *n = statement; n < end; n++) {
        const struct cbx_values *callees =
            n->kind != 0 && call_of(n) != NULL ? values_of(m, n) : &cbx_values_nothing;
        for (uint32_t i = 0; i < callees->count; i++) {
            if (callees->items[i]->kind == CBX_V_FUNCTION ||
                callees->items[i]->kind == CBX_V_PARTIAL) {
                return true;
            }
        }
    }
    return false;
}

/* Returns true if the statement changes the working folder, and with it the relative paths of
 * all later cells. */
static bool changes_folder(struct making *m, const struct cbx_node *statement)
{
    const struct cbx_facts *facts = m->walk->facts;
    if (m->moves && statement->kind != 0 && calls_own_function(m, statement)) {
        return true;
    }
    for (size_t i = 0; i < facts->count; i++) {
        const struct cbx_fact *fact = &facts->items[i];
        if (fact->start >= statement->start && fact->start < statement->end &&
            cbx_places_are_changed_by(fact)) {
            return true;
        }
    }
    return false;
}

/* Returns true if the statement, or a function that it calls, stores a secret in an object. */
static bool stores_secret(struct making *m, const struct cbx_node *statement)
{
    if (cbx_stored_within(m->walk, statement->start, statement->end) != CBX_STORED_NOWHERE) {
        return true;
    }
    return m->stores && calls_own_function(m, statement);
}

/* Returns true for the bindings of a = b = []. */
static bool is_one_object(struct making *m, const struct bound *a, const struct bound *b)
{
    bool values = a->binding->kind == CBX_BIND_EXPR && b->binding->kind == CBX_BIND_EXPR;
    bool other = a->attribute != b->attribute || !cbx_str_equal(a->binding->name, b->binding->name);
    return values && other && cbx_stored_is_shared(m->walk, a->binding->node, b->binding->node);
}

/* Returns true if the statement leaves nothing but the values of names. If it also gives an object
 * another name, *linked is set: then users of the names that it binds need its text. */
static bool is_over(struct making *m, const struct cbx_node *statement, bool *linked)
{
    *linked = false;
    const struct cbx_node *end = behind(m, statement);
    size_t count;
    if (changes_folder(m, statement) || stores_secret(m, statement)) {
        return false;
    }
    const struct bound *bound = bound_in(m, statement->start, statement->end, &count);
    for (const struct cbx_node *n = statement; n < end; n++) {
        if (opens_code(n)) {
            return false;
        }
        if (n->kind == 0 || !has_power(values_of(m, n), false, 0)) {
            continue;
        }
        const struct cbx_node *call = call_of(n);
        if (call == NULL || !is_plain_call(m, call)) {
            return false;
        }
    }
    bool links = false;
    for (size_t i = 0; i < count; i++) {
        cbx_buf_reset(&m->body);
        struct cbx_binding *b = bound[i].binding;
        links |=
            b->kind == CBX_BIND_EXPR && cbx_stored_goes_on(m->walk, b->node, bound[i].attribute);
        links |= i > 0 && is_one_object(m, &bound[i - 1], &bound[i]);
        if (binds_builtin(m->walk, b->name) || counts_as_written(m, &bound[i]) ||
            !cbx_values_encode(value_of_binding(m, &bound[i]), 0, &m->body)) {
            return false;
        }
    }
    *linked = links;
    return !links;
}

static void add_name(struct making *m, struct cbx_str name, bool attribute)
{
    if (name.len == 0 || name.len >= CBX_RECALL_NAME_BYTES_MAX - 1) {
        return;
    }
    if (m->names.len > 0) {
        cbx_buf_add_char(&m->names, CBX_NAME_END);
    }
    if (attribute) {
        cbx_buf_add_char(&m->names, '.');
    }
    cbx_buf_add(&m->names, name);
}

/* Writes the values that earlier cells and the new binding give a name. */
static bool write_values(struct making *m, const struct bound *bound)
{
    struct cbx_walk *walk = m->walk;
    struct cbx_str name = bound->binding->name;
    struct cbx_scope *scope = bound->attribute ? NULL : walk->module;
    const struct cbx_values *values = &cbx_values_nothing;
    for (const struct cbx_binding *b = cbx_scope_chain(walk, scope, name); b != NULL; b = b->next) {
        bool fresh = b->at >= walk->parsed->fresh.start && b->at < walk->parsed->fresh.end;
        bool past = b->at == UINT32_MAX;
        if (!cbx_str_equal(b->name, name) || b->builtin || !(fresh || past)) {
            continue;
        }
        const struct cbx_values *one = cbx_binding_eval(walk, b, b->where);
        values = has_power(one, false, 0) ? values : cbx_values_join(walk->arena, values, one);
    }
    cbx_buf_reset(&m->body);
    cbx_buf_reset(&m->names);
    add_name(m, name, bound->attribute);
    struct cbx_record record = { .kind = CBX_RECORD_VALUES };
    bool good = cbx_values_encode(values, 0, &m->body) && m->names.len > 0;
    record.names = cbx_buf_str(&m->names);
    record.body = cbx_buf_str(&m->body);
    if (good) {
        cbx_record_write(&record, &m->out);
    }
    return good;
}

/* --- pieces ----------------------------------------------------------------------------------- */

static void filter_add(uint8_t filter[CBX_RECORD_WORDS_BYTES], struct cbx_str word)
{
    uint64_t hash = cbx_name_hash(word);
    filter[hash >> 3 & (CBX_RECORD_WORDS_BYTES - 1)] |= (uint8_t)(1u << (hash & 7));
    filter[hash >> 33 & (CBX_RECORD_WORDS_BYTES - 1)] |= (uint8_t)(1u << (hash >> 30 & 7));
}

static bool filter_has(const char *filter, uint64_t hash)
{
    return ((uint8_t)filter[hash >> 3 & (CBX_RECORD_WORDS_BYTES - 1)] >> (hash & 7) & 1) != 0 &&
           ((uint8_t)filter[hash >> 33 & (CBX_RECORD_WORDS_BYTES - 1)] >> (hash >> 30 & 7) & 1) !=
               0;
}

void cbx_summary_add_statement(struct cbx_str names, struct cbx_str text, struct cbx_buf *out)
{
    uint8_t filter[CBX_RECORD_WORDS_BYTES] = { 0 };
    struct cbx_str rest = text, word;
    while (cbx_recall_next_word(&rest, &word)) {
        filter_add(filter, word);
    }
    cbx_record_write(&(struct cbx_record){ .kind = CBX_RECORD_PIECE,
                                           .names = names,
                                           .words = { (const char *)filter, sizeof(filter) },
                                           .body = text },
                     out);
}

static bool is_in_function(const struct cbx_walk *walk, const struct cbx_node *node)
{
    const struct cbx_scope *s = cbx_scope_around(walk, node);
    while (s != NULL && s->kind != CBX_SCOPE_FUNCTION) {
        s = s->parent;
    }
    return s != NULL;
}

enum { CALLS_DEPTH_MAX = 3, MENTIONED_MAX = 20000 };

static void add_mentioned(struct making *m, const struct cbx_node *code, int depth);

/* Adds the names that these functions mention: the statement may call the functions. */
static void add_functions(struct making *m, const struct cbx_values *values, int depth)
{
    for (uint32_t i = 0; i < values->count && depth < CALLS_DEPTH_MAX; i++) {
        if (values->items[i]->kind == CBX_V_FUNCTION && values->items[i]->node != NULL) {
            add_mentioned(m, values->items[i]->node, depth + 1);
        }
    }
}

/* Adds the names of objects, not of mere modules and functions, that the code, or a function
 * that it may call, may change without binding them. */
static void add_mentioned(struct making *m, const struct cbx_node *code, int depth)
{
    const struct cbx_node *end = behind(m, code);
    for (const struct cbx_node *n = code; n < end && !m->too_many; n++) {
        m->too_many = ++m->steps > MENTIONED_MAX || m->names.len > NAMES_BYTES_MAX;
        struct cbx_str word = cbx_walk_text(m->walk, n);
        if (n->kind == 0 || n->first != NULL || (depth == 0 && is_in_function(m->walk, n)) ||
            cbx_scope_chain(m->walk, m->walk->module, word) == NULL) {
            continue;
        }
        const struct cbx_values *values = values_of(m, n);
        bool only_names = values->count > 0;
        for (uint32_t i = 0; i < values->count; i++) {
            only_names &=
                values->items[i]->kind == CBX_V_NAME && values->items[i]->number != CBX_NAME_OBJECT;
        }
        if (!only_names) {
            add_name(m, word, false);
        }
        add_functions(m, values, depth);
    }
}

/* Returns true for a definition: it runs nothing but its decorators, defaults and class body. */
static bool is_definition(const struct cbx_node *statement)
{
    return opens_code(statement);
}

static void add_stored(void *context, struct cbx_str name, bool attribute)
{
    add_name(context, name, attribute);
}

/* Adds the objects that the statement assigns to a part of: d of d['x'] = a. */
static void add_targets(struct making *m, const struct cbx_node *statement,
                        const struct cbx_binding *b)
{
    for (const struct cbx_node *n = b->node; n != NULL && n->start >= statement->start;
         n = n->parent) {
        const struct cbx_node *left = cbx_child_of(n, CBX_FIELD_left);
        if (left != NULL) {
            add_mentioned(m, left, 0);
        }
    }
}

/* Adds the names under which the statement, or a function that it calls, stores secrets. */
static void add_names_of_stores(struct making *m, const struct cbx_node *statement)
{
    if (!m->stores) {
        return;
    }
    bool calls = calls_own_function(m, statement);
    cbx_stored_names(m->walk, calls ? 0 : statement->start, calls ? UINT32_MAX : statement->end,
                     add_stored, m);
}

/* `linked`: as is_over sets it. */
static void write_piece(struct making *m, const struct cbx_node *statement, bool linked)
{
    size_t count;
    const struct bound *bound = bound_in(m, statement->start, statement->end, &count);
    cbx_buf_reset(&m->names);
    for (size_t i = 0; i < count; i++) {
        add_name(m, bound[i].binding->name, bound[i].attribute);
    }
    m->steps = 0;
    /* any later cell may read the file, by a path that no name shows */
    bool file = cbx_stored_within(m->walk, statement->start, statement->end) == CBX_STORED_IN_FILE;
    m->too_many = file || changes_folder(m, statement);
    for (size_t i = 0; linked && i < count; i++) {
        add_targets(m, statement, bound[i].binding);
    }
    if (!linked && !is_definition(statement)) {
        add_mentioned(m, statement, 0);
    }
    add_names_of_stores(m, statement);
    if (m->too_many || m->names.overflow) {
        cbx_buf_reset(&m->names);
        cbx_buf_add_cstr(&m->names, CBX_NAMES_ALWAYS);
    }
    cbx_summary_add_statement(cbx_buf_str(&m->names), cbx_walk_text(m->walk, statement), &m->out);
}

/* Returns true if `now` has a value that `before` does not have. */
static bool has_more(const struct cbx_values *now, const struct cbx_values *before)
{
    bool same = true;
    for (uint32_t i = 0; same && now != NULL && i < now->count; i++) {
        same = false;
        for (uint32_t k = 0; !same && before != NULL && k < before->count; k++) {
            same = now->items[i]->kind == before->items[k]->kind &&
                   cbx_str_equal(now->items[i]->text, before->items[k]->text);
        }
    }
    return !same;
}

/* Returns true if a powerful object escapes that did not escape before, or a method has another
 * meaning: now any function may use it. */
static bool lets_escape(const struct making *m)
{
    const struct cbx_recall *r = m->walk->parsed->recall;
    return m->walk->armed != r->armed || has_more(m->walk->escaped, r->escaped) ||
           has_more(m->walk->escaped_calls, r->escaped_calls);
}

/* Returns true if the reading lacked pieces. A new binding to a powerful value changes the
 * effect of earlier functions that use the name, so their pieces are needed. */
static bool notes_missing(struct making *m)
{
    struct cbx_recall *r = m->walk->parsed->recall;
    bool missing = false;
    const struct cbx_node fresh = { .start = m->walk->parsed->fresh.start,
                                    .end = m->walk->parsed->fresh.end };
    if (lets_escape(m) ||
        changes_folder(m, &fresh)) { /* any function may be called in the new folder */
        cbx_recall_need_all(r);
    }
    for (size_t i = 0; i < m->bound_count && r->piece_count > 0; i++) {
        if (!has_power(value_of_binding(m, &m->bound[i]), true, 0)) {
            continue;
        }
        uint64_t hash = cbx_name_hash(m->bound[i].binding->name);
        for (uint32_t k = 0; k < r->piece_count; k++) {
            struct cbx_recall_piece *p = &r->pieces[k];
            p->needed |= p->words != NULL && !p->taken && filter_has(p->words, hash);
        }
    }
    for (uint32_t k = 0; k < r->piece_count; k++) {
        missing |= r->pieces[k].needed && !r->pieces[k].taken;
    }
    return missing;
}

static bool summarise(struct making *m)
{
    struct cbx_walk *walk = m->walk;
    bool good = !walk->gave_up && walk->builtin_names != NULL;
    for (const struct cbx_node *n = walk->syntax.nodes[0].first; good && n != NULL; n = n->next) {
        size_t count;
        const struct bound *bound = bound_in(m, n->start, n->end, &count);
        if (n->start < walk->parsed->fresh.start || n->start >= walk->parsed->fresh.end) {
            continue;
        }
        bool linked;
        if (!is_over(m, n, &linked)) {
            write_piece(m, n, linked);
            continue;
        }
        for (size_t i = 0; good && i < count; i++) {
            good = write_values(m, &bound[i]);
        }
    }
    cbx_buf_reset(&m->body);
    good = good && cbx_recall_write_walk(walk, &m->body);
    struct cbx_record record = { .kind = CBX_RECORD_WALK, .body = cbx_buf_str(&m->body) };
    cbx_record_write(&record, &m->out);
    return good && !m->out.overflow && !walk->arena->exhausted;
}

static bool has_movers(const struct cbx_walk *walk)
{
    const struct cbx_facts *facts = walk->facts;
    struct cbx_range fresh = walk->parsed->fresh;
    for (size_t i = 0; i < facts->count; i++) {
        const struct cbx_fact *fact = &facts->items[i];
        bool earlier = fact->start < fresh.start || fact->start >= fresh.end;
        bool constant = fact->arg_count > 0 && fact->args[0].known && fact->args[0].constant;
        if (earlier && !constant && cbx_places_are_changed_by(fact)) {
            return true;
        }
    }
    return false;
}

void cbx_summary_make(struct cbx_walk *walk)
{
    enum { OUT_MAX = 4 * 1024 * 1024 };
    struct making m = { .walk = walk, .moves = has_movers(walk) };
    m.stores = cbx_stored_within(walk, 0, UINT32_MAX) != CBX_STORED_NOWHERE;
    collect(&m);
    cbx_sort_heap(m.bound, m.bound_count, sizeof(*m.bound), by_place);
    if (notes_missing(&m) || walk->parsed->summary == NULL) {
        return;
    }
    cbx_buf_init(&m.names, VALUES_BYTES_MAX);
    cbx_buf_init(&m.body, VALUES_BYTES_MAX);
    cbx_buf_init(&m.out, OUT_MAX);
    cbx_buf_reset(walk->parsed->summary);
    if (summarise(&m) && !m.names.overflow) {
        cbx_buf_add(walk->parsed->summary, cbx_buf_str(&m.out));
    }
    cbx_buf_done(&m.names);
    cbx_buf_done(&m.body);
    cbx_buf_done(&m.out);
}
