/* SPDX-License-Identifier: MIT
 * Sandboxes whose host reaches them through a bridge: of a gateway that another one may take over,
 * and of engines without attached streams. */
#include "policies/base/memory.h"
#include "tests/live/docker/live.h"

/* --- tests ------------------------------------------------------------------------------------ */

static void a_session_works_through_a_bridge(void **state)
{
    IN_SANDBOX("python");
    RUN("x = 41");
    RUN("print(x + 1)");
    assert_string_equal(seen.out.p, "42\n");
    RUN("raise SystemExit(3)");
    RUN("print('again')");
    assert_string_equal(seen.out.p, "again\n");
}

static void large_input_and_output_pass_at_the_same_time(void **state)
{
    IN_SANDBOX("python");
    enum { MANY = 6 * 1024 * 1024 };
    struct cbx_err err = { 0 };
    CBX_AUTO_MEM char *bytes = cbx_new(MANY);
    RUN("import threading, time\n"
        "def talk():\n"
        "    for i in range(20000):\n"
        "        print('a line of a thread', i)\n"
        "talker = threading.Thread(target=talk, daemon=True)\n"
        "talker.start()");
    if (cbx_sandbox_put(sandbox, cbx_str_of("big.bin"), (struct cbx_str){ .p = bytes, .len = MANY },
                        &err) != 0) {
        fail_msg("%s", err.text);
    }
    /* The thread may still print, between the number and its line end too. */
    RUN("import os\ntalker.join()\nprint(os.path.getsize('big.bin'))");
    assert_non_null(strstr(seen.out.p, "6291456\n"));
}

static void another_host_continues_the_session_and_the_first_one_is_cut_off(void **state)
{
    IN_SANDBOX("python");
    struct cbx_err err = { 0 };
    RUN("x = 7");
    CBX_AUTO(sandbox) again = NULL;
    /* With the same epoch the first host would open its connection again. */
    struct cbx_sandbox_config next = config;
    next.epoch = config.epoch + 1;
    if (cbx_sandbox_adopt(engine, &next, cbx_sandbox_id(sandbox), &again, &err) != 0) {
        fail_msg("%s", err.text);
    }
    run(again, language, "print(x)", &seen);
    assert_string_equal(seen.out.p, "7\n");
    /* The engine tells the end of the first stream when it comes to it: a run waits for that. */
    RUN("print(x)");
    assert_true(seen.result.session_lost);
    assert_false(cbx_sandbox_poll(sandbox));
}

static void a_program_that_connects_to_the_socket_is_no_host(void **state)
{
    IN_SANDBOX("python");
    RUN("import socket\n"
        "closed = 0\n"
        "for i in range(40):\n"
        "    s = socket.socket(socket.AF_UNIX)\n"
        "    s.connect('\\0codebox-bridge')\n"
        "    try:\n"
        "        s.send(b'k' * 32 + b'A' + bytes([28, 0, 0, 0]) + bytes(28))\n"
        "        closed += s.recv(1) == b''\n"
        "    except OSError:\n"
        "        closed += 1\n"
        "print(closed)");
    assert_string_equal(seen.out.p, "40\n");
    RUN("print('still here')");
    assert_string_equal(seen.out.p, "still here\n");
}

static void a_program_reads_no_memory_and_no_descriptor_of_a_bridge(void **state)
{
    IN_SANDBOX("python");
    RUN("import os\n"
        "seen = []\n"
        "for pid in filter(str.isdigit, os.listdir('/proc')):\n"
        "    if int(pid) in (1, os.getpid()): continue\n"
        "    for what in ('mem', 'environ', 'fd/0', 'maps'):\n"
        "        try:\n"
        "            open(f'/proc/{pid}/{what}', 'rb').read(1)\n"
        "            seen.append((pid, what))\n"
        "        except OSError: pass\n"
        "print(seen)");
    assert_string_equal(seen.out.p, "[]\n");
}

static void a_reset_kills_programs_and_spares_the_bridge(void **state)
{
    IN_SANDBOX("python");
    struct cbx_err err = { 0 };
    RUN("x = 1");
    if (cbx_sandbox_reset(sandbox, cbx_sandbox_ledger(sandbox), &err) != 0) {
        fail_msg("%s", err.text);
    }
    RUN("print('x' in globals())");
    assert_string_equal(seen.out.p, "False\n");
}

static void a_program_that_does_not_end_is_stopped_and_the_session_goes_on(void **state)
{
    IN_SANDBOX("python");
    run_limited(sandbox, language, "import os, time\nos.fork()\ntime.sleep(60)", 700, &seen);
    assert_int_equal(seen.result.status, CBX_RUN_TIMEOUT);
    RUN("print('on')");
    assert_string_equal(seen.out.p, "on\n");
}

static void a_gateway_with_a_lower_epoch_is_refused_and_told_so(void **state)
{
    config.epoch = 5;
    IN_SANDBOX("python");
    struct cbx_err err = { 0 };
    struct cbx_sandbox *late = NULL;
    struct cbx_sandbox_config other = config;
    config.epoch = 0;
    RUN("x = 5");
    other.epoch = 4;
    assert_int_equal(cbx_sandbox_adopt(engine, &other, cbx_sandbox_id(sandbox), &late, &err),
                     CBX_ESTATE);
    assert_string_equal(err.text, "another gateway has taken the sandbox over");
    RUN("print(x)");
    assert_string_equal(seen.out.p, "5\n");
    other.epoch = 6;
    assert_int_equal(cbx_sandbox_adopt(engine, &other, cbx_sandbox_id(sandbox), &late, &err), 0);
    run(late, language, "print(x)", &seen);
    assert_string_equal(seen.out.p, "5\n");
    cbx_sandbox_detach(late);
}

static bool never(void *context)
{
    (void)context;
    return false;
}

static void a_host_that_was_cut_off_removes_no_container_while_it_may_not(void **state)
{
    IN_SANDBOX("python");
    struct cbx_err err = { 0 };
    CBX_AUTO(sandbox) taken = NULL;
    struct cbx_sandbox_config other = config;
    other.epoch = 1;
    RUN("x = 8");
    assert_int_equal(cbx_sandbox_adopt(engine, &other, cbx_sandbox_id(sandbox), &taken, &err), 0);
    cbx_engine_guard_removals(engine, never, NULL);
    RUN("x = 9");
    assert_true(seen.result.session_lost);
    run(taken, language, "print(x)", &seen);
    assert_string_equal(seen.out.p, "8\n");
    cbx_engine_guard_removals(engine, NULL, NULL);
}

static void a_host_without_the_key_gets_no_answer(void **state)
{
    IN_SANDBOX("python");
    struct cbx_err err = { 0 };
    struct cbx_sandbox *thief = NULL;
    struct cbx_sandbox_config other = config;
    other.secret[0] ^= 1;
    assert_int_not_equal(cbx_sandbox_adopt(engine, &other, cbx_sandbox_id(sandbox), &thief, &err),
                         0);
    RUN("print('mine')");
    assert_string_equal(seen.out.p, "mine\n");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_session_works_through_a_bridge),
        cmocka_unit_test(large_input_and_output_pass_at_the_same_time),
        cmocka_unit_test(another_host_continues_the_session_and_the_first_one_is_cut_off),
        cmocka_unit_test(a_program_that_connects_to_the_socket_is_no_host),
        cmocka_unit_test(a_program_reads_no_memory_and_no_descriptor_of_a_bridge),
        cmocka_unit_test(a_reset_kills_programs_and_spares_the_bridge),
        cmocka_unit_test(a_program_that_does_not_end_is_stopped_and_the_session_goes_on),
        cmocka_unit_test(a_gateway_with_a_lower_epoch_is_refused_and_told_so),
        cmocka_unit_test(a_host_that_was_cut_off_removes_no_container_while_it_may_not),
        cmocka_unit_test(a_host_without_the_key_gets_no_answer),
    };
    int skipped = live_begin();
    if (skipped) {
        return skipped;
    }
    cbx_engine_use_bridges(engine);
    LIVE_RUN(argc, argv, tests);
}
