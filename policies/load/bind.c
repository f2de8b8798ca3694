/* SPDX-License-Identifier: MIT
 * A tree of text bound to a draft by the key table. Every error has the place, the found and the
 * allowed value. */
#include "policies/load/keys.h"

#include "policies/base/time/date.h"
#include "policies/egress.h"

#include <errno.h>
#include <stdlib.h>

struct binder {
    struct cbx_arena *arena;
    struct cbx_err *err;
};

static int bind_section(struct binder *b, const struct cbx_section *section,
                        const struct cbx_yaml *node, void *into);

static int fail_memory(struct binder *b, const struct cbx_yaml *node)
{
    return cbx_fail_at(b->err, CBX_ETOOBIG, node->line, node->column,
                       "the policy takes too much memory");
}

static int fail_value(struct binder *b, const struct cbx_key *key, const struct cbx_yaml *node,
                      const char *allowed)
{
    static const char *const kinds[] = { "nothing", "a text", "a list", "a mapping" };
    if (node->kind == CBX_YAML_SCALAR) {
        return cbx_fail_at(b->err, CBX_EPOLICY, node->line, node->column,
                           "key '%s' is '%.*s', allowed is %s", key->name,
                           CBX_STR_SHOWN(node->text), allowed);
    }
    return cbx_fail_at(b->err, CBX_EPOLICY, node->line, node->column,
                       "key '%s' is %s, allowed is %s", key->name, kinds[node->kind], allowed);
}

/* Writes "deny, ask, warn or allow", after the nearest name if one is near. */
static int fail_names(struct binder *b, const struct cbx_key *key, const struct cbx_yaml *node,
                      const char *const *names)
{
    char allowed[256] = "";
    size_t used = 0;
    const char *nearest = NULL;
    size_t best = 3;
    for (size_t i = 0; names[i] != NULL && used < sizeof(allowed); i++) {
        const char *between = i == 0 ? "" : names[i + 1] == NULL ? " or " : ", ";
        int n = snprintf(allowed + used, sizeof(allowed) - used, "%s%s", between, names[i]);
        used += n > 0 ? (size_t)n : 0;
        size_t distance = node->kind == CBX_YAML_SCALAR
                              ? cbx_str_distance(node->text, cbx_str_of(names[i]), 2)
                              : 3;
        if (distance < best) {
            best = distance;
            nearest = names[i];
        }
    }
    bool all = used < sizeof(allowed);
    if (nearest != NULL && all) {
        return cbx_fail_at(b->err, CBX_EPOLICY, node->line, node->column,
                           "key '%s' is '%.*s', did you mean '%s' (allowed: %s)", key->name,
                           CBX_STR_SHOWN(node->text), nearest, allowed);
    }
    if (nearest != NULL) {
        return cbx_fail_at(b->err, CBX_EPOLICY, node->line, node->column,
                           "key '%s' is '%.*s', did you mean '%s'", key->name,
                           CBX_STR_SHOWN(node->text), nearest);
    }
    return fail_value(b, key, node,
                      all ? allowed : "one of the names that 'codebox policy reference' lists");
}

static int read_name(struct binder *b, const struct cbx_key *key, const struct cbx_yaml *node,
                     const char *const *names, size_t *index)
{
    for (size_t i = 0; names[i] != NULL && node->kind == CBX_YAML_SCALAR; i++) {
        if (cbx_str_is(node->text, names[i])) {
            *index = i;
            return 0;
        }
    }
    return fail_names(b, key, node, names);
}

static int check_bounds(struct binder *b, const struct cbx_key *key, const struct cbx_yaml *node,
                        int64_t value, const char *unit)
{
    if (value >= key->lo && value <= key->hi) {
        return 0;
    }
    if (key->lo == key->hi) {
        return cbx_fail_at(b->err, CBX_EPOLICY, node->line, node->column,
                           "key '%s' is %lld%s, allowed is %lld", key->name, (long long)value, unit,
                           (long long)key->lo);
    }
    return cbx_fail_at(b->err, CBX_EPOLICY, node->line, node->column,
                       "key '%s' is %lld%s, allowed %lld..%lld", key->name, (long long)value, unit,
                       (long long)key->lo, (long long)key->hi);
}

static int read_text(struct binder *b, const struct cbx_key *key, const struct cbx_yaml *node,
                     struct cbx_str *out)
{
    if (node->kind != CBX_YAML_SCALAR) {
        return fail_value(b, key, node, "a text");
    }
    bool list = key->type == CBX_KEY_STRS || key->type == CBX_KEY_ENUMS;
    size_t hi = list ? 65536 : (size_t)key->hi;
    if ((node->text.len == 0 && !list) || node->text.len > hi) {
        return cbx_fail_at(b->err, CBX_EPOLICY, node->line, node->column,
                           "key '%s' has %zu bytes, allowed 1..%zu", key->name, node->text.len, hi);
    }
    if (key->type == CBX_KEY_NAME) {
        for (size_t i = 0; i < node->text.len; i++) {
            char c = node->text.p[i];
            bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
            if (!word && c != '.' && c != '-' && c != '_') {
                return fail_value(b, key, node, "letters, digits, '.', '-' and '_'");
            }
        }
    }
    *out = node->text;
    return 0;
}

/* A single text is read as a list of one. */
static int read_list(struct binder *b, const struct cbx_key *key, const struct cbx_yaml *node,
                     struct cbx_strs *out)
{
    bool one = node->kind == CBX_YAML_SCALAR;
    if (node->kind == CBX_YAML_MAPPING) {
        return fail_value(b, key, node, "a list of texts");
    }
    uint32_t count = one ? 1 : node->count;
    int failed = check_bounds(b, key, node, count, " items");
    struct cbx_str *items = cbx_arena_array(b->arena, count + 1u, sizeof(*items));
    if (failed) {
        return failed;
    }
    if (items == NULL) {
        return fail_memory(b, node);
    }
    const struct cbx_yaml *item = one ? node : node->first;
    for (uint32_t i = 0; i < count; i++, item = item->next) {
        failed = read_text(b, key, item, &items[i]);
        size_t index;
        if (!failed && key->type == CBX_KEY_ENUMS) {
            failed = read_name(b, key, item, key->more, &index);
        }
        if (failed) {
            return failed;
        }
    }
    *out = (struct cbx_strs){ .items = items, .count = count };
    return 0;
}

static int read_bits(struct binder *b, const struct cbx_key *key, const struct cbx_yaml *node,
                     const char *const *names, uint64_t *out)
{
    bool one = node->kind == CBX_YAML_SCALAR;
    if (node->kind == CBX_YAML_MAPPING || (!one && node->count == 0)) {
        return fail_names(b, key, node, names);
    }
    uint64_t bits = 0;
    for (const struct cbx_yaml *item = one ? node : node->first; item != NULL;
         item = one ? NULL : item->next) {
        size_t index;
        int failed = read_name(b, key, item, names, &index);
        if (failed) {
            return failed;
        }
        bits |= (uint64_t)1 << index;
    }
    *out = bits;
    return 0;
}

/* A number with at most three decimals and a unit: value is in thousandths of the unit's factor. */
struct unit {
    const char *name;
    int64_t factor;
};
static const struct unit durations[] = {
    { "ms", 1 }, { "s", 1000 }, { "m", 60000 }, { "h", 3600000 }, { 0 }
};
static const struct unit sizes[] = {
    { "", 1 }, { "B", 1 }, { "KiB", 1024 }, { "MiB", 1048576 }, { "GiB", 1073741824 }, { 0 }
};
static const struct unit processors[] = { { "", 1000 }, { 0 } };
static const struct unit plain[] = { { "", 1 }, { 0 } };

static bool parse_number(struct cbx_str text, const struct unit *units, int64_t *out)
{
    int64_t whole = 0, thousandths = 0;
    size_t i = 0;
    for (; i < text.len && text.p[i] >= '0' && text.p[i] <= '9' && i < 15; i++) {
        whole = whole * 10 + (text.p[i] - '0');
    }
    if (i == 0) {
        return false;
    }
    if (i < text.len && text.p[i] == '.') {
        int64_t place = 100;
        size_t from = ++i;
        for (; i < text.len && text.p[i] >= '0' && text.p[i] <= '9' && place > 0;
             i++, place /= 10) {
            thousandths += (text.p[i] - '0') * place;
        }
        if (i == from) {
            return false;
        }
    }
    struct cbx_str unit = cbx_str_sub(text, i, text.len);
    for (; units->name != NULL; units++) {
        int64_t scaled, part = thousandths * units->factor;
        if (cbx_str_is(unit, units->name)) {
            if (part % 1000 != 0 || __builtin_mul_overflow(whole, units->factor, &scaled) ||
                __builtin_add_overflow(scaled, part / 1000, &scaled)) {
                return false;
            }
            *out = scaled;
            return true;
        }
    }
    return false;
}

static int read_number(struct binder *b, const struct cbx_key *key, const struct cbx_yaml *node,
                       const struct unit *units, const char *allowed, int64_t *out)
{
    int64_t value;
    if (node->kind != CBX_YAML_SCALAR || !parse_number(node->text, units, &value)) {
        return fail_value(b, key, node, allowed);
    }
    static const char *const bounds_unit[] = { [CBX_KEY_DURATION] = " ms",
                                               [CBX_KEY_BYTES] = " bytes",
                                               [CBX_KEY_CPUS] = " thousandths",
                                               [CBX_KEY_INT] = "" };
    int failed = check_bounds(b, key, node, value, bounds_unit[key->type]);
    if (!failed) {
        *out = value;
    }
    return failed;
}

static int read_date(struct binder *b, const struct cbx_key *key, const struct cbx_yaml *node,
                     int64_t *out)
{
    if (node->kind == CBX_YAML_SCALAR && cbx_date_parse(node->text, out)) {
        return 0;
    }
    return fail_value(b, key, node, "a date, YYYY-MM-DD");
}

static int read_enum(struct binder *b, const struct cbx_key *key, const struct cbx_yaml *node,
                     void *member)
{
    size_t index = 0;
    int failed = read_name(b, key, node, key->more, &index);
    if (failed) {
        return failed;
    }
    if (key->size == sizeof(bool)) {
        *(bool *)member = index != 0;
    } else {
        *(unsigned *)member = (unsigned)index;
    }
    return 0;
}

static int read_isolation(struct binder *b, const struct cbx_key *key, const struct cbx_yaml *node,
                          int64_t *out)
{
    size_t index = 0;
    int failed = read_name(b, key, node, cbx_isolation_names, &index);
    if (!failed) {
        *out = cbx_isolation_of(node->text);
    }
    return failed;
}

static int read_bool(struct binder *b, const struct cbx_key *key, const struct cbx_yaml *node,
                     bool *out)
{
    static const char *const names[] = { "false", "true", NULL };
    size_t index = 0;
    int failed = read_name(b, key, node, names, &index);
    if (!failed) {
        *out = index == 1;
    }
    return failed;
}

static int read_presence(struct binder *b, const struct cbx_key *key, const struct cbx_yaml *node,
                         enum cbx_presence *out)
{
    bool value = false;
    int failed = read_bool(b, key, node, &value);
    if (!failed) {
        *out = value ? CBX_PRESENT : CBX_ABSENT;
    }
    return failed;
}

static int read_minimum(struct binder *b, const struct cbx_key *key, const struct cbx_yaml *node,
                        void *member)
{
    if (node->kind != CBX_YAML_MAPPING) {
        return fail_value(b, key, node, "a mapping of package to version");
    }
    int failed = check_bounds(b, key, node, node->count, " items");
    struct cbx_minimum *items = cbx_arena_array(b->arena, node->count + 1u, sizeof(*items));
    if (failed) {
        return failed;
    }
    if (items == NULL) {
        return fail_memory(b, node);
    }
    size_t count = 0;
    for (const struct cbx_yaml *entry = node->first; entry != NULL; entry = entry->next) {
        if (entry->kind != CBX_YAML_SCALAR || entry->text.len == 0 || entry->text.len > 64) {
            return fail_value(b, key, entry, "a version such as 1.22.2");
        }
        items[count++] = (struct cbx_minimum){ .name = entry->key, .version = entry->text };
    }
    *(struct cbx_minimum **)member = items;
    *(size_t *)(void *)((char *)member + sizeof(void *)) = count;
    return 0;
}

/* An absent list of permitted packages counts as an empty one: a policy that extends this one
 * cannot add the list. */
static void imply_allow(const struct cbx_draft_packages *packages, struct cbx_draft_head *head)
{
    const struct cbx_section *section = &cbx_section_packages_of;
    bool allowlist =
        packages->v.mode == CBX_PACKAGES_ALLOWLIST && cbx_draft_has(section, head, "mode");
    for (size_t i = 0; allowlist && i < section->key_count; i++) {
        if (strcmp(section->keys[i].name, "allow") == 0) {
            head->given |= (uint64_t)1 << i;
        }
    }
}

/* Sets the defaults of a section. */
static void set_defaults(const struct cbx_section *section, void *into)
{
    if (section == &cbx_section_where) {
        ((struct cbx_where *)into)->unknown_holds = true;
    } else if (section == &cbx_section_rule) {
        struct cbx_draft_rule *rule = into;
        rule->v.languages = (1u << CBX_LANGUAGES) - 1;
        rule->v.severity = CBX_HIGH;
    }
}

/* Reads a list of sections. A text in a list of calls or secrets is the entry's name alone. */
static int read_sections(struct binder *b, const struct cbx_key *key, const struct cbx_yaml *node,
                         void *member)
{
    const struct cbx_section *section = key->more;
    if (node->kind != CBX_YAML_SEQUENCE) {
        return fail_value(b, key, node, "a list");
    }
    int failed = check_bounds(b, key, node, node->count, " items");
    char *items = cbx_arena_array(b->arena, node->count + 1u, section->size);
    if (failed) {
        return failed;
    }
    if (items == NULL) {
        return fail_memory(b, node);
    }
    size_t count = 0;
    for (const struct cbx_yaml *item = node->first; item != NULL; item = item->next, count++) {
        void *into = items + count * section->size;
        set_defaults(section, into);
        if (section == &cbx_section_exception) {
            ((struct cbx_exception *)into)->line = item->line;
            ((struct cbx_exception *)into)->column = item->column;
        }
        if (section == &cbx_section_call && item->kind == CBX_YAML_SCALAR) {
            failed = read_text(b, &section->keys[0], item, &((struct cbx_call *)into)->name);
        } else if (section == &cbx_section_secret && item->kind == CBX_YAML_SCALAR) {
            failed = read_text(b, &section->keys[0], item, &((struct cbx_secret *)into)->name);
        } else {
            failed = bind_section(b, section, item, into);
        }
        if (failed) {
            return failed;
        }
    }
    *(void **)member = items;
    *(size_t *)(void *)((char *)member + sizeof(void *)) = count;
    return 0;
}

/* Checks every pattern, so that an error has its place. */
static int check_hosts(struct binder *b, const struct cbx_yaml *hosts)
{
    bool one = hosts->kind == CBX_YAML_SCALAR;
    int failed = 0;
    for (const struct cbx_yaml *item = one ? hosts : hosts->first; item != NULL && !failed;
         item = one ? NULL : item->next) {
        struct cbx_egress_host host;
        struct cbx_err inner = { 0 };
        if (cbx_egress_parse(item->text, &host, &inner) != 0) {
            failed = cbx_fail_at(b->err, CBX_EPOLICY, item->line, item->column, "%s", inner.text);
        }
    }
    return failed;
}

static int read_network(struct binder *b, const struct cbx_key *key, const struct cbx_yaml *node,
                        struct cbx_draft_network *out)
{
    if (node->kind == CBX_YAML_SCALAR) {
        static const char *const names[] = { "none", "packages-only", NULL };
        size_t index = 0;
        int failed = read_name(b, key, node, names, &index);
        out->mode = index == 1 ? CBX_NETWORK_PACKAGES : CBX_NETWORK_NONE;
        out->head.line = node->line;
        out->head.column = node->column;
        return failed;
    }
    int failed = bind_section(b, key->more, node, out);
    for (const struct cbx_yaml *entry = node->first; entry != NULL && !failed;
         entry = entry->next) {
        failed = cbx_str_is(entry->key, "egress") ? check_hosts(b, entry) : 0;
    }
    if (!failed && out->egress.count > 0 && out->mode != CBX_NETWORK_EGRESS &&
        cbx_draft_has(key->more, &out->head, "mode")) {
        failed = cbx_fail_at(b->err, CBX_EPOLICY, node->line, node->column,
                             "network mode %s grants no hosts; leave 'mode' or 'egress' out",
                             cbx_network_names[out->mode]);
    }
    if (!failed && out->egress.count > 0) {
        out->mode = CBX_NETWORK_EGRESS;
    }
    return failed;
}

static const char *const *fact_names(void)
{
    static const char *const names[] = {
#define CBX_FACT(id, name, meaning) name,
#include "policies/facts.def"
#undef CBX_FACT
        NULL
    };
    return names;
}

static const char *const *capability_names(void)
{
    static const char *const names[] = {
#define CBX_CAPABILITY(id, name, meaning) name,
#include "policies/guard/capabilities.def"
#undef CBX_CAPABILITY
        NULL
    };
    return names;
}

/* A rule about JavaScript also holds for TypeScript. */
static uint32_t with_likes(uint32_t languages)
{
    uint32_t out = 0;
    for (unsigned i = 0; i < CBX_LANGUAGES; i++) {
        out |= (languages >> i & 1) != 0 ? cbx_language_likes((enum cbx_language)i) : 0;
    }
    return out;
}

static int bind_key(struct binder *b, const struct cbx_key *key, const struct cbx_yaml *node,
                    void *member)
{
    uint64_t bits = 0;
    int failed;
    switch (key->type) {
    case CBX_KEY_STR:
    case CBX_KEY_NAME:
        return read_text(b, key, node, member);
    case CBX_KEY_STRS:
    case CBX_KEY_ENUMS:
        return read_list(b, key, node, member);
    case CBX_KEY_BOOL:
        return read_bool(b, key, node, member);
    case CBX_KEY_INT:
        return read_number(b, key, node, plain, "a whole number", member);
    case CBX_KEY_DURATION:
        return read_number(b, key, node, durations, "a duration such as 500ms, 60s, 5m or 1h",
                           member);
    case CBX_KEY_BYTES:
        return read_number(b, key, node, sizes, "a size such as 65536, 64KiB, 512MiB or 2GiB",
                           member);
    case CBX_KEY_CPUS:
        return read_number(b, key, node, processors, "a number of processors such as 1.5", member);
    case CBX_KEY_ENUM:
        return read_enum(b, key, node, member);
    case CBX_KEY_ISOLATION:
        return read_isolation(b, key, node, member);
    case CBX_KEY_PRESENCE:
        return read_presence(b, key, node, member);
    case CBX_KEY_LANGUAGES:
        failed = read_bits(b, key, node, cbx_language_names, &bits);
        *(uint32_t *)member = key->more != NULL ? with_likes((uint32_t)bits) : (uint32_t)bits;
        return failed;
    case CBX_KEY_FACTS:
        return read_bits(b, key, node, fact_names(), member);
    case CBX_KEY_CAPABLE:
        return read_bits(b, key, node, capability_names(), member);
    case CBX_KEY_DATE:
        return read_date(b, key, node, member);
    case CBX_KEY_SECTION:
        return bind_section(b, key->more, node, member);
    case CBX_KEY_LIST:
        return read_sections(b, key, node, member);
    case CBX_KEY_MINIMUM:
        return read_minimum(b, key, node, member);
    case CBX_KEY_NETWORK:
        return read_network(b, key, node, member);
    }
    return cbx_fail(b->err, CBX_EPOLICY, "no reader for key '%s'", key->name);
}

static int fail_unknown(struct binder *b, const struct cbx_section *section,
                        const struct cbx_yaml *entry)
{
    const char *nearest = NULL;
    size_t best = 4;
    for (size_t i = 0; i < section->key_count; i++) {
        size_t distance = cbx_str_distance(entry->key, cbx_str_of(section->keys[i].name), 3);
        if (distance < best) {
            best = distance;
            nearest = section->keys[i].name;
        }
    }
    if (nearest != NULL) {
        return cbx_fail_at(b->err, CBX_EPOLICY, entry->key_line, entry->key_column,
                           "unknown key '%.*s', did you mean '%s'", CBX_STR_SHOWN(entry->key),
                           nearest);
    }
    char known[320] = "";
    size_t used = 0;
    for (size_t i = 0; i < section->key_count && used < sizeof(known); i++) {
        int n = snprintf(known + used, sizeof(known) - used, "%s%s", i > 0 ? ", " : "",
                         section->keys[i].name);
        used += n > 0 ? (size_t)n : 0;
    }
    return cbx_fail_at(b->err, CBX_EPOLICY, entry->key_line, entry->key_column,
                       "unknown key '%.*s', allowed here are: %s", CBX_STR_SHOWN(entry->key),
                       known);
}

static int bind_section(struct binder *b, const struct cbx_section *section,
                        const struct cbx_yaml *node, void *into)
{
    if (node->kind != CBX_YAML_MAPPING) {
        return cbx_fail_at(b->err, CBX_EPOLICY, node->line, node->column,
                           "'%s' is %s, allowed is a mapping of keys", section->name,
                           node->kind == CBX_YAML_SCALAR ? "a text" : "a list");
    }
    struct cbx_draft_head head = { .line = node->line, .column = node->column };
    for (const struct cbx_yaml *entry = node->first; entry != NULL; entry = entry->next) {
        size_t i = 0;
        while (i < section->key_count && !cbx_str_is(entry->key, section->keys[i].name)) {
            i++;
        }
        if (i == section->key_count) {
            return fail_unknown(b, section, entry);
        }
        int failed = bind_key(b, &section->keys[i], entry, (char *)into + section->keys[i].offset);
        if (failed) {
            return failed;
        }
        head.given |= (uint64_t)1 << i;
    }
    if (section == &cbx_section_packages_of) {
        imply_allow(into, &head);
    }
    if (section->head) {
        struct cbx_draft_head *own = into;
        head.override = own->override;
        *own = head;
    }
    return 0;
}

int cbx_draft_bind(const struct cbx_yaml *root, struct cbx_arena *arena, struct cbx_draft *out,
                   struct cbx_err *err)
{
    struct binder b = { .arena = arena, .err = err };
    int failed = bind_section(&b, &cbx_section_policy, root, out);
    if (failed) {
        return failed;
    }
    return cbx_draft_check(out, err);
}
