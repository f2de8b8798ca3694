/* SPDX-License-Identifier: MIT
 * The flow when its processes are killed. */
#include "gateway/front/review.h"
#include "tests/unit/gateway/scratch.h"

/* A flow whose zygote is dead. */
static void start(struct cbx_flow *flow)
{
    int control[2];
    struct cbx_err err;
    *flow = (struct cbx_flow){ .policies = { .items = calloc(1, sizeof(flow->policies.items[0])),
                                             .count = 1 },
                               .executor = -1 };
    if (cbx_policy_load("default", &flow->policies.items[0], &err) != 0) {
        fail_msg("%s", err.text);
    }
    assert_int_equal(cbx_wire_pair(control, NULL), 0);
    close(control[1]);
    flow->judge = cbx_judge_new(control[0], 1, 1000);
}

static void without_workers_no_source_is_allowed_or_denied(void **state)
{
    (void)state;
    struct cbx_flow flow;
    start(&flow);
    struct cbx_err err = { 0 };
    struct cbx_request request = { .subject = { .action = CBX_ACTION_RUN,
                                                .language = CBX_STR("python"),
                                                .principal = CBX_STR("ann"),
                                                .origin = CBX_STR("test") },
                                   .source = CBX_STR("print(1)\n") };
    CBX_AUTO_DONE(judgement) first = { 0 }, again = { 0 };
    assert_int_equal(cbx_review_judge(&flow, &request, &first, &err), CBX_EIO);
    assert_int_equal(first.verdict, CBX_DENY); /* zeroed */
    assert_null(first.decision);
    assert_int_equal(cbx_review_judge_again(&flow, &request, &again, &err), CBX_EIO);
    assert_non_null(strstr(err.text, "no analyzer can be started"));
    assert_false(again.analysed);
    assert_null(again.decision);
    cbx_flow_done(&flow);
}

/* The review repeats the checks of an API: a job that waited, or an earlier opened session, also
 * comes here. */
static void nothing_is_judged_in_mode_log_only_for_a_principal_without_the_right(void **state)
{
    (void)state;
    struct cbx_flow flow;
    start(&flow);
    flow.policies.items[0]->log_only = true;
    const struct cbx_request request = { .subject = { .action = CBX_ACTION_RUN,
                                                      .language = CBX_STR("python"),
                                                      .principal = CBX_STR("ann"),
                                                      .origin = CBX_STR("test") },
                                         .source = CBX_STR("print(1)\n") };
    CBX_AUTO_DONE(judgement) judgement = { 0 };
    struct cbx_err err = { 0 };
    assert_int_equal(cbx_review_judge(&flow, &request, &judgement, &err), CBX_EFORBIDDEN);
    assert_non_null(strstr(err.text, "policy:relax"));
    assert_null(judgement.decision);
    assert_int_equal(cbx_review_judge_again(&flow, &request, &judgement, &err), CBX_EFORBIDDEN);
    cbx_flow_done(&flow);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_workers_no_source_is_allowed_or_denied),
        cmocka_unit_test(nothing_is_judged_in_mode_log_only_for_a_principal_without_the_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
