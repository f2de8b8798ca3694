/* SPDX-License-Identifier: MIT
 * The package manager of a language, and the policy's rules for it. */
#include "policies/packages.h"

static const enum cbx_manager managers[CBX_LANGUAGES] = {
    [CBX_PYTHON] = CBX_MANAGER_PIP,
    [CBX_JAVASCRIPT] = CBX_MANAGER_NPM,
    [CBX_TYPESCRIPT] = CBX_MANAGER_NPM,
};

enum cbx_manager cbx_language_manager(struct cbx_str language)
{
    const struct cbx_language_row *row = cbx_language_find(language);
    return row != NULL ? managers[row->language] : CBX_MANAGER_NONE;
}

const struct cbx_packages *cbx_policy_packages(const struct cbx_policy *policy,
                                               struct cbx_str language)
{
    enum cbx_manager manager = cbx_language_manager(language);
    return manager == CBX_MANAGER_PIP   ? &policy->pip
           : manager == CBX_MANAGER_NPM ? &policy->npm
                                        : NULL;
}

bool cbx_policy_installs(const struct cbx_policy *policy, struct cbx_str language)
{
    const struct cbx_packages *packages = cbx_policy_packages(policy, language);
    return packages != NULL && packages->mode != CBX_PACKAGES_NONE &&
           policy->network != CBX_NETWORK_NONE;
}
