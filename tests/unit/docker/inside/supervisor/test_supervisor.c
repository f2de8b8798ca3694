/* SPDX-License-Identifier: MIT
 * The supervisor between a kernel and hosts that replace each other: the frames that it sends,
 * without a container. */
#include "fuzz/supervisor.h"
#include "tests/unit/unit.h"

static const uint8_t key[CBX_FRAME_KEY_BYTES] = "0123456789abcdef0123456789abcde";

/* --- a host ----------------------------------------------------------------------------------- */

static struct cbx_bytes line; /* bytes of one write */

static void add_frame_of(uint8_t type, const void *p, size_t len)
{
    uint32_t bytes = (uint32_t)len;
    cbx_bytes_add(&line, &type, 1);
    cbx_bytes_add(&line, &bytes, sizeof(bytes));
    cbx_bytes_add(&line, p, len);
}

static void add_attach_with(uint64_t epoch)
{
    struct __attribute__((packed)) {
        uint8_t nonce[CBX_FRAME_NONCE_BYTES];
        uint32_t lease_ms;
        uint64_t epoch;
    } attach = { .lease_ms = 10000000, .epoch = epoch };
    cbx_bytes_add(&line, key, sizeof(key));
    add_frame_of(CBX_FRAME_ATTACH, &attach, sizeof(attach));
}

static void add_attach(void)
{
    add_attach_with(0);
}

static const struct cbx_frame_limits all_limits = {
    .wall_ms = 1000, .output_bytes = 4096, .files_bytes = 16384, .cpu_ms = 100000
};

static void add_run(const char *id)
{
    struct cbx_frame_run run = { .limits = all_limits, .language = "python" };
    snprintf(run.id, sizeof(run.id), "%s", id);
    add_frame_of(CBX_FRAME_RUN, &run, sizeof(run));
}

/* Adds a run with this many hashes; the first byte of each is `first` or a following number. */
static void add_run_that_accepts(const char *id, uint8_t first, uint16_t count)
{
    struct cbx_frame_run run = { .limits = all_limits,
                                 .language = "python",
                                 .accept_count = count };
    struct cbx_bytes frame = { 0 };
    snprintf(run.id, sizeof(run.id), "%s", id);
    cbx_bytes_add(&frame, &run, sizeof(run));
    for (uint16_t i = 0; i < count; i++) {
        uint8_t hash[CBX_FRAME_HASH_BYTES] = { (uint8_t)(first + i) };
        cbx_bytes_add(&frame, hash, sizeof(hash));
    }
    cbx_bytes_add(&frame, "code", 4);
    add_frame_of(CBX_FRAME_RUN, frame.p, frame.len);
    cbx_bytes_free(&frame);
}

static void write_line(void)
{
    world.from[0] = line.p;
    world.len[0] = line.len;
    while (world.len[0] > 0) {
        turn();
    }
    turn();
    cbx_bytes_free(&line);
}

static void send_frame(uint8_t type)
{
    add_frame_of(type, NULL, 0);
    write_line();
}

/* The payload of the last frame of this type that the last host received; NULL when there is none.
 */
static const void *received(uint8_t wanted)
{
    const uint8_t *found = NULL;
    for (size_t at = world.host_begins; at + CBX_FRAME_HEAD_BYTES <= world.sent_len;) {
        uint32_t len;
        memcpy(&len, world.sent + at + 1, sizeof(len));
        found = world.sent[at] == wanted ? world.sent + at + CBX_FRAME_HEAD_BYTES : found;
        at += CBX_FRAME_HEAD_BYTES + len;
    }
    return found;
}

static struct cbx_frame_hello hello(void)
{
    struct cbx_frame_hello hello;
    assert_non_null(received(CBX_FRAME_HELLO));
    memcpy(&hello, received(CBX_FRAME_HELLO), sizeof(hello));
    return hello;
}

static struct cbx_frame_done done(void)
{
    struct cbx_frame_done done;
    assert_non_null(received(CBX_FRAME_DONE));
    memcpy(&done, received(CBX_FRAME_DONE), sizeof(done));
    return done;
}

/* --- a kernel --------------------------------------------------------------------------------- */

static void kernel_sends(uint8_t type, const void *p, size_t len)
{
    uint8_t frame[64] = { type, (uint8_t)len };
    memcpy(frame + CBX_FRAME_HEAD_BYTES, p, len);
    world.from[1] = frame;
    world.len[1] = CBX_FRAME_HEAD_BYTES + len;
    turn();
    assert_int_equal(world.len[1], 0);
}

/* The types of the frames that were sent to the kernel since the last call. */
static const char *sent_to_kernel(void)
{
    static char types[64];
    size_t n = 0;
    for (size_t at = 0; at + CBX_FRAME_HEAD_BYTES <= world.to_kernel_len;) {
        uint32_t len;
        memcpy(&len, world.to_kernel + at + 1, sizeof(len));
        types[n++] = (char)world.to_kernel[at];
        at += CBX_FRAME_HEAD_BYTES + len;
    }
    types[n] = '\0';
    world.to_kernel_len = 0;
    return types;
}

/* Does the same, with the first byte of each hash of an ACCEPT and the source of a RUN. */
static const char *given_to_kernel(void)
{
    static char text[256];
    size_t n = 0;
    for (size_t at = 0; at + CBX_FRAME_HEAD_BYTES <= world.to_kernel_len;) {
        uint32_t len;
        const uint8_t *payload = world.to_kernel + at + CBX_FRAME_HEAD_BYTES;
        memcpy(&len, world.to_kernel + at + 1, sizeof(len));
        text[n++] = (char)world.to_kernel[at];
        for (uint32_t i = 0; world.to_kernel[at] == CBX_FRAME_ACCEPT && i < len;
             i += CBX_FRAME_HASH_BYTES) {
            text[n++] = (char)payload[i];
        }
        for (uint32_t i = CBX_FRAME_KERNEL_HEAD_BYTES;
             world.to_kernel[at] == CBX_FRAME_RUN && i < len; i++) {
            text[n++] = (char)payload[i];
        }
        at += CBX_FRAME_HEAD_BYTES + len;
    }
    text[n] = '\0';
    world.to_kernel_len = 0;
    return text;
}

static void end(void)
{
    fail_msg("the supervisor ended its sandbox");
}

/* Begins a test with a host, and a kernel that is ready. */
static int begin_test(void **state)
{
    (void)state;
    begin_world();
    world.end = end;
    kernel_sends(CBX_FRAME_READY, "", 0);
    add_attach();
    write_line();
    return 0;
}

/* --- tests ------------------------------------------------------------------------------------ */

static void a_run_begins_whose_frame_was_complete_when_its_host_was_replaced(void **state)
{
    (void)state;
    add_run("r1");
    add_attach();
    write_line();
    assert_int_equal(hello().run, CBX_HELLO_RUNNING);
    assert_string_equal(hello().id, "r1");
    assert_string_equal(sent_to_kernel(), "E");
}

static void a_result_is_dropped_whose_host_was_replaced_after_its_acknowledgement(void **state)
{
    (void)state;
    char id[CBX_FRAME_ID_BYTES] = "r1";
    int32_t code = 0;
    add_run("r1");
    write_line();
    kernel_sends(CBX_FRAME_FINISH, &code, sizeof(code));
    assert_int_equal(done().status, CBX_DONE_ENDED);
    add_frame_of(CBX_FRAME_ACK, id, sizeof(id));
    add_attach();
    write_line();
    assert_int_equal(hello().run, CBX_HELLO_IDLE);
}

static void a_sandbox_that_was_discarded_does_not_wait_for_the_next_host(void **state)
{
    (void)state;
    uint32_t lease_ms = 0;
    world.end = NULL;
    if (setjmp(world.died) == 0) {
        add_frame_of(CBX_FRAME_LEASE, &lease_ms, sizeof(lease_ms));
        add_attach();
        write_line();
    }
    cbx_bytes_free(&line);
    assert_true(world.dead);
}

static void a_ping_is_answered_while_a_program_runs_and_prints(void **state)
{
    (void)state;
    add_run("r1");
    write_line();
    kernel_sends(CBX_FRAME_STDOUT, "half of a frame", 15);
    assert_null(received(CBX_FRAME_PONG));
    world.budget = 3; /* bytes that the host reads: the frame of output is sent in parts */
    kernel_sends(CBX_FRAME_STDOUT, "the other half", 14);
    send_frame(CBX_FRAME_PING);
    world.budget = SIZE_MAX;
    turn();
    assert_non_null(received(CBX_FRAME_PONG)); /* the frames before it are whole */
    assert_null(received(CBX_FRAME_DONE));
    assert_string_equal(sent_to_kernel(), "E");
}

static void a_lease_that_was_renewed_while_the_sandbox_was_paused_holds(void **state)
{
    (void)state;
    uint32_t lease_ms = 60000;
    add_frame_of(CBX_FRAME_LEASE, &lease_ms, sizeof(lease_ms));
    write_line();
    add_frame_of(CBX_FRAME_LEASE, &lease_ms, sizeof(lease_ms));
    add_frame_of(CBX_FRAME_PING, NULL, 0);
    world.now_ms += 2 * (int64_t)lease_ms;
    write_line();
    assert_non_null(received(CBX_FRAME_PONG));
    world.end = NULL;
    world.now_ms += lease_ms;
    if (setjmp(world.died) == 0) {
        turn();
    }
    assert_true(world.dead);
}

static void an_incomplete_frame_is_void_when_its_host_is_replaced(void **state)
{
    (void)state;
    add_run("r1");
    line.len -= 10;
    add_attach();
    write_line();
    assert_int_equal(hello().run, CBX_HELLO_IDLE);
    assert_string_equal(sent_to_kernel(), "");
    add_run("r2");
    write_line();
    assert_string_equal(sent_to_kernel(), "E");
}

static void a_run_waits_for_a_kernel_that_warms_up_and_cuts_that_short(void **state)
{
    (void)state;
    int32_t code = 0;
    send_frame(CBX_FRAME_WARM);
    assert_string_equal(sent_to_kernel(), "w");
    add_run("r1");
    write_line();
    assert_string_equal(sent_to_kernel(), "I");
    world.now_ms += 700; /* 700 ms of the run's one second */
    kernel_sends(CBX_FRAME_READY, "", 0);
    assert_string_equal(sent_to_kernel(), "E");
    world.now_ms += 700;
    kernel_sends(CBX_FRAME_FINISH, &code, sizeof(code));
    assert_int_equal(done().status, CBX_DONE_ENDED);
    assert_int_equal(done().duration_ms, 700);
}

static void a_run_that_is_interrupted_while_its_kernel_warms_up_costs_nothing_else(void **state)
{
    (void)state;
    send_frame(CBX_FRAME_WARM);
    add_run("r1");
    write_line();
    send_frame(CBX_FRAME_INTERRUPT);
    assert_int_equal(done().status, CBX_DONE_KILLED);
    assert_int_equal(done().flags & CBX_DONE_LOST, 0);
    sent_to_kernel();
    kernel_sends(CBX_FRAME_READY, "", 0);
    assert_string_equal(sent_to_kernel(), "");
    add_run("r2");
    write_line();
    assert_string_equal(sent_to_kernel(), "E");
}

static void a_kernel_that_starts_warms_up_when_it_is_ready_unless_something_is_to_run(void **state)
{
    (void)state;
    for (int runs = 0; runs < 2; runs++) {
        send_frame(CBX_FRAME_RESET);
        send_frame(CBX_FRAME_WARM);
        if (runs) {
            add_run("r1");
            write_line();
        }
        assert_string_equal(sent_to_kernel(), "");
        kernel_sends(CBX_FRAME_READY, "", 0);
        assert_string_equal(sent_to_kernel(), runs ? "E" : "w");
    }
}

static void a_kernel_that_ends_between_runs_fails_no_run_before(void **state)
{
    (void)state;
    int32_t code = 1;
    add_run("r1");
    write_line();
    world.now_ms += 1000;
    turn();
    assert_string_equal(sent_to_kernel(), "EI");
    kernel_sends(CBX_FRAME_FINISH, &code, sizeof(code));
    world.now_ms = cbx_run.deadline_ms;
    turn();
    turn();
    assert_int_equal(done().status, CBX_DONE_TIMEOUT);
    send_frame(CBX_FRAME_RESET);
    add_run("r2");
    write_line();
    cbx_run_kernel_died(SIGKILL, 0);
    turn();
    assert_int_equal(done().status, CBX_DONE_KILLED);
}

/* The container's limit is 512 MiB. */
static void a_kernel_that_aborts_with_most_of_the_memory_is_out_of_memory(void **state)
{
    static const struct {
        int signal;
        uint64_t peak_bytes;
        uint32_t reason;
    } rows[] = {
        { SIGABRT, (uint64_t)400 << 20, CBX_DONE_OOM },
        { SIGABRT, (uint64_t)100 << 20, CBX_DONE_KILLED },
        { SIGSEGV, (uint64_t)400 << 20, CBX_DONE_KILLED },
        { SIGKILL, (uint64_t)400 << 20, CBX_DONE_KILLED },
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        add_run("r1");
        write_line();
        cbx_run_kernel_died(rows[i].signal, rows[i].peak_bytes);
        turn();
        assert_int_equal(done().status, rows[i].reason);
        send_frame(CBX_FRAME_RESET);
    }
}

static void add_run_with_input(const char *id)
{
    struct cbx_frame_run run = { .limits = all_limits, .language = "python", .input = 1 };
    snprintf(run.id, sizeof(run.id), "%s", id);
    add_frame_of(CBX_FRAME_RUN, &run, sizeof(run));
}

static void a_run_with_an_input_gets_the_bytes_of_the_host(void **state)
{
    (void)state;
    uint8_t whole = 0;
    add_run_with_input("r1");
    add_frame_of(CBX_FRAME_FEED, "abc", 3);
    add_frame_of(CBX_FRAME_FEED_END, &whole, 1);
    write_line();
    assert_true(world.has_input);
    assert_int_equal(world.fed, 3);
    struct cbx_frame_run head;
    memcpy(&head, world.to_kernel + CBX_FRAME_HEAD_BYTES, CBX_FRAME_KERNEL_HEAD_BYTES);
    assert_int_equal(head.input, 1);
}

static void a_run_whose_input_cannot_be_passed_on_fails(void **state)
{
    (void)state;
    world.no_input = true;
    add_run_with_input("r1");
    write_line();
    assert_non_null(received(CBX_FRAME_ERROR));
    assert_int_equal(done().exit_code, 1);
    assert_string_equal(sent_to_kernel(), "");
}

static void the_result_has_what_became_of_the_input(void **state)
{
    (void)state;
    int32_t code = 0;
    world.input_flags = CBX_DONE_INPUT_CUT;
    add_run_with_input("r1");
    write_line();
    kernel_sends(CBX_FRAME_FINISH, &code, sizeof(code));
    assert_int_equal(done().flags, CBX_DONE_INPUT_CUT);
}

static void a_run_that_ends_at_its_time_limit_says_whether_it_awaited_input(void **state)
{
    (void)state;
    int32_t code = 1;
    add_run_with_input("r1");
    write_line();
    world.now_ms += 1000;
    turn();
    kernel_sends(CBX_FRAME_FINISH, &code, sizeof(code));
    world.now_ms = cbx_run.deadline_ms;
    turn();
    turn();
    assert_int_equal(done().status, CBX_DONE_TIMEOUT);
    assert_int_equal(done().flags & CBX_DONE_INPUT_AWAITED, CBX_DONE_INPUT_AWAITED);
}

static void an_interrupt_ends_the_input_after_the_signal(void **state)
{
    (void)state;
    add_run_with_input("r1");
    write_line();
    send_frame(CBX_FRAME_INTERRUPT);
    world.now_ms += SIGNAL_MS;
    turn();
    assert_true(world.has_input);
    assert_in_range(cbx_run_time_left(world.now_ms), 1, INPUT_MS);
    world.now_ms += INPUT_MS;
    turn();
    assert_false(world.has_input);
}

/* How many frames of this type the host has received. */
static unsigned count_frames(uint8_t wanted)
{
    unsigned n = 0;
    uint32_t len;
    for (size_t at = world.host_begins; at + CBX_FRAME_HEAD_BYTES <= world.sent_len;
         at += CBX_FRAME_HEAD_BYTES + len) {
        memcpy(&len, world.sent + at + 1, sizeof(len));
        n += world.sent[at] == wanted;
    }
    return n;
}

/* Writes one line to the channel; true when the supervisor read it in this turn. */
static bool reads_a_line(void)
{
    static const uint8_t frame[] = { CBX_FRAME_STDOUT, 2, 0, 0, 0, 'x', '\n' };
    static uint8_t lines[4096];
    memmove(lines, world.from[1], world.len[1]);
    memcpy(lines + world.len[1], frame, sizeof(frame));
    world.from[1] = lines;
    world.len[1] += sizeof(frame);
    take_output(POLLIN);
    cbx_report_send();
    return world.len[1] == 0;
}

static void lines_that_follow_in_quick_succession_are_sent_together(void **state)
{
    (void)state;
    add_run("r1");
    write_line();
    unsigned at_once = 0;
    while (reads_a_line()) {
        assert_true(++at_once < 100);
    }
    assert_in_range(at_once, 2, READ_BURST + 1);
    for (int i = 0; i < 50; i++) {
        assert_false(reads_a_line());
    }
    assert_int_equal(time_left(), 1);
    unsigned before = count_frames(CBX_FRAME_STDOUT);
    world.now_ms++;
    assert_true(reads_a_line());
    assert_int_equal(count_frames(CBX_FRAME_STDOUT), before + 1);
    assert_int_equal(cbx_report_written(CBX_FRAME_STDOUT), 2 * (at_once + 52));
}

static void a_line_after_a_pause_is_sent_at_once(void **state)
{
    (void)state;
    add_run("r1");
    write_line();
    while (reads_a_line()) {
    }
    world.now_ms += 100;
    assert_true(reads_a_line());
    assert_true(reads_a_line());
}

static void a_flood_in_large_pieces_is_read_without_delay(void **state)
{
    (void)state;
    static uint8_t piece[BULK_BYTES];
    add_run("r1");
    write_line();
    for (int i = 0; i < 4 * READ_BURST; i++) {
        world.from[2] = piece;
        world.len[2] = sizeof(piece);
        take_output(0);
        assert_int_equal(world.len[2], 0);
    }
}

static void an_interrupt_is_handled_while_output_accumulates(void **state)
{
    (void)state;
    add_run("r1");
    write_line();
    sent_to_kernel();
    while (reads_a_line()) {
    }
    add_frame_of(CBX_FRAME_INTERRUPT, NULL, 0);
    world.from[0] = line.p;
    world.len[0] = line.len;
    assert_true(cbx_host_read(take_host_frame));
    cbx_bytes_free(&line);
    assert_string_equal(sent_to_kernel(), "I");
}

static void end_run(void)
{
    int32_t code = 0;
    kernel_sends(CBX_FRAME_FINISH, &code, sizeof(code));
}

static void output_between_two_runs_begins_the_next_one_and_is_marked(void **state)
{
    (void)state;
    add_run("r1");
    write_line();
    end_run();
    kernel_sends(CBX_FRAME_STDOUT, "a\n", 2);
    kernel_sends(CBX_FRAME_STDOUT, "b\n", 2);
    kernel_sends(CBX_FRAME_STDERR, "c\n", 2);
    kernel_sends(CBX_FRAME_ERROR, "{}", 2);
    assert_null(received(CBX_FRAME_LATE));
    size_t before = world.sent_len;
    add_run("r2");
    write_line();
    static const uint8_t want[] = { CBX_FRAME_LATE,   5,   0,    0,   0,
                                    CBX_FRAME_STDOUT, 'a', '\n', 'b', '\n',
                                    CBX_FRAME_LATE,   3,   0,    0,   0,
                                    CBX_FRAME_STDERR, 'c', '\n' };
    assert_int_equal(world.sent_len - before, sizeof(want));
    assert_memory_equal(world.sent + before, want, sizeof(want));
    end_run();
    assert_int_equal(done().stdout_bytes, 0);
    before = count_frames(CBX_FRAME_LATE);
    add_run("r3");
    write_line();
    assert_int_equal(count_frames(CBX_FRAME_LATE), before);
}

static void output_that_is_unread_when_the_next_run_arrives_is_late(void **state)
{
    (void)state;
    static const uint8_t frame[] = { CBX_FRAME_STDOUT, 2, 0, 0, 0, 'a', '\n' };
    add_run("r1");
    write_line();
    end_run();
    size_t before = world.sent_len;
    world.from[1] = frame;
    world.len[1] = sizeof(frame);
    add_run("r2");
    write_line();
    static const uint8_t want[] = { CBX_FRAME_LATE, 3, 0, 0, 0, CBX_FRAME_STDOUT, 'a', '\n' };
    assert_int_equal(world.sent_len - before, sizeof(want));
    assert_memory_equal(world.sent + before, want, sizeof(want));
    end_run();
    assert_int_equal(done().stdout_bytes, 0);
}

static void a_malformed_frame_before_a_run_costs_the_kernel_and_not_the_run(void **state)
{
    (void)state;
    static const uint8_t frame[CBX_FRAME_HEAD_BYTES] = { 0xff, 1 };
    add_run("r1");
    write_line();
    end_run();
    sent_to_kernel();
    world.from[1] = frame;
    world.len[1] = sizeof(frame);
    add_run("r2");
    write_line();
    assert_string_equal(hello().id, "");
    assert_int_equal(cbx_run.phase, CBX_PHASE_STARTING); /* for a kernel that is started anew */
    kernel_sends(CBX_FRAME_READY, "", 0);
    assert_string_equal(sent_to_kernel(), "E");
    end_run();
    assert_int_equal(done().status, CBX_DONE_ENDED);
}

static void late_output_is_capped_and_marked_in_the_result(void **state)
{
    (void)state;
    static uint8_t piece[CBX_CHUNK_BYTES];
    add_run("r1");
    write_line();
    end_run();
    for (int i = 0; i < 3; i++) {
        world.from[2] = piece;
        world.len[2] = sizeof(piece);
        turn();
    }
    assert_true(r.late.len <= CBX_FRAME_LATE_MAX);
    add_run("r2");
    write_line();
    uint64_t cut = 0;
    assert_non_null(received(CBX_FRAME_CUT));
    memcpy(&cut, received(CBX_FRAME_CUT), sizeof(cut));
    assert_int_equal(cut, 3 * sizeof(piece) - (CBX_FRAME_LATE_MAX - CBX_FRAME_HEAD_BYTES - 1));
    end_run();
    assert_int_equal(done().flags & CBX_DONE_OUTPUT_CUT, CBX_DONE_OUTPUT_CUT);
}

static void output_of_a_kernel_that_starts_or_warms_up_is_not_late(void **state)
{
    (void)state;
    kernel_sends(CBX_FRAME_STDOUT, "a\n", 2);
    add_run("r1");
    write_line();
    end_run();
    send_frame(CBX_FRAME_WARM);
    kernel_sends(CBX_FRAME_STDERR, "b\n", 2);
    kernel_sends(CBX_FRAME_READY, "", 0);
    add_run("r2");
    write_line();
    assert_null(received(CBX_FRAME_LATE));
}

/* The supervisor ends the sandbox when the host sends this RUN, with three bytes behind it. */
static void assert_ends_the_sandbox(const struct cbx_frame_run *run)
{
    begin_test(NULL);
    world.end = NULL;
    if (setjmp(world.died) == 0) {
        add_frame_of(CBX_FRAME_RUN, run, sizeof(*run));
        cbx_bytes_add(&line, "abc", 3);
        line.p[1] += 3;
        write_line();
    }
    cbx_bytes_free(&line);
    assert_true(world.dead);
}

static void a_run_whose_arguments_are_longer_than_its_frame_ends_the_sandbox(void **state)
{
    (void)state;
    assert_ends_the_sandbox(&(struct cbx_frame_run){ .limits = all_limits, .arguments_bytes = 4 });
}

static void a_run_with_more_imports_than_its_frame_ends_the_sandbox(void **state)
{
    (void)state;
    assert_ends_the_sandbox(&(struct cbx_frame_run){ .limits = all_limits, .imports_bytes = 4 });
    assert_ends_the_sandbox(
        &(struct cbx_frame_run){ .limits = all_limits, .imports_bytes = 2, .arguments_bytes = 2 });
}

static void the_kernel_gets_new_hashes_before_the_run(void **state)
{
    (void)state;
    add_run_that_accepts("r1", 'a', 2);
    write_line();
    assert_string_equal(given_to_kernel(), "habEcode");
    end_run();
    add_run_that_accepts("r2", 'b', 2);
    write_line();
    assert_string_equal(given_to_kernel(), "hcEcode");
    end_run();
    add_run_that_accepts("r3", 'a', 3);
    write_line();
    assert_string_equal(given_to_kernel(), "Ecode");
}

/* A program can read from its kernel's socket, and the kernel could take text for frames. So the
 * kernel asks for the offsets of the frames about the guard. */
static void a_frame_to_the_kernel_begins_where_it_was_sent_and_counts_once(void **state)
{
    (void)state;
    add_run_that_accepts("r1", 'a', 1);
    write_line();
    const size_t accept_bytes = CBX_FRAME_HEAD_BYTES + CBX_FRAME_HASH_BYTES;
    assert_false(cbx_kernel_sent(CBX_FRAME_RUN, 0));
    assert_false(cbx_kernel_sent(CBX_FRAME_ACCEPT, 1));
    assert_false(cbx_kernel_sent(0, 0));
    assert_true(cbx_kernel_sent(CBX_FRAME_ACCEPT, 0));
    assert_false(cbx_kernel_sent(CBX_FRAME_ACCEPT, 0));
    assert_true(cbx_kernel_sent(CBX_FRAME_RUN, accept_bytes));
    assert_false(cbx_kernel_sent(CBX_FRAME_RUN, accept_bytes));
    end_run();
    add_run("r2");
    write_line();
    uint64_t end =
        accept_bytes + CBX_FRAME_HEAD_BYTES + CBX_FRAME_KERNEL_HEAD_BYTES + strlen("code");
    assert_false(cbx_kernel_sent(CBX_FRAME_RUN, end - 1));
    assert_true(cbx_kernel_sent(CBX_FRAME_RUN, end));
}

static void what_is_refused_between_two_runs_is_told_when_the_host_asks(void **state)
{
    (void)state;
    struct cbx_frame_blocked head;
    add_run("r1");
    write_line();
    cbx_guard_note(CBX_GUARD_READ, "/during");
    send_frame(CBX_FRAME_REFUSALS); /* during a run it is the run's */
    uint32_t code;
    memcpy(&code, received(CBX_FRAME_ANSWER), sizeof(code));
    assert_int_equal(code, EBUSY);
    end_run();
    cbx_guard_note(CBX_GUARD_START, "/late");
    cbx_guard_note(CBX_GUARD_START, "/late");
    send_frame(CBX_FRAME_REFUSALS);
    const uint8_t *answer = received(CBX_FRAME_ANSWER);
    memcpy(&code, answer, sizeof(code));
    memcpy(&head, answer + sizeof(code), sizeof(head));
    assert_int_equal(code, 0);
    assert_int_equal(head.refusal, CBX_GUARD_START);
    assert_int_equal(head.count, 2);
    assert_int_equal(answer[sizeof(code) + sizeof(head)], strlen("/late"));
    assert_memory_equal(answer + sizeof(code) + sizeof(head) + 1, "/late", strlen("/late"));
    unsigned before = count_frames(CBX_FRAME_BLOCKED);
    add_run("r2");
    write_line();
    assert_int_equal(count_frames(CBX_FRAME_BLOCKED), before); /* no run reports it again */
}

static void kernel_reports(uint64_t secret, uint32_t row)
{
    uint8_t payload[sizeof(struct cbx_frame_refused) + 4];
    struct cbx_frame_refused head = { .secret = secret, .refusal = row };
    memcpy(payload, &head, sizeof(head));
    memcpy(payload + sizeof(head), "text", 4);
    kernel_sends(CBX_FRAME_REFUSED, payload, sizeof(payload));
}

static void a_kernel_reports_refusals_only_with_its_first_secret(void **state)
{
    (void)state;
    uint64_t first = 4711, second = 4712;
    cbx_guard.secret = 0;
    cbx_guard.has_run = false;
    kernel_reports(0, CBX_GUARD_EVALUATE); /* before any secret */
    kernel_sends(CBX_FRAME_SECRET, &first, sizeof(first));
    kernel_sends(CBX_FRAME_SECRET, &second, sizeof(second));
    add_run("r1");
    write_line();
    cbx_guard.refused = UINT32_MAX;
    kernel_sends(CBX_FRAME_SECRET, &second, sizeof(second));
    unsigned before = count_frames(CBX_FRAME_BLOCKED);
    kernel_reports(second, CBX_GUARD_EVALUATE);
    kernel_reports(0, CBX_GUARD_EVALUATE);
    kernel_reports(first, CBX_GUARD_START); /* the supervisor itself reports this row */
    assert_int_equal(count_frames(CBX_FRAME_BLOCKED), before);
    kernel_reports(first, CBX_GUARD_EVALUATE);
    assert_int_equal(count_frames(CBX_FRAME_BLOCKED), before + 1);
    const uint8_t *last = received(CBX_FRAME_BLOCKED);
    struct cbx_frame_blocked head;
    memcpy(&head, last, sizeof(head));
    assert_int_equal(head.refusal, CBX_GUARD_EVALUATE);
    assert_memory_equal(last + sizeof(head), "text", 4);
    cbx_guard.refused = 0;
    end_run();
}

static void a_flood_of_refusals_hides_none_of_another_row(void **state)
{
    (void)state;
    enum { FLOOD = 100 };
    char path[32];
    add_run("r1");
    write_line();
    for (int i = 0; i < FLOOD; i++) {
        snprintf(path, sizeof(path), "/etc/%d", i);
        cbx_guard_note(CBX_GUARD_READ, path);
    }
    turn();
    unsigned before = count_frames(CBX_FRAME_BLOCKED);
    assert_in_range(before, 2, FLOOD - 1);
    cbx_guard_note(CBX_GUARD_START, "/usr/bin/id");
    turn();
    assert_int_equal(count_frames(CBX_FRAME_BLOCKED), before + 1);
    const uint8_t *last = received(CBX_FRAME_BLOCKED);
    struct cbx_frame_blocked head;
    memcpy(&head, last, sizeof(head));
    assert_int_equal(head.refusal, CBX_GUARD_START);
    assert_memory_equal(last + sizeof(head), "/usr/bin/id", strlen("/usr/bin/id"));
    end_run();
}

static void a_report_on_the_kernels_channel_is_none_where_linux_notifies(void **state)
{
    (void)state;
    uint8_t frame[sizeof(struct cbx_frame_blocked) + 1] = {
        CBX_GUARD_SOCKET, 0, 0, 0, 1, 0, 0, 0, 'x'
    };
    add_run("r1");
    write_line();
    cbx_guard.refused = 1 << CBX_GUARD_SOCKET;
    kernel_sends(CBX_FRAME_BLOCKED, frame, sizeof(frame));
    assert_int_equal(count_frames(CBX_FRAME_BLOCKED), 0);
    cbx_guard.missing = true;
    kernel_sends(CBX_FRAME_BLOCKED, frame, sizeof(frame));
    turn();
    assert_int_equal(count_frames(CBX_FRAME_BLOCKED), 1);
    end_run();
}

static void a_kernel_that_starts_anew_gets_all_hashes(void **state)
{
    (void)state;
    add_run_that_accepts("r1", 'a', 2);
    write_line();
    end_run();
    given_to_kernel();
    send_frame(CBX_FRAME_RESET);
    add_run_that_accepts("r2", 'c', 1);
    write_line();
    assert_string_equal(given_to_kernel(), "");
    kernel_sends(CBX_FRAME_READY, "", 0);
    assert_string_equal(given_to_kernel(), "habcEcode");
}

static void a_run_with_more_hashes_than_its_frame_ends_the_sandbox(void **state)
{
    (void)state;
    assert_ends_the_sandbox(&(struct cbx_frame_run){ .limits = all_limits, .accept_count = 1 });
}

static void a_run_with_more_hashes_than_allowed_ends_the_sandbox(void **state)
{
    (void)state;
    world.end = NULL;
    if (setjmp(world.died) == 0) {
        add_run_that_accepts("r1", 0, CBX_FRAME_ACCEPT_MAX + 1);
        write_line();
    }
    cbx_bytes_free(&line);
    assert_true(world.dead);
}

static void a_run_whose_hashes_the_set_cannot_take_fails_and_the_next_runs(void **state)
{
    (void)state;
    add_run_that_accepts("r1", 'a', 1);
    write_line();
    end_run();
    cbx_accepted.count = CBX_FRAME_ACCEPTED_MAX; /* as after so many hashes */
    given_to_kernel();
    add_run_that_accepts("r2", 'b', 1);
    write_line();
    assert_string_equal(given_to_kernel(), "");
    assert_non_null(memmem(received(CBX_FRAME_ERROR), 100, "too many files", 14));
    assert_int_equal(done().exit_code, 1);
    cbx_kernel.accepted = CBX_FRAME_ACCEPTED_MAX;
    add_run_that_accepts("r3", 'a', 1);
    write_line();
    assert_string_equal(given_to_kernel(), "Ecode");
}

static void a_run_without_all_limits_ends_the_sandbox(void **state)
{
    (void)state;
    struct cbx_frame_run run = { .limits = all_limits };
#define CBX_RUN_LIMIT(member)                                                                      \
    run.limits.member = 0;                                                                         \
    assert_ends_the_sandbox(&run);                                                                 \
    run.limits = all_limits;
#include "policies/limits.def"
#undef CBX_RUN_LIMIT
}

static void the_host_gets_ready_when_a_kernel_is_warm(void **state)
{
    (void)state;
    assert_null(received(CBX_FRAME_READY));
    send_frame(CBX_FRAME_WARM);
    assert_null(received(CBX_FRAME_READY));
    kernel_sends(CBX_FRAME_READY, "", 0);
    assert_non_null(received(CBX_FRAME_READY));
}

static void a_kernel_with_a_run_waiting_is_not_reported_as_warm(void **state)
{
    (void)state;
    send_frame(CBX_FRAME_WARM);
    add_run("r1");
    write_line();
    kernel_sends(CBX_FRAME_READY, "", 0);
    assert_null(received(CBX_FRAME_READY));
}

static void a_host_with_a_lower_epoch_gets_no_answer(void **state)
{
    (void)state;
    add_attach_with(5);
    write_line();
    assert_int_equal(hello().run, CBX_HELLO_IDLE);
    size_t sent = world.sent_len;
    add_attach_with(4);
    write_line();
    assert_int_equal(world.sent_len, sent);
    add_attach_with(5);
    write_line();
    assert_true(world.sent_len > sent);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_run_with_an_input_gets_the_bytes_of_the_host, begin_test),
        cmocka_unit_test_setup(a_run_whose_input_cannot_be_passed_on_fails, begin_test),
        cmocka_unit_test_setup(the_result_has_what_became_of_the_input, begin_test),
        cmocka_unit_test_setup(a_run_that_ends_at_its_time_limit_says_whether_it_awaited_input,
                               begin_test),
        cmocka_unit_test_setup(an_interrupt_ends_the_input_after_the_signal, begin_test),
        cmocka_unit_test_setup(the_host_gets_ready_when_a_kernel_is_warm, begin_test),
        cmocka_unit_test_setup(a_kernel_with_a_run_waiting_is_not_reported_as_warm, begin_test),
        cmocka_unit_test_setup(output_between_two_runs_begins_the_next_one_and_is_marked,
                               begin_test),
        cmocka_unit_test_setup(output_that_is_unread_when_the_next_run_arrives_is_late, begin_test),
        cmocka_unit_test_setup(a_malformed_frame_before_a_run_costs_the_kernel_and_not_the_run,
                               begin_test),
        cmocka_unit_test_setup(late_output_is_capped_and_marked_in_the_result, begin_test),
        cmocka_unit_test_setup(output_of_a_kernel_that_starts_or_warms_up_is_not_late, begin_test),
        cmocka_unit_test_setup(a_run_whose_arguments_are_longer_than_its_frame_ends_the_sandbox,
                               begin_test),
        cmocka_unit_test_setup(the_kernel_gets_new_hashes_before_the_run, begin_test),
        cmocka_unit_test_setup(a_frame_to_the_kernel_begins_where_it_was_sent_and_counts_once,
                               begin_test),
        cmocka_unit_test_setup(what_is_refused_between_two_runs_is_told_when_the_host_asks,
                               begin_test),
        cmocka_unit_test_setup(a_flood_of_refusals_hides_none_of_another_row, begin_test),
        cmocka_unit_test_setup(a_kernel_reports_refusals_only_with_its_first_secret, begin_test),
        cmocka_unit_test_setup(a_report_on_the_kernels_channel_is_none_where_linux_notifies,
                               begin_test),
        cmocka_unit_test_setup(a_kernel_that_starts_anew_gets_all_hashes, begin_test),
        cmocka_unit_test_setup(a_run_with_more_imports_than_its_frame_ends_the_sandbox, begin_test),
        cmocka_unit_test_setup(a_run_with_more_hashes_than_its_frame_ends_the_sandbox, begin_test),
        cmocka_unit_test_setup(a_run_with_more_hashes_than_allowed_ends_the_sandbox, begin_test),
        cmocka_unit_test_setup(a_run_whose_hashes_the_set_cannot_take_fails_and_the_next_runs,
                               begin_test),
        cmocka_unit_test_setup(a_run_without_all_limits_ends_the_sandbox, begin_test),
        cmocka_unit_test_setup(lines_that_follow_in_quick_succession_are_sent_together, begin_test),
        cmocka_unit_test_setup(a_line_after_a_pause_is_sent_at_once, begin_test),
        cmocka_unit_test_setup(a_flood_in_large_pieces_is_read_without_delay, begin_test),
        cmocka_unit_test_setup(an_interrupt_is_handled_while_output_accumulates, begin_test),
        cmocka_unit_test_setup(a_run_begins_whose_frame_was_complete_when_its_host_was_replaced,
                               begin_test),
        cmocka_unit_test_setup(
            a_result_is_dropped_whose_host_was_replaced_after_its_acknowledgement, begin_test),
        cmocka_unit_test_setup(a_sandbox_that_was_discarded_does_not_wait_for_the_next_host,
                               begin_test),
        cmocka_unit_test_setup(a_ping_is_answered_while_a_program_runs_and_prints, begin_test),
        cmocka_unit_test_setup(a_lease_that_was_renewed_while_the_sandbox_was_paused_holds,
                               begin_test),
        cmocka_unit_test_setup(an_incomplete_frame_is_void_when_its_host_is_replaced, begin_test),
        cmocka_unit_test_setup(a_run_waits_for_a_kernel_that_warms_up_and_cuts_that_short,
                               begin_test),
        cmocka_unit_test_setup(
            a_run_that_is_interrupted_while_its_kernel_warms_up_costs_nothing_else, begin_test),
        cmocka_unit_test_setup(
            a_kernel_that_starts_warms_up_when_it_is_ready_unless_something_is_to_run, begin_test),
        cmocka_unit_test_setup(a_kernel_that_ends_between_runs_fails_no_run_before, begin_test),
        cmocka_unit_test_setup(a_kernel_that_aborts_with_most_of_the_memory_is_out_of_memory,
                               begin_test),
        cmocka_unit_test_setup(a_host_with_a_lower_epoch_gets_no_answer, begin_test),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
