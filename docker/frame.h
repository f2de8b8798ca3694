/* SPDX-License-Identifier: MIT
 * The frame protocol between host, supervisor and kernel: one byte type, 32 bits length, payload.
 * Numbers are little endian, as every machine that we run on has them. Shared with the supervisor,
 * so it needs nothing but libc. */
#ifndef CBX_DOCKER_FRAME_H
#define CBX_DOCKER_FRAME_H

#include <stddef.h>
#include <stdint.h>

enum {
    CBX_FRAME_VERSION = 1,
    CBX_FRAME_HEAD_BYTES = 5,
    CBX_FRAME_RUN_MAX = 16 * 1024 * 1024 + 64,
    CBX_FRAME_DATA_MAX = 64 * 1024 * 1024,
    CBX_FRAME_ERROR_MAX = 256 * 1024,
    CBX_FRAME_PATH_MAX = 8 + 4096,
};

enum cbx_frame_type {
#define CBX_FRAME(id, byte, directions, max, meaning) CBX_FRAME_##id = byte,
#include "docker/frame.def"
#undef CBX_FRAME
};

/* Is `type` allowed in this direction ('h', 's', 'k', 'c')? Then its largest payload, else -1. */
static inline int64_t cbx_frame_limit(uint8_t type, char direction)
{
    static const struct {
        uint8_t type;
        const char *directions;
        int64_t max;
    } frames[] = {
#define CBX_FRAME(id, byte, directions, max, meaning) { byte, directions, max },
#include "docker/frame.def"
#undef CBX_FRAME
    };
    for (size_t i = 0; i < sizeof(frames) / sizeof(frames[0]); i++) {
        for (const char *d = frames[i].directions; frames[i].type == type && *d != '\0'; d++) {
            if (*d == direction) {
                return frames[i].max;
            }
        }
    }
    return -1;
}

/* In front of the source in RUN. The kernel gets it too, and reads `language` only. */
struct cbx_frame_run {
    uint64_t wall_ms, output_bytes, files_bytes;
    char language[16]; /* terminated: "python", "ipython", "javascript" */
};

/* How a run ended, as the supervisor saw it. */
enum cbx_frame_status {
    CBX_DONE_ENDED = 1,
    CBX_DONE_TIMEOUT,
    CBX_DONE_OOM,
    CBX_DONE_KILLED,
    CBX_DONE_PROTOCOL
};
enum { CBX_DONE_OUTPUT_CUT = 1 << 0, CBX_DONE_FILES_CUT = 1 << 1, CBX_DONE_LOST = 1 << 2 };
struct cbx_frame_done {
    uint32_t status;   /* enum cbx_frame_status */
    int32_t exit_code; /* -1 = none */
    int32_t signal;    /* 0 = none */
    uint32_t flags;
    uint64_t duration_ms, stdout_bytes, stderr_bytes;
};

#endif
