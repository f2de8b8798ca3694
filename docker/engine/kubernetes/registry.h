/* SPDX-License-Identifier: MIT
 * A client of an image registry, for layers of packages (OCI Distribution Specification 1.1): reads
 * manifests and their JSON, pushes blobs and manifests. A Docker configuration file has the
 * credentials, which are sent by Basic authentication or to get a token (Distribution's "Token
 * Authentication"). Replies are hostile: capped, and blobs are compared with their digest.
 *
 * HTTPS, except for a registry at localhost or 127.0.0.0/8. All calls block; they may be made from
 * several threads. Errors, whose text is fit for a caller: CBX_EENGINE for a registry that cannot
 * be reached or refuses; the detail is the operator's. */
#ifndef CBX_DOCKER_ENGINE_KUBERNETES_REGISTRY_H
#define CBX_DOCKER_ENGINE_KUBERNETES_REGISTRY_H

#include "docker/engine/engine.h"

#include <jansson.h>

enum { CBX_DIGEST_CHARS = 71, CBX_REPOSITORY_BYTES = 256 };

/* "HOST[:PORT]/NAME@sha256:HEX": an image in a repository. */
struct cbx_reference {
    char host[CBX_REPOSITORY_BYTES]; /* with the port */
    char name[CBX_REPOSITORY_BYTES];
    char digest[CBX_DIGEST_CHARS + 1]; /* of the manifest */
};
/* False for any other form. */
bool cbx_reference_read(const char *text, struct cbx_reference *out);

struct cbx_registry;

/* Texts are borrowed for the life of the object. */
struct cbx_registry_access {
    /* a Docker configuration file with "auths", read for each authentication; NULL = anonymous */
    const char *credentials;
    char *ca; /* PEM; NULL = the system's CAs */
};
struct cbx_registry *cbx_registry_new(const struct cbx_registry_access *access);
void cbx_registry_free(struct cbx_registry *registry);

/* Reads a manifest of a repository by a tag or a digest (*out, a new reference), its media type,
 * and its digest. An index of several platforms gives the manifest for this one. CBX_ENOTFOUND. */
struct cbx_manifest {
    json_t *json;
    char digest[CBX_DIGEST_CHARS + 1];
    char type[128];
};
void cbx_manifest_done(struct cbx_manifest *manifest);
CBX_DEFINE_AUTO_DONE(manifest)
int cbx_registry_manifest(struct cbx_registry *registry, const struct cbx_reference *at,
                          const char *tag_or_digest, struct cbx_manifest *out, struct cbx_err *err);

/* Reads a blob of JSON, at most 8 MiB (new reference). CBX_ENOTFOUND, CBX_EPROTO for bytes with
 * another digest. */
int cbx_registry_json(struct cbx_registry *registry, const struct cbx_reference *at,
                      struct cbx_str digest, json_t **out, struct cbx_err *err);

/* Begins an upload and ends it without a blob: success if the registry accepts pushes to this
 * repository. */
int cbx_registry_may_push(struct cbx_registry *registry, const struct cbx_reference *at,
                          struct cbx_err *err);

/* The bytes of a blob: `read` writes at most `size` of them, and returns their number, 0 at the end
 * and -1 to end the transfer. */
struct cbx_registry_source {
    int64_t (*read)(void *context, char *to, size_t size);
    void *context;
};

/* Pushes a blob of unknown length. `digest` is asked for when all bytes were read: it writes the
 * digest of the bytes that `read` gave. If `read` ended the transfer: CBX_EIO. */
int cbx_registry_push(struct cbx_registry *registry, const struct cbx_reference *at,
                      const struct cbx_registry_source *source,
                      void (*digest)(void *context, char out[CBX_DIGEST_CHARS + 1]),
                      struct cbx_err *err);

/* Pushes a blob of these bytes, and writes its digest. */
int cbx_registry_push_bytes(struct cbx_registry *registry, const struct cbx_reference *at,
                            struct cbx_str bytes, char digest[CBX_DIGEST_CHARS + 1],
                            struct cbx_err *err);

/* Gives a manifest this tag, and writes its digest. */
int cbx_registry_push_manifest(struct cbx_registry *registry, const struct cbx_reference *at,
                               const char *tag, const char *type, struct cbx_str bytes,
                               char digest[CBX_DIGEST_CHARS + 1], struct cbx_err *err);

/* Lists the tags of a repository that begin so, at most 10,000 (a new array of strings); an absent
 * repository has none. */
int cbx_registry_tags(struct cbx_registry *registry, const struct cbx_reference *at,
                      const char *start, json_t **out, struct cbx_err *err);

/* Removes a manifest. Success if it does not exist; CBX_EBUSY if the registry removes none. */
int cbx_registry_remove(struct cbx_registry *registry, const struct cbx_reference *at,
                        const char *digest, struct cbx_err *err);

#endif
