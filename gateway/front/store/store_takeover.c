/* SPDX-License-Identifier: MIT
 * Signs of life, and takeovers. */
#include "gateway/front/store/store_takeover.h"

#include "gateway/front/store/store_internal.h"
#include "policies/base/text/json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const char *text_of(const json_t *row, const char *column)
{
    const char *text = json_string_value(json_object_get(row, column));
    return text != NULL ? text : "";
}

static void write_number(uint64_t number, char out[24])
{
    snprintf(out, 24, "%" PRIu64, number);
}

/* Ends a transaction. */
static int finish(struct cbx_store *store, int failed, struct cbx_err *err)
{
    if (!failed) {
        failed = cbx_database_commit(store->database, err);
    }
    if (failed) {
        cbx_database_rollback(store->database);
    }
    return failed;
}

/* --- life ------------------------------------------------------------------------------------- */

static int claim(struct cbx_store *store, uint64_t *generation, struct cbx_err *err)
{
    const char *name = store->replica;
    CBX_AUTO_JSON rows = NULL;
    int failed = cbx_store_execute_locked(store, CBX_SQL_claim_replica, &name, 1, NULL, err);
    if (!failed) {
        failed = cbx_store_execute_locked(store, CBX_SQL_claim_instance, &name, 1, NULL, err);
    }
    if (!failed) {
        failed = cbx_store_fetch_locked(store, CBX_SQL_get_generation, &name, 1, &rows, err);
    }
    if (!failed) {
        *generation = strtoull(text_of(json_array_get(rows, 0), "generation"), NULL, 10);
    }
    return failed;
}

int cbx_store_claim(struct cbx_store *store, uint64_t *generation, struct cbx_err *err)
{
    pthread_mutex_lock(&store->lock);
    int failed = cbx_database_begin(store->database, err);
    if (!failed) {
        failed = finish(store, claim(store, generation, err), err);
    }
    store->claimed = store->claimed || !failed;
    if (!failed) { /* rows that no log needs any more; the next claim tries again */
        cbx_store_execute_locked(store, CBX_SQL_forget_taken, NULL, 0, NULL, NULL);
    }
    pthread_mutex_unlock(&store->lock);
    return failed;
}

int cbx_store_beat(struct cbx_store *store, uint64_t generation, struct cbx_err *err)
{
    char number[24];
    int64_t changed = 0;
    write_number(generation, number);
    const char *const values[] = { store->replica, number };
    int failed = cbx_store_execute(store, CBX_SQL_beat, values, 2, &changed, err);
    if (!failed && changed == 0) {
        return cbx_fail(err, CBX_ESTATE, "another replica has taken over what this one had");
    }
    return failed;
}

/* --- lists ------------------------------------------------------------------------------------ */

int cbx_store_list_held(struct cbx_store *store, json_t **out, struct cbx_err *err)
{
    const char *name = store->replica;
    CBX_AUTO_JSON rows = NULL;
    size_t i;
    const json_t *row;
    int failed = cbx_store_fetch_rows(store, CBX_SQL_list_held, &name, 1, &rows, err);
    if (failed) {
        return failed;
    }
    *out = json_array();
    json_array_foreach(rows, i, row)
    {
        json_array_append_new(*out,
                              json_sprintf("%s %s %s", text_of(row, "replica"),
                                           text_of(row, "generation"), text_of(row, "epoch")));
    }
    return 0;
}

int cbx_store_forget_instance(struct cbx_store *store, const char *instance, struct cbx_err *err)
{
    char name[CBX_REPLICA_NAME_MAX + 1], generation[24];
    const char *const values[] = { name, generation, store->replica };
    if (sscanf(instance, "%63[^ ] %23[0-9]", name, generation) != 2) {
        return cbx_fail(err, CBX_EINVAL, "'%.64s' is no instance", instance);
    }
    return cbx_store_execute(store, CBX_SQL_forget_instance, values, 3, NULL, err);
}

/* Reads the first column of all rows. */
static int fetch_column(struct cbx_store *store, enum cbx_statement statement, const char *column,
                        const char *const *texts, int count, json_t **out, struct cbx_err *err)
{
    CBX_AUTO_JSON rows = NULL;
    size_t i;
    const json_t *row;
    int failed = cbx_store_fetch_rows(store, statement, texts, count, &rows, err);
    if (failed) {
        return failed;
    }
    *out = json_array();
    json_array_foreach(rows, i, row)
    {
        json_array_append(*out, json_object_get(row, column));
    }
    return 0;
}

int cbx_store_list_moved(struct cbx_store *store, json_t **out, struct cbx_err *err)
{
    return fetch_column(store, CBX_SQL_list_moved, "replica", NULL, 0, out, err);
}

int cbx_store_list_dead(struct cbx_store *store, json_t **out, struct cbx_err *err)
{
    const char *name = store->replica;
    return cbx_store_fetch_rows(store, CBX_SQL_list_dead, &name, 1, out, err);
}

int cbx_store_list_unnoted(struct cbx_store *store, json_t **out, struct cbx_err *err)
{
    const char *name = store->replica;
    return cbx_store_fetch_rows(store, CBX_SQL_list_unnoted, &name, 1, out, err);
}

int cbx_store_list_unreleased(struct cbx_store *store, json_t **out, struct cbx_err *err)
{
    const char *name = store->replica;
    return cbx_store_fetch_rows(store, CBX_SQL_list_unreleased, &name, 1, out, err);
}

int cbx_store_list_taken(struct cbx_store *store, const char *from, const char *epoch, json_t **out,
                         struct cbx_err *err)
{
    const char *const values[] = { from, epoch };
    return fetch_column(store, CBX_SQL_list_taken, "decision", values, 2, out, err);
}

int cbx_store_set_noted(struct cbx_store *store, const char *from, const char *epoch,
                        struct cbx_err *err)
{
    const char *const values[] = { from, epoch };
    return cbx_store_execute(store, CBX_SQL_set_noted, values, 2, NULL, err);
}

int cbx_store_set_released(struct cbx_store *store, const char *epoch, struct cbx_err *err)
{
    const char *const values[] = { store->replica, epoch };
    return cbx_store_execute(store, CBX_SQL_set_released, values, 2, NULL, err);
}

int cbx_store_find_holder(struct cbx_store *store, const char *id,
                          char out[CBX_REPLICA_NAME_MAX + 1], struct cbx_err *err)
{
    CBX_AUTO_JSON rows = NULL;
    int failed = cbx_store_fetch_rows(store, CBX_SQL_get_holder, &id, 1, &rows, err);
    if (failed) {
        return failed;
    }
    if (json_array_size(rows) == 0) {
        return cbx_fail(err, CBX_ENOTFOUND, "there is nothing with id '%.64s'", id);
    }
    snprintf(out, CBX_REPLICA_NAME_MAX + 1, "%s", text_of(json_array_get(rows, 0), "replica"));
    return 0;
}

/* --- takeover --------------------------------------------------------------------------------- */

/* The names and numbers of a takeover, as texts. */
struct takeover {
    const char *from, *to;
    char generation[24], epoch[24], sessions[24];
};

/* The row of the replica is locked by this: another survivor waits, and finds another generation. */
static int take_replica(struct cbx_store *store, const struct takeover *t, struct cbx_err *err)
{
    const char *const values[] = { t->from, t->generation };
    int64_t changed = 0;
    int failed = cbx_store_execute_locked(store, CBX_SQL_take_replica, values, 2, &changed, err);
    if (!failed && changed == 0) {
        return cbx_fail(err, CBX_ESTATE, "replica '%s' lives, or another one has taken it over",
                        t->from);
    }
    return failed;
}

static int list_rows(struct cbx_store *store, struct takeover *t, json_t **rows,
                     struct cbx_err *err)
{
    const char *const values[] = { t->from, NULL };
    CBX_AUTO_JSON count = NULL;
    int failed = cbx_store_fetch_locked(store, CBX_SQL_count_sessions, values, 2, &count, err);
    if (failed) {
        return failed;
    }
    snprintf(t->sessions, sizeof(t->sessions), "%.20s", text_of(json_array_get(count, 0), "count"));
    return cbx_store_fetch_locked(store, CBX_SQL_list_running, values, 1, rows, err);
}

static int move_rows(struct cbx_store *store, const struct takeover *t, struct cbx_err *err)
{
    const struct {
        enum cbx_statement statement;
        const char *values[4];
        int count;
    } steps[] = {
        { CBX_SQL_add_taken, { t->from, t->epoch, t->to }, 3 },
        { CBX_SQL_add_takeover, { t->from, t->epoch, t->to, t->sessions }, 4 },
        { CBX_SQL_move_instances, { t->to, t->from }, 2 },
        { CBX_SQL_move_sessions, { t->to, t->from }, 2 },
        { CBX_SQL_move_executions, { t->to, t->from }, 2 },
    };
    int failed = 0;
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]) && !failed; i++) {
        failed = cbx_store_execute_locked(store, steps[i].statement, steps[i].values,
                                          steps[i].count, NULL, err);
    }
    return failed;
}

/* Sessions that the replica was opening will not be: without its place it stores none. */
static int drop_places(struct cbx_store *store, const struct takeover *t, struct cbx_err *err)
{
    if (!store->shares_use) {
        return 0;
    }
    return cbx_store_execute_locked(store, CBX_SQL_drop_openings, &t->from, 1, NULL, err);
}

static int take(struct cbx_store *store, struct takeover *t, json_t **rows, struct cbx_err *err)
{
    int failed = take_replica(store, t, err);
    if (!failed) {
        failed = list_rows(store, t, rows, err);
    }
    if (!failed) {
        failed = move_rows(store, t, err);
    }
    if (!failed) {
        failed = drop_places(store, t, err);
    }
    return failed;
}

int cbx_store_take_over(struct cbx_store *store, const char *replica, uint64_t generation,
                        json_t **rows, struct cbx_err *err)
{
    struct takeover t = { .from = replica, .to = store->replica };
    CBX_AUTO_JSON taken = NULL;
    write_number(generation, t.generation);
    write_number(generation + 1, t.epoch);
    pthread_mutex_lock(&store->lock);
    int failed = cbx_database_begin(store->database, err);
    if (!failed) {
        failed = finish(store, take(store, &t, &taken, err), err);
    }
    if (!failed) { /* the rows count towards the quotas of this replica now */
        cbx_store_count_all(store, NULL);
    }
    pthread_mutex_unlock(&store->lock);
    if (!failed) {
        *rows = cbx_steal(&taken);
    }
    return failed;
}
