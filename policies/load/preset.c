/* SPDX-License-Identifier: MIT
 * The built-in policies, compiled in: codebox-lint needs no data files, and presets cannot be
 * changed without changing the program. CBX_PRESET_IMAGES is the folder of the output of
 * compile_presets; compile_presets itself is built without. */
#include "policies/policy.h"

#define CBX_INCLUDE_FILE(symbol, path)                                                             \
    __asm__(".pushsection .rodata\n"                                                               \
            ".balign 16\n" symbol "_begin: .incbin \"" path "\"\n" symbol "_end: .byte 0\n"        \
            ".popsection\n");

#define CBX_PRESET(id, name)                                                                       \
    CBX_INCLUDE_FILE("preset_" #id, "policies/presets/" name ".yaml")                              \
    extern const char preset_##id##_begin[] __attribute__((visibility("hidden")));                 \
    extern const char preset_##id##_end[] __attribute__((visibility("hidden")));
#include "policies/load/presets.def"
#undef CBX_PRESET

#ifdef CBX_PRESET_IMAGES
#define CBX_PRESET(id, name)                                                                       \
    CBX_INCLUDE_FILE("image_" #id, CBX_PRESET_IMAGES "/" name ".image")                            \
    extern const char image_##id##_begin[] __attribute__((visibility("hidden")));                  \
    extern const char image_##id##_end[] __attribute__((visibility("hidden")));
#include "policies/load/presets.def"
#undef CBX_PRESET
#define IMAGE(id) image_##id##_begin, image_##id##_end
#else
#define IMAGE(id) NULL, NULL
#endif

const struct cbx_preset *cbx_preset_list(size_t *count)
{
    static const struct cbx_preset presets[] = {
#define CBX_PRESET(id, name) { name, preset_##id##_begin, preset_##id##_end, IMAGE(id) },
#include "policies/load/presets.def"
#undef CBX_PRESET
    };
    *count = sizeof(presets) / sizeof(presets[0]);
    return presets;
}
