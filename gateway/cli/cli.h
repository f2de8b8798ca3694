/* SPDX-License-Identifier: MIT
 * Commands of `codebox` and their options. Each command returns the exit status: 0 done, 1 denied
 * or a check failed, 2 the command could not be carried out. */
#ifndef CBX_GATEWAY_CLI_CLI_H
#define CBX_GATEWAY_CLI_CLI_H

#include "gateway/cli/serve/start.h"
#include "gateway/cli/settings/cli_options.h"
#include "policies/base/log.h"

/* CBX_EINVAL if values of options contradict each other. */
int cbx_options_check(const struct cbx_options *options, struct cbx_err *err);

/* Sets the log's level: --log-level, else `level`. `times` as for cbx_log_set. */
void cbx_options_log(const struct cbx_options *options, enum cbx_log_level level, bool times);

/* An address to listen on. */
struct cbx_listen_address {
    char host[64];
    uint16_t port;
    bool loopback;
};

/* Reads the value of an option such as --listen: "127.0.0.1:8000", "[::1]:8000", "localhost:8000", ":8000", or another address
 * of this machine. CBX_EINVAL. */
int cbx_cli_parse_listen(const char *option, const char *text, struct cbx_listen_address *out,
                         struct cbx_err *err);

/* Makes a flow's configuration from the options and the defaults. */
/* Reads --mount into a list (gateway/ipc/seal/mount_requests.h; new reference); NULL without the
 * option. CBX_EINVAL, CBX_ETOOBIG. */
int cbx_options_mounts(const struct cbx_options *options, json_t **out, struct cbx_err *err);

/* Return whether sandboxes have small images, and the variant of the images
 * (docker/kernel_names.h): small, the name of --name, or NULL. */
bool cbx_options_small(const struct cbx_options *options);
const char *cbx_options_variant(const struct cbx_options *options);

/* Returns a hash of the options that decide to which packages requirements are resolved. */
struct cbx_sha256 cbx_options_package_sources(const struct cbx_options *options);

struct cbx_flow_config cbx_options_flow(const struct cbx_options *options);

int cbx_run_command(const struct cbx_options *options);
int cbx_serve_command(const struct cbx_options *options);
int cbx_mcp_command(const struct cbx_options *options);
int cbx_policy_command(const struct cbx_options *options);
int cbx_config_command(const struct cbx_options *options);
int cbx_token_command(const struct cbx_options *options);
int cbx_stop_command(const struct cbx_options *options);
int cbx_audit_command(const struct cbx_options *options);
int cbx_image_command(const struct cbx_options *options);
int cbx_doctor_command(const struct cbx_options *options);
int cbx_install_command(const struct cbx_options *options);

/* Find the script that builds sandbox images, and the supervisor that the script packs, beside
 * this program: in the source tree, or in the installation. Both results have room for PATH_MAX
 * bytes. False if there is no such script. */
bool cbx_image_script(char *script, char *supervisor);

/* Appends all bytes of a descriptor up to its end. CBX_ETOOBIG over the buffer's cap, CBX_EIO;
 * errors name `path`. */
int cbx_cli_read(int fd, const char *path, struct cbx_buf *out, struct cbx_err *err);

/* Writes all bytes to a descriptor; -1 and errno on failure. */
int cbx_cli_write(int fd, struct cbx_str bytes);

/* Prints "codebox: TEXT" on stderr, with line and column if the error has them; returns 2. */
int cbx_cli_fail(const struct cbx_err *err);

#endif
