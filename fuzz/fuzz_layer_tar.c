/* SPDX-License-Identifier: MIT
 * The archive of a layer: the verdict is the same however its bytes arrive, and limits hold. */
#include "docker/engine/kubernetes/layer_tar.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BYTES_MAX = 1 << 16, ENTRIES_MAX = 8 };

static void check(bool holds)
{
    if (!holds) {
        abort();
    }
}

static int judge(struct cbx_str archive, size_t step)
{
    struct cbx_layer_tar tar = { .place = "usr/lib/p",
                                 .bytes_max = BYTES_MAX,
                                 .entries_max = ENTRIES_MAX };
    while (archive.len > 0) {
        int failed = cbx_layer_tar_feed(&tar, cbx_str_take(&archive, step), NULL);
        if (failed) {
            return failed;
        }
        check(tar.bytes <= BYTES_MAX && tar.entries <= ENTRIES_MAX);
    }
    return cbx_layer_tar_end(&tar, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cbx_str archive = { .p = (const char *)data, .len = size };
    int whole = size <= BYTES_MAX ? judge(archive, BYTES_MAX) : CBX_ETOOBIG;
    int parts = judge(archive, 511);
    check((whole == 0) == (parts == 0));
    return 0;
}
