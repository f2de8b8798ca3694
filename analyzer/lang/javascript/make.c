/* SPDX-License-Identifier: MIT
 * Results of callables of the library in JavaScript: modules, texts, paths, containers. */
#include "analyzer/lang/javascript/internal.h"

#include "analyzer/facts/places.h"

static const struct cbx_values *from_codes(struct cbx_walk *js, const struct cbx_js_call_site *site,
                                           struct cbx_scope *scope)
{
    struct cbx_str out = CBX_STR("");
    struct cbx_node *first = cbx_child_at(site->list, site->skip);
    bool spread = cbx_js_kind(first) == JS_spread_element;
    const struct cbx_values *list = spread ? cbx_js_eval(js, cbx_child_at(first, 0), scope) : NULL;
    uint32_t count =
        spread
            ? (list->count == 1 && list->items[0]->kind == CBX_V_LIST ? list->items[0]->count : 0)
            : cbx_js_argument_count(site);
    for (uint32_t i = 0; i < count && i < 4096 && out.p != NULL; i++) {
        bool given = true;
        int64_t code;
        const struct cbx_values *value =
            spread ? list->items[0]->members[i] : cbx_js_argument(js, site, i, scope, &given);
        if (!given) {
            break;
        }
        bool fits = cbx_values_is_number(value, &code) && code >= 0 &&
                    code <= 0xFFFF; /* fromCharCode wraps larger codes */
        out = fits ? cbx_fold_concat(js->arena, out, cbx_fold_codepoint(js->arena, code))
                   : (struct cbx_str){ 0 };
    }
    return out.len > 0 ? cbx_values_text(js->arena, out) : &cbx_values_unknown;
}

static struct cbx_str unpercent(struct cbx_walk *js, struct cbx_str text)
{
    struct cbx_str out = CBX_STR("");
    for (size_t at = 0; at < text.len && out.p != NULL;) {
        const char *percent = memchr(text.p + at, '%', text.len - at);
        size_t end = percent != NULL ? (size_t)(percent - text.p) : text.len;
        out = cbx_fold_concat(js->arena, out, cbx_str_sub(text, at, end));
        if (percent == NULL) {
            break;
        }
        out = out.p != NULL
                  ? cbx_fold_concat(js->arena, out,
                                    cbx_fold_hex(js->arena, cbx_str_sub(text, end + 1, end + 3)))
                  : out;
        at = end + 3;
    }
    return out;
}

/* Returns true for encodings that keep the bytes of an ASCII text. */
bool cbx_js_keeps_ascii(struct cbx_str encoding)
{
    return cbx_str_is(encoding, "utf8") || cbx_str_is(encoding, "utf-8") ||
           cbx_str_is(encoding, "ascii") || cbx_str_is(encoding, "latin1") ||
           cbx_str_is(encoding, "binary");
}

/* Reads Buffer.from('..', 'base64'), Buffer.from([..]); the content is the result of toString(). */
static const struct cbx_values *
read_buffer(struct cbx_walk *js, const struct cbx_js_call_site *site, struct cbx_scope *scope)
{
    bool given;
    struct cbx_str text, encoding = CBX_STR("utf8");
    const struct cbx_values *first = cbx_js_argument(js, site, 0, scope, &given);
    if (first->count == 1 && first->items[0]->kind == CBX_V_LIST) {
        struct cbx_str out = CBX_STR("");
        int64_t code;
        for (uint32_t i = 0; i < first->items[0]->count && out.p != NULL; i++) {
            bool fits = cbx_values_is_number(first->items[0]->members[i], &code) && code >= 0 &&
                        code < 0x80;
            out = fits ? cbx_fold_concat(js->arena, out, cbx_fold_codepoint(js->arena, code))
                       : (struct cbx_str){ 0 };
        }
        return cbx_values_bytes(js->arena, out);
    }
    if (!cbx_values_is_text(first, &text)) {
        return &cbx_values_unknown;
    }
    const struct cbx_values *second = cbx_js_argument(js, site, 1, scope, &given);
    if (given && !cbx_values_is_text(second, &encoding)) {
        return &cbx_values_unknown;
    }
    encoding = cbx_fold_case(js->arena, encoding, false);
    if (cbx_str_starts(encoding, CBX_STR("base64"))) {
        return cbx_values_bytes(js->arena, cbx_fold_base64(js->arena, text));
    }
    if (cbx_str_is(encoding, "hex")) {
        return cbx_values_bytes(js->arena, cbx_fold_hex(js->arena, text));
    }
    return cbx_js_keeps_ascii(encoding) && cbx_str_is_ascii(text)
               ? cbx_values_bytes(js->arena, text)
               : &cbx_values_unknown;
}

/* Returns the module for each possible name. */
static const struct cbx_values *require_any(struct cbx_walk *js, const struct cbx_values *names)
{
    const struct cbx_values *out = &cbx_values_nothing;
    for (uint32_t i = 0; i < names->count; i++) {
        const struct cbx_value *name = names->items[i];
        bool text = name->kind == CBX_V_TEXT ||
                    (name->kind == CBX_V_UNKNOWN && cbx_str_starts(name->text, CBX_STR("./")));
        out = cbx_values_join(js->arena, out,
                              text ? cbx_js_load(js, cbx_js_module(name->text))
                                   : &cbx_values_unknown);
    }
    return out->count > 0 ? out : &cbx_values_unknown;
}

static const struct cbx_values *
list_arguments(struct cbx_walk *js, const struct cbx_js_call_site *site, struct cbx_scope *scope)
{
    uint32_t count = cbx_js_argument_count(site);
    const struct cbx_values **members =
        count <= CBX_MEMBERS_MAX ? cbx_arena_array(js->arena, count + 1u, sizeof(*members)) : NULL;
    bool given;
    for (uint32_t i = 0; members != NULL && i < count; i++) {
        members[i] = cbx_js_argument(js, site, i, scope, &given);
    }
    return cbx_values_list(js->arena, members, count);
}

/* Returns a list of any number of pairs [key, member]. */
const struct cbx_values *cbx_js_entries(struct cbx_walk *js, const struct cbx_values *member)
{
    const struct cbx_values **pair = cbx_arena_array(js->arena, 2, sizeof(*pair));
    if (pair != NULL) {
        pair[0] = &cbx_values_unknown;
        pair[1] = member;
    }
    return cbx_values_each(js->arena, cbx_values_list(js->arena, pair, 2));
}

static const struct cbx_values *join_path(struct cbx_walk *js, const struct cbx_js_call_site *site,
                                          struct cbx_scope *scope)
{
    struct cbx_str out = CBX_STR(""), part;
    uint32_t gaps = 0;
    bool given;
    for (uint32_t i = 0, count = cbx_js_argument_count(site); i < count && out.p != NULL; i++) {
        part = cbx_js_piece(cbx_js_argument(js, site, i, scope, &given), &gaps);
        bool slash = out.len > 0 && out.p[out.len - 1] != '/' && part.len > 0 && part.p[0] != '/';
        out = slash ? cbx_fold_concat(js->arena, out, CBX_STR("/")) : out;
        out = cbx_fold_concat(js->arena, out, part);
    }
    bool exact = gaps == 0 && out.p != NULL && cbx_places_is_plain(out);
    return exact || gaps != 0 ? cbx_values_built(js->arena, out, gaps)
                              : cbx_values_likely(js->arena, out);
}

/* Returns path.resolve(a, b): the path is absolute, so it is not constant. */
static const struct cbx_values *
resolve_path(struct cbx_walk *js, const struct cbx_js_call_site *site, struct cbx_scope *scope)
{
    struct cbx_str out = CBX_STR("."), part;
    uint32_t gaps = CBX_UNKNOWN_BUILT;
    bool given;
    for (uint32_t i = 0, count = cbx_js_argument_count(site); i < count && out.p != NULL; i++) {
        part = cbx_js_piece(cbx_js_argument(js, site, i, scope, &given), &gaps);
        bool restarts = part.len > 0 && (!cbx_places_is_relative(part) || part.p[0] == '*');
        out = restarts ? part : CBX_JOIN(js->arena, out, CBX_STR("/"), part);
    }
    return cbx_values_built(js->arena, out, gaps);
}

static const struct cbx_values *parent_of(struct cbx_walk *js, const struct cbx_values *path)
{
    uint32_t gaps = 0;
    struct cbx_str parent = cbx_places_parent(js->arena, cbx_js_piece(path, &gaps));
    return parent.len == 0 ? cbx_values_marked(js->arena, gaps & ~(uint32_t)CBX_UNKNOWN_HERE)
           : gaps != 0     ? cbx_values_built(js->arena, parent, gaps)
                           : cbx_values_likely(js->arena, parent);
}

/* Returns the prefix of a number with this base for cbx_fold_integer; "" = none. */
static const char *prefix_of(int64_t base)
{
    switch (base) {
    case 16:
        return "0x";
    case 8:
        return "0o";
    case 2:
        return "0b";
    default:
        return "";
    }
}

static const struct cbx_values *parse_int(struct cbx_walk *js, const struct cbx_js_call_site *site,
                                          struct cbx_scope *scope)
{
    struct cbx_str text;
    bool given;
    int64_t base = 10, number;
    char digits[32];
    const struct cbx_values *first = cbx_js_argument(js, site, 0, scope, &given),
                            *second = cbx_js_argument(js, site, 1, scope, &given);
    if (!cbx_values_is_text(first, &text)) {
        return first;
    }
    if (given && !cbx_values_is_number(second, &base)) {
        return &cbx_values_unknown;
    }
    if (text.len + 3 > sizeof(digits)) {
        return &cbx_values_unknown;
    }
    const char *prefix = prefix_of(base);
    bool has = text.len > 1 && text.p[0] == '0' && text.p[1] == 'x';
    snprintf(digits, sizeof(digits), "%s%.*s", has ? "" : prefix, CBX_STR_ARG(text));
    bool known = (base == 10 || prefix[0] != '\0') && cbx_fold_integer(cbx_str_of(digits), &number);
    return known ? cbx_values_number(js->arena, cbx_arena_number(js->arena, number), number)
                 : &cbx_values_unknown;
}

/* Returns "anything" with the secret flags of a value; nothing if it has none. */
static const struct cbx_values *secrets_in(struct cbx_walk *js, const struct cbx_values *values)
{
    uint32_t flags = cbx_js_secrets(js, values, false);
    return flags != 0 ? cbx_values_marked(js->arena, flags) : &cbx_values_nothing;
}

/* Returns any member; of objects whose members are not known as secret as the object. */
static const struct cbx_values *members_of(struct cbx_walk *js, const struct cbx_values *object)
{
    const struct cbx_values *out = cbx_values_members(js->arena, object);
    for (uint32_t i = 0; i < object->count; i++) {
        const struct cbx_value *v = object->items[i];
        bool known = v->kind == CBX_V_LIST || (v->kind == CBX_V_MAP && v->keys != NULL);
        if (!known) {
            out = cbx_values_join(js->arena, out, secrets_in(js, cbx_values_one(js->arena, v)));
        }
    }
    return out;
}

static const struct cbx_values *named_object(struct cbx_walk *js, struct cbx_str name)
{
    return cbx_values_join(js->arena, cbx_values_name(js->arena, name), &cbx_values_unknown);
}

static uint32_t secrets_of_arguments(struct cbx_walk *js, const struct cbx_js_call_site *site,
                                     struct cbx_scope *scope)
{
    enum { ARGUMENTS_MAX = 8 };
    uint32_t flags = 0, count = cbx_js_argument_count(site);
    bool given;
    for (uint32_t i = 0; i < count && i < ARGUMENTS_MAX; i++) {
        flags |= cbx_js_secrets(js, cbx_js_argument(js, site, i, scope, &given), false);
    }
    return flags;
}

/* Returns the secrets of a value: one mapping's by their keys, which may be among others. */
static const struct cbx_values *secret_members(struct cbx_walk *js, const struct cbx_values *values)
{
    enum { MEMBERS_MAX = 64 };
    const struct cbx_value *map = values->count == 1 ? values->items[0] : NULL;
    const struct cbx_values *all = secrets_in(js, values), *out = &cbx_values_nothing;
    if (all->count == 0 || map == NULL || map->kind != CBX_V_MAP || map->keys == NULL ||
        map->count > MEMBERS_MAX) {
        return all;
    }
    for (uint32_t i = 0; i < map->count; i++) {
        const struct cbx_values **member = cbx_arena_array(js->arena, 1, sizeof(*member));
        const struct cbx_values *one = secrets_in(js, map->members[i]);
        if (one->count == 0 || member == NULL) {
            continue;
        }
        *member = one;
        struct cbx_value part = {
            .kind = CBX_V_MAP, .number = 1, .keys = &map->keys[i], .members = member, .count = 1
        };
        out = cbx_values_join(js->arena, out, cbx_values_one(js->arena, &part));
    }
    return out;
}

/* Returns the first argument with the secrets of the others: Object.assign({}, process.env). */
static const struct cbx_values *same(struct cbx_walk *js, const struct cbx_values *first,
                                     const struct cbx_js_call_site *site, struct cbx_scope *scope)
{
    enum { ARGUMENTS_MAX = 8 };
    const struct cbx_values *out = first;
    uint32_t count = cbx_js_argument_count(site);
    bool given;
    for (uint32_t i = 1; i < count && i < ARGUMENTS_MAX; i++) {
        out = cbx_values_join(js->arena, out,
                              secret_members(js, cbx_js_argument(js, site, i, scope, &given)));
    }
    return out;
}

/* Returns the result of a callable that makes a text or a number; `first` is its first argument. */
static const struct cbx_values *make_constant(struct cbx_walk *js, enum cbx_js_call meaning,
                                              const struct cbx_values *first,
                                              const struct cbx_js_call_site *site,
                                              struct cbx_scope *scope)
{
    struct cbx_str text;
    bool is_text = cbx_values_is_text(first, &text);
    switch (meaning) {
    case JS_CALL_FROM_CODES:
        return from_codes(js, site, scope);
    case JS_CALL_BASE64:
        return is_text ? cbx_values_text(js->arena, cbx_fold_base64(js->arena, text))
                       : &cbx_values_unknown;
    case JS_CALL_BUFFER:
        return cbx_values_join(js->arena, read_buffer(js, site, scope), secrets_in(js, first));
    case JS_CALL_PERCENT:
        return is_text ? cbx_values_text(js->arena, unpercent(js, text)) : &cbx_values_unknown;
    case JS_CALL_INT:
        return parse_int(js, site, scope);
    case JS_CALL_CARRIES:
        return cbx_values_marked(js->arena, secrets_of_arguments(js, site, scope));
    default:
        return &cbx_values_unknown;
    }
}

/* Returns the result of a callable that makes a path. */
static const struct cbx_values *make_path(struct cbx_walk *js, enum cbx_js_call meaning,
                                          const struct cbx_values *first,
                                          const struct cbx_js_call_site *site,
                                          struct cbx_scope *scope)
{
    struct cbx_str text;
    switch (meaning) {
    case JS_CALL_JOIN_PATH:
        return join_path(js, site, scope);
    case JS_CALL_HOME:
        return cbx_values_likely(js->arena, CBX_STR("~"));
    case JS_CALL_HERE:
        return cbx_values_likely(js->arena, CBX_STR("."));
    case JS_CALL_RESOLVE_PATH:
        return resolve_path(js, site, scope);
    case JS_CALL_NORMAL:
        return cbx_values_is_text(first, &text) && !cbx_places_is_plain(text)
                   ? cbx_values_likely(js->arena, text)
                   : first;
    case JS_CALL_PARENT:
        return parent_of(js, first);
    default:
        return make_constant(js, meaning, first, site, scope);
    }
}

/* Returns the result of a callable that makes a container, or reads one. */
static const struct cbx_values *make_of_members(struct cbx_walk *js, enum cbx_js_call meaning,
                                                const struct cbx_values *first,
                                                const struct cbx_js_call_site *site,
                                                struct cbx_scope *scope)
{
    struct cbx_str text;
    bool given;
    switch (meaning) {
    case JS_CALL_GET:
        return cbx_values_is_text(cbx_js_argument(js, site, 1, scope, &given), &text)
                   ? cbx_js_read(js, first, text)
                   : &cbx_values_unknown;
    case JS_CALL_MEMBERS:
        return cbx_values_members(js->arena, first);
    case JS_CALL_VALUES:
        return cbx_values_each(js->arena, members_of(js, first));
    case JS_CALL_ENTRIES:
        return cbx_js_entries(js, members_of(js, first));
    case JS_CALL_LIST:
        return list_arguments(js, site, scope);
    case JS_CALL_NAMES:
        return cbx_values_each(
            js->arena,
            cbx_values_marked(js->arena, CBX_UNKNOWN_NAMES | cbx_js_secrets(js, first, false)));
    default:
        return make_path(js, meaning, first, site, scope);
    }
}

/* Returns the object that a callable without a meaning of its own belongs to: lodash for _(x) and
 * _.chain(x).map(f), the request for superagent.post(u).set(h); empty if there is none. */
static struct cbx_str object_of(struct cbx_str name)
{
    struct cbx_str library = cbx_js_wrapper(name);
    if (library.len > 0) {
        return library;
    }
    const char *dot = name.len > 0 ? memrchr(name.p, '.', name.len) : NULL;
    struct cbx_str object =
        dot != NULL ? cbx_str_sub(name, 0, (size_t)(dot - name.p)) : CBX_STR("");
    return cbx_js_call_meaning(object) == JS_CALL_OBJECT ? object : CBX_STR("");
}

const struct cbx_values *cbx_js_make(struct cbx_walk *js, struct cbx_str name,
                                     const struct cbx_js_call_site *site, struct cbx_scope *scope)
{
    enum cbx_js_call meaning = cbx_js_call_meaning(name);
    if (meaning == JS_CALL_NONE) {
        struct cbx_str object = object_of(name);
        return object.len > 0 ? named_object(js, object) : &cbx_values_unknown;
    }
    if (meaning == JS_CALL_SKIP) {
        return &cbx_values_unknown;
    }
    bool given;
    const struct cbx_values *first = cbx_js_argument(js, site, 0, scope, &given);
    switch (meaning) {
    case JS_CALL_REQUIRE:
        return require_any(js, first);
    case JS_CALL_MAKE_REQUIRE:
        return cbx_values_name(js->arena, CBX_STR("require"));
    case JS_CALL_SAME:
        return same(js, first, site, scope);
    case JS_CALL_OBJECT:
        return named_object(js, name);
    default:
        return make_of_members(js, meaning, first, site, scope);
    }
}
