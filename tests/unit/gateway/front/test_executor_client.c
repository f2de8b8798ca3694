/* SPDX-License-Identifier: MIT
 * Acknowledging a result when the executor is killed in between. The test plays the executor. */
#include "gateway/front/executor_client.h"
#include "tests/unit/gateway/scratch.h"

#include <pthread.h>

/* An executor that answers one request, after the one that was held. */
struct executor {
    int control, held;
    bool confirms;          /* an acknowledgement through `held`, before it closes that */
    char call[16], run[64]; /* the call that came then; empty = none */
};

static void *play(void *context)
{
    struct executor *e = context;
    CBX_AUTO_DONE(message) message;
    cbx_message_init(&message);
    CBX_AUTO_JSON done = json_pack("{s:s}", "type", "done");
    if (e->confirms && cbx_wire_receive(e->held, DEADLINE_MS, &message, NULL) == 0) {
        cbx_wire_send(e->held, done, CBX_STR(""), NULL);
    }
    close(e->held);
    CBX_AUTO_FD fd = -1;
    char tag;
    if (cbx_wire_receive_fd(e->control, &fd, &tag, NULL) == 0 &&
        cbx_wire_receive(fd, DEADLINE_MS, &message, NULL) == 0) {
        snprintf(e->call, sizeof(e->call), "%s",
                 json_string_value(json_object_get(message.header, "call")));
        snprintf(e->run, sizeof(e->run), "%s",
                 json_string_value(json_object_get(message.header, "run")));
        cbx_wire_send(fd, done, CBX_STR(""), NULL);
    }
    return NULL;
}

/* Acknowledges a run; *out is the request that the executor received. */
static void acknowledge(bool confirms, struct executor *out)
{
    int control[2], held[2];
    pthread_t thread;
    assert_int_equal(cbx_wire_pair(control, NULL), 0);
    assert_int_equal(cbx_wire_pair(held, NULL), 0);
    *out = (struct executor){ .control = control[1], .held = held[1], .confirms = confirms };
    assert_int_equal(pthread_create(&thread, NULL, play, out), 0);
    struct cbx_flow flow = { .executor = control[0] };
    CBX_AUTO_DONE(outcome) outcome = { .hold = held[0] };
    snprintf(outcome.id, sizeof(outcome.id), "run-1");
    cbx_outcome_acknowledge(&flow, &outcome);
    assert_int_equal(outcome.hold, 0);
    close(control[0]);
    pthread_join(thread, NULL);
    close(control[1]);
}

static void a_result_is_acknowledged_once_when_the_executor_confirms(void **state)
{
    (void)state;
    struct executor executor;
    acknowledge(true, &executor);
    assert_string_equal(executor.call, "");
}

static void a_result_is_acknowledged_to_the_next_executor_when_the_first_was_killed(void **state)
{
    (void)state;
    struct executor executor;
    acknowledge(false, &executor);
    assert_string_equal(executor.call, "acknowledge");
    assert_string_equal(executor.run, "run-1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_result_is_acknowledged_once_when_the_executor_confirms),
        cmocka_unit_test(a_result_is_acknowledged_to_the_next_executor_when_the_first_was_killed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
