/* SPDX-License-Identifier: MIT
 * Drafts as data: a head, the structs, the places in them that are pointers, the texts. A pointer
 * is written as an offset: into the structs, or behind their end into the texts. */
#include "policies/image.h"

#include <stdalign.h>

enum { IMAGE_MAX_BYTES = 16 * 1024 * 1024, ALIGNMENT = 16 };

struct image_head {
    uint32_t structs_bytes, places, texts_bytes, unused;
    struct cbx_sha256 sha256;
};

struct writer {
    struct cbx_buf structs, places, texts;
};

/* The draft is the first struct, so that no pointer has the offset 0, and 0 can mean NULL. */
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

static void add_text(struct writer *w, struct cbx_str text, size_t at)
{
    set_pointer(w, at + offsetof(struct cbx_str, p), text.p != NULL ? TEXT_BASE + w->texts.len : 0);
    if (text.p != NULL) {
        cbx_buf_add(&w->texts, text);
        cbx_buf_add_char(&w->texts, '\0');
    }
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

/* Pointer and count, side by side. */
struct array {
    const char *items;
    size_t count;
};

static void add_list(struct writer *w, const struct cbx_section *section, const struct array *list,
                     size_t at)
{
    size_t items = list->count > 0 ? add_structs(w, list->items, list->count * section->size) : 0;
    for (size_t i = 0; i < list->count; i++) {
        const char *item = list->items + i * section->size;
        add_section(w, section, item, items + i * section->size);
        if (section == &cbx_section_rule) { /* the one text that no key is bound to */
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

/* Texts stand behind the structs. */
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

static int write_image(struct writer *w, const struct cbx_draft *draft,
                       const struct cbx_sha256 *sha256, struct cbx_buf *out, struct cbx_err *err)
{
    add_structs(w, draft, sizeof(*draft));
    add_section(w, &cbx_section_policy, draft, 0);
    bool overflow = w->structs.overflow || w->places.overflow || w->texts.overflow;
    if (!overflow) {
        move_texts(w);
        struct image_head head = { .structs_bytes = (uint32_t)w->structs.len,
                                   .places = (uint32_t)(w->places.len / sizeof(uint32_t)),
                                   .texts_bytes = (uint32_t)w->texts.len,
                                   .sha256 = *sha256 };
        cbx_buf_add_bytes(out, &head, sizeof(head));
        cbx_buf_add(out, cbx_buf_str(&w->structs));
        cbx_buf_add(out, cbx_buf_str(&w->places));
        cbx_buf_add(out, cbx_buf_str(&w->texts));
    }
    return overflow || out->overflow ? cbx_fail(err, CBX_ETOOBIG, "the policy is too large") : 0;
}

int cbx_image_write(const struct cbx_draft *draft, const struct cbx_sha256 *sha256,
                    struct cbx_buf *out, struct cbx_err *err)
{
    struct writer w;
    cbx_buf_init(&w.structs, IMAGE_MAX_BYTES);
    cbx_buf_init(&w.places, IMAGE_MAX_BYTES);
    cbx_buf_init(&w.texts, IMAGE_MAX_BYTES);
    int failed = write_image(&w, draft, sha256, out, err);
    cbx_buf_done(&w.structs);
    cbx_buf_done(&w.places);
    cbx_buf_done(&w.texts);
    return failed;
}

int cbx_image_read(struct cbx_str image, struct cbx_arena *arena, struct cbx_draft *out,
                   struct cbx_sha256 *sha256, struct cbx_err *err)
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
    memcpy(out, to, sizeof(*out));
    *sha256 = head.sha256;
    return 0;
}
