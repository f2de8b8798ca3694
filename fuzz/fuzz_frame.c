/* SPDX-License-Identifier: MIT
 * Frames of a program: the first byte is the type, the rest the payload. */
#include "docker/sandbox/events.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0 || cbx_frame_limit(data[0], 's') < (int64_t)size - 1) {
        return 0;
    }
    CBX_AUTO_DONE(result) result = { .exit_code = -1 };
    struct cbx_events events = { .result = &result };
    struct cbx_str payload = { .p = (const char *)data + 1, .len = size - 1 };
    struct cbx_frame frame = { .type = (enum cbx_frame_type)data[0], .payload = payload };
    struct cbx_err err;
    if (frame.type == CBX_FRAME_DONE) {
        cbx_events_finish(&events, payload, &result, &err);
    } else {
        cbx_events_take(&events, &frame);
    }
    return 0;
}
