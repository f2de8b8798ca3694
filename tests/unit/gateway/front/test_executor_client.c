/* SPDX-License-Identifier: MIT
 * What the front says to an executor that is killed in between. The test plays the executor. */
#include "gateway/front/executor_client.h"
#include "tests/unit/gateway/scratch.h"

#include <pthread.h>

/* An executor that answers one request, after the one that was held. */
struct executor {
    int control, held;
    bool hears;           /* what is said through `held`, before it closes that */
    char op[16], run[64]; /* of the request that came then; empty = none */
};

static void *play(void *context)
{
    struct executor *e = context;
    CBX_AUTO_DONE(message) message;
    cbx_message_init(&message);
    CBX_AUTO_JSON done = json_pack("{s:s}", "type", "done");
    if (e->hears && cbx_wire_receive(e->held, DEADLINE_MS, &message, NULL) == 0) {
        cbx_wire_send(e->held, done, CBX_STR(""), NULL);
    }
    close(e->held);
    CBX_AUTO_FD fd = -1;
    char tag;
    if (cbx_wire_receive_fd(e->control, &fd, &tag, NULL) == 0 &&
        cbx_wire_receive(fd, DEADLINE_MS, &message, NULL) == 0) {
        snprintf(e->op, sizeof(e->op), "%s",
                 json_string_value(json_object_get(message.header, "op")));
        snprintf(e->run, sizeof(e->run), "%s",
                 json_string_value(json_object_get(message.header, "run")));
        cbx_wire_send(fd, done, CBX_STR(""), NULL);
    }
    return NULL;
}

/* Acknowledges a run; *out is what the executor heard by then. */
static void acknowledge(bool hears, struct executor *out)
{
    int control[2], held[2];
    pthread_t thread;
    assert_int_equal(cbx_wire_pair(control, NULL), 0);
    assert_int_equal(cbx_wire_pair(held, NULL), 0);
    *out = (struct executor){ .control = control[1], .held = held[1], .hears = hears };
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

static void an_executor_that_knows_that_a_result_was_taken_is_told_once(void **state)
{
    (void)state;
    struct executor executor;
    acknowledge(true, &executor);
    assert_string_equal(executor.op, "");
}

static void the_executor_after_one_that_was_killed_is_told_that_a_result_was_taken(void **state)
{
    (void)state;
    struct executor executor;
    acknowledge(false, &executor);
    assert_string_equal(executor.op, "ack");
    assert_string_equal(executor.run, "run-1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_executor_that_knows_that_a_result_was_taken_is_told_once),
        cmocka_unit_test(the_executor_after_one_that_was_killed_is_told_that_a_result_was_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
