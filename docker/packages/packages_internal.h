/* SPDX-License-Identifier: MIT
 * Declarations shared by the files that implement package_layers.h. */
#ifndef CBX_DOCKER_PACKAGES_PACKAGES_INTERNAL_H
#define CBX_DOCKER_PACKAGES_PACKAGES_INTERNAL_H

#include "docker/packages/package_layers.h"

/* Takes the part before the first `end`, and removes both from *text. All of the text if there
 * is no `end`. */
struct cbx_str cbx_package_take_until(struct cbx_str *text, char end);

/* True if it is an http(s) URL of harmless characters. */
bool cbx_package_is_url(struct cbx_str url);

/* The images of a call, which are of one build: the installer was made from the current sandbox
 * image. */
struct cbx_package_images {
    enum cbx_manager manager;
    char base[CBX_IMAGE_ID_CHARS + 1]; /* the kernel's sandbox image */
    char installer[CBX_IMAGE_ID_CHARS + 1];
};

/* Reads the manager and the sandbox image only. CBX_EINVAL if the kernel has no packages;
 * CBX_EENGINE if the image is missing. */
int cbx_packages_base(struct cbx_engine *engine, const struct cbx_packages_config *config,
                      const char *kernel, struct cbx_package_images *out, struct cbx_err *err);

/* Reads all of them. CBX_EENGINE if one is missing, or the installer is for an earlier sandbox
 * image. */
int cbx_packages_images(struct cbx_engine *engine, const struct cbx_packages_config *config,
                        const char *kernel, struct cbx_package_images *out, struct cbx_err *err);

/* Return the configured limits of a set's files, or the defaults. */
int64_t cbx_packages_unpacked_bytes(const struct cbx_packages_config *config);
int64_t cbx_packages_files(const struct cbx_packages_config *config);

/* A job for an installer container. */
struct cbx_installer_run {
    const char *kernel;
    const struct cbx_package_images *images;
    json_t *job;       /* "task" and its parameters; the configuration adds the rest */
    const char *index; /* NULL = the configured one */
    const struct cbx_packages_progress *progress; /* may be NULL */
};

/* Specifies the container. The arguments are borrowed until cbx_container_spec_done. */
void cbx_installer_spec(const struct cbx_packages_config *config,
                        const struct cbx_installer_run *run, struct cbx_container_spec *out);

/* Creates the container, sends it the job, and waits until it has ended. Appends its output to
 * *out (at most CBX_REPORT_BYTES_MAX). If `container` is not NULL the container still exists
 * after success, and the caller removes it. Errors as cbx_packages_resolve. */
int cbx_installer_run(struct cbx_engine *engine, const struct cbx_packages_config *config,
                      const struct cbx_installer_run *run, struct cbx_buf *out,
                      char container[CBX_CONTAINER_ID_CHARS + 1], struct cbx_err *err);

#endif
