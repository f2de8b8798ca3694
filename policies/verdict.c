/* SPDX-License-Identifier: MIT
 * Verdicts and their names. */
#include "policies/verdict.h"

static const char *const names[CBX_VERDICTS] = {
#define CBX_VERDICT(id, name) [CBX_##id] = (name),
#include "policies/verdict.def"
#undef CBX_VERDICT
};

const char *cbx_verdict_name(enum cbx_verdict verdict)
{
    return names[verdict < CBX_VERDICTS ? verdict : CBX_DENY];
}

bool cbx_verdict_parse(struct cbx_str name, enum cbx_verdict *out)
{
    enum cbx_verdict verdict = CBX_DENY;
    while (verdict < CBX_VERDICTS && !cbx_str_is(name, names[verdict])) {
        verdict++;
    }
    *out = verdict < CBX_VERDICTS ? verdict : CBX_DENY;
    return verdict < CBX_VERDICTS;
}
