/* SPDX-License-Identifier: MIT
 * The hash table: growth, keys of all kinds, chains by name, an arena that ends. */
#include "policies/base/table.h"

#include "tests/unit/unit.h"

static void a_table_grows_and_finds_everything_again(void **state)
{
    (void)state;
    CBX_AUTO_DONE(arena) arena;
    cbx_arena_init(&arena, 1 << 24);
    struct cbx_table table = { 0 };
    static char keys[10000];
    assert_null(cbx_table_find(&table, keys, 1));
    for (size_t i = 0; i < sizeof(keys); i++) {
        *cbx_table_slot(&arena, &table, &keys[i], i % 7) = &keys[i];
        *cbx_table_slot(&arena, &table, &keys[i], 100) = keys;
    }
    for (size_t i = 0; i < sizeof(keys); i++) {
        assert_ptr_equal(cbx_table_find(&table, &keys[i], i % 7), &keys[i]);
        assert_ptr_equal(cbx_table_find(&table, &keys[i], 100), keys);
        assert_null(cbx_table_find(&table, &keys[i], 101));
    }
    assert_int_equal(table.count, 2 * sizeof(keys));
}

static void numbers_are_keys_also_when_they_are_alike(void **state)
{
    (void)state;
    CBX_AUTO_DONE(arena) arena;
    cbx_arena_init(&arena, 1 << 24);
    struct cbx_table table = { 0 };
    for (uint64_t i = 1; i < 5000; i++) {
        *cbx_table_slot(&arena, &table, NULL, i << 32) = (void *)(uintptr_t)i;
    }
    for (uint64_t i = 1; i < 5000; i++) {
        assert_int_equal((uintptr_t)cbx_table_find(&table, NULL, i << 32), i);
    }
    assert_null(cbx_table_find(&table, NULL, 7));
    *cbx_table_slot(&arena, &table, NULL, 0) = &table;
    assert_ptr_equal(cbx_table_find(&table, NULL, 0), &table);
}

static void a_value_that_is_removed_hides_no_other(void **state)
{
    (void)state;
    CBX_AUTO_DONE(arena) arena;
    cbx_arena_init(&arena, 1 << 20);
    struct cbx_table table = { 0 };
    static char value;
    for (uint64_t i = 1; i <= 30; i++) {
        *cbx_table_slot(&arena, &table, NULL, i) = &value;
    }
    for (uint64_t i = 1; i <= 30; i += 2) {
        *cbx_table_slot(&arena, &table, NULL, i) = NULL;
    }
    for (uint64_t i = 1; i <= 30; i++) {
        assert_ptr_equal(cbx_table_find(&table, NULL, i), i % 2 == 0 ? &value : NULL);
    }
    assert_int_equal(table.count, 30);
}

static void a_full_arena_gives_a_dummy_and_keeps_the_rest(void **state)
{
    (void)state;
    CBX_AUTO_DONE(arena) arena;
    cbx_arena_init(&arena, 64 * sizeof(struct cbx_slot));
    struct cbx_table table = { 0 };
    static char value;
    for (uint64_t i = 1; i <= 1000; i++) {
        *cbx_table_slot(&arena, &table, NULL, i) = &value;
    }
    assert_true(arena.exhausted);
    assert_ptr_equal(cbx_table_find(&table, NULL, 1), &value);
    assert_null(cbx_table_find(&table, NULL, 1000));
    assert_null(*cbx_table_slot(&arena, &table, NULL, 1000));
}

static void names_have_the_hash_of_fnv(void **state)
{
    (void)state;
    assert_int_equal(cbx_name_hash(CBX_STR("")), 0xcbf29ce484222325u);
    assert_int_equal(cbx_name_hash(CBX_STR("foobar")), 0x85944171f73967e8u);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_table_grows_and_finds_everything_again),
        cmocka_unit_test(numbers_are_keys_also_when_they_are_alike),
        cmocka_unit_test(a_value_that_is_removed_hides_no_other),
        cmocka_unit_test(a_full_arena_gives_a_dummy_and_keeps_the_rest),
        cmocka_unit_test(names_have_the_hash_of_fnv),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
