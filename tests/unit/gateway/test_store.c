/* SPDX-License-Identifier: MIT
 * What survives a restart, and what does not. */
#include "gateway/store.h"
#include "policies/base/json.h"

#include "tests/unit/gateway/scratch.h"

#include <string.h>

static struct scratch dir;

static int set_up(void **state)
{
    (void)state;
    scratch_make(&dir);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    scratch_remove(&dir);
    return 0;
}

static struct cbx_store *open_store(int keep)
{
    struct cbx_store *store = NULL;
    struct cbx_err err = { 0 };
    assert_int_equal(cbx_store_open(dir.path, keep, &store, &err), 0);
    return store;
}

static void check_status(struct cbx_store *store, const char *id, const char *status)
{
    CBX_AUTO_JSON execution = NULL;
    struct cbx_err err = { 0 };
    assert_int_equal(cbx_store_get_execution(store, id, &execution, &err), 0);
    assert_string_equal(json_string_value(json_object_get(execution, "status")), status);
}

static void keeps_results_over_a_restart(void **state)
{
    (void)state;
    struct cbx_err err = { 0 };
    struct cbx_store *store = open_store(10);
    CBX_AUTO_JSON results = json_pack("{s:[s]}", "output", "h\xC3\xA9llo");
    assert_int_equal(cbx_store_add_execution(store, "one", "s", "2026-01-01T00:00:00", &err), 0);
    assert_int_equal(
        cbx_store_set_execution(store, "one", "completed", "2026-01-01T00:00:01", results, &err),
        0);
    cbx_store_free(store);
    store = open_store(10);
    CBX_AUTO_JSON execution = NULL;
    assert_int_equal(cbx_store_get_execution(store, "one", &execution, &err), 0);
    assert_true(json_equal(json_object_get(execution, "results"), results));
    cbx_store_free(store);
}

static void says_of_what_was_running_that_it_was_cut_short(void **state)
{
    (void)state;
    struct cbx_err err = { 0 };
    struct cbx_store *store = open_store(10);
    assert_int_equal(cbx_store_add_execution(store, "one", "s", "2026-01-01T00:00:00", &err), 0);
    assert_int_equal(cbx_store_set_execution(store, "one", "running", NULL, NULL, &err), 0);
    assert_int_equal(
        cbx_store_add_session(store, "s", "2026-01-01T00:00:00", "default", NULL, &err), 0);
    cbx_store_free(store);
    store = open_store(10);
    check_status(store, "one", "error");
    assert_int_equal(cbx_store_get_session(store, "s", NULL, NULL, &err), CBX_ENOTFOUND);
    cbx_store_free(store);
}

static void forgets_the_oldest_beyond_its_limit(void **state)
{
    (void)state;
    struct cbx_err err = { 0 };
    CBX_AUTO(store) store = open_store(3);
    for (int i = 0; i < 6; i++) {
        char id[8], at[32];
        snprintf(id, sizeof(id), "e%d", i);
        snprintf(at, sizeof(at), "2026-01-01T00:00:0%d", i);
        assert_int_equal(cbx_store_add_execution(store, id, "s", at, &err), 0);
        assert_int_equal(cbx_store_set_execution(store, id, "completed", at, NULL, &err), 0);
    }
    json_t *gone = NULL;
    assert_int_equal(cbx_store_get_execution(store, "e0", &gone, &err), CBX_ENOTFOUND);
    check_status(store, "e5", "completed");
}

static void takes_hostile_names_for_names(void **state)
{
    (void)state;
    struct cbx_err err = { 0 };
    CBX_AUTO(store) store = open_store(3);
    const char *id = "x'; DROP TABLE sessions; --";
    assert_int_equal(cbx_store_add_session(store, id, "t", "default", NULL, &err), 0);
    assert_int_equal(cbx_store_get_session(store, id, NULL, NULL, &err), 0);
    assert_int_equal(cbx_store_remove_session(store, id, &err), 0);
    assert_int_equal(cbx_store_remove_session(store, id, &err), CBX_ENOTFOUND);
}

static void refuses_a_file_that_is_no_database(void **state)
{
    (void)state;
    struct cbx_store *store = NULL;
    struct cbx_err err = { 0 };
    scratch_write(dir.path, "codebox.db",
                  CBX_STR("this is no database, and it is long enough to be looked at as one"));
    assert_int_equal(cbx_store_open(dir.path, 3, &store, &err), CBX_EIO);
    assert_null(store);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(keeps_results_over_a_restart),
        TEST(says_of_what_was_running_that_it_was_cut_short),
        TEST(forgets_the_oldest_beyond_its_limit),
        TEST(takes_hostile_names_for_names),
        TEST(refuses_a_file_that_is_no_database),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
