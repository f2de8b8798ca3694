/* SPDX-License-Identifier: MIT
 * Tunnels of the proxy: hostile bytes of a client, at once and in pieces whose size is the first byte. Both are judged alike, what passes is the
 * beginning of what came, and behind a request of a tunnel nothing passes without its host's name. */
#include "docker/egress/relay/tunnel.h"

#include <stdlib.h>
#include <string.h>

#include "docker/egress/relay/client_hello.c"
#include "docker/egress/relay/tunnel.c"
#include "docker/inside/wire/wire.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

void cbx_die(void)
{
    abort();
}

static void check(const struct cbx_tunnel *tunnel)
{
    if (tunnel->host[0] != '\0' && tunnel->at >= CBX_TUNNEL_AFTER_HELLO &&
        tunnel->refusal == CBX_TUNNEL_NOT_REFUSED && strcmp(tunnel->host, tunnel->name) != 0) {
        abort();
    }
    if (strlen(tunnel->name) >= sizeof(tunnel->name) ||
        (tunnel->port == 0) != (tunnel->host[0] == '\0')) {
        abort();
    }
}

static enum cbx_tunnel_refusal feed(const uint8_t *data, size_t size, size_t piece, size_t *passed)
{
    struct cbx_tunnel tunnel = { 0 };
    *passed = 0;
    for (size_t at = 0; at < size; at += piece) {
        size_t n = cbx_tunnel_take(&tunnel, data + at, size - at < piece ? size - at : piece);
        if (n > tunnel.held.len || (n > 0 && memcmp(tunnel.held.p, data + *passed, n) != 0) ||
            (n > 0 && tunnel.refusal != CBX_TUNNEL_NOT_REFUSED)) {
            abort();
        }
        *passed += n;
        if (n > 0) {
            cbx_tunnel_drop(&tunnel, n);
        }
        check(&tunnel);
    }
    enum cbx_tunnel_refusal refusal = tunnel.refusal;
    cbx_tunnel_done(&tunnel);
    return refusal;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t passed, passed_whole;
    if (size < 2) {
        return 0;
    }
    enum cbx_tunnel_refusal whole = feed(data + 1, size - 1, size - 1, &passed_whole),
                            pieces = feed(data + 1, size - 1, data[0] + 1u, &passed);
    if (whole != pieces || (whole == CBX_TUNNEL_NOT_REFUSED && passed != passed_whole)) {
        abort();
    }
    return 0;
}
