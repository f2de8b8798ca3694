/* SPDX-License-Identifier: MIT
 * One program of an image in a container that is configured as a sandbox. */
#include "docker/doctor/attempt.h"

#include "docker/sandbox/container.h"
#include "policies/base/clock.h"
#include "policies/base/json.h"

#include <string.h>

enum { CHUNK = 65536, TIMEOUT_MS = 60000, POLL_MS = 1000 };

/* Removes the headers of the engine's stream. Includes stderr, for messages of a program that
 * fails. */
static bool demultiplex(struct cbx_buf *raw, struct cbx_buf *out)
{
    while (raw->len >= 8) {
        const unsigned char *h = (const unsigned char *)raw->p;
        size_t len = (size_t)h[4] << 24 | (size_t)h[5] << 16 | (size_t)h[6] << 8 | h[7];
        if (h[0] > 2 || len > CBX_ATTEMPT_BYTES_MAX) {
            return false;
        }
        if (raw->len < 8 + len) {
            break;
        }
        if (cbx_buf_add_bytes(out, raw->p + 8, len) != 0) {
            return false;
        }
        cbx_buf_consume(raw, 8 + len);
    }
    return true;
}

/* Receives the next bytes, while the engine replies to pings. */
static int receive(struct cbx_engine *engine, struct cbx_attach *attach, char *to, size_t *received,
                   struct cbx_err *err)
{
    int64_t began = cbx_clock_ms(), heard_ms = began;
    for (;;) {
        int failed = cbx_attach_receive(attach, to, CHUNK, POLL_MS, received, err);
        if (failed != CBX_ETIMEDOUT || cbx_clock_ms() - began >= TIMEOUT_MS) {
            return failed;
        }
        failed = cbx_engine_check(engine, &heard_ms, err);
        if (failed) {
            return failed;
        }
    }
}

static int read_report(struct cbx_engine *engine, struct cbx_attach *attach, struct cbx_buf *out,
                       struct cbx_err *err)
{
    CBX_AUTO_DONE(buf) raw;
    cbx_buf_init(&raw, 2 * CBX_ATTEMPT_BYTES_MAX);
    for (size_t n = 1; n > 0;) {
        char *to = cbx_buf_reserve(&raw, CHUNK);
        int failed;
        if (to == NULL) {
            failed = cbx_fail(err, CBX_EPROTO, "what a container prints is too large");
        } else {
            failed = receive(engine, attach, to, &n, err);
        }
        if (failed) {
            return failed;
        }
        raw.len += n;
        if (!demultiplex(&raw, out)) {
            return cbx_fail(err, CBX_EPROTO, "what a container prints is damaged");
        }
    }
    return 0;
}

static json_t *make_body(const struct cbx_attempt *a, const char *image_id)
{
    json_t *body = cbx_container_body(a->config, a->kernel, a->limits, image_id);
    json_t *arguments = json_array();
    for (size_t i = 0;
         i < sizeof(a->arguments) / sizeof(a->arguments[0]) && a->arguments[i] != NULL; i++) {
        json_array_append_new(arguments, json_string(a->arguments[i]));
    }
    json_object_set_new(body, "Entrypoint", json_pack("[s]", a->program));
    json_object_set_new(body, "Cmd", arguments);
    return body;
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
    CBX_AUTO_JSON body = make_body(a, image_id);
    CBX_AUTO(attach) attach = NULL;
    failed = cbx_engine_container_begin(engine, body, id, &attach, err);
    if (!failed) {
        failed = read_report(engine, attach, report, err);
    }
    if (id[0] != '\0') {
        cbx_engine_container_remove(engine, id, NULL);
    }
    return failed;
}
