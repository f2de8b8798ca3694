/* SPDX-License-Identifier: MIT
 * C is not read yet: nothing of it is allowed. */
#include "analyzer/lang.h"

void cbx_extract_c(struct cbx_parsed *parsed)
{
    cbx_facts_add_special(parsed->facts, CBX_FACT_TOO_COMPLEX, CBX_STR("C"), 0, 1);
}
