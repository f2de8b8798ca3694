/* SPDX-License-Identifier: MIT
 * The built-in policies, compiled in: codebox-lint needs no file beside it, and nobody can change a
 * preset without changing the program. */
#include "policies/policy.h"

#define CBX_PRESET(symbol, name)                                                                   \
    __asm__(".pushsection .rodata\n"                                                               \
            "preset_" #symbol "_begin: .incbin \"policies/presets/" name ".yaml\"\n"               \
            "preset_" #symbol "_end: .byte 0\n"                                                    \
            ".popsection\n");                                                                      \
    extern const char preset_##symbol##_begin[] __attribute__((visibility("hidden")));             \
    extern const char preset_##symbol##_end[] __attribute__((visibility("hidden")));
#include "policies/presets.def"
#undef CBX_PRESET

const struct cbx_preset *cbx_preset_list(size_t *count)
{
    static const struct cbx_preset presets[] = {
#define CBX_PRESET(symbol, name) { name, preset_##symbol##_begin, preset_##symbol##_end },
#include "policies/presets.def"
#undef CBX_PRESET
    };
    *count = sizeof(presets) / sizeof(presets[0]);
    return presets;
}
