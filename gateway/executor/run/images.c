/* SPDX-License-Identifier: MIT
 * Images of policies. */
#include "gateway/executor/run/images.h"

#include <stdio.h>

/* The member of struct cbx_images for each kernel that a policy can choose an image for. */
static const struct {
    const char *kernel;
    size_t offset;
} rows[] = {
    { "python", offsetof(struct cbx_images, python) },
    { "javascript", offsetof(struct cbx_images, javascript) },
    { "typescript", offsetof(struct cbx_images, javascript) },
};

void cbx_image_choose(const struct cbx_sandbox_config *gateway, const struct cbx_policy *policy,
                      const char *kernel, struct cbx_image_choice *out)
{
    *out = (struct cbx_image_choice){ .config = *gateway };
    for (size_t i = 0; policy != NULL && i < sizeof(rows) / sizeof(rows[0]); i++) {
        const void *member = (const char *)&policy->images + rows[i].offset;
        const struct cbx_str *name = member;
        if (strcmp(kernel, rows[i].kernel) == 0 && name->len > 0) {
            snprintf(out->variant, sizeof(out->variant), "%.*s", CBX_STR_ARG(*name));
            out->config.variant = out->variant;
        }
    }
}
