/* SPDX-License-Identifier: MIT
 * Connections that are passed on as frames: frames of a hostile other side between what programs write, read and close. No side may have
 * more on its way than was granted, and what a program reads is what frames had, in their order. */
#include "docker/inside/wire/wire_connections.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "docker/inside/wire/wire.c"
#include "docker/inside/wire/wire_connections.c"

enum { PROGRAMS = 3 };

static int programs[PROGRAMS + 1]; /* ends of the programs by number; -1 = closed */
static int64_t granted[PROGRAMS + 1], sent[PROGRAMS + 1]; /* of the other side, and to it */

void cbx_die(void)
{
    abort();
}

/* A frame for the other side: a PART is within what that side granted. */
static void check(uint8_t type, const void *a, size_t a_len, const void *b, size_t b_len)
{
    uint32_t number;
    (void)b;
    memcpy(&number, a, sizeof(number));
    if (number < 1 || number > PROGRAMS || (int64_t)(a_len + b_len) > cbx_frame_limit(type, 's')) {
        abort();
    }
    if (type == CBX_FRAME_PART) {
        sent[number] += (int64_t)b_len;
        if (b_len == 0 || sent[number] > granted[number]) {
            abort();
        }
    }
}

static void connect_program(uint32_t number)
{
    int ends[2];
    if (find(number) != NULL || socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) < 0) {
        return;
    }
    cbx_close(&programs[number]);
    programs[number] = ends[0];
    granted[number] = CBX_FRAME_WINDOW;
    sent[number] = 0;
    if (!cbx_connections_add(number, ends[1])) {
        abort();
    }
}

static void take(uint8_t type, uint32_t number, uint32_t value)
{
    const uint32_t pair[2] = { number, value };
    if (type == CBX_FRAME_GRANT && number >= 1 && number <= PROGRAMS) {
        granted[number] += value;
    }
    cbx_connections_take(type, (const uint8_t *)pair, sizeof(pair));
}

static void take_bytes(uint32_t number, size_t len)
{
    static uint8_t payload[4 + CBX_FRAME_PART_MAX];
    memcpy(payload, &number, sizeof(number));
    cbx_connections_take(CBX_FRAME_PART, payload, 4 + (len < CBX_FRAME_PART_MAX ? len : 1));
}

static void serve(void)
{
    struct pollfd fds[CBX_CONNECTIONS_MAX];
    int count = cbx_connections_poll(fds);
    poll(fds, (nfds_t)count, 0);
    cbx_connections_serve(fds, count);
}

/* What one connection buffers is never more than its window. */
static void check_table(void)
{
    for (int i = 0; initialised && i < CBX_CONNECTIONS_MAX; i++) {
        const struct connection *c = &table[i];
        if (c->fd >= 0 &&
            (c->out.len - c->written > CBX_FRAME_WINDOW || c->window > CBX_FRAME_WINDOW)) {
            abort();
        }
    }
}

static void step(const uint8_t at[4])
{
    static char bytes[CBX_FRAME_PART_MAX];
    uint32_t number = at[1] % PROGRAMS + 1, value = (uint32_t)at[2] << 8 | at[3];
    switch (at[0] % 10) {
    case 0:
        connect_program(number);
        break;
    case 1:
        take_bytes(at[1] % (PROGRAMS + 2), value);
        break;
    case 2:
        take(CBX_FRAME_GRANT, at[1] % (PROGRAMS + 2), value * (at[1] & 16 ? 70000u : 1));
        break;
    case 3:
        take(CBX_FRAME_CLOSE, at[1] % (PROGRAMS + 2), at[2] % 3);
        break;
    case 4:
        cbx_connections_take(at[1] & 1 ? CBX_FRAME_CLOSE : CBX_FRAME_GRANT, at, at[2] % 5);
        break;
    case 5:
        if (programs[number] >= 0) {
            (void)!send(programs[number], bytes, value % sizeof(bytes), MSG_NOSIGNAL);
        }
        break;
    case 6:
        if (programs[number] >= 0) {
            (void)!read(programs[number], bytes, value % sizeof(bytes));
        }
        break;
    case 7:
        if (programs[number] >= 0) {
            shutdown(programs[number], at[2] % 3);
        }
        break;
    case 8:
        cbx_close(&programs[number]);
        break;
    default:
        serve();
    }
    check_table();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cbx_connections_send = check;
    for (int i = 0; i <= PROGRAMS; i++) {
        programs[i] = -1;
    }
    for (size_t at = 0; at + 4 <= size && at < 4096; at += 4) {
        step(data + at);
    }
    cbx_connections_reset();
    for (int i = 0; i <= PROGRAMS; i++) {
        cbx_close(&programs[i]);
    }
    return 0;
}
