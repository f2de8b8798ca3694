/* SPDX-License-Identifier: MIT
 * The options about the networks of proxies. */
#include "gateway/cli/settings/network_options.h"

#include "docker/egress/proxy.h"
#include "docker/egress/proxy_config.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

enum { ALLOWED_MAX = 32, DENIED_MAX = 256, RANGE_BYTES = 32 };

static int read_allowed(const char *const *words, size_t count, struct cbx_strs *out,
                        struct cbx_err *err)
{
    static struct cbx_str items[ALLOWED_MAX];
    for (size_t i = 0; i < count; i++) {
        if (i == ALLOWED_MAX) {
            return cbx_fail(err, CBX_EINVAL, "--egress-range is given %zu times, allowed are %d",
                            count, ALLOWED_MAX);
        }
        if (cbx_addresses_may_allow(cbx_str_of(words[i]), err) != 0) {
            return cbx_wrap(err, "--egress-range");
        }
        items[i] = cbx_str_of(words[i]);
    }
    *out = (struct cbx_strs){ .items = items, .count = count };
    return 0;
}

static int read_own(struct cbx_strs *out, struct cbx_err *err)
{
    static char texts[DENIED_MAX][RANGE_BYTES];
    static struct cbx_str items[DENIED_MAX];
    struct ifaddrs *all;
    if (getifaddrs(&all) < 0) {
        return cbx_fail(err, CBX_EIO, "the addresses of this host cannot be listed: %s",
                        strerror(errno));
    }
    size_t count = 0;
    bool complete = true;
    for (const struct ifaddrs *each = all; each != NULL; each = each->ifa_next) {
        struct sockaddr_in address;
        if (each->ifa_addr == NULL || each->ifa_addr->sa_family != AF_INET ||
            (each->ifa_flags & IFF_LOOPBACK) != 0) {
            continue;
        }
        if (count == DENIED_MAX) {
            complete = false;
            break;
        }
        memcpy(&address, each->ifa_addr, sizeof(address));
        char text[INET_ADDRSTRLEN];
        snprintf(texts[count], RANGE_BYTES, "%s/32",
                 inet_ntop(AF_INET, &address.sin_addr, text, sizeof(text)));
        items[count] = cbx_str_of(texts[count]);
        count++;
    }
    freeifaddrs(all);
    *out = (struct cbx_strs){ .items = items, .count = count };
    if (!complete) {
        return cbx_fail(err, CBX_EINVAL, "this host has more than %d addresses", DENIED_MAX);
    }
    return 0;
}

int cbx_network_ranges(const char *const *words, size_t count, struct cbx_network_settings *out,
                       struct cbx_err *err)
{
    int failed = cbx_proxy_check_network(out->network, err);
    if (failed) {
        return cbx_wrap(err, "--egress-network");
    }
    failed = read_allowed(words, count, &out->allowed, err);
    if (failed) {
        return failed;
    }
    return read_own(&out->denied, err);
}
