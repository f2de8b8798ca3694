/* SPDX-License-Identifier: MIT
 * Statements that write, under the lock of the store. */
#include "gateway/front/store/store_internal.h"

int cbx_store_note(struct cbx_store *store, int failed)
{
    if (failed == CBX_EINVAL) { /* the fault of a caller, not of the database */
        return failed;
    }
    snprintf(store->failure, sizeof(store->failure), "%s",
             failed ? cbx_database_failure(store->database) : "");
    return failed;
}

int cbx_store_execute_locked(struct cbx_store *store, enum cbx_statement statement,
                             const char *const *texts, int count, int64_t *changed,
                             struct cbx_err *err)
{
    return cbx_store_note(
        store, cbx_database_execute(store->database, statement, texts, count, changed, err));
}

int cbx_store_execute(struct cbx_store *store, enum cbx_statement statement,
                      const char *const *texts, int count, int64_t *changed, struct cbx_err *err)
{
    pthread_mutex_lock(&store->lock);
    int failed = cbx_store_execute_locked(store, statement, texts, count, changed, err);
    pthread_mutex_unlock(&store->lock);
    return failed;
}
