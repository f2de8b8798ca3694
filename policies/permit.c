/* SPDX-License-Identifier: MIT
 * Permits. */
#include "policies/permit.h"

#include <stdlib.h>

struct cbx_permit *cbx_permit_new(const struct cbx_permit *fields)
{
    struct cbx_permit *permit = malloc(sizeof(*permit));
    if (permit == NULL) {
        abort();
    }
    *permit = *fields;
    return permit;
}

void cbx_permit_free(struct cbx_permit *permit)
{
    free(permit);
}
