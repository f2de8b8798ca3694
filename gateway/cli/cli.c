/* SPDX-License-Identifier: MIT
 * Functions that several commands use. */
#include "gateway/cli/cli.h"

#include "docker/kernel_names.h"
#include "gateway/ipc/seal/mount_requests.h"

#include <errno.h>
#include <unistd.h>

int cbx_cli_fail(const struct cbx_err *err)
{
    if (cbx_log_is_json()) {
        cbx_log(CBX_LOG_ERROR, "%s", cbx_err_full(err, (char[CBX_ERR_FULL_BYTES]){ 0 }));
    } else {
        cbx_err_print(err, "codebox", stderr);
    }
    return 2;
}

int cbx_cli_read(int fd, const char *path, struct cbx_buf *out, struct cbx_err *err)
{
    enum { CHUNK = 65536 };
    for (;;) {
        char *to = cbx_buf_reserve(out, CHUNK);
        if (to == NULL) {
            return cbx_fail(err, CBX_ETOOBIG, "'%s' has more than %zu bytes", path, out->max_bytes);
        }
        ssize_t n = read(fd, to, CHUNK);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return cbx_fail(err, CBX_EIO, "'%s': %s", path, strerror(errno));
        }
        if (n == 0) {
            out->p[out->len] = '\0';
            return 0;
        }
        out->len += (size_t)n;
    }
}

int cbx_cli_write(int fd, struct cbx_str bytes)
{
    while (bytes.len > 0) {
        ssize_t n = write(fd, bytes.p, bytes.len);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return -1;
        }
        bytes = cbx_str_sub(bytes, (size_t)n, bytes.len);
    }
    return 0;
}

static enum cbx_pool_policy pool_policy(const char *name)
{
    return name == NULL || strcmp(name, "grow") == 0 ? CBX_POOL_GROW
           : strcmp(name, "wait") == 0               ? CBX_POOL_WAIT
                                                     : CBX_POOL_FAIL;
}

int cbx_options_check(const struct cbx_options *o, struct cbx_err *err)
{
    if (o->pool_empty != NULL && strcmp(o->pool_empty, "wait") == 0 && o->pool_max == 0) {
        return cbx_fail(err, CBX_EINVAL,
                        "--pool-empty wait needs a bound to wait for: --pool-max N");
    }
    if (o->pool_max > 0 && o->pool_min > o->pool_max) {
        return cbx_fail(
            err, CBX_EINVAL,
            "--pool-min is %lld and --pool-max %lld; the pool cannot keep more ready than "
            "are allowed",
            (long long)o->pool_min, (long long)o->pool_max);
    }
    return 0;
}

void cbx_options_log(const struct cbx_options *options, enum cbx_log_level level, bool times)
{
    if (options->log_level != NULL) {
        cbx_log_level_of(options->log_level, &level);
    }
    cbx_log_set(level, times);
    cbx_log_set_json(options->log_format != NULL && strcmp(options->log_format, "json") == 0);
}

int cbx_cli_parse_listen(const char *option, const char *text, struct cbx_listen_address *out,
                         struct cbx_err *err)
{
    const char *colon = strrchr(text, ':');
    char *end;
    unsigned long port = colon != NULL ? strtoul(colon + 1, &end, 10) : 0;
    if (colon == NULL || colon[1] < '0' || colon[1] > '9' || *end != '\0' || port > 65535) {
        return cbx_fail(err, CBX_EINVAL,
                        "%s is '%s', allowed is ADDRESS:PORT such as 127.0.0.1:8000", option, text);
    }
    struct cbx_str host = { .p = text, .len = (size_t)(colon - text) };
    if (host.len > 2 && host.p[0] == '[' && host.p[host.len - 1] == ']') {
        host = cbx_str_sub(host, 1, host.len - 1);
    }
    host = host.len == 0 || cbx_str_is(host, "localhost") ? CBX_STR("127.0.0.1") : host;
    out->loopback = cbx_str_starts(host, CBX_STR("127.")) || cbx_str_is(host, "::1");
    snprintf(out->host, sizeof(out->host), "%.*s", CBX_STR_ARG(host));
    out->port = (uint16_t)port;
    return 0;
}

bool cbx_options_small(const struct cbx_options *options)
{
    return options->images != NULL && strcmp(options->images, "small") == 0;
}

const char *cbx_options_variant(const struct cbx_options *options)
{
    if (options->image_name != NULL) {
        return options->image_name;
    }
    return cbx_options_small(options) ? CBX_VARIANT_SMALL : NULL;
}

int cbx_options_mounts(const struct cbx_options *options, json_t **out, struct cbx_err *err)
{
    CBX_AUTO_JSON list = NULL;
    for (size_t i = 0; i < options->mounts.count; i++) {
        int failed = cbx_mounts_add_option(options->mounts.items[i], &list, err);
        if (failed) {
            return failed;
        }
    }
    *out = cbx_steal(&list);
    return 0;
}

struct cbx_sha256 cbx_options_package_sources(const struct cbx_options *o)
{
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, 64 * 1024);
    cbx_buf_printf(&text, "%s\n%s\n%d", o->pip_index != NULL ? o->pip_index : "",
                   o->npm_registry != NULL ? o->npm_registry : "", cbx_options_small(o));
    return cbx_sha256_of(cbx_buf_str(&text));
}

static int64_t positive_or(int64_t given, int64_t usual)
{
    return given > 0 ? given : usual;
}

struct cbx_flow_config cbx_options_flow(const struct cbx_options *o)
{
    static const char *const default_policy[] = { "default" };
    return (struct cbx_flow_config){
        .policies = o->policies.count > 0 ? o->policies.items : default_policy,
        .policy_count = o->policies.count > 0 ? o->policies.count : 1,
        .pass_env = o->pass_env.items,
        .pass_env_count = o->pass_env.count,
        .package_ca_file = o->package_ca,
        .egress_ranges = o->egress_ranges.items,
        .egress_range_count = o->egress_ranges.count,
        .workers = (int)o->workers,
        .keep_code = o->audit_code != NULL && strcmp(o->audit_code, "full") == 0,
        .syslog = o->syslog,
        .syslog_ca = o->syslog_ca,
        .front_role = CBX_ROLE_FRONT,
        .executor = { .state_dir = o->state_dir,
                      .audit_heads = o->audit_heads,
                      .audit_max_bytes = o->audit_kib * 1024,
                      .audit_keep_ms = o->audit_days * 86400000,
                      .docker_host = o->docker_host,
                      .runtime = o->runtime,
                      .gvisor_runtime = o->gvisor_runtime,
                      .apparmor = o->apparmor,
                      .variant = cbx_options_variant(o),
                      .package_network = o->package_network,
                      .network = { .network = o->egress_network },
                      .pip_index = o->pip_index,
                      .npm_registry = o->npm_registry,
                      .max_installs = (int)o->max_installs,
                      .install_ms = o->install_s * 1000,
                      .layers_bytes = o->layers_mib << 20,
                      .layer_bytes = o->layer_mib << 20,
                      .layers_free_bytes = o->layers_free_mib << 20,
                      .max_sessions = (int)positive_or(o->max_sessions, 32),
                      .max_runs = (int)positive_or(o->max_runs, 16),
                      .idle_ms = positive_or(o->idle_s, 1800) * 1000,
                      .lease_ms = o->lease_s * 1000,
                      .pool = { .min = (int)o->pool_min,
                                .max = (int)o->pool_max,
                                .idle_ms = o->pool_idle_s * 1000,
                                .when_empty = pool_policy(o->pool_empty) } },
    };
}
