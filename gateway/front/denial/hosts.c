/* SPDX-License-Identifier: MIT
 * The hosts that a policy grants, in texts. */
#include "gateway/front/denial/hosts.h"

const struct cbx_strs *cbx_hosts_of(const struct cbx_policy *policy)
{
    return policy != NULL && policy->network == CBX_NETWORK_EGRESS ? &policy->egress : NULL;
}

void cbx_hosts_add(const struct cbx_strs *hosts, struct cbx_buf *out)
{
    enum { NAMED_MAX = 12 };
    size_t named = hosts->count <= NAMED_MAX ? hosts->count : NAMED_MAX - 1;
    for (size_t i = 0; i < named; i++) {
        cbx_buf_add_cstr(out, i == 0 ? "" : i + 1 == hosts->count ? " and " : ", ");
        cbx_buf_add(out, hosts->items[i]);
    }
    if (named < hosts->count) {
        cbx_buf_printf(out, " and %zu more", hosts->count - named);
    }
}
