/* SPDX-License-Identifier: MIT
 * The database of the store: the table of its statements, rows, and transactions. */
#include "gateway/database/database_ops.h"
#include "tests/unit/gateway/front/store_rig.h"

enum { PARAMETERS_MAX = 16 };

static struct cbx_database *open_database(void)
{
    struct cbx_database *database = NULL;
    struct cbx_err err;
    int failed;
    if (rig_cluster != NULL) {
        char name[16];
        cluster_add_database(rig_cluster, name);
        struct cluster_url url = cluster_url(rig_cluster, name);
        failed = cbx_database_open_postgres(url.text, "", &database, &err);
    } else {
        failed = cbx_database_open_sqlite(":memory:", &database, &err);
    }
    if (failed) {
        fail_msg("%s", err.text);
    }
    return database;
}

/* SQLite numbers parameters in the order of their first appearance, PostgreSQL by their names. */
static void parameters_are_numbered_in_the_order_of_their_first_appearance(void **state)
{
    (void)state;
    for (int i = 0; i < CBX_STATEMENTS; i++) {
        const char *sql = cbx_statement_sql((enum cbx_statement)i);
        long highest = 0;
        for (const char *at = sql; (at = strchr(at, '$')) != NULL; at++) {
            long number = strtol(at + 1, NULL, 10);
            if (number < 1 || number > highest + 1) {
                fail_msg("$%ld comes after $%ld: %s", number, highest, sql);
            }
            highest = number > highest ? number : highest;
        }
        assert_int_equal(cbx_statement_parameters((enum cbx_statement)i), highest);
        assert_true(highest < PARAMETERS_MAX);
        assert_null(strchr(sql, '?'));
    }
}

static const bool of_postgres[CBX_STATEMENTS] = {
#define CBX_STATEMENT(name, sql)          [CBX_SQL_##name] = false,
#define CBX_STATEMENT_POSTGRES(name, sql) [CBX_SQL_##name] = true,
#include "gateway/database/statements.def"
#undef CBX_STATEMENT
};

/* A statement that breaks a constraint was accepted by the engine too. */
static void the_engine_knows_every_statement(void **state)
{
    (void)state;
    static const char *const texts[PARAMETERS_MAX] = { "1", "1", "1", "1", "1", "1", "1",
                                                       "1", "1", "1", "1", "1", "1", "1" };
    struct cbx_err err;
    CBX_AUTO(database) database = open_database();
    for (int i = 0; i < CBX_STATEMENTS; i++) {
        enum cbx_statement statement = (enum cbx_statement)i;
        if (rig_cluster == NULL && of_postgres[i]) {
            continue;
        }
        int failed = cbx_database_execute(database, statement, texts,
                                          cbx_statement_parameters(statement), NULL, &err);
        if (failed && strstr(err.text, "duplicate key") == NULL) {
            fail_msg("%s: %s", cbx_statement_sql(statement), err.text);
        }
    }
}

static void add_set(struct cbx_database *database, const char *key)
{
    const char *const texts[] = { key, "six 1.0 -\n", "9007199254740993" };
    int64_t changed = 0;
    assert_int_equal(cbx_database_execute(database, CBX_SQL_set_packages, texts, 3, &changed, NULL),
                     0);
    assert_int_equal(changed, 1);
}

static bool has_set(struct cbx_database *database, const char *key)
{
    const char *const texts[] = { key, "0" };
    CBX_AUTO(rows) rows = NULL;
    assert_int_equal(cbx_database_query(database, CBX_SQL_get_packages, texts, 2, &rows, NULL), 0);
    bool has = cbx_rows_next(rows);
    assert_int_equal(cbx_rows_check(rows, NULL), 0);
    return has;
}

static void rows_have_names_texts_and_numbers(void **state)
{
    (void)state;
    CBX_AUTO(database) database = open_database();
    const char *const texts[] = { "a", "0" };
    CBX_AUTO(rows) rows = NULL;
    add_set(database, "a");
    assert_int_equal(cbx_database_query(database, CBX_SQL_get_packages, texts, 2, &rows, NULL), 0);
    assert_int_equal(cbx_rows_columns(rows), 2);
    assert_string_equal(cbx_rows_name(rows, 1), "made_ms");
    assert_true(cbx_rows_next(rows));
    assert_string_equal(cbx_rows_text(rows, 0), "six 1.0 -\n");
    assert_string_equal(cbx_rows_text(rows, 1), "9007199254740993");
    assert_true(cbx_rows_number(rows, 1) == INT64_C(9007199254740993));
    assert_false(cbx_rows_next(rows));
    assert_false(cbx_rows_next(rows)); /* the statement does not begin again */
    assert_int_equal(cbx_rows_check(rows, NULL), 0);
}

static void null_is_no_empty_text(void **state)
{
    (void)state;
    CBX_AUTO(database) database = open_database();
    CBX_AUTO(rows) rows = NULL;
    assert_int_equal(cbx_database_query(database, CBX_SQL_last_turn, NULL, 0, &rows, NULL), 0);
    assert_true(cbx_rows_next(rows));
    assert_null(cbx_rows_text(rows, 0));
    assert_int_equal(cbx_rows_number(rows, 0), 0);
}

static void a_transaction_takes_effect_as_a_whole_or_not_at_all(void **state)
{
    (void)state;
    CBX_AUTO(database) database = open_database();
    assert_int_equal(cbx_database_begin(database, NULL), 0);
    add_set(database, "undone");
    assert_true(has_set(database, "undone"));
    cbx_database_rollback(database);
    assert_false(has_set(database, "undone"));
    assert_int_equal(cbx_database_begin(database, NULL), 0);
    add_set(database, "done");
    assert_int_equal(cbx_database_commit(database, NULL), 0);
    cbx_database_rollback(database); /* has no effect */
    assert_true(has_set(database, "done"));
}

static void a_failed_statement_has_a_text_and_can_run_again(void **state)
{
    (void)state;
    CBX_AUTO(database) database = open_database();
    const char *const wrong[] = { "s", "2026", NULL, "{}", "ann", "" };
    const char *const right[] = { "s", "2026", "p", "{}", "ann", "" };
    struct cbx_err err;
    assert_int_equal(cbx_database_execute(database, CBX_SQL_add_session, wrong, 6, NULL, &err),
                     CBX_EIO);
    assert_non_null(strstr(err.text, "policy"));
    assert_non_null(strstr(cbx_database_failure(database), "policy"));
    assert_int_equal(cbx_database_execute(database, CBX_SQL_add_session, right, 6, NULL, &err), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_are_numbered_in_the_order_of_their_first_appearance),
        cmocka_unit_test(the_engine_knows_every_statement),
        cmocka_unit_test(rows_have_names_texts_and_numbers),
        cmocka_unit_test(null_is_no_empty_text),
        cmocka_unit_test(a_transaction_takes_effect_as_a_whole_or_not_at_all),
        cmocka_unit_test(a_failed_statement_has_a_text_and_can_run_again),
    };
    return run_with_both(tests);
}
