/* SPDX-License-Identifier: MIT
 * Owners of requests. Identifiers are looked for where an API has them, never in code or files. */
#include "gateway/front/forward/owner.h"

#include "gateway/front/jobs/takeover.h"
#include "policies/base/text/json.h"

#include <string.h>

/* Where the JSON of a body names an object; the first of them that names another replica's counts,
 * so that what is named first decides. `in` is the member that has the object with the member
 * `name`; NULL = the body itself. `uri`: the identifier is a segment of the text. */
static const struct place {
    const char *path, *in, *in_that, *name;
    bool uri;
} places[] = {
    { "/v1/executions", NULL, NULL, "session", false },
    { "/v1/executions", NULL, NULL, "session_id", false },
    { "/v1/executions", NULL, NULL, "approval", false },
    { "/execute", NULL, NULL, "session_id", false },
    { "/mcp", "params", "arguments", "session", false },
    { "/mcp", "params", "arguments", "path", true },
    { "/mcp", "params", NULL, "uri", true },
};

static bool is_identifier(struct cbx_str text)
{
    enum { UUID_CHARS = 36 };
    return text.len == CBX_ID_CHARS || text.len == UUID_CHARS || text.len == CBX_SHA256_HEX;
}

/* The first segment that has the form of an identifier is one; later ones are names of files. */
static struct cbx_str identifier_in(struct cbx_str text)
{
    while (text.len > 0) {
        const char *slash = memchr(text.p, '/', text.len);
        size_t len = slash != NULL ? (size_t)(slash - text.p) : text.len;
        struct cbx_str segment = cbx_str_sub(text, 0, len);
        if (is_identifier(segment)) {
            return segment;
        }
        text = cbx_str_sub(text, len + 1, text.len);
    }
    return (struct cbx_str){ .p = NULL };
}

/* *ours becomes true for an object that this replica has. */
static const struct cbx_replica *owner_of(const struct cbx_owners *owners, struct cbx_str id,
                                          bool *ours)
{
    return cbx_takeover_owner(owners->takeover, owners->replicas, id, ours);
}

/* *ours becomes true if the body names an object of this replica. */
static const struct cbx_replica *find_in_body(const struct cbx_owners *owners,
                                              const struct cbx_http_request *request,
                                              const json_t *body, bool *ours)
{
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        const struct place *p = &places[i];
        const json_t *at = p->in != NULL ? json_object_get(body, p->in) : body;
        at = p->in_that != NULL ? json_object_get(at, p->in_that) : at;
        struct cbx_str text = cbx_json_str(json_object_get(at, p->name));
        if (text.len == 0 || !cbx_str_is(request->path, p->path)) {
            continue;
        }
        text = p->uri ? identifier_in(text) : text;
        const struct cbx_replica *owner = owner_of(owners, text, ours);
        if (owner != NULL) {
            return owner;
        }
    }
    return NULL;
}

/* True if the body names an object, of whichever replica: its owner has the key too. */
static bool names_object(const struct cbx_http_request *request, const json_t *body)
{
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        const struct place *p = &places[i];
        if (p->in == NULL && cbx_str_is(request->path, p->path) &&
            cbx_json_str(json_object_get(body, p->name)).len > 0) {
            return true;
        }
    }
    return false;
}

/* The state that a client returns to the server that made it (request_state.h): 64 hexadecimal
 * digits, then JSON that names the decision which was asked about. */
static const struct cbx_replica *find_in_state(const struct cbx_owners *owners, const json_t *body)
{
    enum { STATE_MAX = 64 * 1024 };
    struct cbx_err err;
    CBX_AUTO_JSON state = NULL;
    struct cbx_str text =
        cbx_json_str(json_object_get(json_object_get(body, "params"), "requestState"));
    if (text.len <= CBX_SHA256_HEX ||
        cbx_json_parse(cbx_str_sub(text, CBX_SHA256_HEX, text.len), STATE_MAX, &state, &err) != 0) {
        return NULL;
    }
    const json_t *asked = json_object_get(json_array_get(state, 1), "asked");
    return cbx_replicas_owner(owners->replicas, cbx_json_str(asked));
}

static const struct cbx_replica *find_by_key(const struct cbx_owners *owners,
                                             const struct cbx_http_request *request,
                                             const char *principal)
{
    char id[40];
    bool ours = false;
    if (cbx_takeover_find_key(owners->takeover, principal, request->idempotency_key, id)) {
        const struct cbx_replica *owner = owner_of(owners, cbx_str_of(id), &ours);
        if (owner != NULL || ours) {
            return owner;
        }
    }
    CBX_AUTO_DONE(buf) key;
    cbx_buf_init(&key, 4096);
    cbx_buf_printf(&key, "%zu:%s", strlen(principal), principal);
    cbx_buf_add(&key, request->idempotency_key);
    return cbx_replicas_of_key(owners->replicas, cbx_buf_str(&key));
}

static const struct cbx_replica *find_by_post(const struct cbx_owners *owners,
                                              const struct cbx_http_request *request,
                                              const char *principal, bool *ours)
{
    struct cbx_err err;
    CBX_AUTO_JSON body = NULL;
    bool keyed =
        request->idempotency_key.p != NULL && cbx_str_starts(request->path, CBX_STR("/v1/"));
    /* the handler says what is wrong with a body that is no JSON */
    if (cbx_json_parse(request->body, request->body.len, &body, &err) != 0) {
        return NULL;
    }
    const struct cbx_replica *owner = find_in_body(owners, request, body, ours);
    if (owner == NULL && cbx_str_is(request->path, "/mcp")) {
        owner = find_in_state(owners, body);
    }
    if (owner == NULL && keyed && !names_object(request, body)) {
        owner = find_by_key(owners, request, principal);
    }
    return owner;
}

static bool has_places(struct cbx_str path)
{
    bool has = cbx_str_is(path, "/v1/sessions"); /* with an Idempotency-Key */
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        has = has || cbx_str_is(path, places[i].path);
    }
    return has;
}

const struct cbx_replica *cbx_owner_find(const struct cbx_owners *owners,
                                         const struct cbx_http_request *request,
                                         const char *principal)
{
    const struct cbx_replica *owner = NULL;
    bool ours = false;
    if (owners->replicas->count == 0) {
        return NULL;
    }
    if (cbx_str_is(request->method, "POST") && has_places(request->path)) {
        owner = find_by_post(owners, request, principal, &ours);
    } else if (!cbx_str_is(request->path, "/mcp")) {
        owner = owner_of(owners, identifier_in(request->path), &ours);
    }
    if (owner == NULL && !ours && cbx_str_is(request->path, "/mcp")) {
        owner = cbx_replicas_owner(owners->replicas, request->mcp.session);
    }
    return owner;
}

bool cbx_owner_is_of_page(struct cbx_str path)
{
    return cbx_str_is(path, "/") || cbx_str_is(path, "/logout");
}

/* The value is found by its form: the name of the cookie depends on the scheme (page.c). */
const struct cbx_replica *cbx_owner_of_cookie(const struct cbx_replicas *replicas,
                                              struct cbx_str cookie)
{
    static const struct cbx_str names[] = { CBX_STR("codebox="), CBX_STR("__Host-codebox=") };
    while (cookie.len > 0) {
        const char *semicolon = memchr(cookie.p, ';', cookie.len);
        size_t len = semicolon != NULL ? (size_t)(semicolon - cookie.p) : cookie.len;
        struct cbx_str pair = cbx_str_trim(cbx_str_sub(cookie, 0, len));
        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
            if (cbx_str_starts(pair, names[i])) {
                return cbx_replicas_owner(replicas, cbx_str_sub(pair, names[i].len, pair.len));
            }
        }
        cookie = cbx_str_sub(cookie, len + 1, cookie.len);
    }
    return NULL;
}
