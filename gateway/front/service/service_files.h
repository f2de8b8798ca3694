/* SPDX-License-Identifier: MIT
 * Files of a session's workspace. */
#ifndef CBX_GATEWAY_FRONT_SERVICE_SERVICE_FILES_H
#define CBX_GATEWAY_FRONT_SERVICE_SERVICE_FILES_H

#include "gateway/front/claims.h"
#include "gateway/front/service/service.h"
#include "gateway/ipc/wire/ipc_wire.h"

/* True for the name of a file that an interpreter would load and no worker can judge: compiled
 * code, archives of code. */
bool cbx_service_is_loadable(struct cbx_str path);

/* Writes a file: data is stored; a file from which the session may load code is judged with all
 * entries accepted before it. Returns 0 also if the policy denies it (denial->verdict), and
 * nothing was written then. CBX_EPOLICY for code that no worker can judge; CBX_ENOTFOUND without
 * such a session; errors of the executor. `origin` is the API, static; `claims` are the
 * client's, for the audit log (NULL = none). `denial` is the caller's (cbx_outcome_done), and
 * also has the decision about allowed code. */
int cbx_service_put_file(struct cbx_service *service, const char *principal, const char *session,
                         const char *path, struct cbx_str bytes, const char *origin,
                         const struct cbx_claims *claims, struct cbx_outcome *denial,
                         struct cbx_err *err);

/* Reads a file: answer->bytes. The caller initialises `answer`; `claims` (NULL = none) are the
 * client's. */
int cbx_service_get_file(struct cbx_service *service, const struct cbx_caller *caller,
                         const struct cbx_claims *claims, struct cbx_str session,
                         struct cbx_str path, struct cbx_message *answer, struct cbx_err *err);

#endif
