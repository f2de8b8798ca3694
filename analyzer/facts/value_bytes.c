/* SPDX-License-Identifier: MIT
 * Converts values to bytes and back. */
#include "analyzer/facts/value_bytes.h"

#include "analyzer/facts/value.h"

enum { VALUE_TEXT_MAX = 4096 };

/* Stands before the text of a value, in host order. */
struct value_head {
    uint32_t kind, count, text_bytes;
    uint8_t has_members, has_keys, spare[2];
    int64_t number;
};

static bool encode_one(const struct cbx_value *v, int depth, struct cbx_buf *out)
{
    static const struct cbx_value unknown = { .kind = CBX_V_UNKNOWN };
    /* A long text becomes unknown, which allows nothing that the text would not allow. */
    v = v->kind == CBX_V_TEXT && v->text.len > VALUE_TEXT_MAX ? &unknown : v;
    struct value_head head = { .kind = v->kind,
                               .count = v->count,
                               .text_bytes = (uint32_t)v->text.len,
                               .has_members = v->members != NULL,
                               .has_keys = v->keys != NULL,
                               .number = v->number };
    bool good = v->kind != CBX_V_FUNCTION && depth < CBX_VALUES_DEPTH_MAX;
    cbx_buf_add_bytes(out, &head, sizeof(head));
    cbx_buf_add(out, v->text);
    for (uint32_t i = 0; good && head.has_members && i < v->count; i++) {
        if (head.has_keys) {
            uint32_t len = (uint32_t)v->keys[i].len;
            cbx_buf_add_bytes(out, &len, sizeof(len));
            cbx_buf_add(out, v->keys[i]);
        }
        good = cbx_values_encode(v->members[i], depth + 1, out);
    }
    return good;
}

bool cbx_values_encode(const struct cbx_values *values, int depth, struct cbx_buf *out)
{
    bool good = true;
    cbx_buf_add_bytes(out, &values->count, sizeof(values->count));
    for (uint32_t i = 0; good && i < values->count; i++) {
        good = encode_one(values->items[i], depth, out);
    }
    return good && !out->overflow;
}

static bool decode_members(struct cbx_str *bytes, const struct value_head *head,
                           struct cbx_arena *arena, int depth, struct cbx_value *out)
{
    bool good = head->count <= CBX_MEMBERS_MAX;
    const struct cbx_values **members =
        good ? cbx_arena_array(arena, head->count + 1u, sizeof(*members)) : NULL;
    struct cbx_str *keys =
        good && head->has_keys ? cbx_arena_array(arena, head->count + 1u, sizeof(*keys)) : NULL;
    good = members != NULL && (keys != NULL || !head->has_keys);
    for (uint32_t i = 0; good && i < head->count; i++) {
        uint32_t len = 0;
        if (keys != NULL) {
            struct cbx_str raw = cbx_str_take(bytes, sizeof(len));
            good = raw.len == sizeof(len);
            memcpy(&len, raw.p, raw.len);
            keys[i] = cbx_str_take(bytes, len);
            good = good && keys[i].len == len;
        }
        members[i] = good ? cbx_values_decode(bytes, arena, depth + 1) : NULL;
        good = good && members[i] != NULL;
    }
    out->members = members;
    out->keys = keys;
    return good;
}

const struct cbx_values *cbx_values_decode(struct cbx_str *bytes, struct cbx_arena *arena,
                                           int depth)
{
    uint32_t count = 0;
    struct cbx_str raw = cbx_str_take(bytes, sizeof(count));
    memcpy(&count, raw.p, raw.len);
    if (raw.len != sizeof(count) || count > CBX_VALUES_MAX + 1 || depth > CBX_VALUES_DEPTH_MAX) {
        return NULL;
    }
    const struct cbx_values *out = &cbx_values_nothing;
    for (uint32_t i = 0; i < count; i++) {
        struct value_head head = { 0 };
        raw = cbx_str_take(bytes, sizeof(head));
        memcpy(&head, raw.p, raw.len);
        struct cbx_value v = { .kind = (enum cbx_value_kind)head.kind,
                               .count = head.count,
                               .number = head.number };
        v.text = cbx_str_take(bytes, head.text_bytes);
        if (raw.len != sizeof(head) || head.kind > CBX_V_PARTIAL || head.kind == CBX_V_FUNCTION ||
            v.text.len != head.text_bytes ||
            (head.has_members && !decode_members(bytes, &head, arena, depth, &v))) {
            return NULL;
        }
        out = cbx_values_join(arena, out, cbx_values_one(arena, &v));
    }
    return arena->exhausted ? NULL : out;
}
