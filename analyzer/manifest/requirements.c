/* SPDX-License-Identifier: MIT
 * requirements.txt and constraints.txt: the lines are parsed when they are judged. */
#include "analyzer/manifest/readers.h"

int cbx_manifest_read_requirements(struct cbx_str text, struct cbx_arena *arena,
                                   struct cbx_manifest *out, struct cbx_err *err)
{
    (void)arena;
    (void)err;
    *out = (struct cbx_manifest){ .text = text, .requirements = true };
    return 0;
}
