/* SPDX-License-Identifier: MIT
 * Policies as data: a head, the structs, the places in them that are pointers, the texts. A pointer
 * is written as an offset: into the structs, or beyond their end into the texts. */
#include "policies/load/image.h"

#include "policies/base/memory.h"

#include <stdlib.h>

enum { IMAGE_MAX_BYTES = 16 * 1024 * 1024, ALIGNMENT = 16 };

struct image_head {
    /* index: offset of the index in the structs */
    uint32_t structs_bytes, places, texts_bytes, index;
    struct cbx_sha256 sha256;
};

/* A written array of calls: patterns of the index point into these arrays. */
struct calls {
    const char *from;
    size_t bytes, at;
};

struct writer {
    struct cbx_buf structs, places, texts, calls;
    /* true if a pattern's call was not found: without its conditions the pattern would be
     * another rule */
    bool lost;
};

/* The draft is the first struct, so no pointer has the offset 0, and 0 can mean NULL. */
static size_t add_structs(struct writer *w, const void *from, size_t bytes)
{
    static const char zeros[ALIGNMENT];
    cbx_buf_add_bytes(&w->structs, zeros, -w->structs.len % ALIGNMENT);
    size_t at = w->structs.len;
    cbx_buf_add_bytes(&w->structs, from, bytes);
    return at;
}

static void set_pointer(struct writer *w, size_t at, uint64_t offset)
{
    uint32_t place = (uint32_t)at;
    if (!w->structs.overflow) {
        memcpy(w->structs.p + at, &offset, sizeof(offset));
    }
    if (offset != 0) {
        cbx_buf_add_bytes(&w->places, &place, sizeof(place));
    }
}

/* Texts are numbered from 1 << 32 until the size of the structs is known. */
#define TEXT_BASE (1ull << 32)

/* Returns the number of the text; 0 for none. */
static uint64_t add_text(struct writer *w, struct cbx_str text, size_t at)
{
    uint64_t number = text.p != NULL ? TEXT_BASE + w->texts.len : 0;
    set_pointer(w, at + offsetof(struct cbx_str, p), number);
    if (text.p != NULL) {
        cbx_buf_add(&w->texts, text);
        cbx_buf_add_char(&w->texts, '\0');
    }
    return number;
}

/* A pointer and its count, side by side. */
struct array {
    const char *items;
    size_t count;
};

static void copy_head(const struct cbx_draft_head *from, struct cbx_draft_head *to)
{
    to->given = from->given;
    to->override = from->override;
    to->line = from->line;
    to->column = from->column;
}

/* Copies a struct member by member into zeroed memory. Padding between the members is undefined,
 * and equal policies must give equal images. */
static void copy_members(const struct cbx_section *section, const char *from, char *to)
{
    if (section->head) {
        copy_head((const void *)from, (void *)to);
    }
    for (size_t i = 0; i < section->key_count; i++) {
        const struct cbx_key *key = &section->keys[i];
        bool nested = key->type == CBX_KEY_SECTION || key->type == CBX_KEY_NETWORK;
        bool array = key->type == CBX_KEY_LIST || key->type == CBX_KEY_MINIMUM;
        if (nested) {
            copy_members(key->more, from + key->offset, to + key->offset);
        } else {
            memcpy(to + key->offset, from + key->offset, array ? sizeof(struct array) : key->size);
        }
    }
}

/* Copies the members without a key. */
static void copy_places(const struct cbx_section *section, const char *from, char *to)
{
    if (section == &cbx_section_rule) {
        const struct cbx_rule *x = &((const struct cbx_draft_rule *)(const void *)from)->v;
        struct cbx_rule *y = &((struct cbx_draft_rule *)(void *)to)->v;
        y->line = x->line;
        y->origin = x->origin;
    } else if (section == &cbx_section_exception) {
        const struct cbx_exception *x = (const void *)from;
        struct cbx_exception *y = (void *)to;
        y->line = x->line;
        y->column = x->column;
    }
}

/* Writes `count` structs of a section, without the targets of their pointers. */
static size_t add_copies(struct writer *w, const struct cbx_section *section, const char *from,
                         size_t count)
{
    char *copies = cbx_new_array(count, section->size);
    for (size_t i = 0; i < count; i++) {
        copy_members(section, from + i * section->size, copies + i * section->size);
        copy_places(section, from + i * section->size, copies + i * section->size);
    }
    size_t at = add_structs(w, copies, count * section->size);
    free(copies);
    return at;
}

static void add_section(struct writer *w, const struct cbx_section *section, const void *from,
                        size_t at);

static void add_texts(struct writer *w, const struct cbx_strs *list, size_t at)
{
    size_t items =
        list->count > 0 ? add_structs(w, list->items, list->count * sizeof(*list->items)) : 0;
    for (size_t i = 0; i < list->count; i++) {
        add_text(w, list->items[i], items + i * sizeof(*list->items));
    }
    set_pointer(w, at + offsetof(struct cbx_strs, items), items);
}

static void add_list(struct writer *w, const struct cbx_section *section, const struct array *list,
                     size_t at)
{
    size_t items = list->count > 0 ? add_copies(w, section, list->items, list->count) : 0;
    if (section == &cbx_section_call && list->count > 0) {
        struct calls calls = { list->items, list->count * section->size, items };
        cbx_buf_add_bytes(&w->calls, &calls, sizeof(calls));
    }
    for (size_t i = 0; i < list->count; i++) {
        const char *item = list->items + i * section->size;
        add_section(w, section, item, items + i * section->size);
        if (section == &cbx_section_rule) { /* the one text without a key */
            size_t origin = offsetof(struct cbx_draft_rule, v.origin);
            add_text(w, ((const struct cbx_draft_rule *)(const void *)item)->v.origin,
                     items + i * section->size + origin);
        }
    }
    set_pointer(w, at + offsetof(struct array, items), items);
}

static void add_minimum(struct writer *w, const struct array *list, size_t at)
{
    const struct cbx_minimum *from = (const void *)list->items;
    size_t items = list->count > 0 ? add_structs(w, from, list->count * sizeof(*from)) : 0;
    for (size_t i = 0; i < list->count; i++) {
        size_t item = items + i * sizeof(*from);
        add_text(w, from[i].name, item + offsetof(struct cbx_minimum, name));
        add_text(w, from[i].version, item + offsetof(struct cbx_minimum, version));
    }
    set_pointer(w, at + offsetof(struct array, items), items);
}

static void add_member(struct writer *w, const struct cbx_key *key, const void *member, size_t at)
{
    switch (key->type) {
    case CBX_KEY_STR:
    case CBX_KEY_NAME:
        add_text(w, *(const struct cbx_str *)member, at);
        return;
    case CBX_KEY_STRS:
    case CBX_KEY_ENUMS:
        add_texts(w, member, at);
        return;
    case CBX_KEY_SECTION:
    case CBX_KEY_NETWORK:
        add_section(w, key->more, member, at);
        return;
    case CBX_KEY_LIST:
        add_list(w, key->more, member, at);
        return;
    case CBX_KEY_MINIMUM:
        add_minimum(w, member, at);
        return;
    default: /* numbers, flags and sets are in the struct */
        return;
    }
}

static void add_section(struct writer *w, const struct cbx_section *section, const void *from,
                        size_t at)
{
    for (size_t i = 0; i < section->key_count; i++) {
        const struct cbx_key *key = &section->keys[i];
        add_member(w, key, (const char *)from + key->offset, at + key->offset);
    }
}

/* --- the index -------------------------------------------------------------------------------- */

/* Returns the offset of a rule's call; 0 for none. */
static uint64_t find_call(struct writer *w, const struct cbx_call *call)
{
    for (size_t i = 0; call != NULL && i < w->calls.len; i += sizeof(struct calls)) {
        struct calls calls;
        memcpy(&calls, w->calls.p + i, sizeof(calls));
        uintptr_t from = (uintptr_t)calls.from, at = (uintptr_t)call;
        if (at >= from && at - from < calls.bytes) {
            return calls.at + (at - from);
        }
    }
    w->lost |= call != NULL;
    return 0;
}

struct patterns {
    struct cbx_pattern *copies; /* copies by number */
    size_t at;                  /* offset of the first copy in the structs */
};

static uint64_t find_pattern(const struct patterns *patterns, const struct cbx_pattern *pattern)
{
    return pattern != NULL ? patterns->at + pattern->number * sizeof(*pattern) : 0;
}

static void copy_chains(struct patterns *to, const struct cbx_pattern *const *chains, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        for (const struct cbx_pattern *p = chains[i]; p != NULL; p = p->next) {
            struct cbx_pattern *copy = &to->copies[p->number];
            copy->text = p->text;
            copy->must = p->must;
            copy->shortest = p->shortest;
            copy->rule = p->rule;
            copy->number = p->number;
            copy->call = p->call;
            copy->list = p->list;
            copy->glob = p->glob;
            copy->next = p->next;
        }
    }
}

/* Every pattern is in one chain. */
static void add_patterns(struct writer *w, const struct cbx_policy *policy,
                         struct patterns *patterns)
{
    const struct cbx_index *index = policy->index;
    copy_chains(patterns, index->exact, index->exact_mask + 1u);
    copy_chains(patterns, index->by_gram, CBX_INDEX_GRAMS);
    copy_chains(patterns, &index->globs, 1);
    copy_chains(patterns, index->excluding, policy->rule_count);
    patterns->at =
        add_structs(w, patterns->copies, index->pattern_count * sizeof(*patterns->copies));
    for (size_t i = 0; i < index->pattern_count; i++) {
        const struct cbx_pattern *p = &patterns->copies[i];
        size_t at = patterns->at + i * sizeof(*p);
        uint64_t text = add_text(w, p->text, at + offsetof(struct cbx_pattern, text));
        set_pointer(w, at + offsetof(struct cbx_pattern, must.p),
                    p->must.p != NULL ? text + (uint64_t)(p->must.p - p->text.p) : 0);
        set_pointer(w, at + offsetof(struct cbx_pattern, call), find_call(w, p->call));
        set_pointer(w, at + offsetof(struct cbx_pattern, next), find_pattern(patterns, p->next));
    }
}

/* Sets the pointers to patterns, at `at`. */
static void set_chains(struct writer *w, const struct patterns *patterns,
                       const struct cbx_pattern *const *chains, size_t count, size_t at)
{
    for (size_t i = 0; i < count; i++) {
        set_pointer(w, at + i * sizeof(*chains), find_pattern(patterns, chains[i]));
    }
}

static void add_chains(struct writer *w, const struct patterns *patterns,
                       const struct cbx_pattern *const *chains, size_t count, size_t pointer)
{
    size_t at = add_structs(w, chains, count * sizeof(*chains));
    set_chains(w, patterns, chains, count, at);
    set_pointer(w, pointer, at);
}

static void add_numbers(struct writer *w, const struct cbx_index_rules *rules, size_t count,
                        size_t at)
{
    for (size_t i = 0; i < count; i++) {
        size_t items = rules[i].count > 0 ? add_structs(w, rules[i].items,
                                                        rules[i].count * sizeof(*rules[i].items))
                                          : 0;
        set_pointer(w, at + i * sizeof(*rules) + offsetof(struct cbx_index_rules, items), items);
    }
}

#define IN_INDEX(at, member) ((at) + offsetof(struct cbx_index, member))
static size_t add_index(struct writer *w, const struct cbx_policy *policy)
{
    const struct cbx_index *index = policy->index;
    struct patterns patterns = { .copies = cbx_new_array(index->pattern_count + 1u,
                                                         sizeof(*patterns.copies)) };
    add_patterns(w, policy, &patterns);
    size_t at = add_structs(w, index, sizeof(*index));
    add_chains(w, &patterns, index->exact, index->exact_mask + 1u, IN_INDEX(at, exact));
    add_chains(w, &patterns, index->excluding, policy->rule_count + 1u, IN_INDEX(at, excluding));
    set_chains(w, &patterns, index->by_gram, CBX_INDEX_GRAMS, IN_INDEX(at, by_gram));
    set_chains(w, &patterns, &index->globs, 1, IN_INDEX(at, globs));
    add_numbers(w, index->by_capability, CBX_CAPABILITIES, IN_INDEX(at, by_capability));
    add_numbers(w, index->by_fact, CBX_FACTS, IN_INDEX(at, by_fact));
    add_numbers(w, &index->queries, 1, IN_INDEX(at, queries));
    free(patterns.copies);
    return at;
}

/* --- the image -------------------------------------------------------------------------------- */

/* Texts follow the structs. */
static void move_texts(struct writer *w)
{
    for (size_t i = 0; i < w->places.len; i += sizeof(uint32_t)) {
        uint32_t place;
        uint64_t offset;
        memcpy(&place, w->places.p + i, sizeof(place));
        memcpy(&offset, w->structs.p + place, sizeof(offset));
        offset = offset >= TEXT_BASE ? offset - TEXT_BASE + w->structs.len : offset;
        memcpy(w->structs.p + place, &offset, sizeof(offset));
    }
}

static int write_image(struct writer *w, const struct cbx_policy *policy, struct cbx_buf *out,
                       struct cbx_err *err)
{
    add_copies(w, &cbx_section_policy, (const char *)policy->draft, 1);
    add_section(w, &cbx_section_policy, policy->draft, 0);
    size_t index = add_index(w, policy);
    bool overflow = w->structs.overflow || w->places.overflow || w->texts.overflow;
    if (w->lost) {
        return cbx_fail(err, CBX_EINVAL, "a pattern of the index belongs to no call of a rule");
    }
    if (!overflow) {
        move_texts(w);
        struct image_head head = { .structs_bytes = (uint32_t)w->structs.len,
                                   .places = (uint32_t)(w->places.len / sizeof(uint32_t)),
                                   .texts_bytes = (uint32_t)w->texts.len,
                                   .index = (uint32_t)index,
                                   .sha256 = policy->sha256 };
        cbx_buf_add_bytes(out, &head, sizeof(head));
        cbx_buf_add(out, cbx_buf_str(&w->structs));
        cbx_buf_add(out, cbx_buf_str(&w->places));
        cbx_buf_add(out, cbx_buf_str(&w->texts));
    }
    if (overflow || out->overflow) {
        return cbx_fail(err, CBX_ETOOBIG, "the policy is too large");
    }
    return 0;
}

int cbx_image_write(const struct cbx_policy *policy, struct cbx_buf *out, struct cbx_err *err)
{
    struct writer w = { .lost = false };
    cbx_buf_init(&w.structs, IMAGE_MAX_BYTES);
    cbx_buf_init(&w.places, IMAGE_MAX_BYTES);
    cbx_buf_init(&w.texts, IMAGE_MAX_BYTES);
    cbx_buf_init(&w.calls, IMAGE_MAX_BYTES);
    int failed = write_image(&w, policy, out, err);
    cbx_buf_done(&w.structs);
    cbx_buf_done(&w.places);
    cbx_buf_done(&w.texts);
    cbx_buf_done(&w.calls);
    return failed;
}

int cbx_image_read(struct cbx_str image, struct cbx_arena *arena, struct cbx_image *out,
                   struct cbx_err *err)
{
    struct image_head head;
    memcpy(&head, image.p, sizeof(head));
    const char *structs = image.p + sizeof(head), *places = structs + head.structs_bytes,
               *texts = places + head.places * sizeof(uint32_t);
    char *to = cbx_arena_alloc(arena, head.structs_bytes);
    if (to == NULL) {
        return cbx_fail(err, CBX_ETOOBIG, "the policy takes too much memory");
    }
    memcpy(to, structs, head.structs_bytes);
    for (size_t i = 0; i < head.places; i++) {
        uint32_t place;
        uint64_t offset;
        memcpy(&place, places + i * sizeof(place), sizeof(place));
        memcpy(&offset, to + place, sizeof(offset));
        const char *target =
            offset < head.structs_bytes ? to + offset : texts + (offset - head.structs_bytes);
        memcpy(to + place, &target, sizeof(target));
    }
    memcpy(&out->draft, to, sizeof(out->draft));
    out->index = (const void *)(to + head.index);
    out->sha256 = head.sha256;
    return 0;
}
