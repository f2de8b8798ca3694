/* SPDX-License-Identifier: MIT
 * `codebox serve`: the REST API on a loopback address until SIGINT or SIGTERM. */
#include "gateway/cli/cli.h"
#include "gateway/cli/serve/serve_start.h"
#include "gateway/cli/settings/identity_options.h"
#include "gateway/cli/settings/tls_options.h"
#include "gateway/database/database_remote.h"
#include "gateway/front/entrance.h"
#include "gateway/front/forward/forward.h"
#include "gateway/front/forward/replica_watch.h"
#include "gateway/front/http/tls.h"
#include "gateway/front/jobs/live.h"
#include "gateway/front/jobs/recovery.h"
#include "gateway/front/jobs/takeover.h"
#include "gateway/front/mcp/protocol/mcp_contents.h"
#include "gateway/front/page/logins.h"
#include "gateway/front/rest/rest.h"
#include "gateway/front/service/shared_quotas.h"
#include "gateway/front/store/store_use.h"
#include "gateway/ipc/master/state.h"
#include "gateway/ipc/metrics.h"
#include "gateway/ipc/wire/ipc_wire.h"
#include "policies/base/log.h"
#include "policies/base/time/clock.h"
#include "policies/release.h"

#include <limits.h>
#include <signal.h>
#include <sys/socket.h>

enum { HANDLERS_MAX = 16, JOBS_MAX = 1280, LINKS_MAX = 2048 };

static void log_start(const struct cbx_flow *flow, const struct cbx_listen_address *address,
                      uint16_t port, const char *state_dir)
{
    bool v6 = strchr(address->host, ':') != NULL;
    CBX_AUTO_DONE(buf) policies;
    cbx_buf_init(&policies, 64 * 1024);
    for (size_t i = 0; i < cbx_flow_policies(flow)->count; i++) {
        char hex[CBX_SHA256_HEX + 1];
        cbx_sha256_hex(&cbx_flow_policies(flow)->items[i]->sha256, hex);
        cbx_buf_printf(&policies, "%s %.*s (%.12s)", i > 0 ? "," : "",
                       CBX_STR_ARG(cbx_flow_policies(flow)->items[i]->name), hex);
    }
    const char *scheme = cbx_tls_expires_s() > 0 ? "https" : "http";
    const char *open = v6 ? "[" : "", *close = v6 ? "]" : "";
    cbx_log(CBX_LOG_INFO, "%s: serving on %s://%s%s%s:%u, polic%s%s, state in %s", CBX_VERSION,
            scheme, open, address->host, close, port,
            cbx_flow_policies(flow)->count == 1 ? "y" : "ies", policies.p, state_dir);
}

/* Logs when the certificate expires, and, if that is soon, the remedy. */
static void log_certificate(void)
{
    char date[CBX_TLS_DATE_BYTES];
    int64_t days;
    if (cbx_options_tls_expiry(date, &days)) {
        const char *plural = days == 1 ? "" : "s";
        if (days < CBX_TLS_SOON_DAYS) {
            cbx_log(CBX_LOG_WARNING,
                    "the TLS certificate expires on %s, in %lld day%s; after the files are "
                    "replaced, SIGHUP loads the new one",
                    date, (long long)days, plural);
        } else {
            cbx_log(CBX_LOG_INFO, "the TLS certificate expires on %s, in %lld day%s", date,
                    (long long)days, plural);
        }
    }
}

/* Waits for SIGINT or SIGTERM, which all threads block. */
static void wait_for_stop(const sigset_t *signals)
{
    int number = 0;
    while (sigwait(signals, &number) != 0 || (number != SIGINT && number != SIGTERM)) {
    }
}

/* The links of other replicas. */
struct inbound {
    int channel;
    struct cbx_http_server *server;
    pthread_t thread;
};

/* What a front serves, and its servers; zeroed memory is nothing. */
struct served {
    struct cbx_service service;
    struct cbx_mcp mcp;
    struct cbx_entrance entrance;
    struct cbx_http_config http;
    char own_host[300];
    const char *hosts[CBX_HOSTS_MAX + 1];
    struct cbx_http_server *server, *local; /* local: on the socket of this host's users, or NULL */
    struct inbound inbound;
};

/* Waits until the requests in progress are answered, at most --stop-timeout; a second signal
 * ends the wait. Meanwhile new requests that change something are refused. */
static void drain(struct served *s, int64_t timeout_ms, const sigset_t *signals)
{
    enum { TICK_MS = 20 };
    int64_t deadline = cbx_clock_ms() + timeout_ms;
    const struct timespec tick = cbx_timespec_of(TICK_MS);
    cbx_service_announce_stop(&s->service);
    int waits = s->entrance.in_work;
    cbx_log(CBX_LOG_INFO, "stopping: %d request%s in progress%s", waits, waits == 1 ? "" : "s",
            waits > 0 ? "; they are waited for" : "");
    while (s->entrance.in_work > 0 && cbx_clock_ms() < deadline &&
           sigtimedwait(signals, NULL, &tick) < 0) {
    }
    if (s->entrance.in_work > 0) {
        cbx_log(CBX_LOG_WARNING,
                "stopping: %d request%s still in progress; what runs continues in its sandbox, and "
                "the next gateway has its result",
                s->entrance.in_work, s->entrance.in_work == 1 ? " is" : "s are");
    }
}

static void count_answer(void *context, struct cbx_str method, struct cbx_str path, int status,
                         int64_t ms)
{
    char code[8];
    const char *route = cbx_rest_route(path);
    (void)context;
    (void)method;
    snprintf(code, sizeof(code), "%d", status);
    cbx_metric_count(CBX_METRIC_HTTP, cbx_str_of(route), cbx_str_of(code));
    if (strcmp(route, "/v1/check") == 0 && status == 200) {
        cbx_metric_observe(CBX_METRIC_CHECK_TIME, ms * 1000);
    }
}

/* The parts of the front that a reload changes. */
struct front_reload {
    struct cbx_flow *flow;
    struct cbx_identity *identity;
    size_t body_max_bytes; /* limit of the server, for its life */
};

static int take_over(void *context, const struct cbx_reload_part *part, uint64_t first_number,
                     struct cbx_err *err)
{
    const struct front_reload *r = context;
    if (strcmp(part->name, "identity") == 0) {
        if (r->identity != NULL) {
            return cbx_identity_replace(r->identity, part->bytes, err);
        }
        return 0;
    }
    if (strcmp(part->name, CBX_TLS_PART) == 0) {
        int failed = 0;
        if (part->bytes.len > 0) {
            failed = cbx_tls_use(part->bytes, err);
        }
        log_certificate();
        return failed;
    }
    int failed = cbx_flow_reload(r->flow, part, first_number, err);
    if (!failed && cbx_rest_body_max(cbx_flow_policies(r->flow)) > r->body_max_bytes) {
        cbx_log(CBX_LOG_WARNING,
                "reload: a policy allows larger sources than before; until the next start requests "
                "have %zu bytes at most",
                r->body_max_bytes);
    }
    return failed;
}

/* Starts the threads that are not a server's. */
static int start_threads(struct served *s, struct cbx_identity *identity, struct cbx_err *err)
{
    static struct front_reload taken;
    static struct cbx_reload_listener reloads;
    struct cbx_service *service = &s->service;
    taken = (struct front_reload){ .flow = service->flow,
                                   .identity = identity,
                                   .body_max_bytes = s->http.max_body_bytes };
    reloads = (struct cbx_reload_listener){ .fd = service->flow->reload,
                                            .apply = take_over,
                                            .context = &taken };
    if (identity != NULL) {
        int failed = cbx_issuer_keys_start(service->issuer_keys, service->flow->keys, err);
        if (failed) {
            return failed;
        }
    }
    struct cbx_shared_quotas *quotas = service->shared_quotas;
    if (!cbx_reload_listen(&reloads) ||
        (service->takeover != NULL && !cbx_takeover_start(service->takeover)) ||
        (quotas != NULL && !cbx_shared_quotas_start(quotas))) {
        return cbx_fail(err, CBX_EIO, "a thread cannot be started");
    }
    return 0;
}

/* The second server, on the socket of this host's users, exists only with such a socket. */
static int start_servers(const struct cbx_http_config *http, int socket_fd,
                         struct cbx_http_server **server, struct cbx_http_server **local,
                         struct cbx_err *err)
{
    struct cbx_http_config on_socket = *http;
    on_socket.listening = socket_fd;
    on_socket.local = true;
    on_socket.tls = false;
    int failed = cbx_http_server_new(http, server, err);
    if (failed || socket_fd <= 0) {
        return failed;
    }
    return cbx_http_server_new(&on_socket, local, err);
}

/* Adds the links that other replicas open, until the channel is shut down. */
static void *take_links(void *context)
{
    const struct inbound *in = context;
    int fd;
    char tag;
    struct cbx_err err;
    while (cbx_wire_receive_fd(in->channel, &fd, &tag, &err) == 0) {
        if (fd >= 0) {
            cbx_http_server_add(in->server, fd);
        }
    }
    return NULL;
}

/* The third server: for requests that other replicas forward. */
static int start_inbound(const struct cbx_http_config *http, int channel, struct inbound *out,
                         struct cbx_err *err)
{
    struct cbx_http_config linked = *http;
    linked.listening = -1;
    linked.replicas = true;
    linked.tls = false;
    linked.hsts_s = 0;
    linked.limits.connections = LINKS_MAX;
    linked.limits.per_peer = LINKS_MAX;
    int failed = cbx_http_server_new(&linked, &out->server, err);
    if (failed) {
        return failed;
    }
    out->channel = channel;
    if (pthread_create(&out->thread, NULL, take_links, out) != 0) {
        return cbx_fail(err, CBX_EIO, "a thread cannot be started");
    }
    return 0;
}

static void end_inbound(struct inbound *in)
{
    if (in->thread != 0) {
        shutdown(in->channel, SHUT_RDWR);
        pthread_join(in->thread, NULL);
    }
    cbx_http_server_free(in->server);
}

/* The database may be started together with the gateway. */
static int open_database(const struct cbx_flow *flow, struct cbx_database **out,
                         struct cbx_err *err)
{
    enum { TRIES = 30 };
    const struct timespec pause = { .tv_sec = 1 };
    int failed = CBX_EIO;
    for (int i = 0; (failed == CBX_EIO || failed == CBX_EBUSY) && i < TRIES; i++) {
        if (i == 1) {
            cbx_log(CBX_LOG_WARNING, "%s; trying again for %d s", err->text, TRIES);
        }
        if (i > 0) {
            nanosleep(&pause, NULL);
        }
        failed = cbx_database_open_remote(flow->database, out, err);
    }
    return failed;
}

/* cbx_flow_start entered the front's folder of the state directory. */
static int open_store(const struct cbx_options *options, const struct cbx_flow *flow,
                      const struct cbx_store_limits *limits, struct cbx_store **out,
                      struct cbx_err *err)
{
    struct cbx_database *database = NULL;
    if (flow->database < 0) {
        return cbx_store_open(".", limits, out, err);
    }
    int failed = open_database(flow, &database, err);
    if (failed) {
        return failed;
    }
    return cbx_store_open_shared(database, options->replica != NULL ? options->replica : "", ".",
                                 limits, out, err);
}

/* Describes the first server. */
static struct cbx_http_config describe_server(const struct cbx_options *options,
                                              const struct cbx_serve_start *start, struct served *s)
{
    static const char *const reserved[] = { "/healthz", "/livez", NULL };
    return (struct cbx_http_config){
        .listening = start->listening,
        .hosts = s->hosts,
        .host_count = cbx_options_hosts(options, s->own_host, s->hosts),
        .origin = options->public_url,
        .port = start->address.port,
        .tls = cbx_options_tls(options),
        .hsts_s = options->hsts_s,
        .max_body_bytes = cbx_rest_body_max(cbx_flow_policies(s->service.flow)),
        /* A handler whose client waits for a run blocks its thread. */
        .threads = HANDLERS_MAX + JOBS_MAX,
        .reserved_paths = reserved,
        .handler = cbx_entrance_handle,
        .refuse = cbx_rest_refuse,
        .answered = count_answer,
        .context = &s->entrance,
    };
}

/* Makes the service and its frontends; starts nothing. Flow, store and logins are borrowed. */
static void init_served(const struct cbx_options *options, const struct cbx_serve_start *start,
                        struct cbx_flow *flow, struct cbx_store *store, struct cbx_logins *logins,
                        int64_t idle_ms, struct served *s)
{
    struct cbx_service *service = &s->service;
    cbx_service_init(service, flow, store, JOBS_MAX);
    cbx_mcp_init(&s->mcp, service, idle_ms);
    s->mcp.contents = cbx_mcp_contents_of(s->mcp.sessions);
    service->package_sources = cbx_options_package_sources(options);
    service->quotas = cbx_identity_quotas(start->identity);
    service->issuer_keys = cbx_identity_issuer_keys(start->identity);
    s->entrance =
        (struct cbx_entrance){ .service = service, .mcp = &s->mcp, .identity = start->identity };
    s->entrance.page = (struct cbx_page){
        .service = service,
        .identity = start->identity,
        .logins = logins,
        .is_https = cbx_options_tls(options) || (options->public_url != NULL &&
                                                 strncmp(options->public_url, "https://", 8) == 0),
    };
    s->http = describe_server(options, start, s);
}

/* Recovers what an earlier gateway or another replica left, then starts the threads and the
 * servers. After a failure too, end_serving stops what was started. */
static int start_serving(const struct cbx_options *options, const struct cbx_serve_start *start,
                         struct served *s, struct cbx_err *err)
{
    struct cbx_service *service = &s->service;
    int links = service->flow->replicas;
    int failed = 0;
    if (links >= 0) {
        service->forwarder = cbx_forwarder_new(&start->replicas, links);
    }
    if (options->instance_secret != NULL) {
        failed = cbx_takeover_begin(service, &start->replicas, &service->takeover, err);
        if (failed) {
            return failed;
        }
    }
    if (start->identity != NULL && cbx_store_has_replicas(service->store)) {
        failed = cbx_shared_quotas_begin(service, err);
        if (failed) {
            return failed;
        }
    }
    cbx_service_recover(service);
    if (start->identity != NULL) {
        cbx_live_watch(service);
    }
    failed = start_threads(s, start->identity, err);
    if (failed) {
        return failed;
    }
    failed = start_servers(&s->http, start->socket, &s->server, &s->local, err);
    if (failed || links < 0) {
        return failed;
    }
    failed = start_inbound(&s->http, links, &s->inbound, err);
    service->replica_watch = cbx_replica_watch_new(service->forwarder, service->flow);
    return failed;
}

/* Stops the front before the flow, which jobs use to their end. */
static void end_serving(struct served *s)
{
    struct cbx_service *service = &s->service;
    cbx_takeover_stop(service->takeover);
    cbx_service_stop(service);
    cbx_mcp_sessions_stop(s->mcp.sessions);
    cbx_http_server_free(s->local);
    cbx_http_server_free(s->server);
    cbx_replica_watch_stop(service->replica_watch);
    end_inbound(&s->inbound);
    cbx_replica_watch_free(service->replica_watch);
    cbx_forwarder_free(service->forwarder);
    cbx_shared_quotas_stop(service->shared_quotas);
    cbx_takeover_join(service->takeover);
    cbx_service_done(service); /* jobs that end ask the takeover and the quotas until here */
    cbx_takeover_free(service->takeover);
    cbx_shared_quotas_free(service->shared_quotas);
    cbx_mcp_done(&s->mcp);
}

static int serve(const struct cbx_options *options, struct cbx_flow *flow,
                 const struct cbx_serve_start *start, int64_t idle_ms, const sigset_t *signals,
                 struct cbx_err *err)
{
    CBX_AUTO(store) store = NULL;
    /* No principal may fill the store, which would leave no room for the others. Without
     * identities there is one principal. */
    const struct cbx_store_limits limits = { .principal_bytes =
                                                 start->identity != NULL ? INT64_C(512) << 20 : 0 };
    int failed = open_store(options, flow, &limits, &store, err);
    if (failed) {
        cbx_flow_done(flow);
        return failed;
    }
    struct served served = { 0 };
    CBX_AUTO(logins) logins = cbx_logins_new();
    init_served(options, start, flow, store, logins, idle_ms, &served);
    failed = start_serving(options, start, &served, err);
    if (!failed) {
        cbx_reload_tell_ready(flow->reload);
        log_start(flow, &start->address, cbx_http_server_port(served.server), options->state_dir);
        log_certificate();
        wait_for_stop(signals);
        drain(&served, (options->stop_timeout_s > 0 ? options->stop_timeout_s : 10) * 1000,
              signals);
    }
    end_serving(&served);
    cbx_flow_done(flow);
    return failed;
}

int cbx_serve_command(const struct cbx_options *options)
{
    struct cbx_err err = { 0 };
    struct cbx_flow flow;
    if (options->arguments.count > 0) {
        fprintf(stderr, "codebox: serve takes no arguments, not '%s'\n",
                options->arguments.items[0]);
        return 2;
    }
    struct cbx_flow_config config = cbx_options_flow(options);
    cbx_options_log(options, CBX_LOG_INFO, true);
    const struct cbx_option_table table = cbx_cli_options_table('\0');
    const char *unknown = cbx_settings_unknown_variable(&table);
    if (unknown != NULL) {
        cbx_log(CBX_LOG_WARNING, "the variable '%s' of the environment is no option", unknown);
    }
    enum { POOL_MIN = 2 };
    config.options = options;
    config.executor.persistent = true;
    config.executor.pool.min = config.executor.pool.min > 0 ? config.executor.pool.min : POOL_MIN;
    config.prewarm[config.prewarm_count++] = "python";
    CBX_AUTO_DONE(serve_start) start = { 0 };
    if (cbx_serve_start(options, &start, &err) != 0) {
        return cbx_cli_fail(&err);
    }
    config.certificate = &start.certificate;
    config.front_fd = start.listening;
    config.socket_fd = start.socket;
    config.identity = start.identity;
    if (start.replicas.count > 0) {
        config.replicas = &start.replicas;
        config.replicas_fd = start.peer_listening;
        config.replicas_pem = &start.peer_pem;
    }
    config.database = &start.database;
    config.instances = &start.instances;
    config.front_folder = (struct cbx_grant){ .path = start.folder, .reads = true, .writes = true };
    if (cbx_flow_start(&config, &flow, &err) != 0) {
        return cbx_cli_fail(&err);
    }
    cbx_identity_warn(start.identity, cbx_flow_policies(&flow));
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    if (serve(options, &flow, &start, config.executor.idle_ms, &signals, &err) != 0) {
        return cbx_cli_fail(&err);
    }
    return 0;
}
