/* SPDX-License-Identifier: MIT
 * Quotas of principals. */
#include "gateway/identity/quotas.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

static struct cbx_principal row = {
    .name = "ann", .requests_per_minute = 60, .sessions = 2, .cpu_s_per_hour = 36
};

static struct cbx_caller caller_of(const char *name, const struct cbx_principal *of)
{
    struct cbx_caller caller = { .row = of };
    snprintf(caller.principal, sizeof(caller.principal), "%s", name);
    return caller;
}

static void a_sixth_of_a_minutes_requests_may_come_at_once_and_the_rest_as_time_passes(void **state)
{
    (void)state;
    struct cbx_quotas *quotas = cbx_quotas_new();
    struct cbx_caller ann = caller_of("ann", &row), bob = caller_of("bob", &row);
    struct cbx_err err = { 0 };
    for (int i = 0; i < 10; i++) {
        assert_int_equal(cbx_quotas_request(quotas, &ann, 1000, &err), 0);
    }
    assert_int_equal(cbx_quotas_request(quotas, &ann, 1000, &err), CBX_EQUOTA);
    assert_int_equal(err.retry_s, 1);
    assert_int_equal(cbx_quotas_request(quotas, &bob, 1000, &err), 0);
    assert_int_equal(cbx_quotas_request(quotas, &ann, 2001, &err), 0);
    assert_int_equal(cbx_quotas_request(quotas, &ann, 2001, &err), CBX_EQUOTA);
    for (int i = 0; i < 10; i++) {
        assert_int_equal(cbx_quotas_request(quotas, &ann, 1000000, &err), 0);
    }
    assert_int_equal(cbx_quotas_request(quotas, &ann, 1000000, &err), CBX_EQUOTA);
    assert_int_equal(cbx_quotas_request(quotas, &ann, 5, &err),
                     CBX_EQUOTA); /* the clock went back */
    cbx_quotas_free(quotas);
}

static int count_passed(struct cbx_quotas *quotas, const struct cbx_caller *caller, int64_t now_ms,
                        struct cbx_err *err)
{
    int passed = 0;
    while (passed < 100 && cbx_quotas_request(quotas, caller, now_ms, err) == 0) {
        passed++;
    }
    return passed;
}

static void replicas_that_share_a_quota_of_requests_let_their_part_pass(void **state)
{
    (void)state;
    struct cbx_quotas *quotas = cbx_quotas_new();
    struct cbx_principal few = { .requests_per_minute = 2 };
    struct cbx_caller ann = caller_of("ann", &row), bob = caller_of("bob", &few);
    struct cbx_err err = { 0 };
    assert_int_equal(cbx_quotas_replicas(quotas), 1);
    assert_int_equal(count_passed(quotas, &ann, 0, &err), 10);
    assert_null(strstr(err.text, "replicas"));
    cbx_quotas_share(quotas, 4);
    assert_int_equal(count_passed(quotas, &ann, 4000, &err), 1); /* 15 in a minute */
    assert_string_equal(
        err.text, "'ann' may make 60 requests in a minute, of which 15 at each of 4 replicas");
    assert_int_equal(err.retry_s, 4);
    assert_int_equal(count_passed(quotas, &ann, 1000000, &err), 2); /* a sixth of 15 */
    assert_int_equal(count_passed(quotas, &bob, 0, &err),
                     1); /* at least one, and one in a minute */
    assert_int_equal(err.retry_s, 60);
    cbx_quotas_share(quotas, 1);
    assert_int_equal(count_passed(quotas, &ann, 2000000, &err), 10);
    cbx_quotas_share(quotas, 0); /* no replica has stored its presence */
    assert_int_equal(cbx_quotas_replicas(quotas), 1);
    assert_int_equal(cbx_quotas_replicas(NULL), 1);
    cbx_quotas_free(quotas);
}

static void processor_time_that_is_counted_elsewhere_is_refused_in_the_same_way(void **state)
{
    (void)state;
    struct cbx_err err = { 0 };
    assert_int_equal(cbx_quotas_check_cpu("ann", &row, 1, &err), 0);
    assert_int_equal(cbx_quotas_check_cpu("ann", &row, -9999, &err), CBX_EQUOTA);
    assert_int_equal(err.retry_s, 1000); /* 10 ms in a second */
    assert_non_null(strstr(err.text, "'ann' may use 36 seconds of processor time in an hour"));
}

static void processor_time_that_was_used_too_much_is_waited_for(void **state)
{
    (void)state;
    struct cbx_quotas *quotas = cbx_quotas_new();
    struct cbx_caller ann = caller_of("ann", &row);
    struct cbx_err err = { 0 };
    assert_int_equal(cbx_quotas_run(NULL, "ann", 0, &err), 0);
    assert_int_equal(cbx_quotas_run(quotas, "nobody", 0, &err), 0);
    assert_int_equal(cbx_quotas_request(quotas, &ann, 0, &err), 0);
    assert_int_equal(cbx_quotas_run(quotas, "ann", 0, &err), 0);
    cbx_quotas_charge(quotas, "ann", 46000, 0); /* 10 s more than there was */
    assert_int_equal(cbx_quotas_run(quotas, "ann", 1, &err), CBX_EQUOTA);
    assert_in_range(err.retry_s, 999, 1001); /* at 10 ms for each second */
    assert_int_equal(cbx_quotas_run(quotas, "ann", 1001000, &err), 0);
    cbx_quotas_free(quotas);
}

static void sessions_on_their_way_count_as_open(void **state)
{
    (void)state;
    struct cbx_quotas *quotas = cbx_quotas_new();
    struct cbx_caller ann = caller_of("ann", &row);
    struct cbx_err err = { 0 };
    assert_int_equal(cbx_quotas_request(quotas, &ann, 0, &err), 0);
    assert_int_equal(cbx_quotas_opening(quotas, "nobody"), 0);
    assert_int_equal(cbx_quotas_opening(quotas, "ann"), 1);
    assert_int_equal(cbx_quotas_opening(quotas, "ann"), 2);
    assert_int_equal(cbx_quotas_open(quotas, "ann", 2, &err), 0);
    assert_int_equal(cbx_quotas_opening(quotas, "ann"), 3);
    assert_int_equal(cbx_quotas_open(quotas, "ann", 3, &err), CBX_EQUOTA);
    cbx_quotas_opened(quotas, "ann");
    assert_int_equal(cbx_quotas_opening(quotas, "ann"), 3);
    cbx_quotas_free(quotas);
}

static void the_principal_that_called_least_recently_is_forgotten_first(void **state)
{
    (void)state;
    struct cbx_quotas *quotas = cbx_quotas_new();
    struct cbx_principal once = { .name = "*", .requests_per_minute = 1 };
    struct cbx_err err = { 0 };
    struct cbx_caller first = caller_of("first", &once);
    assert_int_equal(cbx_quotas_request(quotas, &first, 0, &err), 0);
    for (int i = 0; i < CBX_QUOTAS_PRINCIPALS - 1; i++) {
        char name[32];
        snprintf(name, sizeof(name), "p%d", i);
        struct cbx_caller other = caller_of(name, &once);
        assert_int_equal(cbx_quotas_request(quotas, &other, 0, &err), 0);
    }
    assert_int_equal(cbx_quotas_request(quotas, &first, 0, &err), CBX_EQUOTA); /* a known caller */
    struct cbx_caller more = caller_of("more", &once);
    assert_int_equal(cbx_quotas_request(quotas, &more, 0, &err), 0);
    assert_int_equal(cbx_quotas_request(quotas, &first, 0, &err),
                     CBX_EQUOTA); /* still: p0 is not */
    struct cbx_caller oldest = caller_of("p0", &once);
    assert_int_equal(cbx_quotas_request(quotas, &oldest, 0, &err), 0);
    cbx_quotas_free(quotas);
}

static void as_many_requests_are_at_work_as_there_may_be(void **state)
{
    (void)state;
    const struct cbx_principal three = { .requests_at_once = 3 }, none = { .sessions = 1 };
    struct cbx_quotas *quotas = cbx_quotas_new();
    struct cbx_caller ann = caller_of("ann", &three), bob = caller_of("bob", &three),
                      eve = caller_of("eve", &none);
    struct cbx_err err = { 0 };
    bool counted;
    assert_int_equal(cbx_quotas_begin(NULL, &ann, &counted, &err), 0);
    assert_false(counted);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(cbx_quotas_begin(quotas, &ann, &counted, &err), 0);
        assert_true(counted);
    }
    assert_int_equal(cbx_quotas_begin(quotas, &ann, &counted, &err), CBX_EQUOTA);
    assert_false(counted);
    assert_int_equal(err.retry_s, 1);
    assert_non_null(strstr(err.text, "'ann' may have 3 requests at the same time"));
    assert_int_equal(cbx_quotas_begin(quotas, &bob, &counted, &err), 0);
    assert_int_equal(cbx_quotas_begin(quotas, &eve, &counted, &err), 0);
    assert_false(counted);
    cbx_quotas_end(quotas, "ann");
    assert_int_equal(cbx_quotas_begin(quotas, &ann, &counted, &err), 0);
    assert_int_equal(cbx_quotas_begin(quotas, &ann, &counted, &err), CBX_EQUOTA);
    cbx_quotas_free(quotas);
}

/* Otherwise a caller with many names could make the gateway forget its counts. */
static void a_principal_whose_requests_are_at_work_is_not_forgotten(void **state)
{
    (void)state;
    const struct cbx_principal one = { .requests_at_once = 1 };
    struct cbx_quotas *quotas = cbx_quotas_new();
    struct cbx_caller ann = caller_of("ann", &one);
    struct cbx_err err = { 0 };
    bool counted;
    assert_int_equal(cbx_quotas_begin(quotas, &ann, &counted, &err), 0);
    for (int i = 0; i < CBX_QUOTAS_PRINCIPALS + 10; i++) {
        char name[32];
        snprintf(name, sizeof(name), "p%d", i);
        struct cbx_caller other = caller_of(name, &row);
        assert_int_equal(cbx_quotas_request(quotas, &other, 0, &err), 0);
    }
    assert_int_equal(cbx_quotas_begin(quotas, &ann, &counted, &err), CBX_EQUOTA);
    cbx_quotas_end(quotas, "ann");
    assert_int_equal(cbx_quotas_begin(quotas, &ann, &counted, &err), 0);
    cbx_quotas_free(quotas);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_many_requests_are_at_work_as_there_may_be),
        cmocka_unit_test(a_principal_whose_requests_are_at_work_is_not_forgotten),
        cmocka_unit_test(
            a_sixth_of_a_minutes_requests_may_come_at_once_and_the_rest_as_time_passes),
        cmocka_unit_test(replicas_that_share_a_quota_of_requests_let_their_part_pass),
        cmocka_unit_test(processor_time_that_is_counted_elsewhere_is_refused_in_the_same_way),
        cmocka_unit_test(processor_time_that_was_used_too_much_is_waited_for),
        cmocka_unit_test(sessions_on_their_way_count_as_open),
        cmocka_unit_test(the_principal_that_called_least_recently_is_forgotten_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
