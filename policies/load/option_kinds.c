/* SPDX-License-Identifier: MIT
 * The words of option values that name a preset or a language. */
#include "policies/load/option_kinds.h"

#include "policies/language.h"
#include "policies/policy.h"

void cbx_option_add_presets(struct cbx_buf *out)
{
    size_t count;
    const struct cbx_preset *presets = cbx_preset_list(&count);
    for (size_t i = 0; i < count; i++) {
        cbx_buf_printf(out, "%s%s", i > 0 ? " " : "", presets[i].name);
    }
}

void cbx_option_add_languages(struct cbx_buf *out)
{
    char names[256];
    cbx_language_list(" ", names, sizeof(names));
    cbx_buf_add_cstr(out, names);
}
