/* SPDX-License-Identifier: MIT
 * Packages of a session. An installer container, which alone has a network, first resolves what was asked for: pip or npm reports what it
 * would install. The caller judges the report, and writes the set of packages that may be installed. A second installer container
 * installs exactly this set, by hash, and runs no code of it. The result is a layer: an image of the engine that is the kernel's sandbox
 * image with the packages in a folder that Python, or Node, searches before those of the image. Sandboxes without a network start
 * from it. Layers are shared: the same set gives the same layer.
 *
 * Nothing of a package passes through this process but the report, which is hostile. All calls block, up to the configured time; they
 * may be called from several threads. */
#ifndef CBX_DOCKER_PACKAGES_PACKAGE_LAYERS_H
#define CBX_DOCKER_PACKAGES_PACKAGE_LAYERS_H

#include "docker/engine/engine.h"
#include "docker/sandbox/container.h"
#include "docker/sandbox/sandbox.h"
#include "policies/base/buf.h"
#include "policies/packages.h"

enum {
    CBX_PACKAGES_TIMEOUT_MS = 5 * 60 * 1000, /* of one call, when the configuration has none */
    CBX_PROGRESS_BYTES_MAX = 160,            /* one line of progress */
    CBX_LAYER_NAME_BYTES = 240,
};

/* From configuration, never from a caller. Zero-initialise for defaults; `sandbox` is required: its instance, prefix of images, small
 * images, runtime and AppArmor profile are those of installers. */
struct cbx_packages_config {
    const struct cbx_sandbox_config *sandbox;
    const char *network;             /* of installer containers; NULL = the engine's default */
    const char *index[CBX_MANAGERS]; /* http(s) URL; NULL = the manager's own default */
    /* What installers reach besides the index: public addresses, and what `allowed` has, but for `denied`. NULL = no exceptions. */
    const struct cbx_network_settings *reach;
    /* The packages that may have a module of another name than theirs: {MODULE: [PACKAGE, ...]}, names normalised; NULL = none. Borrowed. */
    const json_t *providers;
    const char *ca_bundle; /* PEM text, trusted besides those of the image; NULL = none */
    uint32_t timeout_ms; /* of an installer, and of making its layer; 0 = CBX_PACKAGES_TIMEOUT_MS */
    uint32_t answer_timeout_ms; /* within which an index must answer; 0 = 15 s */
    uint64_t download_bytes;    /* all packages of a set, compressed; 0 = 512 MiB */
    uint64_t unpacked_bytes;    /* the same as files; 0 = 1 GiB */
    uint32_t files;             /* their number; 0 = 100,000 */
};

/* Called from the thread of the call. Zeroed memory: no progress, no cancellation. `line` gets "downloading numpy 12.3 MB": printable
 * ASCII, at most CBX_PROGRESS_BYTES_MAX bytes. `cancelled` is polled a few times a second; true ends the call with CBX_ESTATE. */
struct cbx_packages_progress {
    void (*line)(void *context, struct cbx_str text);
    bool (*cancelled)(void *context);
    void *context;
};

/* The manager that installs for a kernel; CBX_MANAGER_NONE when packages cannot be installed for it. */
enum cbx_manager cbx_packages_manager(const char *kernel);

/* The installer image of a kernel: "codebox-installer-python:latest", made from the sandbox image of `*base` ("python"; may be NULL). One
 * installer may be for several kernels. False when packages cannot be installed for it. `prefix` and `variant` (kernel_names.h) may be NULL. */
bool cbx_installer_image(const char *prefix, const char *kernel, const char *variant,
                         char out[CBX_IMAGE_NAME_BYTES], const char **base);

/* Checks the lines of `requirements`, one each: for pip "NAME[EXTRA,...] SPECIFIERS" ("pandas>=2,<3"), for npm "NAME" or "NAME@RANGE"
 * ("@types/node@^20"). No option, URL, path, alias, marker or comment. If one of pip's has hashes, all are those of a lock file:
 * "NAME==VERSION ; MARKER --hash=sha256:HEX ...". CBX_EINVAL names the line; CBX_ETOOBIG. Pure. */
int cbx_requirements_check(enum cbx_manager manager, struct cbx_str requirements,
                           struct cbx_err *err);

/* Whether the requirements are those of a lock file, each of which has hashes. */
bool cbx_requirements_are_pinned(struct cbx_str requirements);

/* Checks a set: one package per line, each line terminated by '\n', fields separated by one blank, no package twice.
 *   pip: NAME VERSION sha256:HEX
 *   npm: PATH NAME VERSION sha512-BASE64 URL    PATH as in package-lock.json ("node_modules/a/node_modules/b"), URL "-" for the index's own
 * CBX_EINVAL names the line, CBX_ETOOBIG. *count (may be NULL) is the number of packages; an empty set is CBX_EINVAL. Pure. */
int cbx_package_set_check(enum cbx_manager manager, struct cbx_str set, size_t *count,
                          struct cbx_err *err);

/* Resolves requirements for a kernel's sandbox image: appends to *report (its cap at least CBX_REPORT_BYTES_MAX) pip's installation report
 * (version 1), or npm's package-lock.json (lockfileVersion 3). Hostile: only its size was checked. What the image has counts as installed
 * for pip, unless the requirements are those of a lock file: then each whose marker holds is reported, and nothing else. `index` (may be NULL) takes the place of the configured one: an http(s) URL that the caller has checked against the policy.
 *
 * Errors whose text is fit for a caller:
 * CBX_EINVAL: the requirements cannot be resolved (no such package, no version, no wheel, a conflict, malformed), or the kernel has no
 *   packages; CBX_ETOOBIG; CBX_ETIMEDOUT: over timeout_ms, or an index that does not answer; CBX_EIO: the index cannot be reached, or its
 *   certificate is not trusted; CBX_EINDEX: bytes do not have the hash they should have, or a redirect to another host; CBX_ESTATE:
 *   cancelled; CBX_EENGINE: the operator's failure. */
int cbx_packages_resolve(struct cbx_engine *engine, const struct cbx_packages_config *config,
                         const char *kernel, struct cbx_str requirements, const char *index,
                         const struct cbx_packages_progress *progress, struct cbx_buf *report,
                         struct cbx_err *err);

/* An image with packages. Sandboxes start from `id`, which no tag can move. */
struct cbx_layer {
    char name[CBX_LAYER_NAME_BYTES]; /* PREFIX-KERNEL-layer:DIGEST */
    char id[CBX_IMAGE_ID_CHARS + 1];
};

/* Labels of a layer, besides CBX_LABEL_CONTENTS, which lists the packages of the set as well (those of the set replace the image's). */
#define CBX_LABEL_LAYER "codebox.layer" /* SHA-256 of the set's text, hexadecimal */
#define CBX_LABEL_BASE                                                                             \
    "codebox.base" /* id of the sandbox image that it is made from; also of an installer image */

/* The layer of a set for the kernel's current sandbox image. CBX_ENOTFOUND when it was not made, or for an earlier image; CBX_EINVAL,
 * CBX_ETOOBIG for a set that is none; CBX_EENGINE. No container is started. */
int cbx_layer_find(struct cbx_engine *engine, const struct cbx_packages_config *config,
                   const char *kernel, struct cbx_str set, struct cbx_layer *out,
                   struct cbx_err *err);

/* Finds the layer, or makes it; a layer exists completely or not at all. Two calls with the same set at the same time may both make it; they
 * get layers with the same contents. `index` and errors as cbx_packages_resolve; CBX_EENGINE also for an engine that cannot make images
 * this way (Podman). */
int cbx_layer_install(struct cbx_engine *engine, const struct cbx_packages_config *config,
                      const char *kernel, struct cbx_str set, const char *index,
                      const struct cbx_packages_progress *progress, struct cbx_layer *out,
                      struct cbx_err *err);

/* Label of an image that packages were built into (`codebox image build --packages`): the text of their set. */
#define CBX_LABEL_BUILT_IN "codebox.packages"

/* The layers with this prefix: [{name, id, kernel, base, size_bytes, own_bytes, created}] (new reference); own_bytes is what it has beyond its
 * sandbox image, `created` is seconds since 1970. `base` is
 * no current image's id when the sandbox image was built anew since: no session uses such a layer any more, so it may be removed. */
int cbx_layer_list(struct cbx_engine *engine, const struct cbx_packages_config *config,
                   json_t **out, struct cbx_err *err);

/* Removes a layer by its id. Success when it is gone already; CBX_EBUSY when a container runs from it. */
int cbx_layer_remove(struct cbx_engine *engine, const char *id, struct cbx_err *err);

/* Removes the temporary images that a call of this instance left behind at least age_s seconds ago, because its process ended in the
 * middle. Its containers are removed by cbx_sandbox_reap, as sandboxes are. Before the first call of a process age_s may be 0; later it
 * must be longer than a call takes. */
int cbx_packages_reap(struct cbx_engine *engine, const char *instance, int64_t age_s,
                      size_t *removed, struct cbx_err *err);

#endif
