/* SPDX-License-Identifier: MIT
 * Findings that a policy in mode log-only did not enforce, for the caller. */
#ifndef CBX_GATEWAY_FRONT_DENIAL_RELAXED_H
#define CBX_GATEWAY_FRONT_DENIAL_RELAXED_H

#include "policies/base/text/json.h"

/* Maximum number of reported findings; the last text has the number of the others. */
enum { CBX_RELAXED_WARNINGS_MAX = 20 };

/* Returns one printable line for each finding of the decision that would stop the code if its
 * policy were enforced, in their order (new reference): "line 1: subprocess would be denied by
 * rule py.process: MESSAGE Hint: HINT". NULL if there is none. */
json_t *cbx_relaxed_warnings(const json_t *decision);

/* Sets `warnings` of a reply to these texts, unless there are none. */
void cbx_relaxed_warn(const json_t *decision, json_t *answer);

#endif
