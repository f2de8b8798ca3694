/* SPDX-License-Identifier: MIT
 * The variables of the program's environment. They arrive when a sandbox is claimed, after its
 * kernel has started, so the kernel receives them before its first run, and a restarted kernel
 * receives them again. */
#include "docker/inside/supervisor/supervisor.h"

static struct cbx_bytes variables;

void cbx_variables_set(const uint8_t *payload, size_t len)
{
    if (len > 0 && payload[len - 1] != '\0') {
        cbx_die(); /* the host violates the protocol */
    }
    cbx_bytes_free(&variables);
    cbx_bytes_add(&variables, payload, len);
    cbx_kernel.has_variables = false;
}

void cbx_variables_send(void)
{
    if (variables.len > 0 && !cbx_kernel.has_variables) {
        cbx_kernel_send(CBX_FRAME_VARIABLES, variables.p, variables.len, NULL, 0);
    }
    cbx_kernel.has_variables = true;
}
