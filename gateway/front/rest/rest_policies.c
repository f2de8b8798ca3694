/* SPDX-License-Identifier: MIT
 * The policies that a caller may use: their descriptions for a program's author, never their
 * files. */
#include "gateway/front/mcp/resources.h"
#include "gateway/front/rest/rest.h"
#include "gateway/identity/caller.h"

static json_t *languages_of(const struct cbx_policy *policy)
{
    json_t *names = json_array();
    const struct cbx_language_row *row;
    for (size_t i = 0; (row = cbx_language_row(i)) != NULL; i++) {
        if ((policy->languages >> row->language & 1) != 0) {
            json_array_append_new(names, json_string(row->name));
        }
    }
    return names;
}

static json_t *describe(const struct cbx_policy *policy, bool is_default)
{
    char hex[CBX_SHA256_HEX + 1];
    CBX_AUTO_JSON limits = json_object();
    cbx_sha256_hex(&policy->sha256, hex);
    cbx_limits_write(&policy->limits, limits);
    return json_pack("{s:o,s:o,s:s,s:b,s:s,s:o,s:O}", "name", cbx_json_text(policy->name),
                     "description", cbx_json_text(policy->description), "sha256", hex, "default",
                     is_default, "mode", policy->log_only ? CBX_MODE_LOG_ONLY : "enforce",
                     "languages", languages_of(policy), "limits", limits);
}

/* Returns the caller's first policy; NULL if it has none. */
static const struct cbx_policy *find_default(const struct cbx_rest_call *call)
{
    const struct cbx_policy *policy = NULL;
    return cbx_caller_policy(call->request->caller, cbx_flow_policies(call->service->flow),
                             CBX_STR(""), &policy, NULL) == 0
               ? policy
               : NULL;
}

void cbx_rest_list_policies(struct cbx_rest_call *call)
{
    const struct cbx_policies *policies = cbx_flow_policies(call->service->flow);
    const struct cbx_policy *first = find_default(call), *policy;
    json_t *list = json_array();
    for (size_t i = 0; i < policies->count; i++) {
        if (cbx_caller_policy(call->request->caller, policies, policies->items[i]->name, &policy,
                              NULL) == 0) {
            json_array_append_new(list, describe(policy, policy == first));
        }
    }
    cbx_rest_answer(call, 200, json_pack("{s:o}", "policies", list));
}

void cbx_rest_get_policy(struct cbx_rest_call *call)
{
    enum { TEXT_MAX = 256 * 1024 };
    const struct cbx_policy *policy = NULL;
    struct cbx_err err = { 0 };
    if (cbx_caller_policy(call->request->caller, cbx_flow_policies(call->service->flow),
                          cbx_str_of(call->id), &policy, &err) != 0) {
        cbx_rest_fail(call, 0, &err);
        return;
    }
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, TEXT_MAX);
    cbx_mcp_describe_policy(policy, NULL, call->service->flow->small_images, &text);
    json_t *json = describe(policy, policy == find_default(call));
    json_object_set_new(json, "text", cbx_json_text(cbx_buf_str(&text)));
    cbx_rest_answer(call, 200, json);
}
