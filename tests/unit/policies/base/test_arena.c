/* SPDX-License-Identifier: MIT
 * Memory that is freed all at once: zeroed, aligned, capped. */
#include "policies/base/arena.h"
#include "tests/unit/unit.h"

static void gives_zeroed_aligned_memory_that_does_not_overlap(void **state)
{
    (void)state;
    CBX_AUTO_DONE(arena) arena;
    cbx_arena_init(&arena, 1 << 20);
    unsigned char *last = NULL;
    for (size_t bytes = 1; bytes < 600; bytes++) {
        unsigned char *p = cbx_arena_alloc(&arena, bytes);
        assert_non_null(p);
        assert_int_equal((uintptr_t)p % 16, 0);
        for (size_t i = 0; i < bytes; i++) {
            assert_int_equal(p[i], 0);
        }
        memset(p, 0xEE, bytes);
        assert_true(last == NULL || last[bytes - 2] == 0xEE);
        last = p;
    }
}

static void refuses_what_is_over_the_cap_and_remembers_it(void **state)
{
    (void)state;
    CBX_AUTO_DONE(arena) arena;
    cbx_arena_init(&arena, 4096);
    assert_non_null(cbx_arena_alloc(&arena, 4000));
    assert_false(arena.exhausted);
    assert_null(cbx_arena_alloc(&arena, 97));
    assert_true(arena.exhausted);
    assert_non_null(cbx_arena_alloc(&arena, 16)); /* a fitting request still succeeds */
    assert_true(arena.exhausted);
    assert_null(
        cbx_arena_copy(&arena, (struct cbx_str){ "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
                                                 "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
                                                 87 })
            .p);
    assert_null(cbx_arena_note(&arena, "%4096d", 1).shown.p);
}

static void refuses_products_that_overflow(void **state)
{
    (void)state;
    CBX_AUTO_DONE(arena) arena;
    cbx_arena_init(&arena, 4096);
    assert_null(cbx_arena_array(&arena, SIZE_MAX / 8, 16));
    assert_true(arena.exhausted);
    cbx_arena_reset(&arena);
    assert_null(cbx_arena_alloc(&arena, SIZE_MAX));
    assert_null(cbx_arena_alloc(&arena, SIZE_MAX - 15));
    assert_non_null(cbx_arena_array(&arena, 4, 1024));
}

static void is_clean_again_after_a_reset(void **state)
{
    (void)state;
    CBX_AUTO_DONE(arena) arena;
    cbx_arena_init(&arena, 1 << 20);
    for (int i = 0; i < 100; i++) {
        memset(cbx_arena_alloc(&arena, 5000), 0xEE, 5000);
    }
    assert_null(cbx_arena_alloc(&arena, 1 << 20));
    cbx_arena_reset(&arena);
    assert_false(arena.exhausted);
    assert_int_equal(arena.used_bytes, 0);
    unsigned char *p = cbx_arena_alloc(&arena, 200000);
    for (size_t i = 0; i < 200000; i++) {
        assert_int_equal(p[i], 0);
    }
}

static void copies_are_terminated_and_keep_nul(void **state)
{
    (void)state;
    CBX_AUTO_DONE(arena) arena;
    cbx_arena_init(&arena, 4096);
    struct cbx_str copy = cbx_arena_copy(&arena, CBX_STR("a\0b"));
    assert_int_equal(copy.len, 3);
    assert_memory_equal(copy.p, "a\0b", 4);
    struct cbx_str nothing = cbx_arena_copy(&arena, (struct cbx_str){ 0 });
    assert_non_null(nothing.p);
    assert_int_equal(nothing.len, 0);
    assert_true(cbx_str_is(cbx_arena_note(&arena, "%s=%d", "x", 7).shown, "x=7"));
}

static void joins_whole_texts_and_refuses_what_is_over_the_cap(void **state)
{
    (void)state;
    CBX_AUTO_DONE(arena) arena;
    char longer[1000];
    memset(longer, 'x', sizeof(longer));
    cbx_arena_init(&arena, 4096);
    struct cbx_str text = { longer, sizeof(longer) };
    struct cbx_str joined = CBX_JOIN(&arena, CBX_STR("a\0b"), text, CBX_STR("|sh"));
    assert_int_equal(joined.len, 1006);
    assert_memory_equal(joined.p, "a\0bx", 4);
    assert_memory_equal(joined.p + 1003, "|sh", 4);
    assert_null(CBX_JOIN(&arena, CBX_STR("a"), { 0 }).p);
    assert_false(arena.exhausted);
    assert_null(CBX_JOIN(&arena, text, text, text, text).p);
    assert_true(arena.exhausted);
    assert_true(cbx_str_is(cbx_arena_number(&arena, INT64_MIN), "-9223372036854775808"));
}

static void messages_cut_what_they_show(void **state)
{
    (void)state;
    CBX_AUTO_DONE(arena) arena;
    char longer[1000];
    memset(longer, 'x', sizeof(longer));
    cbx_arena_init(&arena, 4096);
    struct cbx_str text = { longer, sizeof(longer) };
    assert_int_equal(cbx_arena_note(&arena, "'%.*s'", CBX_STR_SHOWN(text)).shown.len, 202);
    assert_int_equal(cbx_arena_note(&arena, "'%.*s'", CBX_STR_ARG(text)).shown.len, 1002);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_zeroed_aligned_memory_that_does_not_overlap),
        cmocka_unit_test(refuses_what_is_over_the_cap_and_remembers_it),
        cmocka_unit_test(refuses_products_that_overflow),
        cmocka_unit_test(is_clean_again_after_a_reset),
        cmocka_unit_test(copies_are_terminated_and_keep_nul),
        cmocka_unit_test(joins_whole_texts_and_refuses_what_is_over_the_cap),
        cmocka_unit_test(messages_cut_what_they_show),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
