/* SPDX-License-Identifier: MIT
 * Lists of modules for permits. Making a list takes about two milliseconds, so lists are cached. */
#include "gateway/executor/run/executor_imports.h"

#include "analyzer/imports.h"
#include "policies/language.h"

enum { DAY_S = 86400, COUNT = 16 };

void cbx_import_cache_done(struct cbx_import_cache *cache)
{
    for (size_t i = 0; i < COUNT; i++) {
        cbx_buf_done(&cache->items[i].list);
    }
    *cache = (struct cbx_import_cache){ 0 };
}

static bool is_for(const struct cbx_import_list *item, const struct cbx_permit *fields,
                   unsigned language, int64_t day)
{
    return item->list.p != NULL && item->language == language && item->day == day &&
           cbx_sha256_equal(&item->policy, &fields->policy_sha256) &&
           strcmp(item->principal, fields->principal) == 0;
}

static bool find_importer(const struct cbx_policies *policies, const struct cbx_permit *fields,
                          int64_t now, struct cbx_importer *out)
{
    const struct cbx_language_row *row = cbx_language_find(cbx_str_of(fields->language));
    const struct cbx_policy *policy =
        policies != NULL ? cbx_policies_find(policies, cbx_str_of(fields->policy)) : NULL;
    if (row == NULL || policy == NULL) {
        return false;
    }
    *out = (struct cbx_importer){ .policy = policy,
                                  .language = row->language,
                                  .principal = cbx_str_of(fields->principal),
                                  .now = now };
    return true;
}

int cbx_import_cache_list(struct cbx_import_cache *cache, const struct cbx_policies *policies,
                          const struct cbx_permit *fields, int64_t now, struct cbx_buf *out,
                          struct cbx_err *err)
{
    struct cbx_importer importer;
    if ((fields->refused >> CBX_REFUSE_IMPORT & 1) == 0) {
        return 0;
    }
    if (!find_importer(policies, fields, now, &importer)) {
        return cbx_fail(err, CBX_ESEAL, "the decision is under a policy of another gateway");
    }
    for (size_t i = 0; i < COUNT; i++) {
        if (is_for(&cache->items[i], fields, importer.language, now / DAY_S)) {
            cbx_buf_add(out, cbx_buf_str(&cache->items[i].list));
            return 0;
        }
    }
    struct cbx_import_list *item = &cache->items[cache->next];
    struct cbx_import_list made = { .policy = fields->policy_sha256,
                                    .language = importer.language,
                                    .day = now / DAY_S };
    snprintf(made.principal, sizeof(made.principal), "%s", fields->principal);
    cbx_buf_init(&made.list, CBX_IMPORTS_BYTES_MAX);
    int failed = cbx_imports_list(&importer, &made.list, err);
    if (failed) {
        cbx_buf_done(&made.list);
        return failed;
    }
    cbx_buf_done(&item->list);
    *item = made;
    cache->next = (cache->next + 1) % COUNT;
    cbx_buf_add(out, cbx_buf_str(&item->list));
    return 0;
}

struct cbx_str cbx_import_rule(const struct cbx_policies *policies, const struct cbx_permit *permit,
                               struct cbx_str module, int64_t now)
{
    struct cbx_importer importer;
    const struct cbx_rule *rule = find_importer(policies, permit, now, &importer)
                                      ? cbx_imports_rule(&importer, module)
                                      : NULL;
    return rule != NULL ? rule->id : cbx_str_of(cbx_refusal_row(CBX_REFUSE_IMPORT)->id);
}
