/* SPDX-License-Identifier: MIT
 * The sandbox image that a policy chooses for a kernel (`images` of the policy). */
#ifndef CBX_GATEWAY_EXECUTOR_RUN_IMAGES_H
#define CBX_GATEWAY_EXECUTOR_RUN_IMAGES_H

#include "docker/sandbox/sandbox.h"
#include "policies/policy.h"

/* The configuration of a kernel's sandboxes under a policy. */
struct cbx_image_choice {
    struct cbx_sandbox_config config; /* `variant` borrows from this struct */
    /* empty: the policy chooses none, and `config` is the gateway's */
    char variant[CBX_IMAGE_OWN_MAX + 1];
};

/* Writes the gateway's configuration with the variant that the policy chooses; without a policy
 * (NULL), unchanged. */
void cbx_image_choose(const struct cbx_sandbox_config *gateway, const struct cbx_policy *policy,
                      const char *kernel, struct cbx_image_choice *out);

#endif
