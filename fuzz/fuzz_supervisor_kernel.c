/* SPDX-License-Identifier: MIT
 * Bytes from a program to its supervisor: on the kernel's channel and in the two pipes, with a host
 * that reads slowly. The first byte of each piece selects the channel and how much the host reads.
 * For every input the run ends with one DONE, and the host receives no frame that it would refuse.
 */
#include "fuzz/supervisor.h"

static void send_frame(const void *p, size_t len)
{
    world.from[0] = p;
    world.len[0] = len;
    while (world.len[0] > 0) {
        turn();
    }
}

static void write_frame(uint8_t type, const void *p, size_t len)
{
    uint8_t frame[CBX_FRAME_HEAD_BYTES + 256] = { type, (uint8_t)len };
    memcpy(frame + CBX_FRAME_HEAD_BYTES, p, len);
    send_frame(frame, CBX_FRAME_HEAD_BYTES + len);
}

/* A host that attaches and starts a program. */
static void begin_run(void)
{
    static const uint8_t key[CBX_FRAME_KEY_BYTES] = "0123456789abcdef0123456789abcde";
    struct __attribute__((packed)) {
        uint8_t nonce[CBX_FRAME_NONCE_BYTES];
        uint32_t lease_ms;
        uint64_t epoch;
    } attach = { .lease_ms = 10000000 };
    struct cbx_frame_run run = {
        .limits = { .wall_ms = 1000, .output_bytes = 4096, .files_bytes = 16384, .cpu_ms = 100000 },
        .language = "python",
        .id = "run"
    };
    send_frame(key, sizeof(key));
    write_frame(CBX_FRAME_ATTACH, &attach, CBX_FRAME_ATTACH_BYTES);
    write_frame(CBX_FRAME_RUN, &run, sizeof(run));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    begin_world();
    if (setjmp(world.died) != 0) {
        abort(); /* no program ends its supervisor */
    }
    take_kernel_frame(CBX_FRAME_READY, NULL, 0);
    begin_run();
    for (size_t at = 0; at + 1 < size && cbx_kernel.pid != 0;) {
        uint8_t how = data[at++];
        size_t len = how % 64 < size - at ? how % 64 : size - at;
        int where = how >> 6 == 3 ? 1 : 1 + (how >> 6);
        world.from[where] = data + at;
        world.len[where] = len;
        world.budget = how % 7 == 0 ? how : SIZE_MAX;
        world.now_ms += how % 11;
        for (int i = 0; i < 100 && world.len[where] > 0 && cbx_kernel.pid != 0; i++) {
            turn();
        }
        at += len;
        world.len[where] = 0;
    }
    world.budget = SIZE_MAX;
    for (int i = 0; i < 6; i++) {
        world.now_ms = cbx_run.deadline_ms > world.now_ms ? cbx_run.deadline_ms : world.now_ms;
        turn();
    }
    turn();
    if (cbx_run.phase != CBX_PHASE_IDLE || world.dones != 1 || world.checked != world.sent_len ||
        r.log.len + r.tail.len >
            1024 * 1024 + 16384 + 6 * 4096 + ASIDE_BYTES + CBX_FRAME_LATE_MAX) {
        abort();
    }
    return 0;
}
