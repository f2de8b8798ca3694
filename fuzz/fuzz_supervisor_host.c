/* SPDX-License-Identifier: MIT
 * Bytes from a host to a supervisor, in pieces of changing size: its key, frames of all kinds, new
 * hosts in the middle of another host's frame. The kernel is ready at once, and ends each run. */
#include "fuzz/supervisor.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    begin_world();
    if (setjmp(world.died) != 0) {
        return 0;
    }
    take_kernel_frame(CBX_FRAME_READY, NULL, 0);
    for (size_t at = 0, piece = 1; at < size; at += piece, piece = piece * 7 % 97 + 1) {
        world.from[0] = data + at;
        world.len[0] = size - at < piece ? size - at : piece;
        world.budget = piece % 3 == 0 ? piece : SIZE_MAX;
        world.now_ms += (int64_t)piece;
        turn();
        if (cbx_run.phase == CBX_PHASE_RUNNING && piece % 5 == 0) {
            cbx_run_finished(0);
        }
    }
    /* Whatever it was: a run that began ends by the clock. */
    for (int i = 0; i < 4 && cbx_run.phase != CBX_PHASE_IDLE; i++) {
        world.now_ms = cbx_run.deadline_ms > world.now_ms ? cbx_run.deadline_ms : world.now_ms;
        s.lease_ms = world.now_ms + 1;
        turn();
    }
    if (cbx_run.phase != CBX_PHASE_IDLE) {
        abort();
    }
    return 0;
}
