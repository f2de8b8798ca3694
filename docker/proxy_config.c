/* SPDX-License-Identifier: MIT
 * squid.conf. Rules are in the order of what they cost: the request's form, its host and port, and only for a granted host a
 * look-up of its addresses, so that no program sends data out by asking for names. */
#include "docker/proxy_config.h"

#include "policies/base/sort.h"
#include "policies/egress.h"

enum { MAX_RANGES = 32 + 3 * CBX_PROXY_CIDRS_MAX };

static const struct row {
    struct cbx_addresses range;
    bool may_allow;
} rows[] = {
#define CBX_ADDRESSES(a, b, c, d, prefix, allow, meaning)                                          \
    { { (uint32_t)a << 24 | b << 16 | c << 8 | d,                                                  \
        ((uint32_t)a << 24 | b << 16 | c << 8 | d) | (uint32_t)(0xffffffffull >> (prefix)) },      \
      allow },
#include "docker/addresses.def"
#undef CBX_ADDRESSES
};

struct ranges {
    struct cbx_addresses items[MAX_RANGES];
    size_t count;
};

/* --- addresses ---------------------------------------------------------------------------------- */

/* Takes a decimal number up to `max` without leading zeros. */
static bool take_number(struct cbx_str *text, uint32_t max, uint32_t *out)
{
    uint32_t value = 0;
    size_t i = 0;
    for (; i < text->len && i < 3 && text->p[i] >= '0' && text->p[i] <= '9'; i++) {
        value = value * 10 + (uint32_t)(text->p[i] - '0');
    }
    if (i == 0 || value > max || (i > 1 && text->p[0] == '0')) {
        return false;
    }
    *text = cbx_str_sub(*text, i, text->len);
    *out = value;
    return true;
}

static bool take_char(struct cbx_str *text, char c)
{
    bool found = text->len > 0 && text->p[0] == c;
    *text = cbx_str_sub(*text, found, text->len);
    return found;
}

int cbx_addresses_parse(struct cbx_str cidr, struct cbx_addresses *out, struct cbx_err *err)
{
    struct cbx_str rest = cidr;
    uint32_t address = 0, part = 0, prefix = 32;
    bool good = true;
    for (int i = 0; i < 4 && good; i++) {
        good = (i == 0 || take_char(&rest, '.')) && take_number(&rest, 255, &part);
        address = address << 8 | part;
    }
    if (good && take_char(&rest, '/')) {
        good = take_number(&rest, 32, &prefix);
    }
    uint32_t behind = prefix < 32 ? 0xffffffffu >> prefix : 0;
    if (!good || rest.len > 0) {
        return cbx_fail(err, CBX_EINVAL,
                        "'%.*s' is no range of addresses, allowed is A.B.C.D/PREFIX",
                        CBX_STR_ARG(cidr));
    }
    if ((address & behind) != 0) {
        return cbx_fail(err, CBX_EINVAL, "the range '%.*s' has bits behind its prefix",
                        CBX_STR_ARG(cidr));
    }
    *out = (struct cbx_addresses){ .first = address, .last = address | behind };
    return 0;
}

static bool add_range(struct ranges *ranges, uint32_t first, uint32_t last)
{
    if (ranges->count == MAX_RANGES) {
        return false;
    }
    ranges->items[ranges->count++] = (struct cbx_addresses){ first, last };
    return true;
}

/* The row that an operator can allow `range` of, or NULL. */
static const struct row *row_of(struct cbx_addresses range)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].may_allow && range.first >= rows[i].range.first &&
            range.last <= rows[i].range.last) {
            return &rows[i];
        }
    }
    return NULL;
}

static int compare_ranges(const void *a, const void *b)
{
    const struct cbx_addresses *x = a, *y = b;
    return x->first < y->first ? -1 : x->first > y->first;
}

/* Sorted, no two of them touching: Squid ignores ranges that lie in others. */
static void straighten(struct ranges *ranges)
{
    size_t count = 0;
    cbx_sort_heap(ranges->items, ranges->count, sizeof(ranges->items[0]), compare_ranges);
    for (size_t i = 0; i < ranges->count; i++) {
        struct cbx_addresses *last = count > 0 ? &ranges->items[count - 1] : NULL;
        const struct cbx_addresses *next = &ranges->items[i];
        if (last != NULL && (uint64_t)next->first <= (uint64_t)last->last + 1) {
            last->last = next->last > last->last ? next->last : last->last;
        } else {
            ranges->items[count++] = *next;
        }
    }
    ranges->count = count;
}

int cbx_addresses_may_allow(struct cbx_str cidr, struct cbx_err *err)
{
    struct cbx_addresses range;
    int failed = cbx_addresses_parse(cidr, &range, err);
    return failed || row_of(range) != NULL
               ? failed
               : cbx_fail(err, CBX_EINVAL,
                          "the range '%.*s' cannot be allowed, only parts of 10.0.0.0/8, "
                          "100.64.0.0/10, 172.16.0.0/12, 192.168.0.0/16 and 198.18.0.0/15",
                          CBX_STR_ARG(cidr));
}

static int read_ranges(const struct cbx_strs *cidrs, bool allow, struct ranges *out,
                       struct cbx_err *err)
{
    size_t count = cidrs != NULL ? cidrs->count : 0;
    if (count > CBX_PROXY_CIDRS_MAX) {
        return cbx_fail(err, CBX_ETOOBIG, "%zu ranges of addresses, allowed are %d", count,
                        CBX_PROXY_CIDRS_MAX);
    }
    for (size_t i = 0; i < count; i++) {
        struct cbx_addresses range;
        int failed = allow ? cbx_addresses_may_allow(cidrs->items[i], err) : 0;
        failed = failed ? failed : cbx_addresses_parse(cidrs->items[i], &range, err);
        if (failed) {
            return failed;
        }
        add_range(out, range.first, range.last);
    }
    return 0;
}

/* A dst ACL matches a name when any one of its addresses matches. An ACL of what is allowed would therefore let a name pass that has
 * a private address besides the allowed one, so there is one alone, of everything that is denied. */
static int deny_ranges(const struct cbx_proxy_rules *rules, struct ranges *out, struct cbx_err *err)
{
    struct ranges allowed = { .count = 0 };
    out->count = 0;
    int failed = read_ranges(rules->denied, false, out, err);
    failed = failed ? failed : read_ranges(rules->allowed, true, &allowed, err);
    if (failed) {
        return failed;
    }
    straighten(&allowed);
    bool fits = true;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        uint64_t from = rows[i].range.first;
        for (size_t k = 0; k < allowed.count && rows[i].may_allow; k++) {
            struct cbx_addresses hole = allowed.items[k];
            if (hole.first > rows[i].range.last || hole.last < from) {
                continue;
            }
            fits &= hole.first <= from || add_range(out, (uint32_t)from, hole.first - 1);
            from = (uint64_t)hole.last + 1;
        }
        fits &= from > rows[i].range.last || add_range(out, (uint32_t)from, rows[i].range.last);
    }
    straighten(out);
    return fits ? 0 : cbx_fail(err, CBX_ETOOBIG, "too many ranges of addresses");
}

static void add_address(struct cbx_buf *out, uint32_t address)
{
    cbx_buf_printf(out, "%u.%u.%u.%u", address >> 24, address >> 16 & 255, address >> 8 & 255,
                   address & 255);
}

static void add_denied(struct cbx_buf *out, const struct ranges *ranges)
{
    for (size_t i = 0; i < ranges->count; i++) {
        cbx_buf_add_cstr(out, "acl unreachable dst ");
        add_address(out, ranges->items[i].first);
        if (ranges->items[i].last != ranges->items[i].first) {
            cbx_buf_add_char(out, '-');
            add_address(out, ranges->items[i].last);
        }
        cbx_buf_add_char(out, '\n');
    }
    cbx_buf_add_cstr(out, "acl unreachable dst ipv6\n");
}

/* --- hosts -------------------------------------------------------------------------------------- */

/* One line of `granted` for each pattern; lines of one name are alternatives. ".NAME" is for Squid NAME and what is below it. */
static int add_hosts(struct cbx_buf *out, const struct cbx_strs *hosts, struct cbx_err *err)
{
    if (hosts->count == 0 || hosts->count > CBX_EGRESS_MAX) {
        return cbx_fail(err, CBX_EINVAL, "%zu hosts, allowed are 1..%d", hosts->count,
                        CBX_EGRESS_MAX);
    }
    cbx_buf_printf(out, "acl web port %d %d\n", CBX_EGRESS_HTTP, CBX_EGRESS_HTTPS);
    for (size_t i = 0; i < hosts->count; i++) {
        struct cbx_egress_host host;
        int failed = cbx_egress_parse(hosts->items[i], &host, err);
        if (failed) {
            return failed;
        }
        cbx_buf_printf(out, "acl host%zu dstdomain -n %s", i, host.subdomains ? "." : "");
        cbx_buf_add(out, host.name);
        if (host.subdomains) {
            cbx_buf_printf(out, "\nacl apex%zu dstdomain -n ", i);
            cbx_buf_add(out, host.name);
        }
        if (host.port != 0) {
            cbx_buf_printf(out, "\nacl port%zu port %u", i, host.port);
        }
        cbx_buf_printf(out, "\nacl granted all-of host%zu ", i);
        if (host.subdomains) {
            cbx_buf_printf(out, "!apex%zu ", i);
        }
        if (host.port != 0) {
            cbx_buf_printf(out, "port%zu\n", i);
        } else {
            cbx_buf_add_cstr(out, "web\n");
        }
    }
    return 0;
}

/* --- the rest ----------------------------------------------------------------------------------- */

/* A field that may have what a client chose is URL-encoded, so that a blank always separates fields, and cut: a line is shorter than
 * what a pipe takes at once (4096 bytes). docker/proxy_log.c reads it. */
#define LOG_FORMAT                                                                                 \
    "logformat codebox codebox2 %.40Ss %>Hs %#.60err_code %#.60err_detail %#.32>rm %#.255>rd "     \
    "%>rP %#.45<a %<st %>st %tr -\n"

static const char head[] =
    "visible_hostname proxy.invalid\n"
    "pid_filename none\n"
    "coredump_dir none\n"
    "shutdown_lifetime 0 seconds\n"
    "hosts_file none\n"
    "mime_table /dev/null\n"
    "icon_directory " CBX_PROXY_ERRORS "\n"
    "unlinkd_program /dev/null\n"
    "pinger_enable off\n"
    "max_filedescriptors 1024\n"
    "memory_pools off\n"
    /* No cache: every request goes to its host, and no program sees what another one got. */
    "cache deny all\n"
    "cache_mem 0 MB\n"
    "maximum_object_size_in_memory 0 KB\n"
    "memory_cache_shared off\n"
    "ipcache_size 256\n"
    "fqdncache_size 64\n"
    "digest_generation off\n"
    "icp_port 0\n"
    "htcp_port 0\n"
    "snmp_port 0\n"
    "icap_enable off\n"
    "global_internal_static off\n"
    /* What hosts are told of the sandbox. */
    "via off\n"
    "forwarded_for delete\n"
    "httpd_suppress_version_string on\n"
    "reply_header_access X-Cache deny all\n"
    "reply_header_access X-Cache-Lookup deny all\n"
    /* Ambiguous requests are refused rather than repaired. */
    "relaxed_header_parser off\n"
    "uri_whitespace deny\n"
    "check_hostnames on\n"
    "allow_underscore off\n"
    /* A name's entry lives for 30 s or longer, whatever its DNS server says, so that the addresses that were judged are mostly those
     * that are used. Not always: the entry can expire between the two. The routing rules of the container refuse such a
     * connection; they hold for every address of every attempt. */
    "negative_dns_ttl 30 seconds\n"
    "positive_dns_ttl 60 seconds\n"
    "dns_timeout 10 seconds\n"
    "dns_retransmit_interval 2 seconds\n"
    "dns_defnames off\n"
    "dns_multicast_local off\n"
    "server_persistent_connections off\n"
    /* One request a connection: the relay reads no further one (docker/proxy/tunnel.h). */
    "client_persistent_connections off\n"
    "connect_timeout 10 seconds\n"
    "connect_retries 0\n"
    "forward_timeout 20 seconds\n"
    "forward_max_tries 4\n"
    "request_start_timeout 60 seconds\n"
    "request_timeout 30 seconds\n"
    "client_idle_pconn_timeout 60 seconds\n"
    "read_timeout 5 minutes\n"
    "write_timeout 5 minutes\n"
    "half_closed_clients off\n"
    "client_ip_max_connections 256\n"
    "request_header_max_size 32 KB\n"
    "reply_header_max_size 64 KB\n"
    "client_request_buffer_max_size 64 KB\n"
    "pipeline_prefetch 0\n"
    "cache_log /dev/null\n"
    "debug_options ALL,0\n"
    "buffered_logs off\n" LOG_FORMAT "access_log stdio:" CBX_PROXY_LOG " logformat=codebox\n"
    "error_directory " CBX_PROXY_ERRORS "\n"
    /* The page of a refusal is chosen by the last ACL of its line; these match always. */
    "acl form_page src all\n"
    "acl host_page src all\n"
    "acl name_page src all\n"
    "acl address_page src all\n"
    "deny_info ERR_CODEBOX_FORM form_page\n"
    "deny_info ERR_CODEBOX_HOST host_page\n"
    "deny_info 503:ERR_CODEBOX_NAME name_page\n"
    "deny_info ERR_CODEBOX_ADDRESS address_page\n";

static const char access_rules[] =
    /* `wellformed`: a tunnel, or HTTP: Squid itself would speak FTP, and TLS in the place of the program. */
    "acl tunnel method CONNECT\n"
    "acl plain proto HTTP\n"
    "acl wellformed any-of tunnel plain\n"
    "http_access deny manager\n"
    "http_access deny !wellformed form_page\n"
    "http_access deny !granted host_page\n"
    /* A look-up that fails matches no address, so `unreachable` would let it pass, and connecting would look up again. */
    "acl resolved dst all\n"
    "http_access deny !resolved name_page\n"
    "http_access deny unreachable address_page\n"
    "http_access allow all\n";

int cbx_proxy_config(const struct cbx_proxy_rules *rules, struct cbx_buf *out, struct cbx_err *err)
{
    struct ranges denied;
    int failed = deny_ranges(rules, &denied, err);
    if (failed) {
        return failed;
    }
    cbx_buf_printf(out, "http_port 127.0.0.1:%d\n", CBX_PROXY_PORT);
    cbx_buf_add_cstr(out, head);
    add_denied(out, &denied);
    failed = add_hosts(out, rules->hosts, err);
    cbx_buf_add_cstr(out, access_rules);
    if (!failed && out->overflow) {
        return cbx_fail(err, CBX_ETOOBIG, "the configuration of the proxy is too long");
    }
    return failed;
}
