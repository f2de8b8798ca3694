/* SPDX-License-Identifier: MIT
 * The key table, expanded, and the names of its enumerations. */
#include "policies/load/keys.h"

#include <stddef.h>
#include <stdlib.h>

const char *const cbx_effect_names[] = { "deny", "ask", "warn", "allow", NULL };
const char *const cbx_severity_names[] = { "critical", "high", "medium", "low", NULL };
const char *const cbx_unknown_names[] = { "no-match", "match", NULL };
const char *const cbx_package_mode_names[] = { "none", "allowlist", "blocklist", NULL };
const char *const cbx_source_names[] = { "index", "url", "vcs", "path", "requirements", NULL };
const char *const cbx_mount_mode_names[] = { "ro", "rw", NULL };
const char *const cbx_network_names[] = { "none", "packages-only", "egress", NULL };
const char *const cbx_mode_names[] = { "enforce", "log-only", NULL };
const char *const cbx_guard_key_names[] = { "rules", "refuse", "allow", NULL };
const char *const cbx_guard_key_always_names[] = { "rules", "refuse", NULL };
const char *const cbx_guarded_names[] = { "never",
#define CBX_REFUSAL(id, name, ...) name,
#include "policies/guard/guard.def"
                                          NULL };
#define CBX_SECTION(section, type, has_head)                                                       \
    typedef type section##_struct;                                                                 \
    enum { section##_has_head = has_head };                                                        \
    static const struct cbx_key section##_keys[] = {
#define CBX_KEY(section, name, type, member, lo, hi, more, merge, laxer, help)                     \
    { name,                                                                                        \
      CBX_KEY_##type,                                                                              \
      offsetof(section##_struct, member),                                                          \
      sizeof(((section##_struct *)0)->member),                                                     \
      lo,                                                                                          \
      hi,                                                                                          \
      more,                                                                                        \
      CBX_MERGE_##merge,                                                                           \
      laxer,                                                                                       \
      help },
#define CBX_SECTION_END(section)                                                                   \
    }                                                                                              \
    ;                                                                                              \
    const struct cbx_section cbx_section_##section = {                                             \
        #section,                                                                                  \
        sizeof(section##_struct),                                                                  \
        section##_has_head,                                                                        \
        section##_keys,                                                                            \
        sizeof(section##_keys) / sizeof(section##_keys[0]),                                        \
    };
#include "policies/load/keys.def"
#undef CBX_SECTION
#undef CBX_KEY
#undef CBX_SECTION_END

bool cbx_draft_has(const struct cbx_section *section, const struct cbx_draft_head *head,
                   const char *key)
{
    for (size_t i = 0; i < section->key_count; i++) {
        if (strcmp(section->keys[i].name, key) == 0) {
            return (head->given >> i & 1) != 0;
        }
    }
    abort(); /* a programming error: no such row */
}
