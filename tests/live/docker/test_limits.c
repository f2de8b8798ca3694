/* SPDX-License-Identifier: MIT
 * Limits of a sandbox on the real engine: time, processor time, memory, processes, output. Exit 77
 * without an engine. Nothing here sleeps: every wait is for an event that has to come. */
#include "tests/live/docker/live.h"

static void kills_a_tree_that_ignores_signals_at_the_limit(void **state)
{
    IN_SANDBOX("python");
    run_limited(sandbox, "python",
                "import os, signal, time\n"
                "signal.signal(signal.SIGINT, signal.SIG_IGN)\nsignal.signal(signal.SIGTERM, "
                "signal.SIG_IGN)\n"
                "for i in range(3):\n    if os.fork() == 0:\n        os.setsid()\n        "
                "os.fork()\n        break\n"
                "while True:\n    time.sleep(1)\n",
                500, &seen);
    assert_int_equal(seen.result.status, CBX_RUN_TIMEOUT);
    assert_true(seen.result.session_lost);
    assert_true(seen.result.duration_ms < 5000);
    run(sandbox, "python",
        "import os\n"
        "def parent(p): return open(f'/proc/{p}/stat').read().rpartition(')')[2].split()[1]\n"
        "pids = sorted(int(p) for p in os.listdir('/proc') if p.isdigit())\n"
        "print([p for p in pids if p == 1 or parent(p) != '0'] == [1, os.getpid()])",
        &seen);
    assert_string_equal(seen.out.p, "True\n");
}

static void caps_a_flood_and_the_session_survives(void **state)
{
    IN_SANDBOX("python");
    run(sandbox, "python", "x = 7\nfor i in range(3000):\n    print('y' * 1023)", &seen);
    assert_int_equal(seen.result.status, CBX_RUN_OK);
    assert_true(seen.result.output_truncated);
    assert_int_equal(seen.out.len, 64 * 1024);
    assert_int_equal(seen.result.stdout_bytes, 3000 * 1024);
    run(sandbox, "python", "print(x)", &seen);
    assert_string_equal(seen.out.p, "7\n");
}

static void keeps_the_head_and_the_tail_of_a_flood(void **state)
{
    IN_SANDBOX("python");
    run(sandbox, "python",
        "import sys\nprint('first')\nfor i in range(20000):\n    print('%06d' % i, "
        "file=[sys.stdout, "
        "sys.stderr][i % 2])\nprint('last')",
        &seen);
    assert_true(seen.result.output_truncated);
    assert_true(seen.cut > 0);
    assert_int_equal(seen.out.len + seen.err.len + seen.cut,
                     seen.result.stdout_bytes + seen.result.stderr_bytes);
    assert_true(cbx_str_starts(cbx_buf_str(&seen.out), CBX_STR("first\n000000\n")));
    assert_true(cbx_str_ends(cbx_buf_str(&seen.out), CBX_STR("019998\nlast\n")));
    assert_true(cbx_str_ends(cbx_buf_str(&seen.err), CBX_STR("019997\n019999\n")));
}

static void reports_out_of_memory(void **state)
{
    IN_SANDBOX("python");
    run(sandbox, "python", "b = []\nwhile True:\n    b.append(bytearray(1 << 24))", &seen);
    assert_int_equal(seen.result.status, CBX_RUN_OOM);
    assert_true(seen.result.session_lost);
}

static void reports_out_of_memory_of_node_too(void **state)
{
    static const char *const programs[] = {
        "const a = []; for (;;) a.push(new Array(1e5).fill({}))",
        "const a = []; for (;;) a.push(Buffer.alloc(1 << 24, 1))",
    };
    /* V8 collects garbage again and again before it gives up: on a busy machine for half a minute */
    enum { WALL_MS = 180000 };
    const int64_t usual_ms = live_limits.wall_ms;
    live_limits.wall_ms = WALL_MS; /* of the sandbox too */
    for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
        IN_SANDBOX("javascript");
        run(sandbox, "javascript", programs[i], &seen);
        if (seen.result.status != CBX_RUN_OOM) {
            fail_msg("program %zu: status %s, signal %d, lost %d: %s", i,
                     cbx_run_status_name(seen.result.status), seen.result.signal,
                     seen.result.session_lost, seen.err.p);
        }
    }
    live_limits.wall_ms = usual_ms;
}

static void an_abort_is_out_of_memory_where_most_of_the_memory_was_used(void **state)
{
    static const struct {
        const char *program;
        enum cbx_run_status status;
    } rows[] = {
        { "const a = []\n"
          "while (process.memoryUsage().rss < 0.85 * process.constrainedMemory())\n"
          "    a.push(Buffer.alloc(1 << 22, 1))\n"
          "process.abort()",
          CBX_RUN_OOM },
        { "process.abort()", CBX_RUN_KILLED },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        IN_SANDBOX("javascript");
        run(sandbox, "javascript", rows[i].program, &seen);
        assert_int_equal(seen.result.status, rows[i].status);
        assert_int_equal(seen.result.signal, SIGABRT);
    }
}

static void outlives_a_fork_bomb(void **state)
{
    IN_SANDBOX("python");
    run_limited(
        sandbox, "python",
        "import os\nwhile True:\n    try:\n        os.fork()\n    except OSError:\n        pass",
        1000, &seen);
    assert_int_equal(seen.result.status, CBX_RUN_TIMEOUT);
    run(sandbox, "python", "print('here')", &seen);
    assert_string_equal(seen.out.p, "here\n");
}

static void ends_what_uses_too_much_processor_time(void **state)
{
    IN_SANDBOX("python");
    struct cbx_permit p = permit_for("python", "while True: pass");
    struct cbx_sink sink = { .event = take_event, .context = &seen };
    struct cbx_err err;
    clear(&seen);
    p.limits.cpu_ms = 300;
    p.ledger = *cbx_sandbox_ledger(sandbox);
    assert_int_equal(cbx_sandbox_run(sandbox, &p, CBX_STR("while True: pass"),
                                     &(struct cbx_run_options){ .sink = &sink }, &seen.result,
                                     &err),
                     0);
    assert_int_equal(seen.result.status, CBX_RUN_CPU);
    assert_true(seen.result.cpu_ms >= 300 && seen.result.cpu_ms < 5000);
    run(sandbox, "python", "print('here')", &seen); /* the program ended at the interrupt */
    assert_string_equal(seen.out.p, "here\n");
}

static void ends_threads_that_continue_after_a_forged_end(void **state)
{
    IN_SANDBOX("python");
    run_limited(sandbox, "python",
                "import threading\ndef spin():\n    while True: pass\n"
                "threading.Thread(target=spin, daemon=True).start()\nwhile True: pass",
                500, &seen);
    assert_int_equal(seen.result.status, CBX_RUN_TIMEOUT);
    assert_true(seen.result.session_lost);
}

int main(int argc, char **argv)
{
    if (live_begin() != 0) {
        return LIVE_NO_ENGINE;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kills_a_tree_that_ignores_signals_at_the_limit),
        cmocka_unit_test(caps_a_flood_and_the_session_survives),
        cmocka_unit_test(keeps_the_head_and_the_tail_of_a_flood),
        cmocka_unit_test(reports_out_of_memory),
        cmocka_unit_test(reports_out_of_memory_of_node_too),
        cmocka_unit_test(an_abort_is_out_of_memory_where_most_of_the_memory_was_used),
        cmocka_unit_test(outlives_a_fork_bomb),
        cmocka_unit_test(ends_what_uses_too_much_processor_time),
        cmocka_unit_test(ends_threads_that_continue_after_a_forged_end),
    };
    LIVE_RUN(argc, argv, tests);
}
