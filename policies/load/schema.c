/* SPDX-License-Identifier: MIT
 * A JSON Schema (draft 2020-12) of the policy language, from the key table: editors complete and
 * check policies with it. The loader may refuse a file that the schema accepts (a rule that is
 * laxer than the one it extends); the schema accepts every file that the loader accepts. */
#include "policies/load/keys.h"
#include "policies/texts/explain.h"

static json_t *names_schema(const char *const *names)
{
    json_t *all = json_array();
    for (size_t i = 0; names[i] != NULL; i++) {
        json_array_append_new(all, json_string(names[i]));
    }
    return json_pack("{s:s,s:o}", "type", "string", "enum", all);
}

static json_t *fact_schema(void)
{
    json_t *all = json_array();
    for (int i = 0; i < CBX_FACTS; i++) {
        json_array_append_new(all, json_string(cbx_fact_name((enum cbx_fact_id)i)));
    }
    return json_pack("{s:s,s:o}", "type", "string", "enum", all);
}

static json_t *capability_schema(void)
{
    json_t *all = json_array();
    for (int i = 0; i < CBX_CAPABILITIES; i++) {
        json_array_append_new(all, json_string(cbx_capability_name((enum cbx_capability)i)));
    }
    return json_pack("{s:s,s:o}", "type", "string", "enum", all);
}

/* Accepts one item, or a list of items. */
static json_t *one_or_list(json_t *item, int64_t lo, int64_t hi)
{
    json_t *copy = json_deep_copy(item);
    return json_pack("{s:[o,{s:s,s:o,s:I,s:I}]}", "anyOf", item, "type", "array", "items", copy,
                     "minItems", (json_int_t)lo, "maxItems", (json_int_t)hi);
}

static json_t *text_schema(const char *pattern)
{
    return json_pack("{s:s,s:s}", "type", "string", "pattern", pattern);
}

static json_t *reference_to(const struct cbx_section *section)
{
    char path[64];
    snprintf(path, sizeof(path), "#/$defs/%s", section->name);
    return json_pack("{s:s}", "$ref", path);
}

static json_t *list_schema(const struct cbx_key *key)
{
    const struct cbx_section *section = key->more;
    json_t *item = reference_to(section);
    /* or its name alone */
    if (section == &cbx_section_call || section == &cbx_section_secret) {
        item = json_pack("{s:[o,{s:s}]}", "anyOf", item, "type", "string");
    }
    return json_pack("{s:s,s:o,s:I,s:I}", "type", "array", "items", item, "minItems",
                     (json_int_t)key->lo, "maxItems", (json_int_t)key->hi);
}

static json_t *key_schema(const struct cbx_key *key)
{
    switch (key->type) {
    case CBX_KEY_STR:
        return json_pack("{s:[s,s],s:i,s:I}", "type", "string", "number", "minLength", 1,
                         "maxLength", (json_int_t)key->hi);
    case CBX_KEY_NAME:
        return json_pack("{s:s,s:s,s:I}", "type", "string", "pattern", "^[A-Za-z0-9._-]+$",
                         "maxLength", (json_int_t)key->hi);
    case CBX_KEY_STRS: /* YAML reads some texts as numbers or booleans */
        return one_or_list(json_pack("{s:[s,s,s]}", "type", "string", "number", "boolean"), key->lo,
                           key->hi);
    case CBX_KEY_ENUMS:
        return one_or_list(names_schema(key->more), key->lo, key->hi);
    case CBX_KEY_BOOL:
    case CBX_KEY_PRESENCE:
        return json_pack("{s:s}", "type", "boolean");
    case CBX_KEY_INT:
        return json_pack("{s:s,s:I,s:I}", "type", "integer", "minimum", (json_int_t)key->lo,
                         "maximum", (json_int_t)key->hi);
    case CBX_KEY_ENUM:
        return names_schema(key->more);
    case CBX_KEY_ISOLATION:
        return names_schema(cbx_isolation_names);
    case CBX_KEY_LANGUAGES:
        return one_or_list(names_schema(cbx_language_names), 1, key->hi);
    case CBX_KEY_FACTS:
        return one_or_list(fact_schema(), 1, key->hi);
    case CBX_KEY_CAPABLE:
        return one_or_list(capability_schema(), 1, key->hi);
    case CBX_KEY_DURATION:
        return text_schema("^[0-9]+(\\.[0-9]{1,3})?(ms|s|m|h)$");
    case CBX_KEY_BYTES:
        return json_pack("{s:[{s:s},o]}", "anyOf", "type", "integer",
                         text_schema("^[0-9]+(\\.[0-9]{1,3})?(B|KiB|MiB|GiB)?$"));
    case CBX_KEY_CPUS:
        return json_pack("{s:s}", "type", "number");
    case CBX_KEY_DATE:
        return text_schema("^[0-9]{4}-[0-9]{2}-[0-9]{2}$");
    case CBX_KEY_SECTION:
        return reference_to(key->more);
    case CBX_KEY_LIST:
        return list_schema(key);
    case CBX_KEY_MINIMUM:
        return json_pack("{s:s,s:{s:[s,s]}}", "type", "object", "additionalProperties", "type",
                         "string", "number");
    case CBX_KEY_NETWORK:
        return json_pack("{s:[{s:[s,s]},o]}", "anyOf", "enum", "none", "packages-only",
                         reference_to(key->more));
    }
    return json_object();
}

static json_t *section_schema(const struct cbx_section *section)
{
    json_t *properties = json_object(), *required = json_array();
    for (size_t i = 0; i < section->key_count; i++) {
        const struct cbx_key *key = &section->keys[i];
        json_t *schema = key_schema(key);
        json_object_set_new(schema, "description", json_string(key->help));
        json_object_set_new(properties, key->name, schema);
        if (cbx_str_ends(cbx_str_of(key->help), CBX_STR("Required."))) {
            json_array_append_new(required, json_string(key->name));
        }
    }
    return json_pack("{s:s,s:o,s:o,s:b}", "type", "object", "properties", properties, "required",
                     required, "additionalProperties", 0);
}

json_t *cbx_policy_schema(void)
{
    json_t *defs = json_object();
#define CBX_SECTION(section, type, head)                                                           \
    json_object_set_new(defs, cbx_section_##section.name, section_schema(&cbx_section_##section));
#define CBX_KEY(section, name, type, member, lo, hi, more, merge, laxer, help)
#define CBX_SECTION_END(section)
#include "policies/load/keys.def"
#undef CBX_SECTION
#undef CBX_KEY
#undef CBX_SECTION_END
    json_t *schema =
        json_pack("{s:s,s:s,s:s}", "$schema", "https://json-schema.org/draft/2020-12/schema",
                  "title", "codebox policy", "$ref", "#/$defs/policy");
    json_object_set_new(schema, "$defs", defs);
    return schema;
}
