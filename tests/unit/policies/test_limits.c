/* SPDX-License-Identifier: MIT
 * The table of limits. */
#include "policies/limits.h"

#include "policies/policy.h"
#include "policies/texts/explain.h"
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
#define CBX_LIMIT(member, key, type, lo, hi, initial, scope, title, divisor, suffix, help) help,
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

static void the_isolation_has_words_and_gvisor_is_the_stricter_one(void **state)
{
    (void)state;
    struct cbx_limits limits, by, read;
    cbx_limits_default(&limits);
    assert_int_equal(limits.isolation, CBX_ISOLATION_CONTAINER);
    cbx_limits_unset(&by);
    by.isolation = CBX_ISOLATION_GVISOR;
    cbx_limits_tighten(&limits, &by);
    assert_int_equal(limits.isolation, CBX_ISOLATION_GVISOR);
    by.isolation = CBX_ISOLATION_CONTAINER;
    cbx_limits_tighten(&limits, &by);
    assert_int_equal(limits.isolation, CBX_ISOLATION_GVISOR);
    CBX_AUTO_JSON object = json_object();
    cbx_limits_write(&limits, object);
    assert_string_equal(json_string_value(json_object_get(object, "isolation")), "gvisor");
    cbx_limits_read(object, &read);
    assert_memory_equal(&read, &limits, sizeof(read));
    json_object_set_new(object, "isolation", json_string("none"));
    cbx_limits_read(object, &read);
    assert_int_equal(read.isolation, CBX_LIMIT_UNSET);
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, 1024);
    cbx_limits_describe(&limits, "; ", &text);
    assert_non_null(strstr(text.p, "isolation: gvisor"));
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
        assert_int_equal(cbx_limits_same_container(&a, &b), row->scope != CBX_LIMIT_CONTAINER);
        shaping += row->scope == CBX_LIMIT_CONTAINER;
    }
    assert_int_equal(shaping, 5); /* memory, processors, processes, the workspace, isolation */
}

static void a_description_has_every_limit(void **state)
{
    (void)state;
    struct cbx_limits limits;
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, 1024);
    cbx_limits_default(&limits);
    limits.cpu_milli = 1500;
    cbx_limits_describe(&limits, "; ", &text);
    assert_true(cbx_str_starts(cbx_buf_str(&text),
                               CBX_STR("time: 60 s; processors: 1.5; memory: 512 MiB; ")));
    const struct cbx_limit_row *row;
    for (size_t i = 0; (row = cbx_limit_row(i)) != NULL; i++) {
        assert_non_null(strstr(text.p, row->title));
    }
}

static void an_explanation_of_a_policy_has_its_limits(void **state)
{
    (void)state;
    CBX_AUTO(policy) policy = NULL;
    CBX_AUTO_DONE(buf) text;
    struct cbx_err err;
    cbx_buf_init(&text, 1 << 20);
    assert_int_equal(cbx_policy_parse(CBX_STR("version: 1\nname: x\nlanguages: [python]\n"
                                              "limits: {wall: 7s, life: 90m}\n"),
                                      "x", &policy, &err),
                     0);
    cbx_policy_explain(policy, &text);
    assert_non_null(strstr(text.p, "\n      time: 7 s\n"));
    assert_non_null(strstr(text.p, "\n      the life of a session: 5400 s\n"));
}

static void the_limit_of_a_scope_that_is_unset_or_0_is_missing(void **state)
{
    (void)state;
    struct cbx_limits limits;
    cbx_limits_default(&limits);
    assert_null(cbx_limits_missing(&limits, CBX_LIMIT_RUN));
    limits.pids = 0;
    assert_null(cbx_limits_missing(&limits, CBX_LIMIT_RUN));
    assert_string_equal(cbx_limits_missing(&limits, CBX_LIMIT_CONTAINER)->name, "pids");
    limits.cpu_ms = CBX_LIMIT_UNSET;
    assert_string_equal(cbx_limits_missing(&limits, CBX_LIMIT_RUN)->name, "cpu_ms");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_default_is_within_its_bounds),
        cmocka_unit_test(the_default_that_the_help_names_is_the_default),
        cmocka_unit_test(the_tighter_bound_counts_and_zero_is_a_bound),
        cmocka_unit_test(limits_are_read_as_they_were_written_and_zero_differs_from_unset),
        cmocka_unit_test(the_isolation_has_words_and_gvisor_is_the_stricter_one),
        cmocka_unit_test(limits_of_the_container_distinguish_sandboxes),
        cmocka_unit_test(a_description_has_every_limit),
        cmocka_unit_test(an_explanation_of_a_policy_has_its_limits),
        cmocka_unit_test(the_limit_of_a_scope_that_is_unset_or_0_is_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
