/* SPDX-License-Identifier: MIT
 * Run by the build: reads the YAML of each preset and writes it as data, so that a starting
 * program parses none of it. Usage: compile_presets FOLDER */
#include "policies/load/image.h"

#include <stdio.h>

static int write_file(const char *folder, const char *name, struct cbx_str bytes)
{
    char path[4096];
    int n = snprintf(path, sizeof(path), "%s/%s.image", folder, name);
    CBX_AUTO_FILE file = n < (int)sizeof(path) ? fopen(path, "wb") : NULL;
    return file != NULL && fwrite(bytes.p, 1, bytes.len, file) == bytes.len && fflush(file) == 0
               ? 0
               : -1;
}

static int compile(const char *folder, const char *name)
{
    CBX_AUTO(policy) policy = NULL;
    CBX_AUTO_DONE(buf) image;
    struct cbx_err err;
    cbx_buf_init(&image, 16 * 1024 * 1024);
    if (cbx_policy_load_source(name, &policy, &err) != 0 ||
        cbx_image_write(policy, &image, &err) != 0) {
        cbx_err_print(&err, "compile_presets", stderr);
        return -1;
    }
    if (write_file(folder, name, cbx_buf_str(&image)) != 0) {
        fprintf(stderr, "compile_presets: '%s/%s.image' cannot be written\n", folder, name);
        return -1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    size_t count;
    const struct cbx_preset *presets = cbx_preset_list(&count);
    int failed = argc == 2 ? 0 : -1;
    for (size_t i = 0; !failed && i < count; i++) {
        failed = compile(argv[1], presets[i].name);
    }
    return failed ? 2 : 0;
}
