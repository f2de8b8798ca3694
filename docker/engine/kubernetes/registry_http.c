/* SPDX-License-Identifier: MIT
 * One request to a registry. */
#include "docker/engine/kubernetes/registry_internal.h"

#include "policies/base/memory.h"
#include "policies/base/text/json.h"

#include <stdlib.h>
#include <string.h>

/* A slow registry needs minutes for a gigabyte; a link without bytes ends a transfer much earlier. */
enum { CALL_MAX_S = 1200, SILENT_S = 30, REDIRECTS_MAX = 5, ERROR_MAX = 16 * 1024 };

void cbx_registry_reply_done(struct cbx_registry_reply *reply)
{
    cbx_buf_done(&reply->body);
}

bool cbx_registry_is_local(const char *host)
{
    size_t len = strcspn(host, ":/?#");
    bool named = len == strlen("localhost") && strncmp(host, "localhost", len) == 0;
    bool numbered = strncmp(host, "127.", 4) == 0 && strspn(host, "0123456789.") == len;
    return named || numbered;
}

const char *cbx_registry_scheme(const char *host)
{
    return cbx_registry_is_local(host) ? "http" : "https";
}

/* --- the reply's headers ---------------------------------------------------------------------- */

static void copy_header(struct cbx_str value, char *out, size_t size)
{
    value = cbx_str_trim(value);
    out[0] = '\0';
    if (value.len < size && (value.len == 0 || memchr(value.p, '\0', value.len) == NULL)) {
        memcpy(out, value.p, value.len);
        out[value.len] = '\0';
    }
}

/* libcurl gives the headers of each reply, redirects included: a status line begins a new reply. */
static size_t take_header(char *bytes, size_t size, size_t count, void *context)
{
    struct cbx_registry_reply *reply = context;
    struct cbx_str line = { .p = bytes, .len = size * count };
    const struct {
        const char *name;
        char *out;
        size_t size;
    } wanted[] = {
        { "location:", reply->location, sizeof(reply->location) },
        { "content-type:", reply->type, sizeof(reply->type) },
        { "docker-content-digest:", reply->digest, sizeof(reply->digest) },
        { "www-authenticate:", reply->challenge, sizeof(reply->challenge) },
        { "link:", reply->link, sizeof(reply->link) },
    };
    while (line.len > 0 && (line.p[line.len - 1] == '\n' || line.p[line.len - 1] == '\r')) {
        line.len--;
    }
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        size_t name = strlen(wanted[i].name);
        if (cbx_str_starts(line, CBX_STR("HTTP/"))) {
            wanted[i].out[0] = '\0';
        } else if (line.len >= name && strncasecmp(line.p, wanted[i].name, name) == 0) {
            copy_header(cbx_str_sub(line, name, line.len), wanted[i].out, wanted[i].size);
        }
    }
    return size * count;
}

/* --- the request ------------------------------------------------------------------------------ */

static size_t give_bytes(char *to, size_t size, size_t count, void *context)
{
    const struct cbx_registry_source *source = context;
    int64_t n = source->read(source->context, to, size * count);
    return n < 0 ? CURL_READFUNC_ABORT : (size_t)n;
}

static struct curl_slist *add_header(struct curl_slist *list, const char *name, const char *value)
{
    char line[CBX_REGISTRY_URL_BYTES];
    if (value == NULL) {
        return list;
    }
    snprintf(line, sizeof(line), "%s: %s", name, value);
    return curl_slist_append(list, line);
}

static void set_body(CURL *curl, const struct cbx_registry_request *request)
{
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request->method);
    if (request->source != NULL) {
        curl_easy_setopt(curl, CURLOPT_UPLOAD, 1L);
        curl_easy_setopt(curl, CURLOPT_READFUNCTION, give_bytes);
        curl_easy_setopt(curl, CURLOPT_READDATA, request->source);
    } else if (strcmp(request->method, "GET") != 0 && strcmp(request->method, "DELETE") != 0) {
        curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body.len);
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, cbx_str_bytes(request->body));
    } else {
        /* Blobs may be at another host, which gets no credentials: libcurl drops that header. */
        curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 1L);
        curl_easy_setopt(curl, CURLOPT_MAXREDIRS, (long)REDIRECTS_MAX);
    }
}

static void set_security(CURL *curl, const struct cbx_registry *registry, const char *url)
{
    bool plain = strncmp(url, "http://", 7) == 0; /* cbx_registry_scheme, is_safe_realm */
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, plain ? "http" : "https");
    curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS_STR, "https");
    curl_easy_setopt(curl, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    if (registry->access.ca != NULL) {
        struct curl_blob blob = { .data = registry->access.ca,
                                  .len = strlen(registry->access.ca),
                                  .flags = CURL_BLOB_NOCOPY };
        curl_easy_setopt(curl, CURLOPT_CAINFO_BLOB, &blob);
    }
}

static void set_limits(CURL *curl)
{
    curl_easy_setopt(curl, CURLOPT_TIMEOUT, (long)CALL_MAX_S);
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, (long)SILENT_S);
}

static int fail_transfer(const struct cbx_registry_request *request, CURLcode code,
                         const char *words, const struct cbx_registry_reply *reply,
                         struct cbx_err *err)
{
    if (code == CURLE_ABORTED_BY_CALLBACK) {
        return cbx_fail(err, CBX_EIO, "the transfer to the registry was ended");
    }
    bool certificate = code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CONNECT_ERROR;
    words = words[0] != '\0' ? words : curl_easy_strerror(code);
    cbx_fail(err, CBX_EENGINE, "the registry of the cluster's images does not answer");
    return cbx_err_detail(err, "%s: %s%s", request->at->host,
                          reply->body.overflow ? "its answer is too large" : words,
                          certificate ? "; check 'registry-ca' of the cluster's settings" : "");
}

int cbx_registry_send(struct cbx_registry *registry, const struct cbx_registry_request *request,
                      const char *authorization, struct cbx_registry_reply *reply,
                      struct cbx_err *err)
{
    char words[CURL_ERROR_SIZE] = "";
    CURL *curl = cbx_handles_take(&registry->handles);
    struct curl_slist *headers = curl_slist_append(NULL, "Expect:");
    headers = add_header(headers, "Accept", request->accept);
    headers = add_header(headers, "Content-Type", request->type);
    if (authorization != NULL) {
        headers = curl_slist_append(headers, authorization);
    }
    cbx_buf_done(&reply->body);
    *reply = (struct cbx_registry_reply){ .status = 0 };
    cbx_buf_init(&reply->body, request->reply_max > 0 ? request->reply_max : ERROR_MAX);
    cbx_handles_watch(curl);
    set_body(curl, request);
    set_security(curl, registry, request->url);
    set_limits(curl);
    curl_easy_setopt(curl, CURLOPT_URL, request->url);
    curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, take_header);
    curl_easy_setopt(curl, CURLOPT_HEADERDATA, reply);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, cbx_handles_collect);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &reply->body);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, words);
    CURLcode code = curl_easy_perform(curl);
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &reply->status);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, NULL);
    curl_slist_free_all(headers);
    cbx_handles_give(&registry->handles, curl);
    if (code != CURLE_OK) {
        return fail_transfer(request, code, words, reply, err);
    }
    return 0;
}

int cbx_registry_call(struct cbx_registry *registry, const struct cbx_registry_request *request,
                      struct cbx_registry_reply *reply, struct cbx_err *err)
{
    CBX_AUTO_MEM char *pass = cbx_registry_pass(registry, request->at);
    int failed = cbx_registry_send(registry, request, pass, reply, err);
    if (failed || reply->status != 401 || request->source != NULL) {
        return failed;
    }
    failed = cbx_registry_login(registry, request->at, reply->challenge, err);
    if (failed) {
        return failed;
    }
    CBX_AUTO_MEM char *renewed = cbx_registry_pass(registry, request->at);
    return cbx_registry_send(registry, request, renewed, reply, err);
}

int cbx_registry_refused(const struct cbx_registry_request *request,
                         const struct cbx_registry_reply *reply, struct cbx_err *err)
{
    CBX_AUTO_JSON answer = NULL;
    cbx_json_parse(cbx_buf_str(&reply->body), ERROR_MAX, &answer, NULL);
    const json_t *first = json_array_get(json_object_get(answer, "errors"), 0);
    bool rights = reply->status == 401 || reply->status == 403;
    cbx_fail(err, CBX_EENGINE, "the registry of the cluster's images refused a request");
    return cbx_err_detail(err, "%s/%s: %s: HTTP status %ld: %.200s%s", request->at->host,
                          request->at->name, request->method, reply->status,
                          cbx_str_bytes(cbx_json_str(json_object_get(first, "message"))),
                          rights ? "; 'registry-credentials' of the cluster's settings needs an "
                                   "account that may push there"
                                 : "");
}
