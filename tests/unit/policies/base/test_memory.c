/* SPDX-License-Identifier: MIT
 * Arrays of the heap. */
#include "policies/base/memory.h"

#include "tests/unit/unit.h"

#include <stdlib.h>

static void an_array_grows_and_keeps_its_items(void **state)
{
    (void)state;
    int *items = NULL;
    size_t count = 0;
    for (int round = 0; round < 3; round++) {
        while (count < 1000) {
            items = cbx_grow(items, count, sizeof(*items));
            items[count] = (int)count;
            count++;
        }
        for (int i = 0; i < 1000; i++) {
            assert_int_equal(items[i], i);
        }
        count = (size_t)round * 8; /* items were removed */
    }
    free(items);
}

static void a_copy_is_terminated(void **state)
{
    (void)state;
    char *copy = cbx_str_copy(CBX_STR("ab"));
    assert_string_equal(copy, "ab");
    free(copy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_array_grows_and_keeps_its_items),
        cmocka_unit_test(a_copy_is_terminated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
