/* SPDX-License-Identifier: MIT
 * The reference of the policy language, from the key table. */
#include "policies/load/keys.h"
#include "policies/texts/explain.h"

/* Adds the keys of a section; with the merge rule if a key has one. */
static void add_keys(struct cbx_buf *out, const struct cbx_section *section)
{
    bool merged = false;
    for (size_t i = 0; i < section->key_count; i++) {
        merged |= cbx_merge_meaning(section->keys[i].merge)[0] != '\0';
    }
    cbx_buf_add_cstr(
        out, merged ? "| key | meaning | a policy that extends this one may |\n|---|---|---|\n"
                    : "| key | meaning |\n|---|---|\n");
    for (size_t i = 0; i < section->key_count; i++) {
        const struct cbx_key *key = &section->keys[i];
        cbx_buf_printf(out, "| `%s` | %s |", key->name, key->help);
        if (merged) {
            cbx_buf_printf(out, " %s |", cbx_merge_meaning(key->merge));
        }
        cbx_buf_add_char(out, '\n');
    }
}

static void add_section(struct cbx_buf *out, const struct cbx_section *section, const char *path)
{
    cbx_buf_printf(out, "\n**%s**\n\n", path[0] != '\0' ? path : "the policy");
    add_keys(out, section);
    for (size_t i = 0; i < section->key_count; i++) {
        const struct cbx_key *key = &section->keys[i];
        bool nested = key->type == CBX_KEY_SECTION || key->type == CBX_KEY_LIST ||
                      key->type == CBX_KEY_NETWORK;
        bool repeats = strcmp(key->name, "npm") == 0; /* npm repeats the keys of pip */
        if (nested && key->more != NULL && !repeats) {
            char inner[256];
            snprintf(inner, sizeof(inner), "%s%s`%s`%s", path, path[0] != '\0' ? " / " : "",
                     key->name, strcmp(key->name, "pip") == 0 ? " and `npm`" : "");
            add_section(out, key->more, inner);
        }
    }
}

static void add_capabilities(struct cbx_buf *out)
{
    cbx_buf_add_cstr(out, "\n**capabilities** (values of `capability` in a rule's match)\n\n"
                          "| capability | meaning |\n|---|---|\n");
    for (int i = 0; i < CBX_CAPABILITIES; i++) {
        cbx_buf_printf(out, "| `%s` | %s |\n", cbx_capability_name((enum cbx_capability)i),
                       cbx_capability_meaning((enum cbx_capability)i));
    }
}

void cbx_policy_reference(struct cbx_buf *out)
{
    add_section(out, &cbx_section_policy, "");
    cbx_buf_add_cstr(
        out, "\n**facts** (values of `fact` in a rule's match)\n\n| fact | meaning |\n|---|---|\n");
    for (int i = 0; i < CBX_FACTS; i++) {
        cbx_buf_printf(out, "| `%s` | %s |\n", cbx_fact_name((enum cbx_fact_id)i),
                       cbx_fact_meaning((enum cbx_fact_id)i));
    }
    add_capabilities(out);
}
