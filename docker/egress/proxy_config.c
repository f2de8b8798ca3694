/* SPDX-License-Identifier: MIT
 * squid.conf. Rules are in the order of their cost: the request's form, its host and port, and
 * only for a granted host a look-up of its addresses, so that no program sends data out in
 * queries for names. */
#include "docker/egress/proxy_config.h"

#include "policies/egress.h"

static void add_address(struct cbx_buf *out, uint32_t address)
{
    cbx_buf_printf(out, "%u.%u.%u.%u", address >> 24, address >> 16 & 255, address >> 8 & 255,
                   address & 255);
}

static void add_denied(struct cbx_buf *out, const struct cbx_addresses *ranges, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        cbx_buf_add_cstr(out, "acl unreachable dst ");
        add_address(out, ranges[i].first);
        if (ranges[i].last != ranges[i].first) {
            cbx_buf_add_char(out, '-');
            add_address(out, ranges[i].last);
        }
        cbx_buf_add_char(out, '\n');
    }
    cbx_buf_add_cstr(out, "acl unreachable dst ipv6\n");
}

/* --- hosts ------------------------------------------------------------------------------------ */

/* Adds one line of `granted` for each pattern; lines of one name are alternatives. In Squid
 * ".NAME" matches NAME and the names below it. */
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

/* --- the rest --------------------------------------------------------------------------------- */

/* A field that may have text from a client is URL-encoded, so that a blank always separates
 * fields, and cut: a line is shorter than the atomic size of a pipe write (4096 bytes).
 * docker/egress/proxy_log.c reads it. */
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
    /* No cache: every request goes to its host, and no program receives another program's reply. */
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
    /* Hosts receive no information about the sandbox. */
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
    /* A name's entry lives for 30 s or longer, whatever its DNS server sends, so that the
     * checked addresses are mostly the used ones. Not always: the entry can expire between the
     * two steps. The routing rules of the container refuse such a connection; they hold for
     * every address of every attempt. */
    "negative_dns_ttl 30 seconds\n"
    "positive_dns_ttl 60 seconds\n"
    "dns_timeout 10 seconds\n"
    "dns_retransmit_interval 2 seconds\n"
    "dns_defnames off\n"
    "dns_multicast_local off\n"
    "server_persistent_connections off\n"
    /* One request per connection: the relay reads only the first one
     * (docker/egress/relay/tunnel.h). */
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
    /* The last ACL of a line selects the page of a refusal; these ACLs always match. */
    "acl form_page src all\n"
    "acl host_page src all\n"
    "acl name_page src all\n"
    "acl address_page src all\n"
    "deny_info ERR_CODEBOX_FORM form_page\n"
    "deny_info ERR_CODEBOX_HOST host_page\n"
    "deny_info 503:ERR_CODEBOX_NAME name_page\n"
    "deny_info ERR_CODEBOX_ADDRESS address_page\n";

static const char access_rules[] =
    /* `wellformed`: a tunnel, or HTTP: Squid itself would use FTP, and TLS in place of the
     * program. */
    "acl tunnel method CONNECT\n"
    "acl plain proto HTTP\n"
    "acl wellformed any-of tunnel plain\n"
    "http_access deny manager\n"
    "http_access deny !wellformed form_page\n"
    "http_access deny !granted host_page\n"
    /* A failed look-up matches no address, so `unreachable` would let it pass, and connecting
     * would look up again. */
    "acl resolved dst all\n"
    "http_access deny !resolved name_page\n"
    "http_access deny unreachable address_page\n"
    "http_access allow all\n";

int cbx_proxy_config(const struct cbx_proxy_rules *rules, struct cbx_buf *out, struct cbx_err *err)
{
    struct cbx_addresses denied[CBX_ADDRESSES_RANGES_MAX];
    size_t count = 0;
    int failed = cbx_addresses_unreachable(rules->allowed, rules->denied, denied, &count, err);
    if (failed) {
        return failed;
    }
    cbx_buf_printf(out, "http_port 127.0.0.1:%d\n", CBX_PROXY_PORT);
    cbx_buf_add_cstr(out, head);
    add_denied(out, denied, count);
    failed = add_hosts(out, rules->hosts, err);
    cbx_buf_add_cstr(out, access_rules);
    if (!failed && out->overflow) {
        return cbx_fail(err, CBX_ETOOBIG, "the configuration of the proxy is too long");
    }
    return failed;
}
