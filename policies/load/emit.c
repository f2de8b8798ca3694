/* SPDX-License-Identifier: MIT
 * Structs to JSON by the key table: the canonical form, which is the input of the policy's hash. */
#include "policies/load/keys.h"

#include "policies/base/time/date.h"

static json_t *emit_strs(const struct cbx_strs *list)
{
    json_t *array = json_array();
    for (size_t i = 0; i < list->count; i++) {
        json_array_append_new(array, json_stringn(list->items[i].p, list->items[i].len));
    }
    return array;
}

static json_t *emit_bits(uint64_t bits, const char *(*name)(unsigned))
{
    json_t *array = json_array();
    for (unsigned i = 0; i < 64; i++) {
        if ((bits >> i & 1) != 0) {
            json_array_append_new(array, json_string(name(i)));
        }
    }
    return array;
}

static const char *name_language(unsigned i)
{
    return cbx_language_name((enum cbx_language)i);
}

static const char *name_fact(unsigned i)
{
    return cbx_fact_name((enum cbx_fact_id)i);
}

static const char *name_capability(unsigned i)
{
    return cbx_capability_name((enum cbx_capability)i);
}

static json_t *emit_list(const struct cbx_section *section, const void *member)
{
    const char *items = *(const char *const *)member;
    size_t count = *(const size_t *)(const void *)((const char *)member + sizeof(void *));
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++) {
        json_array_append_new(array, cbx_section_json(section, items + i * section->size));
    }
    return array;
}

static json_t *emit_minimum(const void *member)
{
    const struct cbx_minimum *items = *(const struct cbx_minimum *const *)member;
    size_t count = *(const size_t *)(const void *)((const char *)member + sizeof(void *));
    json_t *object = json_object();
    for (size_t i = 0; i < count; i++) {
        char name[256];
        snprintf(name, sizeof(name), "%.*s", CBX_STR_ARG(items[i].name));
        json_object_set_new(object, name, json_stringn(items[i].version.p, items[i].version.len));
    }
    return object;
}

static json_t *emit_date(int64_t seconds)
{
    char text[CBX_DATE_BYTES];
    cbx_date_format(seconds, text);
    return json_string(text);
}

static json_t *emit_enum(const struct cbx_key *key, const void *member)
{
    unsigned index = key->size == sizeof(bool) ? *(const bool *)member : *(const unsigned *)member;
    return json_string(((const char *const *)key->more)[index]);
}

/* Returns NULL for an empty text or list, and for an unset presence: they are left out. */
static json_t *emit_key(const struct cbx_key *key, const void *member)
{
    const struct cbx_str *text = member;
    const enum cbx_presence *presence = member;
    switch (key->type) {
    case CBX_KEY_STR:
    case CBX_KEY_NAME:
        return text->len > 0 ? json_stringn(text->p, text->len) : NULL;
    case CBX_KEY_STRS:
    case CBX_KEY_ENUMS:
        return ((const struct cbx_strs *)member)->count > 0 ? emit_strs(member) : NULL;
    case CBX_KEY_BOOL:
        return json_boolean(*(const bool *)member);
    case CBX_KEY_INT:
    case CBX_KEY_DURATION:
    case CBX_KEY_BYTES:
    case CBX_KEY_CPUS:
        return json_integer(*(const int64_t *)member);
    case CBX_KEY_ISOLATION:
        return json_string(
            cbx_isolation_names[*(const int64_t *)member - (int64_t)CBX_ISOLATION_GVISOR]);
    case CBX_KEY_ENUM:
        return emit_enum(key, member);
    case CBX_KEY_PRESENCE:
        return *presence == CBX_PRESENCE_ANY ? NULL : json_boolean(*presence == CBX_PRESENT);
    case CBX_KEY_LANGUAGES:
        return emit_bits(*(const uint32_t *)member, name_language);
    case CBX_KEY_FACTS:
        return *(const uint64_t *)member != 0 ? emit_bits(*(const uint64_t *)member, name_fact)
                                              : NULL;
    case CBX_KEY_CAPABLE:
        return *(const uint64_t *)member != 0
                   ? emit_bits(*(const uint64_t *)member, name_capability)
                   : NULL;
    case CBX_KEY_DATE:
        return emit_date(*(const int64_t *)member);
    case CBX_KEY_SECTION:
    case CBX_KEY_NETWORK:
        return cbx_section_json(key->more, member);
    case CBX_KEY_LIST:
        return emit_list(key->more, member);
    case CBX_KEY_MINIMUM:
        return emit_minimum(member);
    }
    return NULL;
}

json_t *cbx_section_json(const struct cbx_section *section, const void *from)
{
    json_t *object = json_object();
    for (size_t i = 0; i < section->key_count; i++) {
        const struct cbx_key *key = &section->keys[i];
        /* These keys only control the merge; they are not part of the result. */
        if (strcmp(key->name, "override") == 0 || strcmp(key->name, "extends") == 0) {
            continue;
        }
        json_t *value = emit_key(key, (const char *)from + key->offset);
        if (value != NULL) {
            json_object_set_new(object, key->name, value);
        }
    }
    return object;
}
