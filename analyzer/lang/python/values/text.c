/* SPDX-License-Identifier: MIT
 * Constant texts in Python: their methods and encodings. */
#include "analyzer/lang/python/internal.h"

enum { JOINED_MAX = 8 };

static const struct cbx_values *text_or_unknown(struct cbx_walk *py, struct cbx_str text)
{
    return cbx_values_text(py->arena, text);
}

static const struct cbx_values *list_of_texts(struct cbx_walk *py, const struct cbx_str *parts,
                                              uint32_t count)
{
    const struct cbx_values **members = cbx_arena_array(py->arena, count + 1u, sizeof(*members));
    for (uint32_t i = 0; members != NULL && i < count; i++) {
        members[i] = cbx_values_text(py->arena, parts[i]);
    }
    return cbx_values_list(py->arena, members, count);
}

static const struct cbx_values *join_members(struct cbx_walk *py, struct cbx_str separator,
                                             const struct cbx_values *list)
{
    struct cbx_str out = CBX_STR("");
    uint32_t gaps = 0;
    if (list->count > 1 && list->count <= JOINED_MAX) { /* join the texts one by one */
        const struct cbx_values *any = &cbx_values_nothing;
        for (uint32_t i = 0; i < list->count; i++) {
            const struct cbx_values *one = cbx_values_one(py->arena, list->items[i]);
            any = cbx_values_join(py->arena, any, join_members(py, separator, one));
        }
        return any;
    }
    const struct cbx_value *sequence = cbx_py_sequence(py, list);
    if (sequence == NULL) {
        cbx_values_piece(list, &gaps);
        return cbx_values_built(py->arena, CBX_STR("*"), gaps | cbx_py_flags(list));
    }
    for (uint32_t i = 0; i < sequence->count && out.p != NULL; i++) {
        out = i > 0 ? cbx_fold_concat(py->arena, out, separator) : out;
        out = cbx_fold_concat(py->arena, out, cbx_values_piece(sequence->members[i], &gaps));
    }
    return cbx_values_built(py->arena, out, gaps);
}

/* --- encodings -------------------------------------------------------------------------------- */

/* Returns true for encodings that are supersets of ASCII. */
static bool keeps_ascii(struct cbx_str encoding)
{
    static const char *const encodings[] = { "utf-8",      "utf8",   "utf_8",
                                             "u8",         "ascii",  "us-ascii",
                                             "latin-1",    "latin1", "latin_1",
                                             "iso-8859-1", "cp1252", "raw_unicode_escape" };
    for (size_t i = 0; i < sizeof(encodings) / sizeof(encodings[0]); i++) {
        if (cbx_str_is(encoding, encodings[i])) {
            return true;
        }
    }
    return false;
}

const struct cbx_values *cbx_py_codec(struct cbx_walk *py, struct cbx_str text, struct cbx_str name)
{
    name = cbx_fold_case(py->arena, name, false);
    if (cbx_str_starts(name, CBX_STR("rot"))) {
        return text_or_unknown(py, cbx_fold_rot13(py->arena, text));
    }
    if (cbx_str_starts(name, CBX_STR("hex"))) {
        return text_or_unknown(py, cbx_fold_hex(py->arena, text));
    }
    if (cbx_str_starts(name, CBX_STR("base64"))) {
        return text_or_unknown(py, cbx_fold_base64(py->arena, text));
    }
    if (cbx_str_starts(name, CBX_STR("unicode_escape")) ||
        cbx_str_starts(name, CBX_STR("unicode-escape"))) {
        return text_or_unknown(py, cbx_fold_unescape(py->arena, text, true));
    }
    return keeps_ascii(name) && cbx_str_is_ascii(text) ? text_or_unknown(py, text)
                                                       : &cbx_values_unknown;
}

static const struct cbx_values *recode(struct cbx_walk *py, struct cbx_str text, bool decodes,
                                       struct cbx_actuals *actuals)
{
    struct cbx_str encoding = CBX_STR("utf-8");
    if (cbx_actual_find(actuals, 0, "encoding") != NULL &&
        !cbx_values_is_text(cbx_actual_values(py, actuals, 0, "encoding"), &encoding)) {
        return &cbx_values_unknown;
    }
    if (decodes && cbx_str_is(encoding, "utf-8") && cbx_str_is_utf8(text, NULL)) {
        return text_or_unknown(py, text);
    }
    const struct cbx_values *out = cbx_py_codec(py, text, encoding);
    return !decodes && cbx_values_is_text(out, &text) ? cbx_values_bytes(py->arena, text) : out;
}

const struct cbx_values *cbx_py_from_numbers(struct cbx_walk *py, const struct cbx_values *values)
{
    const struct cbx_value *list = cbx_py_sequence(py, values);
    if (list == NULL || list->count == 0 || list->count > CBX_MEMBERS_MAX) {
        return values;
    }
    char *p = cbx_arena_alloc(py->arena, list->count + 1u);
    for (uint32_t i = 0; i < list->count; i++) {
        int64_t code;
        if (p == NULL || !cbx_values_is_number(list->members[i], &code) || code < 0 || code > 255) {
            return values;
        }
        p[i] = (char)code;
    }
    return cbx_values_bytes(py->arena, (struct cbx_str){ .p = p, .len = list->count });
}

/* --- methods ---------------------------------------------------------------------------------- */

static const struct cbx_values *split_text(struct cbx_walk *py, struct cbx_str text,
                                           struct cbx_str separator, bool given, int64_t most,
                                           bool right)
{
    struct cbx_str parts[256];
    uint32_t count = 0;
    size_t at = 0;
    if (given && separator.len == 0) {
        return &cbx_values_unknown;
    }
    while (at <= text.len) {
        while (!given && at < text.len && memchr(" \t\n\r\f\v", text.p[at], 6) != NULL) {
            at++;
        }
        if (!given && at == text.len) {
            break;
        }
        size_t end = at;
        while (end < text.len &&
               (given ? !cbx_str_starts(cbx_str_sub(text, end, text.len), separator)
                      : memchr(" \t\n\r\f\v", text.p[end], 6) == NULL)) {
            end++;
        }
        if (count == 256) {
            return cbx_values_each(py->arena, &cbx_values_unknown);
        }
        parts[count++] = cbx_str_sub(text, at, end);
        at = end + (given ? separator.len : 1);
        if (given && end == text.len) {
            break;
        }
    }
    /* with maxsplit the rest is one part, at the end or (rsplit) at the beginning */
    uint32_t first = 0;
    if (most >= 0 && count > (uint64_t)most + 1) {
        uint32_t kept = (uint32_t)most;
        first = right ? count - kept - 1 : 0;
        struct cbx_str *rest = &parts[right ? first : kept];
        const char *from = right ? text.p : rest->p,
                   *to = right ? rest->p + rest->len : text.p + text.len;
        *rest = (struct cbx_str){ .p = from, .len = (size_t)(to - from) };
        count = kept + 1;
    }
    return list_of_texts(py, parts + first, count);
}

/* Evaluates split, rsplit, splitlines. */
static const struct cbx_values *split_call(struct cbx_walk *py, struct cbx_str text, bool right,
                                           struct cbx_actuals *actuals)
{
    struct cbx_str separator = { 0 };
    int64_t most = -1;
    bool given = cbx_actual_find(actuals, 0, "sep") != NULL,
         limited = cbx_actual_find(actuals, 1, "maxsplit") != NULL;
    if ((given && !cbx_values_is_text(cbx_actual_values(py, actuals, 0, "sep"), &separator)) ||
        (limited && !cbx_values_is_number(cbx_actual_values(py, actuals, 1, "maxsplit"), &most)) ||
        (limited && !given)) {
        return cbx_values_each(py->arena, &cbx_values_unknown);
    }
    return split_text(py, text, separator, given, most, right);
}

static struct cbx_str strip_text(struct cbx_str text, struct cbx_str set, bool left, bool right)
{
    while (left && text.len > 0 && set.len > 0 && memchr(set.p, text.p[0], set.len) != NULL) {
        text = cbx_str_sub(text, 1, text.len);
    }
    while (right && text.len > 0 && set.len > 0 &&
           memchr(set.p, text.p[text.len - 1], set.len) != NULL) {
        text.len--;
    }
    return text;
}

/* Evaluates s.translate({ord: new}), or with str.maketrans(from, to), which gives the same
 * mapping. */
static const struct cbx_values *translate(struct cbx_walk *py, struct cbx_str text,
                                          const struct cbx_values *table)
{
    struct cbx_str out = CBX_STR("");
    const struct cbx_value *map = cbx_values_container(table, CBX_V_MAP);
    for (uint32_t i = 0; map != NULL && i < map->count; i++) {
        if (map->keys[i].len > 0 && map->keys[i].p[0] == '\xff') {
            return &cbx_values_unknown;
        }
    }
    if (map == NULL || map->count == 0 || !cbx_str_is_ascii(text) || text.len > 4096) {
        return &cbx_values_unknown;
    }
    for (size_t i = 0; i < text.len && out.p != NULL; i++) {
        char code[8];
        struct cbx_str part = cbx_str_sub(text, i, i + 1);
        snprintf(code, sizeof(code), "%d", text.p[i]);
        const struct cbx_values *to =
            cbx_values_member(py->arena, table, cbx_arena_copy(py->arena, cbx_str_of(code)));
        int64_t number;
        if (cbx_values_is_number(to, &number)) {
            part = cbx_fold_codepoint(py->arena, number);
        } else if (to != &cbx_values_unknown && !cbx_values_is_text(to, &part)) {
            part = CBX_STR(""); /* None removes the character */
        }
        out = cbx_fold_concat(py->arena, out, part);
    }
    return text_or_unknown(py, out);
}

static const struct cbx_values *make_table(struct cbx_walk *py, struct cbx_str from,
                                           struct cbx_str to)
{
    if (from.len != to.len || from.len > 256 || !cbx_str_is_ascii(from) || !cbx_str_is_ascii(to)) {
        return &cbx_values_unknown;
    }
    struct cbx_str *keys = cbx_arena_array(py->arena, from.len + 1, sizeof(*keys));
    const struct cbx_values **members = cbx_arena_array(py->arena, from.len + 1, sizeof(*members));
    for (size_t i = 0; keys != NULL && members != NULL && i < from.len; i++) {
        keys[i] = cbx_arena_number(py->arena, from.p[i]);
        members[i] = cbx_values_text(py->arena, cbx_str_sub(to, i, i + 1));
    }
    struct cbx_value map = {
        .kind = CBX_V_MAP, .keys = keys, .members = members, .count = (uint32_t)from.len
    };
    return keys != NULL && members != NULL ? cbx_values_one(py->arena, &map) : &cbx_values_unknown;
}

enum method {
    JOIN,
    FORMAT,
    DECODE,
    ENCODE,
    STRIP,
    LSTRIP,
    RSTRIP,
    LOWER,
    UPPER,
    REPLACE,
    ADD,
    MOD,
    SPLIT,
    RSPLIT,
    SWAPCASE,
    CAPITALIZE,
    REMOVEPREFIX,
    REMOVESUFFIX,
    TRANSLATE,
    MAKETRANS,
    HEX,
    GETITEM,
    ITSELF
};

static const struct {
    const char *name;
    enum method method;
} methods[] = {
    { "join", JOIN },
    { "format", FORMAT },
    { "decode", DECODE },
    { "encode", ENCODE },
    { "strip", STRIP },
    { "lstrip", LSTRIP },
    { "rstrip", RSTRIP },
    { "lower", LOWER },
    { "casefold", LOWER },
    { "upper", UPPER },
    { "replace", REPLACE },
    { "__add__", ADD },
    { "__mod__", MOD },
    { "split", SPLIT },
    { "rsplit", RSPLIT },
    { "splitlines", SPLIT },
    { "swapcase", SWAPCASE },
    { "capitalize", CAPITALIZE },
    { "title", CAPITALIZE },
    { "removeprefix", REMOVEPREFIX },
    { "removesuffix", REMOVESUFFIX },
    { "translate", TRANSLATE },
    { "maketrans", MAKETRANS },
    { "hex", HEX },
    { "__getitem__", GETITEM },
    { "__str__", ITSELF },
    { "__format__", ITSELF },
    { "tobytes", ITSELF },
    { "__iter__", ITSELF },
};

static struct cbx_str swap_case(struct cbx_walk *py, struct cbx_str text, bool capitalize)
{
    struct cbx_str copy =
        cbx_str_is_ascii(text) ? cbx_arena_copy(py->arena, text) : (struct cbx_str){ 0 };
    for (size_t i = 0; copy.p != NULL && i < copy.len; i++) {
        char *c = (char *)(uintptr_t)copy.p + i;
        bool upper = *c >= 'A' && *c <= 'Z', lower = *c >= 'a' && *c <= 'z';
        bool flip = capitalize ? (i == 0 ? lower : upper) : upper || lower;
        *c = flip ? (char)(*c ^ 32) : *c;
    }
    return copy;
}

static struct cbx_str remove_affix(struct cbx_str text, struct cbx_str affix, bool prefix)
{
    bool has = prefix ? cbx_str_starts(text, affix) : cbx_str_ends(text, affix);
    return !has     ? text
           : prefix ? cbx_str_sub(text, affix.len, text.len)
                    : cbx_str_sub(text, 0, text.len - affix.len);
}

static const struct cbx_values *strip_or_unknown(struct cbx_walk *py, struct cbx_str text,
                                                 enum method method, bool given, bool known,
                                                 struct cbx_str set)
{
    if (!given && method == STRIP) {
        return text_or_unknown(py, cbx_fold_trim(text));
    }
    set = given ? set : CBX_STR(" \t\n\r\f\v");
    return (given && !known) || !cbx_str_is_ascii(text)
               ? &cbx_values_unknown
               : text_or_unknown(py, strip_text(text, set, method != RSTRIP, method != LSTRIP));
}

static const struct cbx_values *to_hex(struct cbx_walk *py, struct cbx_str text)
{
    char *p =
        text.len <= CBX_FOLD_MAX_BYTES / 2 ? cbx_arena_alloc(py->arena, text.len * 2 + 1) : NULL;
    for (size_t i = 0; p != NULL && i < text.len; i++) {
        snprintf(p + i * 2, 3, "%02x", (unsigned char)text.p[i]);
    }
    return text_or_unknown(py, (struct cbx_str){ .p = p, .len = text.len * 2 });
}

static const struct cbx_values *call_method(struct cbx_walk *py, struct cbx_str self,
                                            enum method method, struct cbx_actuals *actuals)
{
    struct cbx_str a = { 0 }, b = { 0 };
    const struct cbx_values *first = cbx_actual_values(py, actuals, 0, "sep"),
                            *second = cbx_actual_values(py, actuals, 1, NULL);
    bool given = cbx_actual_find(actuals, 0, "sep") != NULL,
         is_text = given && cbx_values_is_text(first, &a);
    switch (method) {
    case JOIN:
        return join_members(py, self, first);
    case FORMAT:
        return cbx_py_format(py, self, actuals);
    case DECODE:
    case ENCODE:
        return recode(py, self, method == DECODE, actuals);
    case STRIP:
    case LSTRIP:
    case RSTRIP:
        return strip_or_unknown(py, self, method, given, is_text, a);
    case LOWER:
    case UPPER:
        return text_or_unknown(py, cbx_fold_case(py->arena, self, method == UPPER));
    case REPLACE:
        return is_text && a.len > 0 && cbx_values_is_text(second, &b) &&
                       cbx_actual_find(actuals, 2, "count") == NULL
                   ? text_or_unknown(py, cbx_fold_replace(py->arena, self, a, b))
                   : &cbx_values_unknown;
    case ADD:
        return is_text ? text_or_unknown(py, cbx_fold_concat(py->arena, self, a))
                       : &cbx_values_unknown;
    case MOD:
        return cbx_py_percent(py, self, first);
    case SPLIT:
    case RSPLIT:
        return split_call(py, self, method == RSPLIT, actuals);
    case SWAPCASE:
    case CAPITALIZE:
        return text_or_unknown(py, swap_case(py, self, method == CAPITALIZE));
    case REMOVEPREFIX:
    case REMOVESUFFIX:
        return is_text ? text_or_unknown(py, remove_affix(self, a, method == REMOVEPREFIX))
                       : &cbx_values_unknown;
    case TRANSLATE:
        return translate(py, self, first);
    case MAKETRANS:
        return is_text && cbx_values_is_text(second, &b) ? make_table(py, a, b) : first;
    case HEX:
        return to_hex(py, self);
    case GETITEM:
        return cbx_py_item(py, text_or_unknown(py, self), first, py->module);
    case ITSELF:
        return text_or_unknown(py, self);
    }
    return &cbx_values_unknown;
}

const struct cbx_values *cbx_py_text_method(struct cbx_walk *py, struct cbx_str self,
                                            struct cbx_str method, struct cbx_actuals *actuals)
{
    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
        if (cbx_str_is(method, methods[i].name)) {
            return call_method(py, self, methods[i].method, actuals);
        }
    }
    return NULL;
}
