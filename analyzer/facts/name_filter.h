/* SPDX-License-Identifier: MIT
 * Which names can lead to a finding: an evaluator follows these and passes over all others. */
#ifndef CBX_ANALYZER_FACTS_NAME_FILTER_H
#define CBX_ANALYZER_FACTS_NAME_FILTER_H

#include "policies/policy.h"

/* True when a rule of the policy could match this name when it is called or used, or when the sinks
 * have a row for the name or for something within it. */
bool cbx_name_matters(const struct cbx_policy *policy, enum cbx_language language,
                      struct cbx_str name);

#endif
