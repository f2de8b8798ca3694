/* SPDX-License-Identifier: MIT
 * Members whose names are values in JavaScript: keys that are not constant, names from a list of
 * all members of an object, and the paths of lodash. */
#include "analyzer/lang/javascript/internal.h"

enum { PATHS_MAX = 16 };

static void add_special(struct cbx_walk *js, enum cbx_fact_id id, struct cbx_str name,
                        const struct cbx_node *node)
{
    cbx_facts_add_special(js->facts, id, name, node->start, node->end);
}

static bool has_function(const struct cbx_values *values)
{
    for (uint32_t i = 0; i < values->count; i++) {
        const struct cbx_value *v = values->items[i];
        if (v->kind == CBX_V_FUNCTION && cbx_js_is_function(cbx_js_kind(v->node))) {
            return true;
        }
    }
    return false;
}

void cbx_js_check_computed(struct cbx_walk *js, const struct cbx_values *object,
                           const struct cbx_values *keys, struct cbx_node *node)
{
    uint32_t flags = cbx_values_flags(keys);
    bool picked = (flags & CBX_UNKNOWN_PICKED) != 0,
         named = (flags & CBX_UNKNOWN_NAMES) != 0 && has_function(object);
    if (cbx_js_holds_power(object) || picked || named) {
        const struct cbx_node *object_node = cbx_child_of(node, CBX_FIELD_object);
        struct cbx_str what = cbx_walk_text(js, object_node != NULL ? object_node : node);
        add_special(js, CBX_FACT_COMPUTED_ATTRIBUTE, cbx_str_sub(what, 0, 60), node);
    }
}

/* Checks Reflect.ownKeys(Function.prototype): a list of the names that every function has. */
static void check_list(struct cbx_walk *js, struct cbx_str name, const struct cbx_values *object,
                       struct cbx_node *call)
{
    bool functions = has_function(object);
    for (uint32_t i = 0; i < object->count; i++) {
        functions |= object->items[i]->kind == CBX_V_NAME &&
                     cbx_str_is(object->items[i]->text, "Function.prototype");
    }
    if (functions) {
        add_special(js, CBX_FACT_DUNDER_WALK, name, call);
    }
}

/* --- paths of lodash -------------------------------------------------------------------------- */

/* Returns true if a path has this part: 'a.b.constructor' has 'constructor'. */
static bool has_part(struct cbx_str path, struct cbx_str part)
{
    while (path.len > 0) {
        size_t end = 0;
        while (end < path.len && strchr(".[]'\"", path.p[end]) == NULL) {
            end++;
        }
        if (cbx_str_equal(cbx_str_sub(path, 0, end), part)) {
            return true;
        }
        path = cbx_str_sub(path, end + 1, path.len);
    }
    return false;
}

static bool any_has_part(const struct cbx_values *values, const char *part, int depth)
{
    for (uint32_t i = 0; i < values->count; i++) {
        const struct cbx_value *v = values->items[i];
        if (v->kind == CBX_V_TEXT && has_part(v->text, cbx_str_of(part))) {
            return true;
        }
        for (uint32_t k = 0; v->kind == CBX_V_LIST && depth < 2 && k < v->count && k < PATHS_MAX;
             k++) {
            if (any_has_part(v->members[k], part, depth + 1)) {
                return true;
            }
        }
    }
    return false;
}

static bool is_library(const struct cbx_values *values, int depth)
{
    for (uint32_t i = 0; i < values->count; i++) {
        const struct cbx_value *v = values->items[i];
        if (v->kind == CBX_V_NAME && cbx_js_wrapper(v->text).len > 0) {
            return true;
        }
        if (v->kind == CBX_V_LIST && depth == 0 && v->count > 0 &&
            is_library(v->members[0], depth + 1)) {
            return true;
        }
    }
    return false;
}

static void check_paths(struct cbx_walk *js, struct cbx_str library, struct cbx_str name,
                        struct cbx_node *call, const struct cbx_js_call_site *site,
                        struct cbx_scope *scope)
{
    bool given, library_given = false, template = false;
    for (uint32_t i = 0; i < cbx_js_argument_count(site) && i < PATHS_MAX; i++) {
        const struct cbx_values *values = cbx_js_argument(js, site, i, scope, &given);
        if (given && any_has_part(values, "constructor", 0)) {
            add_special(js, CBX_FACT_DUNDER_WALK, name, call);
        }
        template |= given &&any_has_part(values, "template", 0);
        library_given |= given && is_library(values, 0);
    }
    if (template && library_given) {
        struct cbx_str made = cbx_fold_concat(js->arena, library, CBX_STR(".template"));
        cbx_facts_add(js->facts, CBX_IS_REFERENCE, made, call->start, call->end);
    }
}

void cbx_js_check_keys(struct cbx_walk *js, struct cbx_str name, struct cbx_node *call,
                       const struct cbx_js_call_site *site, struct cbx_scope *scope)
{
    bool given;
    struct cbx_str library = cbx_js_wrapper(name);
    if (library.len > 0 && library.len < name.len) {
        check_paths(js, library, name, call, site, scope);
    }
    const struct cbx_values *object = cbx_js_argument(js, site, 0, scope, &given);
    switch (cbx_js_call_meaning(name)) {
    case JS_CALL_NAMES:
        check_list(js, name, object, call);
        return;
    case JS_CALL_GET: {
        const struct cbx_values *keys = cbx_js_argument(js, site, 1, scope, &given);
        struct cbx_str member;
        if (cbx_values_is_text(keys, &member) && cbx_str_is(member, "constructor")) {
            add_special(js, CBX_FACT_DUNDER_WALK, name, call);
        }
        if (given && !cbx_values_all_text(keys)) {
            cbx_js_check_computed(js, object, keys, call);
            if (has_function(object) && !cbx_str_ends(name, CBX_STR("Descriptor"))) {
                add_special(js, CBX_FACT_COMPUTED_ATTRIBUTE, name, call);
            }
        }
        return;
    }
    case JS_CALL_VALUES:
    case JS_CALL_ENTRIES:
        if (cbx_js_holds_power(object)) {
            add_special(js, CBX_FACT_COMPUTED_ATTRIBUTE, name, call);
        }
        return;
    default:
        return;
    }
}
