/* SPDX-License-Identifier: MIT
 * The pipe that is descriptor 0 of programs: the bytes that each run reads, their end, and the
 * messages to the host. */
#include "tests/unit/unit.h"

#include "docker/inside/wire/wire.c"

#include "docker/inside/supervisor/supervisor_input.c"

static struct {
    int frames; /* FED frames, */
    uint64_t fed;
} told;
static bool dies; /* cbx_die is expected */
static jmp_buf died;
static int program = -1; /* descriptor 0 of a kernel */

void cbx_reply(uint8_t type, const void *a, size_t a_len, const void *b, size_t b_len)
{
    (void)b;
    assert_int_equal(type, CBX_FRAME_FED);
    assert_int_equal(a_len + b_len, sizeof(told.fed));
    memcpy(&told.fed, a, sizeof(told.fed));
    told.frames++;
}

void cbx_die(void)
{
    assert_true(dies);
    longjmp(died, 1);
}

static int set_up(void **state)
{
    (void)state;
    memset(&told, 0, sizeof(told));
    memset(&in, 0, sizeof(in));
    in.own = in.writing = -1;
    cbx_input_open(&program);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    cbx_input_end();
    cbx_input_close();
    cbx_close(&program);
    return 0;
}

static void begin(bool has_input)
{
    cbx_input_submit(has_input);
    assert_true(cbx_input_begin());
}

static void feed(const char *text)
{
    cbx_input_take(CBX_FRAME_FEED, (const uint8_t *)text, strlen(text));
}

static void feed_zeros(size_t bytes)
{
    static const uint8_t zeros[CBX_FRAME_FEED_MAX];
    for (size_t n; bytes > 0; bytes -= n) {
        n = bytes < sizeof(zeros) ? bytes : sizeof(zeros);
        cbx_input_take(CBX_FRAME_FEED, zeros, n);
    }
}

static void feed_end(uint8_t lost)
{
    cbx_input_take(CBX_FRAME_FEED_END, &lost, 1);
}

/* Returns the text that the program reads next: "" at the end, NULL if it would wait. */
static const char *reads(void)
{
    static char text[256];
    struct pollfd fd = { .fd = program, .events = POLLIN };
    if (poll(&fd, 1, 0) == 0) {
        return NULL;
    }
    ssize_t n = read(program, text, sizeof(text) - 1);
    assert_true(n >= 0);
    text[n] = '\0';
    return text;
}

/* Reads to the end while the supervisor writes; returns the number of bytes. */
static size_t read_all(void)
{
    static char chunk[65536];
    size_t total = 0;
    for (ssize_t n; (n = read(program, chunk, sizeof(chunk))) > 0; total += (size_t)n) {
        cbx_input_flush();
    }
    return total;
}

static void a_run_without_an_input_finds_its_end_at_once(void **state)
{
    (void)state;
    begin(false);
    assert_string_equal(reads(), "");
    assert_string_equal(reads(), "");
    assert_false(cbx_input_is_awaited());
}

static void a_run_reads_what_it_was_fed_and_then_the_end(void **state)
{
    (void)state;
    begin(true);
    assert_null(reads());
    assert_true(cbx_input_is_awaited());
    feed("a\n");
    assert_false(cbx_input_is_awaited());
    assert_string_equal(reads(), "a\n");
    assert_null(reads());
    assert_true(cbx_input_is_awaited());
    feed("b");
    feed_end(0);
    assert_string_equal(reads(), "b");
    assert_string_equal(reads(), "");
    assert_false(cbx_input_is_awaited());
    assert_int_equal(cbx_input_end(), 0);
}

static void what_comes_before_the_kernel_is_ready_waits_for_the_run(void **state)
{
    (void)state;
    cbx_input_submit(true);
    feed("early");
    feed_end(0);
    assert_string_equal(reads(), "");
    assert_true(cbx_input_begin());
    assert_string_equal(reads(), "early");
    assert_string_equal(reads(), "");
}

static void what_a_run_leaves_is_not_for_the_next_one(void **state)
{
    (void)state;
    begin(true);
    feed("first");
    feed_end(0);
    cbx_input_end();
    assert_string_equal(reads(), "");
    begin(true);
    assert_null(reads());
    feed("second");
    assert_string_equal(reads(), "second");
    cbx_input_end();
    begin(false);
    assert_string_equal(reads(), "");
}

static void bytes_for_a_run_that_has_ended_are_dropped_and_counted(void **state)
{
    (void)state;
    begin(true);
    feed("abc");
    cbx_input_end();
    assert_int_equal(told.fed, 3);
    feed("late");
    assert_int_equal(told.fed, 7);
    begin(true);
    assert_null(reads());
}

static void a_program_that_does_not_read_holds_nothing_up(void **state)
{
    (void)state;
    struct pollfd fd;
    begin(true);
    feed_zeros(CBX_FRAME_FEED_WINDOW);
    cbx_input_poll(&fd);
    assert_true(fd.fd >= 0);
    size_t unread = told.fed;
    assert_true(unread < CBX_FRAME_FEED_WINDOW);
    feed_end(0);
    assert_int_equal(read_all(), CBX_FRAME_FEED_WINDOW);
    cbx_input_end();
    assert_int_equal(told.fed, CBX_FRAME_FEED_WINDOW);
    cbx_input_poll(&fd);
    assert_int_equal(fd.fd, -1);
}

static void the_host_is_told_of_room_in_large_steps(void **state)
{
    (void)state;
    begin(true);
    for (size_t i = 0; i < 100; i++) {
        feed("0123456789");
        assert_string_equal(reads(), "0123456789");
    }
    assert_int_equal(told.frames, 0);
    feed_zeros(CBX_FRAME_FEED_WINDOW);
    feed_end(0);
    assert_int_equal(read_all(), CBX_FRAME_FEED_WINDOW);
    assert_true(told.frames > 0 && told.frames <= 5);
}

static void more_than_the_window_ends_the_sandbox(void **state)
{
    (void)state;
    begin(true);
    dies = true;
    if (setjmp(died) == 0) {
        feed_zeros(2 * CBX_FRAME_FEED_WINDOW);
        fail_msg("it lives");
    }
    dies = false;
}

static void an_interrupted_run_finds_the_end(void **state)
{
    (void)state;
    begin(true);
    feed("unread");
    cbx_input_stop();
    assert_string_equal(reads(), "");
    feed("more");
    assert_string_equal(reads(), "");
}

static void another_host_ends_an_input_that_was_not_complete(void **state)
{
    (void)state;
    begin(true);
    feed("some");
    cbx_input_reset();
    assert_string_equal(reads(), "some");
    assert_string_equal(reads(), "");
    assert_int_equal(cbx_input_end(), CBX_DONE_INPUT_CUT);
    begin(true);
    feed_end(0);
    cbx_input_reset();
    assert_int_equal(cbx_input_end(), 0);
}

static void another_host_counts_from_its_own_first_byte(void **state)
{
    (void)state;
    begin(true);
    feed_zeros(CBX_FRAME_FEED_WINDOW);
    feed_end(0);
    cbx_input_reset();
    assert_int_equal(read_all(), CBX_FRAME_FEED_WINDOW);
    cbx_input_end();
    begin(true);
    told.fed = 0;
    feed("x");
    cbx_input_end();
    assert_int_equal(told.fed, 1);
}

static void the_host_may_say_that_it_lost_the_rest(void **state)
{
    (void)state;
    begin(true);
    feed("part");
    feed_end(1);
    assert_string_equal(reads(), "part");
    assert_string_equal(reads(), "");
    assert_int_equal(cbx_input_end(), CBX_DONE_INPUT_CUT);
}

static void a_program_that_makes_its_descriptor_non_blocking_does_so_for_itself(void **state)
{
    (void)state;
    begin(true);
    assert_int_equal(fcntl(program, F_GETFL) & O_NONBLOCK, 0);
    assert_int_equal(fcntl(in.own, F_GETFL) & O_NONBLOCK, O_NONBLOCK);
    assert_int_equal(fcntl(in.writing, F_GETFL) & O_NONBLOCK, O_NONBLOCK);
}

static void without_a_way_to_open_the_pipe_only_runs_without_an_input_begin(void **state)
{
    (void)state;
    cbx_close(&in.own);
    cbx_input_submit(true);
    assert_false(cbx_input_begin());
    cbx_input_end();
    begin(false);
    assert_string_equal(reads(), "");
}

static void a_new_kernel_has_a_pipe_of_its_own(void **state)
{
    (void)state;
    int before = program;
    begin(true);
    feed("old");
    cbx_input_end();
    cbx_input_close();
    cbx_input_open(&program);
    begin(true);
    feed("new");
    assert_string_equal(reads(), "new");
    close(before);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_run_without_an_input_finds_its_end_at_once),
        TEST(a_run_reads_what_it_was_fed_and_then_the_end),
        TEST(what_comes_before_the_kernel_is_ready_waits_for_the_run),
        TEST(what_a_run_leaves_is_not_for_the_next_one),
        TEST(bytes_for_a_run_that_has_ended_are_dropped_and_counted),
        TEST(a_program_that_does_not_read_holds_nothing_up),
        TEST(the_host_is_told_of_room_in_large_steps),
        TEST(more_than_the_window_ends_the_sandbox),
        TEST(an_interrupted_run_finds_the_end),
        TEST(another_host_ends_an_input_that_was_not_complete),
        TEST(another_host_counts_from_its_own_first_byte),
        TEST(the_host_may_say_that_it_lost_the_rest),
        TEST(a_program_that_makes_its_descriptor_non_blocking_does_so_for_itself),
        TEST(without_a_way_to_open_the_pipe_only_runs_without_an_input_begin),
        TEST(a_new_kernel_has_a_pipe_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
