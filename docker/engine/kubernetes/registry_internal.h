/* SPDX-License-Identifier: MIT
 * Declarations shared by the files of the registry client. */
#ifndef CBX_DOCKER_ENGINE_KUBERNETES_REGISTRY_INTERNAL_H
#define CBX_DOCKER_ENGINE_KUBERNETES_REGISTRY_INTERNAL_H

#include "docker/engine/handles.h"
#include "docker/engine/kubernetes/registry.h"
#include "policies/base/buf.h"

#include <stdint.h>

enum { CBX_REGISTRY_URL_BYTES = 4096 };

/* The value of the header Authorization for a repository. */
struct cbx_registry_pass {
    char host[CBX_REPOSITORY_BYTES], name[CBX_REPOSITORY_BYTES];
    char *header; /* "Authorization: ..." */
    struct cbx_registry_pass *next;
};

struct cbx_registry {
    struct cbx_registry_access access;
    struct cbx_handles handles;
    pthread_mutex_t lock; /* protects `passes` */
    struct cbx_registry_pass *passes;
};

struct cbx_registry_request {
    const char *method;
    const struct cbx_reference *at;
    const char *url;                          /* complete */
    const char *accept, *type;                /* header values; NULL = none */
    struct cbx_str body;                      /* empty = none */
    const struct cbx_registry_source *source; /* sent in chunks; NULL = `body` */
    size_t reply_max;
};
struct cbx_registry_reply {
    long status;
    struct cbx_buf body;
    char location[CBX_REGISTRY_URL_BYTES]; /* header values; empty = none */
    char type[128], digest[CBX_DIGEST_CHARS + 1], challenge[2048], link[2048];
};
void cbx_registry_reply_done(struct cbx_registry_reply *reply);
CBX_DEFINE_AUTO_DONE(registry_reply)

/* True if a text begins with the name or the address of this machine: "localhost", 127.0.0.0/8; a
 * port or a path may follow. */
bool cbx_registry_is_local(const char *host);

/* Returns "https", or "http" for a registry of this machine. */
const char *cbx_registry_scheme(const char *host);

/* --- registry_http.c -------------------------------------------------------------------------- */

/* Sends a request, and once more with new credentials if the registry asks for them; a request with
 * a source is sent once. CBX_EENGINE without a reply, CBX_EIO if the source ended it. */
int cbx_registry_call(struct cbx_registry *registry, const struct cbx_registry_request *request,
                      struct cbx_registry_reply *reply, struct cbx_err *err);

/* Sends one request with these headers (may be NULL). */
int cbx_registry_send(struct cbx_registry *registry, const struct cbx_registry_request *request,
                      const char *authorization, struct cbx_registry_reply *reply,
                      struct cbx_err *err);

/* Fails with CBX_EENGINE for a reply with another status than a good one. */
int cbx_registry_refused(const struct cbx_registry_request *request,
                         const struct cbx_registry_reply *reply, struct cbx_err *err);

/* --- registry_auth.c -------------------------------------------------------------------------- */

/* Returns the header for a repository that an earlier call got (owned by the caller); NULL = none.
 * It may have expired: then the registry asks again. */
char *cbx_registry_pass(struct cbx_registry *registry, const struct cbx_reference *at);

/* Appends the URL of a token to *url, by a challenge of the scheme Bearer. CBX_EENGINE for a realm
 * to which credentials may not be sent. */
int cbx_registry_token_url(const struct cbx_reference *at, const char *challenge,
                           struct cbx_buf *url, struct cbx_err *err);

/* Gets a header for this challenge (the value of WWW-Authenticate, RFC 9110 section 11.6.1), and
 * keeps it. */
int cbx_registry_login(struct cbx_registry *registry, const struct cbx_reference *at,
                       const char *challenge, struct cbx_err *err);

#endif
