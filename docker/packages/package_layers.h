/* SPDX-License-Identifier: MIT
 * Packages of a session. An installer container, the only one with a network, first resolves the
 * requirements: pip or npm reports the packages that it would install. The caller judges the
 * report, and writes the set of packages that may be installed. A second installer container
 * installs exactly this set, by hash, and runs no code of it. The result is a layer: an image of
 * the engine that is the kernel's sandbox image with the packages in a folder that Python, or Node,
 * searches before the image's. Sandboxes without a network start from it. Layers are shared: the
 * same set gives the same layer.
 *
 * Of a package, only the report passes through this process, and it is hostile. All calls block,
 * up to the configured time; they may be called from several threads. */
#ifndef CBX_DOCKER_PACKAGES_PACKAGE_LAYERS_H
#define CBX_DOCKER_PACKAGES_PACKAGE_LAYERS_H

#include "docker/engine/engine.h"
#include "docker/kernel_names.h"
#include "docker/sandbox/sandbox.h"
#include "policies/base/buf.h"
#include "policies/packages.h"

enum {
    CBX_PACKAGES_TIMEOUT_MS = 5 * 60 * 1000, /* of one call, without a configured value */
    CBX_PROGRESS_BYTES_MAX = 160,            /* one line of progress */
    CBX_LAYER_NAME_BYTES = 240,
};

/* From configuration, never from a caller. Zero-initialise for defaults; `sandbox` is required:
 * installers use its instance, prefix of images, small images, runtime and AppArmor profile. */
struct cbx_packages_config {
    const struct cbx_sandbox_config *sandbox;
    const char *network; /* network of installer containers; NULL = the engine's default */
    const char *index[CBX_MANAGERS]; /* http(s) URL; NULL = the manager's own default */
    /* Addresses that installers reach besides the index: public ones and `allowed`, without
     * `denied`. NULL = no exceptions. */
    const struct cbx_network_settings *reach;
    /* The packages that may have a module of another name: {MODULE: [PACKAGE, ...]}, names
     * normalised; NULL = none. Borrowed. */
    const json_t *providers;
    /* PEM text, trusted in addition to the image's certificates; NULL = none */
    const char *ca_bundle;
    /* time limit of an installer, and of making its layer; 0 = CBX_PACKAGES_TIMEOUT_MS */
    uint32_t timeout_ms;
    uint32_t answer_timeout_ms; /* time limit of an index's reply; 0 = 15 s */
    uint64_t download_bytes;    /* size of all packages of a set, compressed; 0 = 512 MiB */
    uint64_t unpacked_bytes;    /* size of their files; 0 = 1 GiB */
    uint32_t files;             /* number of their files; 0 = 100,000 */
};

/* Called from the thread of the call. Zeroed memory: no progress, no cancellation. `line`
 * receives "downloading numpy 12.3 MB": printable ASCII, at most CBX_PROGRESS_BYTES_MAX bytes.
 * `cancelled` is polled a few times a second; true ends the call with CBX_ESTATE. */
struct cbx_packages_progress {
    void (*line)(void *context, struct cbx_str text);
    bool (*cancelled)(void *context);
    void *context;
};

/* Returns the package manager of a kernel; CBX_MANAGER_NONE if packages cannot be installed for
 * it. */
enum cbx_manager cbx_packages_manager(const char *kernel);

/* Writes the name of a kernel's installer image: "codebox-installer-python:latest", made from
 * the sandbox image of `*base` ("python"; may be NULL). Several kernels may have the same
 * installer. False if packages cannot be installed for it. `prefix` and `variant`
 * (kernel_names.h) may be NULL. */
bool cbx_installer_image(const char *prefix, const char *kernel, const char *variant,
                         char out[CBX_IMAGE_NAME_BYTES], const char **base);

/* Checks the lines of `requirements`, one each: for pip "NAME[EXTRA,...] SPECIFIERS"
 * ("pandas>=2,<3"), for npm "NAME" or "NAME@RANGE" ("@types/node@^20"). No option, URL, path,
 * alias, marker or comment. If a line for pip has hashes, all lines must be of a lock file:
 * "NAME==VERSION ; MARKER --hash=sha256:HEX ...". CBX_EINVAL names the line; CBX_ETOOBIG. Pure. */
int cbx_requirements_check(enum cbx_manager manager, struct cbx_str requirements,
                           struct cbx_err *err);

/* True if the requirements come from a lock file, each with hashes. */
bool cbx_requirements_are_pinned(struct cbx_str requirements);

/* Checks a set: one package per line, each line terminated by '\n', fields separated by one blank,
 * no package twice.
 *   pip: NAME VERSION sha256:HEX
 *   npm: PATH NAME VERSION sha512-BASE64 URL    PATH as in package-lock.json
 *   ("node_modules/a/node_modules/b"), URL "-" for the index's own
 * CBX_EINVAL names the line, CBX_ETOOBIG. *count (may be NULL) is the number of packages; an
 * empty set is CBX_EINVAL. Pure. */
int cbx_package_set_check(enum cbx_manager manager, struct cbx_str set, size_t *count,
                          struct cbx_err *err);

/* Resolves requirements for a kernel's sandbox image: appends to *report (its cap at least
 * CBX_REPORT_BYTES_MAX) pip's installation report (version 1), or npm's package-lock.json
 * (lockfileVersion 3). Hostile: only its size was checked. For pip the image's packages count as
 * installed, unless the requirements come from a lock file: then the report has exactly the
 * requirements whose marker holds. `index` (may be NULL) replaces the configured one: an http(s)
 * URL that the caller has checked against the policy.
 *
 * Errors whose text is fit for a caller:
 * CBX_EINVAL: the requirements cannot be resolved (no such package, no version, no wheel, a
 * conflict, malformed), or the kernel has no packages; CBX_ETOOBIG; CBX_ETIMEDOUT: over
 * timeout_ms, or an index that does not reply; CBX_EIO: the index cannot be reached, or its
 * certificate is not trusted; CBX_EINDEX: bytes with another hash than required, or a redirect
 * to another host; CBX_ESTATE: cancelled; CBX_EENGINE: the operator's failure. */
int cbx_packages_resolve(struct cbx_engine *engine, const struct cbx_packages_config *config,
                         const char *kernel, struct cbx_str requirements, const char *index,
                         const struct cbx_packages_progress *progress, struct cbx_buf *report,
                         struct cbx_err *err);

/* An image with packages. Sandboxes start from `id`, which no tag can change. */
struct cbx_layer {
    char name[CBX_LAYER_NAME_BYTES]; /* PREFIX-KERNEL-layer:DIGEST */
    char id[CBX_IMAGE_ID_CHARS + 1];
};

/* Finds the layer of a set for the kernel's current sandbox image. CBX_ENOTFOUND if it was not
 * made, or for an earlier image; CBX_EINVAL, CBX_ETOOBIG for a malformed set; CBX_EENGINE. No
 * container is started. */
int cbx_layer_find(struct cbx_engine *engine, const struct cbx_packages_config *config,
                   const char *kernel, struct cbx_str set, struct cbx_layer *out,
                   struct cbx_err *err);

/* Finds the layer, or makes it; a layer exists completely or not at all. Two concurrent calls
 * with the same set may both make it; they get layers with the same contents. `index` and errors
 * as cbx_packages_resolve; CBX_EENGINE also for an engine that cannot make images this way
 * (Podman). */
int cbx_layer_install(struct cbx_engine *engine, const struct cbx_packages_config *config,
                      const char *kernel, struct cbx_str set, const char *index,
                      const struct cbx_packages_progress *progress, struct cbx_layer *out,
                      struct cbx_err *err);

/* Label of an image with built-in packages (`codebox image build --packages`): the text of their
 * set. */
#define CBX_LABEL_BUILT_IN "codebox.packages"

/* Lists the layers with this prefix: [{name, id, kernel, base, size_bytes, own_bytes, created}]
 * (new reference); own_bytes is the size without its sandbox image, `created` is seconds since
 * 1970. If the sandbox image was rebuilt since, `base` is no current image's id: no session uses
 * such a layer any more, so it may be removed. */
int cbx_layer_list(struct cbx_engine *engine, const struct cbx_packages_config *config,
                   json_t **out, struct cbx_err *err);

/* Removes a layer by its id. Success if it does not exist; CBX_EBUSY if a container runs from
 * it. */
int cbx_layer_remove(struct cbx_engine *engine, const char *id, struct cbx_err *err);

/* Removes the temporary images that an interrupted call of this instance left at least age_s
 * seconds ago. cbx_sandbox_reap removes its containers, like sandboxes. Before the first call of
 * a process age_s may be 0; later it must be longer than the duration of a call. */
int cbx_packages_reap(struct cbx_engine *engine, const char *instance, int64_t age_s,
                      size_t *removed, struct cbx_err *err);

#endif
