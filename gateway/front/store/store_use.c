/* SPDX-License-Identifier: MIT
 * Use of quotas over all replicas: one statement each. */
#include "gateway/front/store/store_use.h"

#include "gateway/front/store/store_internal.h"

#include <inttypes.h>
#include <stdlib.h>

static void write_number(int64_t number, char out[24])
{
    snprintf(out, 24, "%" PRId64, number);
}

/* Reads a number of the first row; `missing` without a row. */
static int fetch_number(struct cbx_store *store, enum cbx_statement statement,
                        const char *const *texts, int count, const char *column, int64_t missing,
                        int64_t *out, struct cbx_err *err)
{
    CBX_AUTO_JSON rows = NULL;
    int failed = cbx_store_fetch_rows(store, statement, texts, count, &rows, err);
    if (failed) {
        return failed;
    }
    const char *text = json_string_value(json_object_get(json_array_get(rows, 0), column));
    *out = text != NULL ? strtoll(text, NULL, 10) : missing;
    return 0;
}

/* Runs a statement that changes a row if there is a place. */
static int execute_in_place(struct cbx_store *store, enum cbx_statement statement,
                            const char *const *texts, int count, struct cbx_err *err)
{
    int64_t changed = 0;
    int failed = cbx_store_execute(store, statement, texts, count, &changed, err);
    if (!failed && changed == 0) {
        return cbx_fail(err, CBX_EQUOTA, "there is no place");
    }
    return failed;
}

/* --- replicas --------------------------------------------------------------------------------- */

bool cbx_store_has_replicas(const struct cbx_store *store)
{
    return store->shared && store->replica[0] != '\0';
}

int cbx_store_share_use(struct cbx_store *store, struct cbx_err *err)
{
    const char *name = store->replica;
    pthread_mutex_lock(&store->lock);
    int failed = cbx_store_execute_locked(store, CBX_SQL_drop_openings, &name, 1, NULL, err);
    store->shares_use = store->shares_use || !failed;
    pthread_mutex_unlock(&store->lock);
    return failed;
}

int cbx_store_note_present(struct cbx_store *store, size_t *replicas, struct cbx_err *err)
{
    const char *name = store->replica;
    int64_t count = 0;
    int failed = cbx_store_execute(store, CBX_SQL_note_present, &name, 1, NULL, err);
    if (!failed) {
        failed = fetch_number(store, CBX_SQL_count_present, NULL, 0, "count", 1, &count, err);
    }
    if (!failed) {
        *replicas = count > 1 ? (size_t)count : 1;
    }
    return failed;
}

int cbx_store_mark_gone(struct cbx_store *store, struct cbx_err *err)
{
    return cbx_store_execute(store, CBX_SQL_mark_gone, NULL, 0, NULL, err);
}

/* --- sessions --------------------------------------------------------------------------------- */

int cbx_store_take_place(struct cbx_store *store, const char *principal, const char *id,
                         int64_t limit, struct cbx_err *err)
{
    char most[24];
    write_number(limit, most);
    const char *const values[] = { id, principal, store->replica, most };
    return execute_in_place(store, CBX_SQL_take_opening, values, 4, err);
}

int cbx_store_drop_place(struct cbx_store *store, const char *id, struct cbx_err *err)
{
    return cbx_store_execute(store, CBX_SQL_drop_opening, &id, 1, NULL, err);
}

int cbx_store_list_places(struct cbx_store *store, json_t **out, struct cbx_err *err)
{
    const char *name = store->replica;
    CBX_AUTO_JSON rows = NULL;
    size_t i;
    const json_t *row;
    int failed = cbx_store_fetch_rows(store, CBX_SQL_list_openings, &name, 1, &rows, err);
    if (failed) {
        return failed;
    }
    *out = json_array();
    json_array_foreach(rows, i, row)
    {
        json_array_append(*out, json_object_get(row, "id"));
    }
    return 0;
}

int cbx_store_add_placed_session(struct cbx_store *store, const char *principal, const char *id,
                                 const char *created_at, const char *policy, const json_t *options,
                                 struct cbx_err *err)
{
    int64_t changed = 0;
    int failed = cbx_store_insert_session(store, CBX_SQL_add_opened_session, principal, id,
                                          created_at, policy, options, &changed, err);
    if (!failed && changed == 0) {
        return cbx_fail(err, CBX_ESTATE,
                        "another replica has taken over what this one had; try again");
    }
    return failed;
}

/* --- runs ------------------------------------------------------------------------------------- */

int cbx_store_add_waiting(struct cbx_store *store, const struct cbx_stored_execution *execution,
                          int64_t limit, struct cbx_err *err)
{
    char most[24];
    int64_t changed = 0;
    write_number(limit, most);
    int failed = cbx_store_insert_execution(store, execution, most, &changed, err);
    if (!failed && changed == 0) {
        return cbx_fail(err, CBX_EQUOTA, "there is no place");
    }
    return failed;
}

int cbx_store_place_run(struct cbx_store *store, const char *principal, const char *id,
                        int64_t limit, struct cbx_err *err)
{
    char most[24];
    write_number(limit, most);
    const char *const values[] = { id, store->replica, principal, most };
    return execute_in_place(store, CBX_SQL_place_run, values, 4, err);
}

/* --- processor time --------------------------------------------------------------------------- */

int cbx_store_get_cpu(struct cbx_store *store, const char *principal, int64_t size_ms,
                      int64_t *left_ms, struct cbx_err *err)
{
    char size[24];
    write_number(size_ms, size);
    const char *const values[] = { size, principal };
    return fetch_number(store, CBX_SQL_get_cpu, values, 2, "left_ms", size_ms, left_ms, err);
}

int cbx_store_charge_cpu(struct cbx_store *store, const char *id, int64_t cpu_ms, int64_t size_ms,
                         struct cbx_err *err)
{
    char used[24], size[24];
    write_number(cpu_ms, used);
    write_number(size_ms, size);
    const char *const values[] = { id, store->replica, size, used };
    return cbx_store_execute(store, CBX_SQL_charge_cpu, values, 4, NULL, err);
}

int cbx_store_forget_cpu(struct cbx_store *store, struct cbx_err *err)
{
    return cbx_store_execute(store, CBX_SQL_forget_cpu, NULL, 0, NULL, err);
}
