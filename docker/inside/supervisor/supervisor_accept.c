/* SPDX-License-Identifier: MIT
 * The files that the kernel may load as code. A restarted kernel receives all of them, as they
 * are still in the workspace. */
#include "docker/inside/supervisor/supervisor.h"

struct cbx_hash_set cbx_accepted;

void cbx_accept_send(void)
{
    uint32_t from = cbx_kernel.accepted;
    if (from < cbx_accepted.count) {
        cbx_kernel_send(CBX_FRAME_ACCEPT, cbx_accepted.hashes[from],
                        (cbx_accepted.count - from) * CBX_FRAME_HASH_BYTES, NULL, 0);
        cbx_kernel.accepted = cbx_accepted.count;
    }
}
