/* SPDX-License-Identifier: MIT
 * The label of an image that lists what it has: what is accepted can be asked and shown, and what is shown is one line of plain text. */
#include "docker/contents.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
    if (!holds) {
        abort();
    }
}

static void check_package(const struct cbx_contents *contents,
                          const struct cbx_image_package *package)
{
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, CBX_CONTENTS_MAX_BYTES);
    cbx_image_package_add(package, &text);
    for (size_t i = 0; i < text.len; i++) {
        check(text.p[i] >= ' ' && text.p[i] <= '~');
    }
    check(cbx_contents_find(contents, package->name) != NULL);
    for (size_t i = 0; i < json_array_size(package->modules); i++) {
        check(cbx_contents_provider(contents, cbx_json_str(json_array_get(package->modules, i))) !=
              NULL);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CBX_AUTO_DONE(contents) contents = { 0 };
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, CBX_CONTENTS_MAX_BYTES);
    struct cbx_str label = { .p = (const char *)data, .len = size };
    if (cbx_contents_read(label, &contents, NULL) != 0) {
        check(contents.json == NULL && contents.packages == NULL && contents.count == 0);
        return 0;
    }
    check(contents.count <= CBX_CONTENTS_PACKAGES_MAX);
    for (size_t i = 0; i < contents.count && i < 20; i++) {
        check_package(&contents, &contents.packages[i]);
    }
    cbx_contents_add_nearest(&contents, CBX_STR("numpi"), &text);
    return 0;
}
