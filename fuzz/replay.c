/* SPDX-License-Identifier: MIT
 * Feeds the files given as arguments to a fuzz target, once each: corpora as regression tests. */
#include "policies/base/auto.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        CBX_AUTO_FILE file = fopen(argv[i], "rb");
        CBX_AUTO_MEM uint8_t *bytes = malloc(1 << 24);
        if (file == NULL || bytes == NULL) {
            perror(argv[i]);
            return 1;
        }
        LLVMFuzzerTestOneInput(bytes, fread(bytes, 1, 1 << 24, file));
    }
    return 0;
}
