/* SPDX-License-Identifier: MIT
 * The stable sort. */
#include "policies/base/sort.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct item {
    uint32_t key, order;
    char filler[5]; /* a size that is no power of two */
};

static size_t comparisons;

static int compare(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    comparisons++;
    return x->key < y->key ? -1 : x->key > y->key;
}

static void fill(struct item *items, size_t count, uint32_t keys)
{
    uint32_t random = (uint32_t)count * 2654435761u + keys;
    for (size_t i = 0; i < count; i++) {
        random = random * 1664525u + 1013904223u;
        items[i] = (struct item){ .key = (random >> 8) % keys, .order = (uint32_t)i };
    }
}

static void assert_sorted(const struct item *items, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        assert_true(items[i - 1].key < items[i].key ||
                    (items[i - 1].key == items[i].key && items[i - 1].order < items[i].order));
    }
}

static void sorts_every_length_and_keeps_equal_items_in_order(void **state)
{
    (void)state;
    struct item items[300], scratch[300];
    for (size_t count = 0; count <= 300; count++) {
        for (uint32_t keys = 1; keys < 1000; keys = keys * 3 + 1) {
            fill(items, count, keys);
            cbx_sort(items, count, sizeof(items[0]), compare, scratch);
            assert_sorted(items, count);
        }
    }
}

static void loses_no_item(void **state)
{
    (void)state;
    enum { COUNT = 1000 };
    static struct item items[COUNT];
    static bool seen[COUNT];
    fill(items, COUNT, 17);
    cbx_sort_heap(items, COUNT, sizeof(items[0]), compare);
    for (size_t i = 0; i < COUNT; i++) {
        assert_false(seen[items[i].order]);
        seen[items[i].order] = true;
    }
}

static void is_linear_in_what_is_in_order(void **state)
{
    (void)state;
    enum { COUNT = 4096 };
    static struct item items[COUNT], scratch[COUNT];
    for (uint32_t i = 0; i < COUNT; i++) {
        items[i].key = items[i].order = i;
    }
    comparisons = 0;
    cbx_sort(items, COUNT, sizeof(items[0]), compare, scratch);
    assert_true(comparisons < COUNT);
    fill(items, COUNT, 1); /* all equal */
    comparisons = 0;
    cbx_sort(items, COUNT, sizeof(items[0]), compare, scratch);
    assert_true(comparisons < COUNT);
    fill(items, COUNT, 1u << 24);
    comparisons = 0;
    cbx_sort(items, COUNT, sizeof(items[0]), compare, scratch);
    assert_true(comparisons <= COUNT * 13);
}

static void reports_a_full_arena(void **state)
{
    (void)state;
    CBX_AUTO_DONE(arena) arena;
    cbx_arena_init(&arena, 64);
    struct item items[100];
    fill(items, 100, 50);
    assert_false(cbx_sort_in(&arena, items, 100, sizeof(items[0]), compare));
    assert_true(arena.exhausted);
    assert_true(cbx_sort_in(&arena, items, 1, sizeof(items[0]), compare));
    assert_true(cbx_sort_in(&arena, NULL, 0, sizeof(items[0]), compare));
}

/* Strict seccomp kills for any system call but read, write, exit and sigreturn. */
static void makes_no_system_call(void **state)
{
    (void)state;
    enum { COUNT = 65536 };
    static struct item items[COUNT], scratch[COUNT];
    fill(items, COUNT, 1u << 24);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        memset(scratch, 1, sizeof(scratch));
        if (prctl(PR_SET_SECCOMP, 1) == 0) {
            cbx_sort(items, COUNT, sizeof(items[0]), compare, scratch);
            syscall(SYS_exit, 7);
        }
        _exit(8);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sorts_every_length_and_keeps_equal_items_in_order),
        cmocka_unit_test(loses_no_item),
        cmocka_unit_test(is_linear_in_what_is_in_order),
        cmocka_unit_test(reports_a_full_arena),
        cmocka_unit_test(makes_no_system_call),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
