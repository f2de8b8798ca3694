/* SPDX-License-Identifier: MIT
 * The verdict of a decision. The strictest verdict is zero: memory that was never written
 * denies. */
#ifndef CBX_POLICIES_VERDICT_H
#define CBX_POLICIES_VERDICT_H

#include "policies/base/str.h"

#include <stdbool.h>

enum cbx_verdict {
#define CBX_VERDICT(id, name) CBX_##id,
#include "policies/verdict.def"
#undef CBX_VERDICT
    CBX_VERDICTS
};

/* Returns "deny", "ask" or "allow"; "deny" for any other value. */
const char *cbx_verdict_name(enum cbx_verdict verdict);

/* Reads the verdict of that name. CBX_DENY, and false, for any other text. */
bool cbx_verdict_parse(struct cbx_str name, enum cbx_verdict *out);

#endif
