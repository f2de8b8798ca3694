/* SPDX-License-Identifier: MIT
 * Messages to the API server, one after the other. */
#include "docker/engine/kubernetes/kube_send.h"

#include "policies/base/hash.h"
#include "policies/base/time/clock.h"

#include <string.h>

enum {
    PART_BYTES = 16 * 1024, /* of one message */
    WHOLE_MS = 10000,       /* until a message that was begun is sent */
};

void cbx_kube_sender_init(struct cbx_kube_sender *sender, struct cbx_upgrade *upgrade)
{
    *sender = (struct cbx_kube_sender){ .upgrade = upgrade };
    pthread_mutex_init(&sender->lock, NULL);
}

void cbx_kube_sender_done(struct cbx_kube_sender *sender)
{
    pthread_mutex_destroy(&sender->lock);
}

/* --- with the lock held ----------------------------------------------------------------------- */

/* Milliseconds until a time of cbx_clock_ms; 0 = it has passed. */
static int left_ms(int64_t deadline)
{
    int64_t left = deadline - cbx_clock_ms();
    return left > 0 ? (int)left : 0;
}

/* Sends the part of a PONG that is left, until the deadline. */
static int flush_pong(struct cbx_kube_sender *s, int64_t deadline, struct cbx_err *err)
{
    while (s->pong_len > 0) {
        size_t sent = 0;
        int failed =
            cbx_upgrade_send_some(s->upgrade, s->pong, s->pong_len, left_ms(deadline), &sent, err);
        if (failed) {
            return failed;
        }
        s->pong_len -= sent;
        memmove(s->pong, s->pong + sent, s->pong_len);
    }
    return 0;
}

/* Sends the rest of a message that was begun. */
static int send_rest(struct cbx_kube_sender *s, const char *rest, size_t len, struct cbx_err *err)
{
    int64_t deadline = cbx_clock_ms() + WHOLE_MS;
    while (len > 0) {
        size_t sent = 0;
        int failed = cbx_upgrade_send_some(s->upgrade, rest, len, left_ms(deadline), &sent, err);
        if (failed) {
            s->broken = true;
        }
        if (failed == CBX_ETIMEDOUT) {
            return cbx_fail(err, CBX_EIO, "the sandbox does not read its input");
        }
        if (failed) {
            return failed;
        }
        rest += sent;
        len -= sent;
    }
    return 0;
}

static int send_message(struct cbx_kube_sender *s, const char *message, size_t len,
                        int64_t deadline, struct cbx_err *err)
{
    size_t sent = 0;
    int failed = cbx_upgrade_send_some(s->upgrade, message, len, left_ms(deadline), &sent, err);
    if (failed) {
        return failed;
    }
    s->masked = false;
    return send_rest(s, message + sent, len - sent, err);
}

static uint32_t new_mask(void)
{
    uint32_t mask;
    cbx_random(&mask, sizeof(mask));
    return mask;
}

static int send_part(struct cbx_kube_sender *s, struct cbx_str part, int timeout_ms,
                     struct cbx_err *err)
{
    int64_t deadline = cbx_clock_ms() + timeout_ms;
    char message[CBX_WEBSOCKET_HEAD_MAX + 1 + PART_BYTES];
    if (s->broken) {
        return cbx_fail(err, CBX_EIO,
                        "the connection to the sandbox is broken: a message was sent in part");
    }
    int failed = flush_pong(s, deadline, err);
    if (failed) {
        return failed;
    }
    /* A message that was given up is sent again with the same mask: upgrade.h may hold it. */
    s->mask = s->masked ? s->mask : new_mask();
    s->masked = true;
    size_t n = cbx_websocket_write(CBX_WEBSOCKET_BINARY, CBX_STDIN_CHANNEL, part, s->mask, message);
    return send_message(s, message, n, deadline, err);
}

/* --- with the lock free ----------------------------------------------------------------------- */

int cbx_kube_send(struct cbx_kube_sender *sender, struct cbx_str bytes, int timeout_ms,
                  size_t *sent, struct cbx_err *err)
{
    struct cbx_str part = cbx_str_sub(bytes, 0, bytes.len < PART_BYTES ? bytes.len : PART_BYTES);
    pthread_mutex_lock(&sender->lock);
    int failed = send_part(sender, part, timeout_ms, err);
    pthread_mutex_unlock(&sender->lock);
    *sent = failed ? 0 : part.len;
    return failed;
}

/* A sender that is at work, or whose message is held, shows as well as a PONG that this side is
 * alive; and a PONG that waits answers this PING too (RFC 6455, section 5.5.3). */
void cbx_kube_send_pong(struct cbx_kube_sender *sender, struct cbx_str bytes)
{
    if (pthread_mutex_trylock(&sender->lock) != 0) {
        return;
    }
    bool at_work = sender->broken || (sender->pong_len == 0 && cbx_upgrade_holds(sender->upgrade));
    if (!at_work && sender->pong_len == 0) {
        sender->pong_len =
            cbx_websocket_write(CBX_WEBSOCKET_PONG, -1, bytes, new_mask(), sender->pong);
    }
    if (!at_work) {
        flush_pong(sender, cbx_clock_ms(), NULL);
    }
    pthread_mutex_unlock(&sender->lock);
}
