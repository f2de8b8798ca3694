/* SPDX-License-Identifier: MIT
 * Shared by the files that make package_layers.h. */
#ifndef CBX_DOCKER_PACKAGES_PACKAGES_INTERNAL_H
#define CBX_DOCKER_PACKAGES_PACKAGES_INTERNAL_H

#include "docker/packages/package_layers.h"

/* The part before the first `end`, which is removed from *text with it. All of it when there is none. */
struct cbx_str cbx_package_take_until(struct cbx_str *text, char end);

/* Whether it is an http(s) URL of harmless characters. */
bool cbx_package_is_url(struct cbx_str url);

/* The images that a call is about, which are of one build: the installer was made from the current sandbox image. */
struct cbx_package_images {
    enum cbx_manager manager;
    char base[CBX_IMAGE_ID_CHARS + 1]; /* the kernel's sandbox image */
    char installer[CBX_IMAGE_ID_CHARS + 1];
};

/* The manager and the sandbox image alone. CBX_EINVAL when the kernel has no packages; CBX_EENGINE when the image is missing. */
int cbx_packages_base(struct cbx_engine *engine, const struct cbx_packages_config *config,
                      const char *kernel, struct cbx_package_images *out, struct cbx_err *err);

/* All of them. CBX_EENGINE when one is missing, or the installer is for an earlier sandbox image. */
int cbx_packages_images(struct cbx_engine *engine, const struct cbx_packages_config *config,
                        const char *kernel, struct cbx_package_images *out, struct cbx_err *err);

/* A job for an installer container. */
struct cbx_installer_run {
    const char *kernel;
    const struct cbx_package_images *images;
    json_t *job;       /* "task" and what it is about; the rest is added from the configuration */
    const char *index; /* NULL = the configured one */
    const struct cbx_packages_progress *progress; /* may be NULL */
};

/* The body (new reference) of "create a container": a sandbox's, but for a network and a root that is not read-only. */
json_t *cbx_installer_body(const struct cbx_packages_config *config,
                           const struct cbx_installer_run *run);

/* Creates the container, gives it the job, and waits until it has ended. What it writes is appended to *out (at most
 * CBX_REPORT_BYTES_MAX). With `container` not NULL the container still exists after success, and the caller removes it. Errors as
 * cbx_packages_resolve. */
int cbx_installer_run(struct cbx_engine *engine, const struct cbx_packages_config *config,
                      const struct cbx_installer_run *run, struct cbx_buf *out,
                      char container[CBX_CONTAINER_ID_CHARS + 1], struct cbx_err *err);

#endif
