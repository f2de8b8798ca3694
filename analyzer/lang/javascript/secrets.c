/* SPDX-License-Identifier: MIT
 * The environment and credentials in JavaScript, and calls that send them to another machine. */
#include "analyzer/lang/javascript/internal.h"
#include "analyzer/lang/stored.h"

enum { DEPTH_MAX = 4, MEMBERS_MAX = 64 };

static uint32_t secrets_of_name(struct cbx_str name)
{
    size_t environment = cbx_js_environment(name);
    if (environment == 0) {
        return 0;
    }
    if (environment == name.len) {
        return CBX_UNKNOWN_SECRET | CBX_UNKNOWN_ENVIRONMENT;
    }
    struct cbx_str variable = cbx_str_sub(name, environment + 1, name.len);
    bool member = memchr(variable.p, '.', variable.len) != NULL; /* its length */
    return !member && cbx_is_secret_name(variable) ? CBX_UNKNOWN_SECRET : 0;
}

static uint32_t secrets_of(struct cbx_walk *js, const struct cbx_values *values, bool for_keys,
                           int depth)
{
    const uint32_t all = CBX_UNKNOWN_SECRET | CBX_UNKNOWN_ENVIRONMENT;
    uint32_t flags = 0;
    for (uint32_t i = 0; i < values->count; i++) {
        const struct cbx_value *v = values->items[i];
        bool map = v->kind == CBX_V_MAP, container = map || v->kind == CBX_V_LIST;
        for (uint32_t k = 0; container && depth < DEPTH_MAX && k < v->count && k < MEMBERS_MAX;
             k++) {
            bool key = for_keys || (map && v->keys != NULL && cbx_is_for_keys(v->keys[k]));
            flags |= secrets_of(js, v->members[k], key, depth + 1);
        }
        if (map && cbx_str_is(v->text, CBX_MAP_INSTANCE) && depth < DEPTH_MAX) {
            flags |= secrets_of(js, cbx_stored_in_self(js, v->node), for_keys, depth + 1);
        }
        uint32_t own = v->kind == CBX_V_UNKNOWN ? (uint32_t)v->number : 0;
        own |= v->kind == CBX_V_NAME ? secrets_of_name(v->text) : 0;
        flags |= own & (for_keys ? CBX_UNKNOWN_ENVIRONMENT : all);
    }
    return flags;
}

uint32_t cbx_js_secrets(struct cbx_walk *js, const struct cbx_values *values, bool for_keys)
{
    return secrets_of(js, values, for_keys, 0);
}

/* Returns true for calls that make headers: req.setHeader(name, key),
 * superagent.post(url).set(name, key).auth(user, key). */
static bool makes_header(struct cbx_str name)
{
    return memmem(name.p, name.len, "eader", 5) != NULL || cbx_str_ends(name, CBX_STR(".set")) ||
           cbx_str_ends(name, CBX_STR(".auth"));
}

void cbx_js_check_sent(struct cbx_walk *js, struct cbx_str name, struct cbx_node *call,
                       const struct cbx_js_call_site *site, struct cbx_scope *scope)
{
    uint32_t flags = 0, count = cbx_js_sends(name) ? cbx_js_argument_count(site) : 0;
    for (uint32_t i = 0; i < count && i < 8; i++) {
        bool given;
        const struct cbx_values *values = cbx_js_argument(js, site, i, scope, &given);
        flags |= given ? cbx_js_secrets(js, values, makes_header(name)) : 0;
    }
    if (flags != 0) {
        cbx_facts_add_special(js->facts, CBX_FACT_SECRET_SENT, name, call->start, call->end);
    }
}
