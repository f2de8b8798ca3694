/* SPDX-License-Identifier: MIT
 * Reloading the policies of a flow, and its end. */
#include "gateway/front/flow.h"

#include "policies/base/auto.h"
#include "policies/base/memory.h"

#include <stdlib.h>
#include <string.h>

int cbx_flow_reload(void *flow, const struct cbx_reload_part *part, uint64_t first_number,
                    struct cbx_err *err)
{
    (void)first_number;
    struct cbx_flow *f = flow;
    if (strcmp(part->name, "policies") != 0) {
        return 0;
    }
    struct cbx_policies *loaded = cbx_new(sizeof(*loaded));
    int failed = cbx_policies_read(part->bytes, loaded, err);
    if (failed) {
        free(loaded);
        return failed;
    }
    f->reloaded = loaded;
    return 0;
}

void cbx_flow_done(struct cbx_flow *flow)
{
    cbx_judge_free(flow->judge);
    cbx_fd_auto(&flow->executor);
    cbx_policies_done(&flow->policies);
    *flow = (struct cbx_flow){ .executor = -1 };
}
