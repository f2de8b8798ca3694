/* SPDX-License-Identifier: MIT
 * Abstract values and the folding of constants. */
#include "analyzer/value.h"

#include <errno.h>
#include <stdlib.h>
#include <utf8proc.h>

static const struct cbx_value unknown = { .kind = CBX_V_UNKNOWN },
                              unknown_more = { .kind = CBX_V_UNKNOWN, .number = CBX_UNKNOWN_MORE };
const struct cbx_values cbx_values_unknown = { .count = 1, .items = { &unknown } };
const struct cbx_values cbx_values_nothing = { .count = 0, .items = { &unknown } };

const struct cbx_values *cbx_values_some(const struct cbx_values *values)
{
    return values->count > 0 ? values : &cbx_values_unknown;
}

/* Room for `count` alternatives. */
static struct cbx_values *make_set(struct cbx_arena *arena, uint32_t count)
{
    return cbx_arena_alloc(arena, sizeof(struct cbx_values) + count * sizeof(struct cbx_value *));
}

const struct cbx_values *cbx_values_one(struct cbx_arena *arena, const struct cbx_value *value)
{
    struct {
        struct cbx_values set;
        const struct cbx_value *item;
        struct cbx_value value;
    } *one = cbx_arena_alloc(arena, sizeof(*one));
    if (one == NULL) {
        return &cbx_values_unknown;
    }
    struct cbx_values *set = &one->set;
    one->value = *value;
    set->items[0] = &one->value;
    set->count = 1;
    return set;
}

const struct cbx_values *cbx_values_name(struct cbx_arena *arena, struct cbx_str name)
{
    return cbx_values_one(arena, &(struct cbx_value){ .kind = CBX_V_NAME, .text = name });
}

const struct cbx_values *cbx_values_bare(struct cbx_arena *arena, struct cbx_str name)
{
    return cbx_values_one(arena,
                          &(struct cbx_value){ .kind = CBX_V_NAME, .text = name, .number = 1 });
}

const struct cbx_values *cbx_values_text(struct cbx_arena *arena, struct cbx_str text)
{
    return text.p == NULL
               ? &cbx_values_unknown
               : cbx_values_one(arena, &(struct cbx_value){ .kind = CBX_V_TEXT, .text = text });
}

const struct cbx_values *cbx_values_bytes(struct cbx_arena *arena, struct cbx_str text)
{
    struct cbx_value bytes = { .kind = CBX_V_TEXT, .text = text, .number = CBX_TEXT_BYTES };
    return text.p == NULL ? &cbx_values_unknown : cbx_values_one(arena, &bytes);
}

const struct cbx_values *cbx_values_number(struct cbx_arena *arena, struct cbx_str text,
                                           int64_t number)
{
    return cbx_values_one(
        arena, &(struct cbx_value){ .kind = CBX_V_NUMBER, .text = text, .number = number });
}

const struct cbx_values *cbx_values_list(struct cbx_arena *arena,
                                         const struct cbx_values *const *members, uint32_t count)
{
    struct cbx_value list = { .kind = CBX_V_LIST, .members = members, .count = count };
    return members != NULL ? cbx_values_one(arena, &list) : &cbx_values_unknown;
}

const struct cbx_values *cbx_values_each(struct cbx_arena *arena, const struct cbx_values *member)
{
    const struct cbx_values **members = cbx_arena_array(arena, 1, sizeof(*members));
    if (members == NULL) {
        return &cbx_values_unknown;
    }
    members[0] = member;
    struct cbx_value list = { .kind = CBX_V_LIST, .members = members, .count = 1, .number = 1 };
    return cbx_values_one(arena, &list);
}

const struct cbx_value *cbx_values_container(const struct cbx_values *values,
                                             enum cbx_value_kind kind)
{
    bool one =
        values->count == 1 && values->items[0]->kind == kind && values->items[0]->number == 0;
    return one ? values->items[0] : NULL;
}

const struct cbx_values *cbx_values_constant(struct cbx_arena *arena, struct cbx_str text)
{
    return cbx_values_one(arena,
                          &(struct cbx_value){ .kind = CBX_V_NUMBER, .text = text, .count = 1 });
}

static bool same(const struct cbx_value *a, const struct cbx_value *b)
{
    return a == b ||
           (a->kind == b->kind && cbx_str_equal(a->text, b->text) && a->members == b->members &&
            a->node == b->node && a->number == b->number && a->count == b->count);
}

static bool is_constant(const struct cbx_value *v)
{
    return v->kind == CBX_V_TEXT || v->kind == CBX_V_NUMBER || v->kind == CBX_V_LIST ||
           v->kind == CBX_V_MAP;
}

/* What a full set can do without: constants, then names that nothing binds; its count when there is
 * none. */
static uint32_t find_spare(const struct cbx_values *set)
{
    uint32_t bare = set->count;
    for (uint32_t i = 0; i < set->count; i++) {
        const struct cbx_value *v = set->items[i];
        if (is_constant(v)) {
            return i;
        }
        bare = v->kind == CBX_V_NAME && v->number == CBX_NAME_BARE ? i : bare;
    }
    return bare;
}

/* Where it says "anything"; its count when it does not. Once is enough: each copy would cost
 * another alternative. */
static uint32_t find_unknown(const struct cbx_values *set)
{
    uint32_t i = 0;
    while (i < set->count && set->items[i]->kind != CBX_V_UNKNOWN) {
        i++;
    }
    return i;
}

/* False when the set lost something by it. A name takes the place of a constant: it is names that
 * rules speak of, and nobody shall drown one in constants. */
static bool add_to_set(struct cbx_values *set, const struct cbx_value *value, bool *more)
{
    for (uint32_t i = 0; i < set->count; i++) {
        if (same(set->items[i], value)) {
            return true;
        }
    }
    if (set->count < CBX_VALUES_MAX) {
        set->items[set->count++] = value;
        return true;
    }
    bool spare = is_constant(value) || value->kind == CBX_V_UNKNOWN ||
                 (value->kind == CBX_V_NAME && value->number == CBX_NAME_BARE);
    uint32_t place = spare ? set->count : find_spare(set);
    if (place < set->count) {
        set->items[place] = value;
    }
    *more |= !spare && place == set->count;
    return false;
}

const struct cbx_values *cbx_values_join(struct cbx_arena *arena, const struct cbx_values *a,
                                         const struct cbx_values *b)
{
    if (a == b || b->count == 0) {
        return a;
    }
    if (a->count == 0) {
        return b;
    }
    uint32_t room = a->count + b->count;
    struct cbx_values *set = make_set(arena, room < CBX_VALUES_MAX ? room : CBX_VALUES_MAX);
    if (set == NULL) {
        return &cbx_values_unknown;
    }
    memcpy(set, a, sizeof(*a) + a->count * sizeof(a->items[0]));
    bool lost = false, more = false;
    for (uint32_t i = 0; i < b->count; i++) {
        lost |= !add_to_set(set, b->items[i], &more);
    }
    if (lost) {
        more |= cbx_values_has_more(a) || cbx_values_has_more(b);
        uint32_t place = find_unknown(set);
        place = place < set->count ? place : find_spare(set);
        set->items[place < set->count ? place : set->count - 1] = more ? &unknown_more : &unknown;
    }
    return set;
}

bool cbx_values_is_text(const struct cbx_values *values, struct cbx_str *out)
{
    if (values->count != 1 || values->items[0]->kind != CBX_V_TEXT) {
        return false;
    }
    *out = values->items[0]->text;
    return true;
}

bool cbx_values_all_text(const struct cbx_values *values)
{
    bool all = values->count > 0;
    for (uint32_t i = 0; i < values->count; i++) {
        all &= values->items[i]->kind == CBX_V_TEXT;
    }
    return all;
}

const struct cbx_str *cbx_values_texts(struct cbx_arena *arena, const struct cbx_values *values,
                                       uint32_t *count)
{
    struct cbx_str *texts = NULL;
    *count = 0;
    for (uint32_t i = 0; i < values->count; i++) {
        const struct cbx_value *v = values->items[i];
        bool object = v->kind == CBX_V_NAME && v->count == 1 && v->members[0]->count == 1;
        v = object ? v->members[0]->items[0] : v;
        if (v->kind != CBX_V_TEXT) {
            continue;
        }
        texts = texts != NULL ? texts : cbx_arena_array(arena, values->count, sizeof(*texts));
        if (texts != NULL) {
            texts[(*count)++] = v->text;
        }
    }
    return texts;
}

bool cbx_values_is_number(const struct cbx_values *values, int64_t *out)
{
    if (values->count != 1 || values->items[0]->kind != CBX_V_NUMBER ||
        values->items[0]->count != 0) {
        return false;
    }
    *out = values->items[0]->number;
    return true;
}

bool cbx_values_has_more(const struct cbx_values *values)
{
    for (uint32_t i = 0; i < values->count; i++) {
        if (values->items[i]->kind == CBX_V_UNKNOWN &&
            values->items[i]->number == CBX_UNKNOWN_MORE) {
            return true;
        }
    }
    return false;
}

bool cbx_values_has_unknown(const struct cbx_values *values)
{
    for (uint32_t i = 0; i < values->count; i++) {
        if (values->items[i]->kind == CBX_V_UNKNOWN) {
            return true;
        }
    }
    return values->count == 0;
}

/* The last one of this key; those of keys that are not known may take its place. */
static const struct cbx_values *member_of_map(struct cbx_arena *arena, const struct cbx_value *map,
                                              struct cbx_str key)
{
    const struct cbx_values *out = map->number == 1 ? &cbx_values_unknown : &cbx_values_nothing;
    bool found = false;
    for (uint32_t i = map->count; i > 0; i--) {
        bool any = map->keys[i - 1].len > 0 && map->keys[i - 1].p[0] == '\xff';
        bool same_key = !found && cbx_str_equal(map->keys[i - 1], key);
        found |= same_key;
        if (any || same_key) {
            out = cbx_values_join(arena, out, map->members[i - 1]);
        }
        if (any) {
            out = cbx_values_join(arena, out, &cbx_values_unknown);
        }
    }
    return found ? out : cbx_values_join(arena, out, &cbx_values_unknown);
}

static const struct cbx_values *member_of(struct cbx_arena *arena, const struct cbx_value *v,
                                          struct cbx_str key)
{
    if (v->kind == CBX_V_MAP) {
        return member_of_map(arena, v, key);
    }
    if (v->kind == CBX_V_LIST && v->number == 1) {
        return cbx_values_join(arena, v->members[0], &cbx_values_unknown);
    }
    if (v->kind == CBX_V_LIST && key.len > 0 && key.len < 8) {
        char digits[9] = "";
        memcpy(digits, key.p, key.len);
        long index = strtol(digits, NULL, 10);
        index += index < 0 ? (long)v->count : 0;
        return index >= 0 && index < (long)v->count ? v->members[index] : &cbx_values_unknown;
    }
    (void)arena;
    return &cbx_values_unknown;
}

const struct cbx_values *cbx_values_member(struct cbx_arena *arena, const struct cbx_values *values,
                                           struct cbx_str key)
{
    const struct cbx_values *out = &cbx_values_nothing;
    for (uint32_t i = 0; i < values->count; i++) {
        out = cbx_values_join(arena, out, member_of(arena, values->items[i], key));
    }
    return cbx_values_some(out);
}

const struct cbx_values *cbx_values_loose(struct cbx_arena *arena, const struct cbx_values *values)
{
    const struct cbx_values *out = &cbx_values_nothing;
    for (uint32_t i = 0; i < values->count; i++) {
        struct cbx_value v = *values->items[i];
        bool bytes = v.kind == CBX_V_TEXT && v.number == CBX_TEXT_BYTES;
        const struct cbx_values *one = cbx_values_one(arena, &v);
        if (v.kind == CBX_V_LIST) {
            one = cbx_values_each(
                arena, cbx_values_join(arena, cbx_values_members(arena, one), &cbx_values_unknown));
        } else if (v.kind == CBX_V_MAP) {
            v.number = 1;
            one = cbx_values_one(arena, &v);
        }
        out = cbx_values_join(arena, out, one);
        out = bytes ? cbx_values_join(arena, out, &cbx_values_unknown) : out;
    }
    return cbx_values_some(out);
}

const struct cbx_values *cbx_values_members(struct cbx_arena *arena,
                                            const struct cbx_values *values)
{
    const struct cbx_values *out = &cbx_values_nothing;
    for (uint32_t i = 0; i < values->count; i++) {
        const struct cbx_value *v = values->items[i];
        bool container = v->kind == CBX_V_LIST || v->kind == CBX_V_MAP;
        if (!container) {
            out = cbx_values_join(arena, out, &cbx_values_unknown);
        }
        for (uint32_t m = 0; container && m < v->count && m < 64; m++) {
            out = cbx_values_join(arena, out, v->members[m]);
        }
    }
    return cbx_values_some(out);
}

/* --- text ------------------------------------------------------------------------------------- */

static const struct cbx_str no_text;

struct cbx_str cbx_fold_concat(struct cbx_arena *arena, struct cbx_str a, struct cbx_str b)
{
    if (a.p == NULL || b.p == NULL ||
        a.len + b.len > CBX_FOLD_MAX_BYTES) { /* what holds something unknown is unknown */
        return no_text;
    }
    char *p = cbx_arena_alloc(arena, a.len + b.len + 1);
    if (p == NULL) {
        return no_text;
    }
    if (a.len > 0) { /* an empty slice may have no address */
        memcpy(p, a.p, a.len);
    }
    if (b.len > 0) {
        memcpy(p + a.len, b.p, b.len);
    }
    return (struct cbx_str){ .p = p, .len = a.len + b.len };
}

struct cbx_str cbx_fold_reverse(struct cbx_arena *arena, struct cbx_str text)
{
    char *p = text.len <= CBX_FOLD_MAX_BYTES && cbx_str_is_ascii(text)
                  ? cbx_arena_alloc(arena, text.len + 1)
                  : NULL;
    for (size_t i = 0; p != NULL && i < text.len; i++) {
        p[i] = text.p[text.len - 1 - i];
    }
    return (struct cbx_str){ .p = p, .len = p != NULL ? text.len : 0 };
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r') || (c >= 0x1c && c <= 0x1f);
}

struct cbx_str cbx_fold_trim(struct cbx_str text)
{
    while (text.len > 0 && is_space(text.p[0])) {
        text = cbx_str_sub(text, 1, text.len);
    }
    while (text.len > 0 && is_space(text.p[text.len - 1])) {
        text.len--;
    }
    bool edges = text.len > 0 &&
                 ((unsigned char)text.p[0] >= 0x80 || (unsigned char)text.p[text.len - 1] >= 0x80);
    return edges ? no_text : text; /* there are more spaces in Unicode */
}

static int base64_digit(unsigned char c)
{
    return c >= 'A' && c <= 'Z'   ? c - 'A'
           : c >= 'a' && c <= 'z' ? c - 'a' + 26
           : c >= '0' && c <= '9' ? c - '0' + 52
           : c == '+' || c == '-' ? 62
           : c == '/' || c == '_' ? 63
                                  : -1;
}

struct cbx_str cbx_fold_base64(struct cbx_arena *arena, struct cbx_str text)
{
    char *p = text.len <= CBX_FOLD_MAX_BYTES ? cbx_arena_alloc(arena, text.len + 1) : NULL;
    size_t n = 0;
    uint32_t bits = 0;
    int have = 0;
    bool ended = false;
    for (size_t i = 0; p != NULL && i < text.len; i++) {
        int digit = base64_digit((unsigned char)text.p[i]);
        ended |= text.p[i] == '=';
        if (is_space(text.p[i]) || text.p[i] == '=') {
            continue;
        }
        if (digit < 0 || ended) {
            return no_text; /* some pass over it, some stop */
        }
        bits = bits << 6 | (uint32_t)digit;
        have += 6;
        if (have >= 8) {
            have -= 8;
            p[n++] = (char)(bits >> have & 0xFF);
        }
    }
    return (struct cbx_str){ .p = p, .len = n };
}

static int hex_digit(unsigned char c)
{
    return c >= '0' && c <= '9'                 ? c - '0'
           : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10
                                                : -1;
}

struct cbx_str cbx_fold_hex(struct cbx_arena *arena, struct cbx_str text)
{
    char *p = text.len <= CBX_FOLD_MAX_BYTES ? cbx_arena_alloc(arena, text.len + 1) : NULL;
    size_t n = 0;
    int high = -1;
    for (size_t i = 0; p != NULL && i < text.len; i++) {
        int digit = hex_digit((unsigned char)text.p[i]);
        if (digit < 0 && is_space(text.p[i])) {
            continue;
        }
        if (digit < 0) {
            return no_text; /* some stop there, some refuse it */
        }
        if (high < 0) {
            high = digit;
        } else {
            p[n++] = (char)(high << 4 | digit);
            high = -1;
        }
    }
    return (struct cbx_str){ .p = p, .len = n };
}

struct cbx_str cbx_fold_rot13(struct cbx_arena *arena, struct cbx_str text)
{
    struct cbx_str copy = text.len <= CBX_FOLD_MAX_BYTES ? cbx_arena_copy(arena, text) : no_text;
    for (size_t i = 0; copy.p != NULL && i < copy.len; i++) {
        char c = copy.p[i], base = c >= 'a' && c <= 'z' ? 'a' : c >= 'A' && c <= 'Z' ? 'A' : 0;
        ((char *)(uintptr_t)copy.p)[i] = base ? (char)(base + (c - base + 13) % 26) : c;
    }
    return copy;
}

struct cbx_str cbx_fold_case(struct cbx_arena *arena, struct cbx_str text, bool upper)
{
    struct cbx_str copy = text.len <= CBX_FOLD_MAX_BYTES && cbx_str_is_ascii(text)
                              ? cbx_arena_copy(arena, text)
                              : no_text;
    for (size_t i = 0; copy.p != NULL && i < copy.len; i++) {
        char c = copy.p[i];
        ((char *)(uintptr_t)copy.p)[i] = upper && c >= 'a' && c <= 'z'    ? (char)(c - 32)
                                         : !upper && c >= 'A' && c <= 'Z' ? (char)(c + 32)
                                                                          : c;
    }
    return copy;
}

struct cbx_str cbx_fold_replace(struct cbx_arena *arena, struct cbx_str text, struct cbx_str from,
                                struct cbx_str to)
{
    if (from.len == 0) {
        return text;
    }
    struct cbx_str out = CBX_STR("");
    for (size_t at = 0; out.p != NULL;) {
        const char *hit =
            at < text.len ? memmem(text.p + at, text.len - at, from.p, from.len) : NULL;
        size_t end = hit != NULL ? (size_t)(hit - text.p) : text.len;
        out = cbx_fold_concat(arena, out, cbx_str_sub(text, at, end));
        if (hit == NULL || out.p == NULL) {
            break;
        }
        out = cbx_fold_concat(arena, out, to);
        at = end + from.len;
    }
    return out;
}

struct cbx_str cbx_fold_replace_first(struct cbx_arena *arena, struct cbx_str text,
                                      struct cbx_str from, struct cbx_str to)
{
    const char *hit =
        text.len > 0 && from.len > 0 ? memmem(text.p, text.len, from.p, from.len) : NULL;
    if (hit == NULL) {
        return from.len > 0 ? text : cbx_fold_concat(arena, to, text);
    }
    size_t at = (size_t)(hit - text.p);
    return cbx_fold_concat(arena, cbx_fold_concat(arena, cbx_str_sub(text, 0, at), to),
                           cbx_str_sub(text, at + from.len, text.len));
}

struct cbx_str cbx_fold_codepoint(struct cbx_arena *arena, int64_t code)
{
    utf8proc_uint8_t bytes[4];
    if (code < 0 || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) {
        return no_text;
    }
    utf8proc_ssize_t n = utf8proc_encode_char((utf8proc_int32_t)code, bytes);
    return cbx_arena_copy(arena, (struct cbx_str){ .p = (const char *)bytes, .len = (size_t)n });
}

bool cbx_fold_integer(struct cbx_str text, int64_t *out)
{
    char digits[72];
    size_t n = 0;
    for (size_t i = 0; i < text.len && n + 1 < sizeof(digits); i++) {
        if (text.p[i] != '_') {
            digits[n++] = text.p[i];
        }
    }
    digits[n] = '\0';
    char prefix = n > 2 && digits[0] == '0' ? (char)(digits[1] | 32) : 0;
    int base = prefix == 'x' ? 16 : prefix == 'o' ? 8 : prefix == 'b' ? 2 : 10;
    char *end;
    errno = 0;
    int64_t value = strtoll(base == 10 ? digits : digits + 2, &end, base);
    if (n == 0 || n + 1 == sizeof(digits) || *end != '\0' || errno != 0) {
        return false;
    }
    *out = value;
    return true;
}

struct cbx_str cbx_fold_nfkc(struct cbx_arena *arena, struct cbx_str name)
{
    bool ascii = true;
    for (size_t i = 0; i < name.len; i++) {
        ascii &= (unsigned char)name.p[i] < 0x80;
    }
    if (ascii) {
        return name;
    }
    utf8proc_uint8_t *out = NULL;
    utf8proc_ssize_t n = utf8proc_map((const utf8proc_uint8_t *)name.p, (utf8proc_ssize_t)name.len,
                                      &out, UTF8PROC_STABLE | UTF8PROC_COMPAT | UTF8PROC_COMPOSE);
    struct cbx_str folded =
        n > 0 ? cbx_arena_copy(arena, (struct cbx_str){ .p = (char *)out, .len = (size_t)n })
              : name;
    free(out);
    return folded.p != NULL ? folded : name;
}

/* Up to `digits` hex digits; -1 when there is none. */
static int64_t take_hex(struct cbx_str text, size_t *i, int digits)
{
    int64_t value = -1;
    for (int d = 0; d < digits && *i < text.len; d++) {
        int digit = hex_digit((unsigned char)text.p[*i]);
        if (digit < 0) {
            break;
        }
        value = (value < 0 ? 0 : value) * 16 + digit;
        (*i)++;
    }
    return value;
}

static int64_t take_escape(struct cbx_str text, size_t *i, bool python)
{
    static const char from[] = "ntrabfv0\\'\"`", to[] = "\n\t\r\a\b\f\v\0\\'\"`";
    char c = text.p[(*i)++];
    if ((c == 'U' || c == 'a') && !python) {
        return c;
    }
    if (c == 'x' || c == 'U' || (c == 'u' && !(*i < text.len && text.p[*i] == '{'))) {
        return take_hex(text, i, c == 'x' ? 2 : c == 'u' ? 4 : 8);
    }
    if (c == 'u') {
        (*i)++;
        int64_t value = take_hex(text, i, 6);
        *i += *i < text.len && text.p[*i] == '}';
        return value;
    }
    if (c >= '0' && c <= '7') {
        int64_t value = c - '0';
        for (int d = 0; d < 2 && *i < text.len && text.p[*i] >= '0' && text.p[*i] <= '7'; d++) {
            value = value * 8 + (text.p[(*i)++] - '0');
        }
        return value;
    }
    const char *known = memchr(from, c, sizeof(from) - 1);
    return known != NULL ? to[known - from] : c == '\n' ? -2 : (unsigned char)c;
}

struct cbx_str cbx_fold_unescape(struct cbx_arena *arena, struct cbx_str text, bool python)
{
    if (text.len == 0 || memchr(text.p, '\\', text.len) == NULL) {
        return text;
    }
    char *p = text.len <= CBX_FOLD_MAX_BYTES * 16 ? cbx_arena_alloc(arena, text.len + 5) : NULL;
    size_t n = 0;
    for (size_t i = 0; p != NULL && i < text.len;) {
        if (text.p[i] != '\\' || i + 1 >= text.len) {
            p[n++] = text.p[i++];
            continue;
        }
        i++;
        if (python && text.p[i] == 'N' && i + 1 < text.len && text.p[i + 1] == '{') {
            return no_text;
        }
        int64_t code = take_escape(text, &i, python);
        if (code == -2) {
            continue;
        }
        utf8proc_uint8_t bytes[4];
        bool valid = code >= 0 && code <= 0x10FFFF && !(code >= 0xD800 && code <= 0xDFFF);
        utf8proc_ssize_t len = valid ? utf8proc_encode_char((utf8proc_int32_t)code, bytes) : 0;
        memcpy(p + n, bytes, (size_t)len);
        n += (size_t)len;
    }
    return (struct cbx_str){ .p = p, .len = n };
}
