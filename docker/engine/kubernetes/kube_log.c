/* SPDX-License-Identifier: MIT
 * The output of a Pod whose program is not the supervisor (the probe): it runs to its end, and its
 * log is read once. Programs of callers never write to a log. */
#include "docker/engine/kubernetes/kube.h"

#include "policies/base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { LOG_MAX = 4 * 1024 * 1024 };

struct kube_log {
    struct cbx_attach attach;
    struct cbx_buf text;
    size_t given; /* bytes of it that were received */
};

static struct kube_log *log_of(struct cbx_attach *attach)
{
    return (struct kube_log *)attach;
}

static int send_some(struct cbx_attach *attach, const void *bytes, size_t len, int timeout_ms,
                     size_t *sent, struct cbx_err *err)
{
    (void)attach;
    (void)bytes;
    (void)len;
    (void)timeout_ms;
    (void)sent;
    return cbx_fail(err, CBX_EIO, "this container reads no input");
}

static int receive(struct cbx_attach *attach, void *to, size_t size, int timeout_ms,
                   struct cbx_attach_bytes *out, struct cbx_err *err)
{
    struct kube_log *log = log_of(attach);
    struct cbx_str rest = cbx_str_sub(cbx_buf_str(&log->text), log->given, log->given + size);
    (void)timeout_ms;
    (void)err;
    if (rest.len > 0) {
        memcpy(to, rest.p, rest.len);
    }
    log->given += rest.len;
    *out = (struct cbx_attach_bytes){ CBX_CHANNEL_STDOUT, { .p = to, .len = rest.len } };
    return 0;
}

static int64_t silent_ms(struct cbx_attach *attach)
{
    (void)attach;
    return 0;
}

static void free_log(struct cbx_attach *attach)
{
    struct kube_log *log = log_of(attach);
    cbx_buf_done(&log->text);
    free(log);
}

static const struct cbx_attach_ops ops = {
    .free = free_log,
    .send_some = send_some,
    .receive = receive,
    .silent_ms = silent_ms,
};

int cbx_kube_log(struct cbx_kube *kube, const char *id, struct cbx_attach **out,
                 struct cbx_err *err)
{
    char path[256];
    struct kube_log *log = cbx_new(sizeof(*log));
    CBX_AUTO(attach) attach = &log->attach;
    log->attach.ops = &ops;
    cbx_buf_init(&log->text, LOG_MAX);
    snprintf(path, sizeof(path), "/api/v1/namespaces/%.63s/pods/%.63s/log?container=sandbox",
             kube->cluster.namespace, id);
    int failed = cbx_kube_text(kube, path, &log->text, err);
    if (!failed) {
        *out = cbx_steal(&attach);
    }
    return failed;
}
