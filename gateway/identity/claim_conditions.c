/* SPDX-License-Identifier: MIT
 * Conditions on claims. */
#include "gateway/identity/claim_conditions.h"

#include "policies/base/text/json.h"

#include <stdio.h>
#include <string.h>

/* --- reading ---------------------------------------------------------------------------------- */

static int fail_at(const struct cbx_yaml *at, struct cbx_err *err)
{
    err->line = at->line;
    err->column = at->column;
    return CBX_EINVAL;
}

static int add_value(const struct cbx_yaml *entry, const struct cbx_yaml *value,
                     struct cbx_condition *out, struct cbx_err *err)
{
    if (value->kind != CBX_YAML_SCALAR || value->text.len == 0 ||
        value->text.len > CBX_CONDITION_BYTES) {
        cbx_fail(err, CBX_EINVAL, "claim '%.*s' has a value that is no text of 1 to %d bytes",
                 CBX_STR_SHOWN(entry->key), CBX_CONDITION_BYTES);
        return fail_at(value, err);
    }
    if (out->value_count == CBX_CONDITION_VALUES) {
        cbx_fail(err, CBX_EINVAL, "claim '%.*s' has more than %d values", CBX_STR_SHOWN(entry->key),
                 CBX_CONDITION_VALUES);
        return fail_at(value, err);
    }
    snprintf(out->values[out->value_count++], CBX_CONDITION_BYTES + 1, "%.*s",
             CBX_STR_ARG(value->text));
    return 0;
}

int cbx_condition_read(const struct cbx_yaml *entry, struct cbx_condition *out, struct cbx_err *err)
{
    if (entry->key.len == 0 || entry->key.len > CBX_CONDITION_BYTES) {
        cbx_fail(err, CBX_EINVAL, "a claim has a name of 1 to %d bytes", CBX_CONDITION_BYTES);
        return fail_at(entry, err);
    }
    snprintf(out->claim, sizeof(out->claim), "%.*s", CBX_STR_ARG(entry->key));
    if (entry->kind == CBX_YAML_SCALAR) {
        return add_value(entry, entry, out, err);
    }
    if (entry->kind != CBX_YAML_SEQUENCE || entry->count == 0) {
        cbx_fail(err, CBX_EINVAL, "claim '%.*s' has no value, allowed is one, or a list of them",
                 CBX_STR_SHOWN(entry->key));
        return fail_at(entry, err);
    }
    for (const struct cbx_yaml *item = entry->first; item != NULL; item = item->next) {
        int failed = add_value(entry, item, out, err);
        if (failed) {
            return failed;
        }
    }
    return 0;
}

/* --- matching --------------------------------------------------------------------------------- */

/* Names of claims may have dots themselves, so each dot is tried; the consumed part of the path
 * is determined by the object, so no object is visited twice. */
static const json_t *find_claim(const json_t *claims, struct cbx_str path)
{
    const json_t *found = json_object_getn(claims, path.p, path.len);
    for (size_t i = 1; i + 1 < path.len && found == NULL; i++) {
        const json_t *inner = path.p[i] == '.' ? json_object_getn(claims, path.p, i) : NULL;
        if (json_is_object(inner)) {
            found = find_claim(inner, cbx_str_sub(path, i + 1, path.len));
        }
    }
    return found;
}

static bool is_one(const struct cbx_condition *condition, struct cbx_str text)
{
    for (size_t i = 0; i < condition->value_count; i++) {
        if (cbx_str_glob(cbx_str_of(condition->values[i]), text)) {
            return true;
        }
    }
    return false;
}

static bool has_one(const struct cbx_condition *condition, const json_t *value)
{
    char number[32];
    if (json_is_string(value)) {
        return is_one(condition, cbx_json_str(value));
    }
    if (json_is_boolean(value)) {
        return is_one(condition, cbx_str_of(json_is_true(value) ? "true" : "false"));
    }
    if (json_is_integer(value)) {
        snprintf(number, sizeof(number), "%lld", (long long)json_integer_value(value));
        return is_one(condition, cbx_str_of(number));
    }
    return false;
}

static bool has_word(const struct cbx_condition *condition, struct cbx_str text)
{
    size_t from = 0;
    for (size_t i = 0; i <= text.len; i++) {
        if (i < text.len && text.p[i] != ' ') {
            continue;
        }
        if (i > from && is_one(condition, cbx_str_sub(text, from, i))) {
            return true;
        }
        from = i + 1;
    }
    return false;
}

bool cbx_condition_holds(const struct cbx_condition *condition, const json_t *claims)
{
    struct cbx_str name = cbx_str_of(condition->claim);
    const json_t *value = find_claim(claims, name), *item;
    size_t i;
    if (json_is_string(value) && (cbx_str_is(name, "scope") || cbx_str_is(name, "scp"))) {
        return has_word(condition, cbx_json_str(value));
    }
    if (!json_is_array(value)) {
        return has_one(condition, value);
    }
    json_array_foreach(value, i, item)
    {
        if (has_one(condition, item)) {
            return true;
        }
    }
    return false;
}
