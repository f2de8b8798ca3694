/* SPDX-License-Identifier: MIT
 * Routing rules by rtnetlink(7). */
#include "docker/egress/relay/routes.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/fib_rules.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* In the order in which Linux applies them: after the rule 0, which is for the container's own
 * addresses, and before the main table. */
enum { AT_NAMES = 1, AT_DENIED = 5, AT_ALLOWED = 10, AT_RANGES = 20 };
enum { LOOPBACK = 1 }; /* index of the interface lo, the first of each namespace */

struct rule {
    int family;
    uint32_t priority;
    bool prohibits;
    in_addr_t to;
    int prefix;
    int protocol, port; /* 0 = any */
};

struct request {
    struct nlmsghdr head;
    union {
        struct fib_rule_hdr rule;
        struct ifaddrmsg address;
    };
    char attributes[128];
};

static void add_attribute(struct request *request, int type, const void *value, size_t len)
{
    struct rtattr *at =
        (struct rtattr *)(void *)((char *)request + NLMSG_ALIGN(request->head.nlmsg_len));
    at->rta_type = (unsigned short)type;
    at->rta_len = (unsigned short)RTA_LENGTH(len);
    memcpy(RTA_DATA(at), value, len);
    request->head.nlmsg_len = NLMSG_ALIGN(request->head.nlmsg_len) + RTA_ALIGN(at->rta_len);
}

/* Returns 0, or the errno in the reply of Linux. */
static int ask(int netlink, struct request *request)
{
    struct {
        struct nlmsghdr head;
        struct nlmsgerr error;
        char rest[256];
    } answer;
    if (send(netlink, request, request->head.nlmsg_len, 0) < 0) {
        return errno;
    }
    ssize_t n = recv(netlink, &answer, sizeof(answer), 0);
    return n < (ssize_t)NLMSG_LENGTH(sizeof(answer.error)) || answer.head.nlmsg_type != NLMSG_ERROR
               ? EPROTO
               : -answer.error.error;
}

static int add_rule(int netlink, const struct rule *rule)
{
    struct request request = {
        .head = { .nlmsg_len = NLMSG_LENGTH(sizeof(request.rule)),
                  .nlmsg_type = RTM_NEWRULE,
                  .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE },
        .rule = { .family = (uint8_t)rule->family,
                  .dst_len = (uint8_t)rule->prefix,
                  .table = rule->prohibits ? RT_TABLE_UNSPEC : RT_TABLE_MAIN,
                  .action = rule->prohibits ? FR_ACT_PROHIBIT : FR_ACT_TO_TBL },
    };
    add_attribute(&request, FRA_PRIORITY, &rule->priority, sizeof(rule->priority));
    if (rule->prefix > 0) {
        add_attribute(&request, FRA_DST, &rule->to, sizeof(rule->to));
    }
    if (rule->protocol != 0) {
        const uint8_t protocol = (uint8_t)rule->protocol;
        const struct fib_rule_port_range port = { .start = (uint16_t)rule->port,
                                                  .end = (uint16_t)rule->port };
        add_attribute(&request, FRA_IP_PROTO, &protocol, sizeof(protocol));
        add_attribute(&request, FRA_DPORT_RANGE, &port, sizeof(port));
    }
    return ask(netlink, &request);
}

/* A proxy without an IPv6 address requests none. With one, it would refuse a host that has
 * addresses of both kinds. */
static bool remove_ipv6_loopback(int netlink)
{
    struct request request = {
        .head = { .nlmsg_len = NLMSG_LENGTH(sizeof(request.address)),
                  .nlmsg_type = RTM_DELADDR,
                  .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK },
        .address = { .ifa_family = AF_INET6, .ifa_prefixlen = 128, .ifa_index = LOOPBACK },
    };
    add_attribute(&request, IFA_LOCAL, &in6addr_loopback, sizeof(in6addr_loopback));
    int failed = ask(netlink, &request);
    return failed == 0 || failed == EADDRNOTAVAIL || failed == EAFNOSUPPORT ||
           failed == EOPNOTSUPP || failed == ENODEV;
}

/* Adds each range of a list. */
static bool add_list(int netlink, const char *list, uint32_t priority, bool prohibits)
{
    char text[64];
    for (const char *at = list; *at != '\0';) {
        size_t len = strcspn(at, " ");
        struct in_addr address;
        if (len == 0 || len >= sizeof(text)) {
            return false;
        }
        memcpy(text, at, len);
        text[len] = '\0';
        char *slash = strchr(text, '/'), *end = NULL;
        long prefix = 32;
        if (slash != NULL) {
            *slash = '\0';
            prefix = strtol(slash + 1, &end, 10);
        }
        if ((slash != NULL && (*end != '\0' || end == slash + 1)) || prefix < 1 || prefix > 32 ||
            inet_pton(AF_INET, text, &address) != 1) {
            return false;
        }
        const struct rule rule = {
            AF_INET, priority, prohibits, address.s_addr, (int)prefix, 0, 0
        };
        if (add_rule(netlink, &rule) != 0) {
            return false;
        }
        at += len + (at[len] == ' ');
    }
    return true;
}

static bool add_all(int netlink, const char *allowed, const char *denied)
{
    static const struct {
        uint8_t bytes[4];
        int prefix;
        bool may_allow;
    } ranges[] = {
#define CBX_ADDRESSES(a, b, c, d, prefix, may_allow, meaning) { { a, b, c, d }, prefix, may_allow },
#include "docker/egress/addresses.def"
#undef CBX_ADDRESSES
    };
    const struct rule names[] = { { AF_INET, AT_NAMES, false, 0, 0, IPPROTO_UDP, 53 },
                                  { AF_INET, AT_NAMES, false, 0, 0, IPPROTO_TCP, 53 } };
    if (add_rule(netlink, &names[0]) != 0 || add_rule(netlink, &names[1]) != 0 ||
        !add_list(netlink, allowed, AT_ALLOWED, false) ||
        !add_list(netlink, denied, AT_DENIED, true)) {
        return false;
    }
    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
        struct rule rule = { .family = AF_INET,
                             .priority = ranges[i].may_allow ? AT_RANGES : AT_DENIED,
                             .prohibits = true,
                             .prefix = ranges[i].prefix };
        memcpy(&rule.to, ranges[i].bytes, sizeof(rule.to));
        if (add_rule(netlink, &rule) != 0) {
            return false;
        }
    }
    const struct rule ipv6 = { .family = AF_INET6, .priority = AT_NAMES, .prohibits = true };
    int failed = add_rule(netlink, &ipv6);
    return (failed == 0 || failed == EAFNOSUPPORT || failed == EOPNOTSUPP) &&
           remove_ipv6_loopback(netlink);
}

bool cbx_routes_restrict(const char *allowed, const char *denied)
{
    int netlink = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    bool done = netlink >= 0 && add_all(netlink, allowed, denied);
    if (netlink >= 0) {
        close(netlink);
    }
    return done;
}
