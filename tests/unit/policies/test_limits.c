/* SPDX-License-Identifier: MIT
 * The table of limits. */
#include "policies/limits.h"

#include "policies/policy.h"
#include "tests/unit/unit.h"

static void every_default_is_within_its_bounds(void **state)
{
    (void)state;
    const struct cbx_limit_row *row;
    struct cbx_limits limits;
    cbx_limits_default(&limits);
    for (size_t i = 0; (row = cbx_limit_row(i)) != NULL; i++) {
        assert_true(row->lo >= 0 && row->lo <= row->initial && row->initial <= row->hi);
        assert_int_equal(cbx_limit_get(&limits, row), row->initial);
    }
}

/* A row's help has the default in parentheses, as a policy would write it. */
static void the_default_that_the_help_names_is_the_default(void **state)
{
    (void)state;
    static const char *const helps[] = {
#define CBX_LIMIT(member, key, type, lo, hi, initial, container, title, divisor, suffix, help) help,
#include "policies/limits.def"
#undef CBX_LIMIT
    };
    const struct cbx_limit_row *row;
    for (size_t i = 0; (row = cbx_limit_row(i)) != NULL; i++) {
        const char *from = strrchr(helps[i], '('), *to = strrchr(helps[i], ')');
        assert_true(from != NULL && to > from);
        char yaml[256];
        snprintf(yaml, sizeof(yaml),
                 "version: 1\nname: x\nlanguages: [python]\nlimits: {%s: %.*s}\n", row->key,
                 (int)(to - from - 1), from + 1);
        CBX_AUTO(policy) policy = NULL;
        struct cbx_err err;
        assert_int_equal(cbx_policy_parse(cbx_str_of(yaml), "x", &policy, &err), 0);
        assert_int_equal(cbx_limit_get(&policy->limits, row), row->initial);
    }
}

static void the_tighter_bound_counts_and_zero_is_a_bound(void **state)
{
    (void)state;
    struct cbx_limits limits, by;
    cbx_limits_unset(&limits);
    cbx_limits_unset(&by);
    limits.wall_ms = 100;
    limits.pids = 10;
    limits.files_bytes = 5;
    by.wall_ms = 50;
    by.pids = 20;
    by.files_bytes = 0;
    by.cpu_ms = 7;
    cbx_limits_tighten(&limits, &by);
    assert_int_equal(limits.wall_ms, 50);
    assert_int_equal(limits.pids, 10);
    assert_int_equal(limits.files_bytes, 0);
    assert_int_equal(limits.cpu_ms, 7);
    assert_int_equal(limits.memory_bytes, CBX_LIMIT_UNSET);
}

static void limits_are_read_as_they_were_written_and_zero_differs_from_unset(void **state)
{
    (void)state;
    struct cbx_limits limits, read;
    cbx_limits_unset(&limits);
    limits.wall_ms = 100;
    limits.pids = 9;
    CBX_AUTO_JSON object = json_object();
    cbx_limits_write(&limits, object);
    assert_int_equal(json_object_size(object), 2);
    json_object_set_new(object, "memory_bytes", json_integer(0)); /* memory cannot be 0 */
    json_object_set_new(object, "disk_bytes", json_string("1"));
    cbx_limits_read(object, &read);
    assert_memory_equal(&read, &limits, sizeof(read));
}

static void limits_of_the_container_distinguish_sandboxes(void **state)
{
    (void)state;
    const struct cbx_limit_row *row;
    size_t shaping = 0;
    for (size_t i = 0; (row = cbx_limit_row(i)) != NULL; i++) {
        struct cbx_limits a, b;
        cbx_limits_default(&a);
        cbx_limits_default(&b);
        assert_true(cbx_limits_same_container(&a, &b));
        *cbx_limit_at(&b, row) += 1;
        assert_int_equal(cbx_limits_same_container(&a, &b), !row->container);
        shaping += row->container;
    }
    assert_int_equal(shaping, 4); /* memory, processors, processes, the workspace */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_default_is_within_its_bounds),
        cmocka_unit_test(the_default_that_the_help_names_is_the_default),
        cmocka_unit_test(the_tighter_bound_counts_and_zero_is_a_bound),
        cmocka_unit_test(limits_are_read_as_they_were_written_and_zero_differs_from_unset),
        cmocka_unit_test(limits_of_the_container_distinguish_sandboxes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
