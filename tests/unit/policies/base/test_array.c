/* SPDX-License-Identifier: MIT
 * Arrays that grow in an arena. */
#include "policies/base/array.h"
#include "tests/unit/unit.h"

struct numbers {
    int *items;
    size_t count, size;
};

static bool push(struct cbx_arena *arena, struct numbers *n, int value, size_t max)
{
    if (!CBX_ARRAY_RESERVE(arena, n->items, n->count, &n->size, 1, max)) {
        return false;
    }
    n->items[n->count++] = value;
    return true;
}

static void keeps_every_item_over_many_growths(void **state)
{
    (void)state;
    CBX_AUTO_DONE(arena) arena;
    cbx_arena_init(&arena, 1 << 20);
    struct numbers n = { 0 };
    for (int i = 0; i < 10000; i++) {
        assert_true(push(&arena, &n, i, SIZE_MAX));
    }
    for (int i = 0; i < 10000; i++) {
        assert_int_equal(n.items[i], i);
    }
    assert_true(arena.used_bytes < 4 * 16384 * sizeof(int)); /* its size doubles */
}

static void stops_at_the_greatest_count_and_keeps_what_there_is(void **state)
{
    (void)state;
    CBX_AUTO_DONE(arena) arena;
    cbx_arena_init(&arena, 1 << 20);
    struct numbers n = { 0 };
    for (int i = 0; i < 100; i++) {
        assert_int_equal(push(&arena, &n, i, 37), i < 37);
    }
    assert_int_equal(n.count, 37);
    assert_int_equal(n.items[36], 36);
    assert_false(arena.exhausted);
}

static void refuses_more_than_the_arena_holds_without_losing_items(void **state)
{
    (void)state;
    CBX_AUTO_DONE(arena) arena;
    cbx_arena_init(&arena, 256);
    struct numbers n = { 0 };
    size_t pushed = 0;
    while (push(&arena, &n, (int)pushed, SIZE_MAX)) {
        pushed++;
    }
    assert_true(arena.exhausted);
    assert_int_equal(n.count, pushed);
    assert_int_equal(n.items[pushed - 1], pushed - 1);
}

static void makes_room_for_many_at_once_and_refuses_sums_that_overflow(void **state)
{
    (void)state;
    CBX_AUTO_DONE(arena) arena;
    cbx_arena_init(&arena, 1 << 20);
    struct numbers n = { 0 };
    assert_true(CBX_ARRAY_RESERVE(&arena, n.items, n.count, &n.size, 1000, SIZE_MAX));
    assert_true(n.size >= 1000);
    n.count = 1000;
    int *before = n.items;
    assert_false(CBX_ARRAY_RESERVE(&arena, n.items, n.count, &n.size, SIZE_MAX, SIZE_MAX));
    assert_false(CBX_ARRAY_RESERVE(&arena, n.items, n.count, &n.size, SIZE_MAX / 2, SIZE_MAX));
    assert_ptr_equal(n.items, before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_every_item_over_many_growths),
        cmocka_unit_test(stops_at_the_greatest_count_and_keeps_what_there_is),
        cmocka_unit_test(refuses_more_than_the_arena_holds_without_losing_items),
        cmocka_unit_test(makes_room_for_many_at_once_and_refuses_sums_that_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
