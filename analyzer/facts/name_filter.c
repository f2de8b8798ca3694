/* SPDX-License-Identifier: MIT
 * Determines from the index and the sinks whether a name can lead to a finding. */
#include "analyzer/facts/name_filter.h"

#include "analyzer/facts/sinks.h"
#include "policies/load/index.h"

static bool any_glob_matches(const struct cbx_pattern *chain, struct cbx_str name)
{
    for (const struct cbx_pattern *p = chain; p != NULL; p = p->next) {
        if ((p->list & CBX_IN_NAMES) != 0 && cbx_pattern_matches(p, name)) {
            return true;
        }
    }
    return false;
}

bool cbx_name_matters(const struct cbx_policy *policy, enum cbx_language language,
                      struct cbx_str name)
{
    const struct cbx_index *index = cbx_index_of(policy);
    uint32_t hash = CBX_INDEX_SEED;
    if (cbx_sinks_of(language, name) != 0 || cbx_sinks_within(language, name) ||
        any_glob_matches(index->globs, name)) {
        return true;
    }
    for (size_t i = 0; i < name.len; i++) {
        if (i >= 2 && any_glob_matches(index->by_gram[cbx_index_gram(name.p + i - 2)], name)) {
            return true;
        }
        hash = cbx_index_step(hash, name.p[i]);
    }
    for (const struct cbx_pattern *p = cbx_index_exact(index, hash); p != NULL; p = p->next) {
        if ((p->list & CBX_IN_NAMES) != 0 && cbx_str_equal(p->text, name)) {
            return true;
        }
    }
    return false;
}
