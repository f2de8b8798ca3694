/* SPDX-License-Identifier: MIT
 * Frames of a sandbox as events: late output is marked, malformed frames are skipped. */
#include "docker/sandbox/events.h"
#include "tests/unit/unit.h"

#include <string.h>

static struct {
    unsigned count;
    enum cbx_event_kind kind;
    bool late;
    char text[64];
    size_t mime_count;
    unsigned refusal;
    uint64_t number;
} got;

static int take(void *context, const struct cbx_event *event)
{
    (void)context;
    got.count++;
    got.kind = event->kind;
    got.late = event->late;
    got.mime_count = event->mime_count;
    got.refusal = event->refusal;
    got.number = event->count;
    snprintf(got.text, sizeof(got.text), "%.*s", CBX_STR_ARG(event->text));
    return 0;
}

static void send(enum cbx_frame_type type, const char *payload, size_t len)
{
    struct cbx_sink sink = { .event = take };
    struct cbx_result result = { 0 };
    struct cbx_events events = { .sink = &sink, .result = &result };
    struct cbx_frame frame = { .type = type, .payload = { .p = payload, .len = len } };
    memset(&got, 0, sizeof(got));
    assert_int_equal(cbx_events_take(&events, &frame), 0);
    cbx_result_done(&result);
}

static void late_output_is_an_event_of_its_stream(void **state)
{
    (void)state;
    send(CBX_FRAME_LATE, "Ox\n", 3);
    assert_int_equal(got.kind, CBX_EVENT_STDOUT);
    assert_true(got.late);
    assert_string_equal(got.text, "x\n");
    send(CBX_FRAME_LATE, "ey\n", 3);
    assert_int_equal(got.kind, CBX_EVENT_STDERR);
    assert_true(got.late);
    send(CBX_FRAME_STDOUT, "z\n", 2);
    assert_false(got.late);
}

static void a_late_figure_is_an_event_as_well(void **state)
{
    (void)state;
    static const char figure[] = "D\x12\0\0\0[[\"text/plain\",2]]hi";
    send(CBX_FRAME_LATE, figure, sizeof(figure) - 1);
    assert_int_equal(got.kind, CBX_EVENT_DISPLAY);
    assert_true(got.late);
    assert_int_equal(got.mime_count, 1);
}

static void passes_over_late_frames_of_other_types(void **state)
{
    (void)state;
    static const char *const frames[] = { "", "X{}", "Fabcd", "D", "N", "\x01" };
    for (size_t i = 0; i < sizeof(frames) / sizeof(frames[0]); i++) {
        send(CBX_FRAME_LATE, frames[i], strlen(frames[i]));
        assert_int_equal(got.count, 0);
    }
}

static void a_refusal_has_its_number_and_what_it_was(void **state)
{
    (void)state;
    send(CBX_FRAME_BLOCKED, "\1\0\0\0\7\0\0\0IPv4", 12);
    assert_int_equal(got.kind, CBX_EVENT_BLOCKED);
    assert_int_equal(got.refusal, 1);
    assert_int_equal(got.number, 7);
    assert_string_equal(got.text, "IPv4");
}

static void passes_over_refusals_that_do_not_exist(void **state)
{
    (void)state;
    send(CBX_FRAME_BLOCKED, "\1\0\0\0\7\0\0", 7);
    assert_int_equal(got.count, 0);
    send(CBX_FRAME_BLOCKED, "\377\0\0\0\7\0\0\0x", 9);
    assert_int_equal(got.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(late_output_is_an_event_of_its_stream),
        cmocka_unit_test(a_late_figure_is_an_event_as_well),
        cmocka_unit_test(passes_over_late_frames_of_other_types),
        cmocka_unit_test(a_refusal_has_its_number_and_what_it_was),
        cmocka_unit_test(passes_over_refusals_that_do_not_exist),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
