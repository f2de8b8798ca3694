/* SPDX-License-Identifier: MIT
 * Sockets of every family and type, and the networks. */
#include "docker/inside/probe/probe.h"
#include "docker/inside/probe/probe_attempt.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct kind {
    int family, type, protocol;
};

static long open_socket(void *context)
{
    const struct kind *k = context;
    return socket(k->family, k->type, k->protocol);
}

static long open_pair(void *context)
{
    const struct kind *k = context;
    int ends[2];
    return socketpair(k->family, k->type, k->protocol, ends);
}

static const struct {
    int type;
    const char *name;
} types[] = { { SOCK_STREAM, "stream" }, { SOCK_DGRAM, "dgram" },         { SOCK_RAW, "raw" },
              { SOCK_RDM, "rdm" },       { SOCK_SEQPACKET, "seqpacket" }, { SOCK_DCCP, "dccp" },
              { SOCK_PACKET, "packet" } };
enum { TYPES = sizeof(types) / sizeof(types[0]), FAMILIES = 46 };

static bool may_open(int family, int type)
{
    bool unix_family = family == AF_UNIX, ip = family == AF_INET || family == AF_INET6;
    return ((unix_family || ip) && (type == SOCK_STREAM || type == SOCK_DGRAM)) ||
           (unix_family && type == SOCK_SEQPACKET);
}

/* EAFNOSUPPORT is no refusal: the filter allowed the call, and only this host kernel lacks the
 * family. */
static void try_family(int family)
{
    char opened[200] = "", passed[200] = "", name[32];
    for (size_t i = 0; i < TYPES; i++) {
        struct kind kind = { .family = family, .type = types[i].type };
        int result = cbx_attempt_run(open_socket, &kind);
        if (may_open(family, kind.type) || cbx_is_refused(result)) {
            continue;
        }
        char *to = result == 0 ? opened : passed;
        size_t used = strlen(to);
        snprintf(to + used, 200 - used, " %s (%s)", types[i].name, cbx_result_text(result));
    }
    snprintf(name, sizeof(name), "socket-family-%d", family);
    if (opened[0] != '\0') {
        cbx_attempt_report(name, CBX_REACHED, "opened:%s", opened);
    } else if (passed[0] != '\0') {
        cbx_attempt_report(name, CBX_UNKNOWN, "not filtered, but not in this kernel:%s", passed);
    } else {
        cbx_attempt_report(name, CBX_HELD, "%s",
                           may_open(family, SOCK_DGRAM) ? "its common types only"
                                                        : "no type of it opens");
    }
}

static void try_protocols(void)
{
    static const struct {
        const char *name;
        struct kind kind;
    } rows[] = {
        { "socket-icmp", { AF_INET, SOCK_DGRAM, IPPROTO_ICMP } },
        { "socket-icmp6", { AF_INET6, SOCK_DGRAM, IPPROTO_ICMPV6 } },
        { "socket-udplite", { AF_INET, SOCK_DGRAM, IPPROTO_UDPLITE } },
        { "socket-sctp", { AF_INET, SOCK_STREAM, IPPROTO_SCTP } },
        { "socket-mptcp", { AF_INET, SOCK_STREAM, 262 } },
        { "socket-smc", { AF_INET, SOCK_STREAM, 256 } },
        { "socket-high-bits", { AF_NETLINK | 0x10000, SOCK_RAW, 0 } },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct kind kind = rows[i].kind;
        cbx_attempt_must_fail(rows[i].name, open_socket, &kind);
    }
    struct kind tipc = { AF_TIPC, SOCK_STREAM, 0 };
    cbx_attempt_must_fail("socketpair-tipc", open_pair, &tipc);
}

static void try_connect(const char *name, const char *address, uint16_t port)
{
    struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(port) };
    inet_pton(AF_INET, address, &to.sin_addr);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int result = connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0 ? 0 : errno;
    cbx_attempt_report_if(result == ENETUNREACH, name, "%s: %s", address, cbx_result_text(result));
    close(fd);
}

static void try_interfaces(void)
{
    char line[512], others[256] = "", device[32];
    FILE *f = fopen("/proc/self/net/dev", "re");
    while (f != NULL && fgets(line, sizeof(line), f) != NULL) {
        char *colon = strchr(line, ':');
        if (colon == NULL) {
            continue;
        }
        *colon = '\0';
        size_t used = strlen(others);
        if (sscanf(line, " %31s", device) == 1 && strcmp(device, "lo") != 0) {
            snprintf(others + used, sizeof(others) - used, " %s", device);
        }
    }
    enum cbx_outcome result = CBX_UNKNOWN;
    if (f != NULL) {
        result = others[0] == '\0' ? CBX_HELD : CBX_REACHED;
    }
    cbx_attempt_report("network-interfaces", result, "beside lo:%s",
                       others[0] == '\0' ? " none" : others);
    if (f != NULL) {
        fclose(f);
    }
}

static void try_routes(void)
{
    char line[512];
    int routes = -1; /* the first line is a header */
    FILE *f = fopen("/proc/self/net/route", "re");
    while (f != NULL && fgets(line, sizeof(line), f) != NULL) {
        routes++;
    }
    enum cbx_outcome result = CBX_UNKNOWN;
    if (f != NULL) {
        result = routes <= 0 ? CBX_HELD : CBX_REACHED;
    }
    cbx_attempt_report("network-routes", result, "%d", routes < 0 ? 0 : routes);
    if (f != NULL) {
        fclose(f);
    }
}

void cbx_probe_sockets(void)
{
    for (int family = 0; family < FAMILIES; family++) {
        try_family(family);
    }
    try_protocols();
    try_interfaces();
    try_routes();
    try_connect("connect-internet", "1.1.1.1", 53);
    try_connect("connect-metadata", "169.254.169.254", 80);
    try_connect("connect-bridge", "172.17.0.1", 2375);
}
