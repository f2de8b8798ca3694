/* SPDX-License-Identifier: MIT
 * The package manager and images of a kernel, and resolving requirements. */
#include "docker/packages/package_layers.h"
#include "docker/kernel_names.h"

#include "docker/packages/packages_internal.h"
#include "docker/sandbox/container.h"
#include "policies/base/text/json.h"
#include "policies/packages.h"

/* The kernel whose image is the base of an installer; for npm any image with Node. */
static const char *const bases[CBX_MANAGERS] = {
    [CBX_MANAGER_PIP] = "python",
    [CBX_MANAGER_NPM] = "javascript",
};

enum cbx_manager cbx_packages_manager(const char *kernel)
{
    const struct cbx_language_row *row;
    for (size_t i = 0; (row = cbx_language_row(i)) != NULL; i++) {
        if (strcmp(row->kernel, kernel) == 0) {
            return cbx_language_manager(cbx_str_of(row->name));
        }
    }
    return CBX_MANAGER_NONE;
}

bool cbx_installer_image(const char *prefix, const char *kernel, const char *variant,
                         char out[CBX_IMAGE_NAME_BYTES], const char **base)
{
    const char *made_from = bases[cbx_packages_manager(kernel)];
    if (made_from == NULL) {
        return false;
    }
    char name[CBX_IMAGE_NAME_BYTES];
    cbx_image_variant(made_from, variant, name);
    snprintf(out, CBX_IMAGE_NAME_BYTES, "%.64s-installer-%.72s:latest",
             prefix != NULL ? prefix : "codebox", name);
    if (base != NULL) {
        *base = made_from;
    }
    return true;
}

/* A missing image is the operator's failure here: no caller named it. */
static int image_id(struct cbx_engine *engine, const char *name, char out[CBX_IMAGE_ID_CHARS + 1],
                    struct cbx_err *err)
{
    int failed = cbx_engine_image_id(engine, name, out, err);
    if (failed == CBX_ENOTFOUND && err != NULL) {
        err->code = CBX_EENGINE;
    }
    return failed == CBX_ENOTFOUND ? CBX_EENGINE : failed;
}

int cbx_packages_base(struct cbx_engine *engine, const struct cbx_packages_config *config,
                      const char *kernel, struct cbx_package_images *out, struct cbx_err *err)
{
    char name[CBX_IMAGE_NAME_BYTES];
    out->manager = cbx_packages_manager(kernel);
    if (out->manager == CBX_MANAGER_NONE) {
        return cbx_fail(err, CBX_EINVAL, "packages cannot be installed for the kernel '%s'",
                        kernel);
    }
    cbx_image_name(config->sandbox->image_prefix, kernel, config->sandbox->variant, name);
    return image_id(engine, name, out->base, err);
}

int cbx_packages_images(struct cbx_engine *engine, const struct cbx_packages_config *config,
                        const char *kernel, struct cbx_package_images *out, struct cbx_err *err)
{
    const char *prefix = config->sandbox->image_prefix, *made_from = NULL;
    const char *variant = config->sandbox->variant;
    char name[CBX_IMAGE_NAME_BYTES], base[CBX_IMAGE_NAME_BYTES];
    char want[CBX_IMAGE_ID_CHARS + 1], have[CBX_IMAGE_ID_CHARS + 1];
    int failed = cbx_packages_base(engine, config, kernel, out, err);
    if (failed || !cbx_installer_image(prefix, kernel, variant, name, &made_from)) {
        return failed;
    }
    cbx_image_name(prefix, made_from, variant, base);
    failed = image_id(engine, base, want, err);
    if (failed) {
        return failed;
    }
    failed = image_id(engine, name, out->installer, err);
    if (failed) {
        return failed;
    }
    failed =
        cbx_engine_image_label(engine, out->installer, CBX_LABEL_BASE, have, sizeof(have), err);
    if (failed) {
        return failed;
    }
    if (strcmp(want, have) != 0) {
        return cbx_fail(err, CBX_EENGINE,
                        "image '%s' was made for another image than '%s'; 'codebox image build' "
                        "renews it",
                        name, base);
    }
    return 0;
}

int cbx_packages_resolve(struct cbx_engine *engine, const struct cbx_packages_config *config,
                         const char *kernel, struct cbx_str requirements, const char *index,
                         const struct cbx_packages_progress *progress, struct cbx_buf *report,
                         struct cbx_err *err)
{
    enum cbx_manager manager = cbx_packages_manager(kernel);
    if (manager == CBX_MANAGER_NONE) {
        return cbx_fail(err, CBX_EINVAL, "packages cannot be installed for the kernel '%s'",
                        kernel);
    }
    int failed = cbx_requirements_check(manager, requirements, err);
    struct cbx_package_images images;
    if (failed) {
        return failed;
    }
    failed = cbx_packages_images(engine, config, kernel, &images, err);
    if (failed) {
        return failed;
    }
    json_t *lines = json_array();
    bool locked = cbx_requirements_are_pinned(requirements);
    while (requirements.len > 0) {
        json_array_append_new(lines, cbx_json_text(cbx_package_take_until(&requirements, '\n')));
    }
    CBX_AUTO_JSON job =
        json_pack("{s:s,s:o,s:b}", "task", "resolve", "requirements", lines, "locked", locked);
    struct cbx_installer_run run = {
        .kernel = kernel, .images = &images, .job = job, .index = index, .progress = progress
    };
    return cbx_installer_run(engine, config, &run, report, NULL, err);
}
