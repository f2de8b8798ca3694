/* SPDX-License-Identifier: MIT
 * Names that can lead to a finding: an evaluator follows them and skips all others. */
#ifndef CBX_ANALYZER_FACTS_NAME_FILTER_H
#define CBX_ANALYZER_FACTS_NAME_FILTER_H

#include "policies/policy.h"

/* Returns true if a rule of the policy could match this name as called or used, or if the sinks
 * have a row for the name or for a name within it. */
bool cbx_name_matters(const struct cbx_policy *policy, enum cbx_language language,
                      struct cbx_str name);

#endif
