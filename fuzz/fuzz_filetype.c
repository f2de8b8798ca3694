/* SPDX-License-Identifier: MIT
 * First bytes and names of files. The language's name lies in the bytes or in a table. */
#include "analyzer/filetype.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct cbx_filetype *type)
{
    if (type->lang != NULL && type->foreign.len > 0) {
        abort(); /* code with and without an analyzer */
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cbx_str text = { .p = (const char *)data, .len = size };
    struct cbx_filetype type = cbx_filetype_of_head(text);
    check(&type);
    if (cbx_str_starts(text, CBX_STR("#!")) && type.lang == NULL && type.foreign.len == 0) {
        abort(); /* an interpreter that is not known is code all the same */
    }
    type = cbx_filetype_of_name(text);
    check(&type);
    cbx_filetype_is_binary(text);
    return 0;
}
