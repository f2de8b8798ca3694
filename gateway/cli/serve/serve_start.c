/* SPDX-License-Identifier: MIT
 * Steps before the processes of `codebox serve`. */
#include "gateway/cli/serve/serve_start.h"

#include "gateway/cli/serve/steps.h"
#include "gateway/cli/settings/database_options.h"
#include "gateway/cli/settings/identity_options.h"
#include "gateway/cli/settings/replica_options.h"
#include "gateway/cli/settings/tls_options.h"
#include "gateway/front/http/http_server.h"
#include "gateway/identity/tokens.h"
#include "gateway/ipc/master/reload.h"
#include "gateway/ipc/master/state.h"

#include <string.h>

/* --- steps ------------------------------------------------------------------------------------ */

static int check_pool(void *context, struct cbx_err *err)
{
    const struct cbx_serve_start *s = context;
    return cbx_options_check(s->options, err);
}

static int read_address(void *context, struct cbx_err *err)
{
    struct cbx_serve_start *s = context;
    const char *listen = s->options->listen;
    return cbx_cli_parse_listen("--listen", listen != NULL ? listen : "127.0.0.1:8000", &s->address,
                                err);
}

static int check_url(void *context, struct cbx_err *err)
{
    const struct cbx_serve_start *s = context;
    return cbx_options_check_url(s->options->public_url, err);
}

static int read_tokens(void *context, struct cbx_err *err)
{
    struct cbx_serve_start *s = context;
    return cbx_options_tokens_read(s->options, &s->tokens, err);
}

/* Errors of the sections have their place in the file; others are about the state directory. */
static int read_identity(void *context, struct cbx_err *err)
{
    struct cbx_serve_start *s = context;
    struct cbx_identity_config config;
    char folder[PATH_MAX];
    cbx_options_identity_config(s->options, &s->tokens, folder, &config);
    config.tries = s->problems != NULL;
    int failed = cbx_identity_new(&config, &s->identity, err);
    s->unknown_callers = failed != 0;
    if (failed && err->line == 0) {
        cbx_step_place("state", s->options, err);
    }
    return failed;
}

static int check_callers(void *context, struct cbx_err *err)
{
    const struct cbx_serve_start *s = context;
    if (!s->unknown_callers && s->address.host[0] != '\0') {
        return cbx_listen_check(&s->address, s->identity, err);
    }
    return 0;
}

static int read_certificate(void *context, struct cbx_err *err)
{
    struct cbx_serve_start *s = context;
    if (cbx_options_tls(s->options)) {
        return cbx_options_tls_read(s->options, &s->certificate, err);
    }
    return 0;
}

static int open_address(void *context, struct cbx_err *err)
{
    struct cbx_serve_start *s = context;
    struct cbx_listen_address *address = &s->address;
    if (address->host[0] == '\0') {
        return 0; /* of a check: the address could not be read */
    }
    if (s->problems != NULL) {
        return cbx_http_try_listen(address->host, address->port, &s->address_taken, err);
    }
    int fd = cbx_http_listen(address->host, address->port, &address->port, err);
    s->listening = fd < 0 ? 0 : fd;
    return fd < 0 ? fd : 0;
}

static int open_unix_socket(void *context, struct cbx_err *err)
{
    enum { EVERYBODY = 0666, OWN_USER = 0600 };
    struct cbx_serve_start *s = context;
    const char *path = s->options->socket;
    if (path == NULL) {
        return 0;
    }
    if (s->problems != NULL) {
        return cbx_http_try_listen_unix(path, &s->socket_taken, err);
    }
    int fd = cbx_http_listen_unix(path, s->identity != NULL ? EVERYBODY : OWN_USER, err);
    s->socket = fd < 0 ? 0 : fd;
    return fd < 0 ? fd : 0;
}

/* From here on identifiers have the tag of this replica. */
static int read_replicas(void *context, struct cbx_err *err)
{
    struct cbx_serve_start *s = context;
    int failed = cbx_options_replicas(s->options, &s->replicas, err);
    if (!failed && s->replicas.own_name[0] != '\0') {
        cbx_tag_use(s->replicas.own_tag);
    }
    return failed;
}

static int read_peer_files(void *context, struct cbx_err *err)
{
    struct cbx_serve_start *s = context;
    if (s->replicas.count > 0) {
        return cbx_options_replicas_read(s->options, &s->peer_pem, err);
    }
    return 0;
}

static int open_peer_address(void *context, struct cbx_err *err)
{
    struct cbx_serve_start *s = context;
    struct cbx_listen_address *address = &s->peer_address;
    if (s->replicas.count == 0) {
        return 0;
    }
    int failed = cbx_cli_parse_listen("--peer-listen", s->options->peer_listen, address, err);
    if (failed) {
        return failed;
    }
    if (s->problems != NULL) {
        return cbx_http_try_listen(address->host, address->port, &s->peer_address_taken, err);
    }
    int fd = cbx_http_listen(address->host, address->port, &address->port, err);
    s->peer_listening = fd < 0 ? 0 : fd;
    return fd < 0 ? fd : 0;
}

static int read_database(void *context, struct cbx_err *err)
{
    struct cbx_serve_start *s = context;
    return cbx_options_database_read(s->options, &s->database, err);
}

static int read_instances(void *context, struct cbx_err *err)
{
    struct cbx_serve_start *s = context;
    return cbx_options_instances_read(s->options, &s->replicas, &s->instances, err);
}

static int make_state(void *context, struct cbx_err *err)
{
    struct cbx_serve_start *s = context;
    CBX_AUTO_FD fd = -1;
    if (s->problems != NULL) {
        int failed = cbx_state_try(s->options->state_dir, &fd, err);
        s->unusable_state = failed != 0;
        return failed;
    }
    return cbx_state_make_front(s->options->state_dir, cbx_privileges_user(CBX_ROLE_FRONT),
                                s->folder, sizeof(s->folder), err);
}

static const struct cbx_step steps[] = {
    { "pool-empty", check_pool },
    { "listen", read_address },
    { "public-url", check_url },
    { "tokens", read_tokens },
    { NULL, read_identity },
    { "listen", check_callers },
    { "tls-certificate", read_certificate },
    { "listen", open_address },
    { "socket", open_unix_socket },
    { "peer", read_replicas },
    { "peer-certificate", read_peer_files },
    { "peer-listen", open_peer_address },
    { "store", read_database },
    { "instance-secret", read_instances },
    { "state", make_state },
};
enum { STEPS = sizeof(steps) / sizeof(steps[0]) };

/* --- all of them ------------------------------------------------------------------------------ */

static void begin(const struct cbx_options *options, struct cbx_problems *problems,
                  struct cbx_serve_start *out)
{
    *out = (struct cbx_serve_start){ .options = options, .problems = problems };
    cbx_buf_init(&out->certificate, CBX_RELOAD_BYTES_MAX);
    cbx_buf_init(&out->peer_pem, CBX_RELOAD_BYTES_MAX);
    cbx_buf_init(&out->database, CBX_RELOAD_BYTES_MAX);
    cbx_buf_init(&out->instances, CBX_RELOAD_BYTES_MAX);
    cbx_buf_init(&out->tokens, CBX_TOKENS_FILE_MAX);
}

int cbx_serve_start(const struct cbx_options *options, struct cbx_serve_start *out,
                    struct cbx_err *err)
{
    begin(options, NULL, out);
    return cbx_steps_run(steps, STEPS, out, options, NULL, err);
}

void cbx_serve_check(const struct cbx_options *options, struct cbx_serve_start *out,
                     struct cbx_problems *problems, struct cbx_problems *warnings)
{
    struct cbx_err err = { 0 };
    CBX_AUTO_JSON mounts = NULL;
    struct cbx_flow_config config = cbx_options_flow(options);
    begin(options, problems, out);
    cbx_steps_run(steps, STEPS, out, options, problems, &err);
    if (cbx_options_mounts(options, &mounts, &err) != 0) {
        cbx_step_place("mount", options, &err);
        cbx_problems_add(problems, &err);
    }
    config.options = options;
    config.identity = out->identity;
    config.mounts = mounts;
    cbx_flow_check(&config, problems);
    cbx_serve_check_later(options, out->unusable_state ? NULL : problems, warnings);
}

void cbx_serve_start_done(struct cbx_serve_start *start)
{
    explicit_bzero(start->certificate.p, start->certificate.len);
    cbx_buf_done(&start->certificate);
    explicit_bzero(start->peer_pem.p, start->peer_pem.len);
    cbx_buf_done(&start->peer_pem);
    explicit_bzero(start->database.p, start->database.len);
    cbx_buf_done(&start->database);
    explicit_bzero(start->instances.p, start->instances.len);
    cbx_buf_done(&start->instances);
    cbx_buf_done(&start->tokens);
    cbx_identity_free(start->identity);
}
