/* SPDX-License-Identifier: MIT
 * One program of an image in a container that is configured as a sandbox. */
#include "docker/doctor/attempt.h"

#include "docker/kernel_names.h"
#include "docker/sandbox/container.h"
#include "policies/base/memory.h"
#include "policies/base/time/clock.h"

#include <string.h>

enum { CHUNK = 65536, TIMEOUT_MS = 60000, POLL_MS = 1000 };

/* Receives the next bytes, while the engine replies to pings. */
static int receive(struct cbx_engine *engine, struct cbx_attach *attach, char *to,
                   struct cbx_attach_bytes *out, struct cbx_err *err)
{
    int64_t began = cbx_clock_ms(), heard_ms = began;
    for (;;) {
        int failed = cbx_attach_receive(attach, to, CHUNK, POLL_MS, out, err);
        if (failed != CBX_ETIMEDOUT || cbx_clock_ms() - began >= TIMEOUT_MS) {
            return failed;
        }
        failed = cbx_engine_check(engine, &heard_ms, err);
        if (failed) {
            return failed;
        }
    }
}

/* Includes stderr, for messages of a program that fails. */
static int read_report(struct cbx_engine *engine, struct cbx_attach *attach, struct cbx_buf *out,
                       struct cbx_err *err)
{
    CBX_AUTO_MEM char *chunk = cbx_renew(NULL, 1, CHUNK);
    for (;;) {
        struct cbx_attach_bytes got;
        int failed = receive(engine, attach, chunk, &got, err);
        if (failed || got.bytes.len == 0) {
            return failed;
        }
        if (cbx_buf_add(out, got.bytes) != 0) {
            return cbx_fail(err, CBX_EPROTO, "what a container prints is too large");
        }
    }
}

int cbx_attempt_run(const struct cbx_attempt *a, struct cbx_buf *report, struct cbx_err *err)
{
    const struct cbx_sandbox_config *config = a->config;
    struct cbx_engine *engine = a->engine;
    char image[CBX_IMAGE_NAME_BYTES], image_id[CBX_IMAGE_ID_CHARS + 1],
        id[CBX_CONTAINER_ID_CHARS + 1];
    cbx_image_name(config->image_prefix, a->kernel, config->variant, image);
    int failed = cbx_engine_image_id(engine, image, image_id, err);
    if (failed) {
        return failed;
    }
    CBX_AUTO_DONE(container_spec) spec;
    cbx_sandbox_spec(config, a->kernel, a->limits, image_id, NULL, &spec);
    spec.command[0] = a->program;
    memcpy(spec.command + 1, a->arguments, sizeof(a->arguments));
    CBX_AUTO(attach) attach = NULL;
    failed = cbx_engine_container_begin(engine, &spec, id, &attach, err);
    if (!failed) {
        failed = read_report(engine, attach, report, err);
    }
    if (id[0] != '\0') {
        cbx_engine_container_remove(engine, id, NULL);
    }
    return failed;
}
