/* SPDX-License-Identifier: MIT
 * The calls of the OCI Distribution Specification that layers need. */
#include "docker/engine/kubernetes/registry.h"

#include "docker/engine/kubernetes/registry_internal.h"
#include "policies/base/hash.h"
#include "policies/base/memory.h"
#include "policies/base/text/json.h"

#include <stdlib.h>
#include <string.h>

enum { MANIFEST_MAX = 1024 * 1024, JSON_MAX = 8 * 1024 * 1024, TAGS_REPLY_MAX = 4 * 1024 * 1024 };
enum { TAGS_MAX = 10000, PAGE_TAGS = 1000, PAGES_MAX = 100 };

/* The processor of the nodes is that of this program: images/README.md. */
#if defined(__x86_64__)
static const char architecture[] = "amd64";
#elif defined(__aarch64__)
static const char architecture[] = "arm64";
#else
static const char architecture[] = "unknown";
#endif

static const char manifest_types[] = "application/vnd.oci.image.manifest.v1+json, "
                                     "application/vnd.docker.distribution.manifest.v2+json, "
                                     "application/vnd.oci.image.index.v1+json, "
                                     "application/vnd.docker.distribution.manifest.list.v2+json";

/* --- the object ------------------------------------------------------------------------------- */

struct cbx_registry *cbx_registry_new(const struct cbx_registry_access *access)
{
    struct cbx_registry *registry = cbx_new(sizeof(*registry));
    registry->access = *access;
    pthread_mutex_init(&registry->lock, NULL);
    cbx_handles_init(&registry->handles);
    return registry;
}

void cbx_registry_free(struct cbx_registry *registry)
{
    if (registry == NULL) {
        return;
    }
    while (registry->passes != NULL) {
        struct cbx_registry_pass *pass = registry->passes;
        registry->passes = pass->next;
        free(pass->header);
        free(pass);
    }
    cbx_handles_done(&registry->handles);
    pthread_mutex_destroy(&registry->lock);
    free(registry);
}

void cbx_manifest_done(struct cbx_manifest *manifest)
{
    json_decref(manifest->json);
    *manifest = (struct cbx_manifest){ .json = NULL };
}

/* --- references ------------------------------------------------------------------------------- */

static bool is_digest(struct cbx_str text)
{
    struct cbx_sha256 hash;
    return text.len == CBX_DIGEST_CHARS && cbx_str_starts(text, CBX_STR("sha256:")) &&
           cbx_sha256_from_hex(cbx_str_sub(text, 7, text.len), &hash);
}

/* Both become parts of a URL. */
static bool copy_part(struct cbx_str part, const char *allowed, char out[CBX_REPOSITORY_BYTES])
{
    if (part.len == 0 || part.len >= CBX_REPOSITORY_BYTES) {
        return false;
    }
    memcpy(out, part.p, part.len);
    out[part.len] = '\0';
    return strspn(out, allowed) == part.len && strstr(out, "..") == NULL && out[0] != '/';
}

bool cbx_reference_read(const char *text, struct cbx_reference *out)
{
    static const char of_host[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-:";
    static const char of_name[] = "abcdefghijklmnopqrstuvwxyz0123456789._-/";
    struct cbx_str all = cbx_str_of(text);
    const char *slash = strchr(text, '/'), *at = strrchr(text, '@');
    if (slash == NULL || at == NULL || slash > at) {
        return false;
    }
    struct cbx_str digest = cbx_str_sub(all, (size_t)(at - text) + 1, all.len);
    if (!is_digest(digest)) {
        return false;
    }
    memcpy(out->digest, digest.p, digest.len + 1);
    return copy_part(cbx_str_sub(all, 0, (size_t)(slash - text)), of_host, out->host) &&
           copy_part(cbx_str_sub(all, (size_t)(slash - text) + 1, (size_t)(at - text)), of_name,
                     out->name);
}

/* --- reading ---------------------------------------------------------------------------------- */

/* Writes "https://HOST/v2/NAME" and the rest of a path. */
__attribute__((format(printf, 3, 4))) static void
write_url(const struct cbx_reference *at, char out[CBX_REGISTRY_URL_BYTES], const char *format, ...)
{
    va_list arguments;
    int n = snprintf(out, CBX_REGISTRY_URL_BYTES, "%s://%s/v2/%s", cbx_registry_scheme(at->host),
                     at->host, at->name);
    va_start(arguments, format);
    vsnprintf(out + n, CBX_REGISTRY_URL_BYTES - (size_t)n, format, arguments);
    va_end(arguments);
}

static void write_digest(const struct cbx_sha256 *hash, char out[CBX_DIGEST_CHARS + 1])
{
    char hex[CBX_SHA256_HEX + 1];
    cbx_sha256_hex(hash, hex);
    snprintf(out, CBX_DIGEST_CHARS + 1, "sha256:%s", hex);
}

static int fail_bytes(const struct cbx_reference *at, const char *what, struct cbx_err *err)
{
    cbx_fail(err, CBX_EPROTO, "the registry of the cluster's images sent %s", what);
    return cbx_err_detail(err, "%s/%s", at->host, at->name);
}

/* Reads JSON, and its digest. CBX_ENOTFOUND. */
static int get_json(struct cbx_registry *registry, const struct cbx_registry_request *request,
                    struct cbx_registry_reply *reply, json_t **out,
                    char digest[CBX_DIGEST_CHARS + 1], struct cbx_err *err)
{
    int failed = cbx_registry_call(registry, request, reply, err);
    if (failed) {
        return failed;
    }
    if (reply->status == 404) {
        return cbx_fail(err, CBX_ENOTFOUND, "the registry has no such image");
    }
    if (reply->status != 200) {
        return cbx_registry_refused(request, reply, err);
    }
    struct cbx_sha256 hash = cbx_sha256_of(cbx_buf_str(&reply->body));
    write_digest(&hash, digest);
    if (cbx_json_parse(cbx_buf_str(&reply->body), request->reply_max, out, NULL) != 0 ||
        !json_is_object(*out)) {
        return fail_bytes(request->at, "something that is no JSON object", err);
    }
    return 0;
}

static int get_manifest(struct cbx_registry *registry, const struct cbx_reference *at,
                        const char *tag_or_digest, struct cbx_manifest *out, struct cbx_err *err)
{
    char url[CBX_REGISTRY_URL_BYTES];
    CBX_AUTO_DONE(registry_reply) reply = { .status = 0 };
    write_url(at, url, "/manifests/%.128s", tag_or_digest);
    const struct cbx_registry_request request = {
        .method = "GET", .at = at, .url = url, .accept = manifest_types, .reply_max = MANIFEST_MAX
    };
    int failed = get_json(registry, &request, &reply, &out->json, out->digest, err);
    if (failed) {
        return failed;
    }
    if (strchr(tag_or_digest, ':') != NULL && strcmp(out->digest, tag_or_digest) != 0) {
        return fail_bytes(at, "a manifest with another digest", err);
    }
    /* The member names the type in an image of OCI or Docker; the header does in all. */
    size_t len = strcspn(reply.type, "; ");
    snprintf(out->type, sizeof(out->type), "%.*s", (int)len, reply.type);
    return 0;
}

/* Returns the manifest for this platform in an index; NULL if there is none. */
static const char *find_platform(const json_t *index)
{
    size_t i;
    const json_t *entry;
    json_array_foreach(json_object_get(index, "manifests"), i, entry)
    {
        const json_t *platform = json_object_get(entry, "platform");
        struct cbx_str digest = cbx_json_str(json_object_get(entry, "digest"));
        if (is_digest(digest) &&
            cbx_str_is(cbx_json_str(json_object_get(platform, "os")), "linux") &&
            cbx_str_is(cbx_json_str(json_object_get(platform, "architecture")), architecture)) {
            return digest.p;
        }
    }
    return NULL;
}

int cbx_registry_manifest(struct cbx_registry *registry, const struct cbx_reference *at,
                          const char *tag_or_digest, struct cbx_manifest *out, struct cbx_err *err)
{
    CBX_AUTO_DONE(manifest) first = { .json = NULL };
    int failed = get_manifest(registry, at, tag_or_digest, &first, err);
    if (failed) {
        return failed;
    }
    if (json_object_get(first.json, "manifests") == NULL) {
        *out = first;
        first.json = NULL;
        return 0;
    }
    const char *digest = find_platform(first.json);
    if (digest == NULL) {
        return cbx_fail(err, CBX_ENOTFOUND, "the registry has no image for linux/%s", architecture);
    }
    return get_manifest(registry, at, digest, out, err);
}

int cbx_registry_json(struct cbx_registry *registry, const struct cbx_reference *at,
                      struct cbx_str digest, json_t **out, struct cbx_err *err)
{
    char url[CBX_REGISTRY_URL_BYTES], found[CBX_DIGEST_CHARS + 1];
    CBX_AUTO_JSON json = NULL;
    CBX_AUTO_DONE(registry_reply) reply = { .status = 0 };
    if (!is_digest(digest)) {
        return fail_bytes(at, "a manifest without a digest of its parts", err);
    }
    write_url(at, url, "/blobs/%.*s", (int)digest.len, digest.p);
    const struct cbx_registry_request request = {
        .method = "GET", .at = at, .url = url, .reply_max = JSON_MAX
    };
    int failed = get_json(registry, &request, &reply, &json, found, err);
    if (failed) {
        return failed;
    }
    if (!cbx_str_is(digest, found)) {
        return fail_bytes(at, "a blob with another digest", err);
    }
    *out = cbx_steal(&json);
    return 0;
}

/* --- pushing ---------------------------------------------------------------------------------- */

/* Writes the URL of the next request of an upload. It stays at this registry, which alone has the
 * credentials. */
static int take_location(const struct cbx_reference *at, const char *location,
                         char out[CBX_REGISTRY_URL_BYTES], struct cbx_err *err)
{
    char origin[CBX_REPOSITORY_BYTES + 16];
    int n = snprintf(origin, sizeof(origin), "%s://%s", cbx_registry_scheme(at->host), at->host);
    bool relative = location[0] == '/' && location[1] != '/';
    bool same = strncmp(location, origin, (size_t)n) == 0 && location[n] == '/';
    if (!relative && !same) {
        fail_bytes(at, "the upload to another address", err);
        return cbx_err_detail(err, "%s/%s: %.200s", at->host, at->name, location);
    }
    snprintf(out, CBX_REGISTRY_URL_BYTES, "%s%s", relative ? origin : "", location);
    return 0;
}

static int begin_upload(struct cbx_registry *registry, const struct cbx_reference *at,
                        char next[CBX_REGISTRY_URL_BYTES], struct cbx_err *err)
{
    char url[CBX_REGISTRY_URL_BYTES];
    CBX_AUTO_DONE(registry_reply) reply = { .status = 0 };
    write_url(at, url, "/blobs/uploads/");
    const struct cbx_registry_request request = { .method = "POST", .at = at, .url = url };
    int failed = cbx_registry_call(registry, &request, &reply, err);
    if (failed) {
        return failed;
    }
    if (reply.status != 202) {
        return cbx_registry_refused(&request, &reply, err);
    }
    return take_location(at, reply.location, next, err);
}

int cbx_registry_may_push(struct cbx_registry *registry, const struct cbx_reference *at,
                          struct cbx_err *err)
{
    char next[CBX_REGISTRY_URL_BYTES];
    CBX_AUTO_DONE(registry_reply) reply = { .status = 0 };
    int failed = begin_upload(registry, at, next, err);
    if (failed) {
        return failed;
    }
    const struct cbx_registry_request request = { .method = "DELETE", .at = at, .url = next };
    cbx_registry_call(registry, &request, &reply, NULL); /* a registry drops an old upload itself */
    return 0;
}

/* Stores bytes at a URL. */
static int put(struct cbx_registry *registry, const struct cbx_reference *at, const char *url,
               const char *type, struct cbx_str bytes, struct cbx_err *err)
{
    CBX_AUTO_DONE(registry_reply) reply = { .status = 0 };
    const struct cbx_registry_request request = {
        .method = "PUT", .at = at, .url = url, .type = type, .body = bytes
    };
    int failed = cbx_registry_call(registry, &request, &reply, err);
    if (failed) {
        return failed;
    }
    if (reply.status != 201) {
        return cbx_registry_refused(&request, &reply, err);
    }
    return 0;
}

static int end_upload(struct cbx_registry *registry, const struct cbx_reference *at,
                      const char *next, const char *digest, struct cbx_str bytes,
                      struct cbx_err *err)
{
    char url[CBX_REGISTRY_URL_BYTES];
    int n = snprintf(url, sizeof(url), "%s%cdigest=sha256%%3A%s", next,
                     strchr(next, '?') != NULL ? '&' : '?', digest + strlen("sha256:"));
    if (n >= (int)sizeof(url)) {
        return fail_bytes(at, "an address that is too long", err);
    }
    return put(registry, at, url, "application/octet-stream", bytes, err);
}

int cbx_registry_push(struct cbx_registry *registry, const struct cbx_reference *at,
                      const struct cbx_registry_source *source,
                      void (*digest)(void *context, char out[CBX_DIGEST_CHARS + 1]),
                      struct cbx_err *err)
{
    char next[CBX_REGISTRY_URL_BYTES], last[CBX_REGISTRY_URL_BYTES], hash[CBX_DIGEST_CHARS + 1];
    CBX_AUTO_DONE(registry_reply) reply = { .status = 0 };
    int failed = begin_upload(registry, at, next, err);
    if (failed) {
        return failed;
    }
    const struct cbx_registry_request request = { .method = "PATCH",
                                                  .at = at,
                                                  .url = next,
                                                  .type = "application/octet-stream",
                                                  .source = source };
    failed = cbx_registry_call(registry, &request, &reply, err);
    if (failed) {
        return failed;
    }
    if (reply.status < 200 || reply.status > 204) {
        return cbx_registry_refused(&request, &reply, err);
    }
    failed = take_location(at, reply.location, last, err);
    if (failed) {
        return failed;
    }
    digest(source->context, hash);
    return end_upload(registry, at, last, hash, CBX_STR(""), err);
}

int cbx_registry_push_bytes(struct cbx_registry *registry, const struct cbx_reference *at,
                            struct cbx_str bytes, char digest[CBX_DIGEST_CHARS + 1],
                            struct cbx_err *err)
{
    char next[CBX_REGISTRY_URL_BYTES];
    struct cbx_sha256 hash = cbx_sha256_of(bytes);
    write_digest(&hash, digest);
    int failed = begin_upload(registry, at, next, err);
    if (failed) {
        return failed;
    }
    return end_upload(registry, at, next, digest, bytes, err);
}

int cbx_registry_push_manifest(struct cbx_registry *registry, const struct cbx_reference *at,
                               const char *tag, const char *type, struct cbx_str bytes,
                               char digest[CBX_DIGEST_CHARS + 1], struct cbx_err *err)
{
    char url[CBX_REGISTRY_URL_BYTES];
    struct cbx_sha256 hash = cbx_sha256_of(bytes);
    write_digest(&hash, digest);
    write_url(at, url, "/manifests/%.128s", tag);
    return put(registry, at, url, type, bytes, err);
}

/* --- tags ------------------------------------------------------------------------------------- */

/* The next page begins after the last tag of this one, as the specification says of `last`. */
static int get_tags(struct cbx_registry *registry, const struct cbx_reference *at, const char *last,
                    json_t **out, bool *more, struct cbx_err *err)
{
    char url[CBX_REGISTRY_URL_BYTES], digest[CBX_DIGEST_CHARS + 1];
    CBX_AUTO_DONE(registry_reply) reply = { .status = 0 };
    write_url(at, url, "/tags/list?n=%d%s%.128s", PAGE_TAGS, last[0] != '\0' ? "&last=" : "", last);
    const struct cbx_registry_request request = {
        .method = "GET", .at = at, .url = url, .reply_max = TAGS_REPLY_MAX
    };
    int failed = get_json(registry, &request, &reply, out, digest, err);
    *more = reply.link[0] != '\0';
    return failed;
}

static bool is_tag(struct cbx_str text)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    for (size_t i = 0; i < text.len; i++) {
        if (memchr(allowed, text.p[i], sizeof(allowed) - 1) == NULL) {
            return false;
        }
    }
    return text.len > 0 && text.len <= 128;
}

int cbx_registry_tags(struct cbx_registry *registry, const struct cbx_reference *at,
                      const char *start, json_t **out, struct cbx_err *err)
{
    char last[129] = "";
    bool more = true;
    CBX_AUTO_JSON found = json_array();
    for (int page = 0; more && page < PAGES_MAX; page++) {
        CBX_AUTO_JSON answer = NULL;
        int failed = get_tags(registry, at, last, &answer, &more, err);
        if (failed == CBX_ENOTFOUND) {
            break;
        }
        if (failed) {
            return failed;
        }
        size_t i;
        json_t *tag;
        json_array_foreach(json_object_get(answer, "tags"), i, tag)
        {
            struct cbx_str text = cbx_json_str(tag);
            if (!is_tag(text)) {
                continue;
            }
            snprintf(last, sizeof(last), "%.*s", CBX_STR_ARG(text));
            if (cbx_str_starts(text, cbx_str_of(start)) && json_array_size(found) < TAGS_MAX) {
                json_array_append(found, tag);
            }
        }
    }
    *out = cbx_steal(&found);
    return 0;
}

int cbx_registry_remove(struct cbx_registry *registry, const struct cbx_reference *at,
                        const char *digest, struct cbx_err *err)
{
    char url[CBX_REGISTRY_URL_BYTES];
    CBX_AUTO_DONE(registry_reply) reply = { .status = 0 };
    write_url(at, url, "/manifests/%.128s", digest);
    const struct cbx_registry_request request = { .method = "DELETE", .at = at, .url = url };
    int failed = cbx_registry_call(registry, &request, &reply, err);
    if (failed) {
        return failed;
    }
    if (reply.status == 405) {
        cbx_fail(err, CBX_EBUSY, "the registry of the cluster's images removes no layers");
        return cbx_err_detail(err, "%s/%s", at->host, at->name);
    }
    if (reply.status != 202 && reply.status != 200 && reply.status != 404) {
        return cbx_registry_refused(&request, &reply, err);
    }
    return 0;
}
