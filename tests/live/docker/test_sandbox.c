/* SPDX-License-Identifier: MIT
 * Sandboxes on the real engine: what runs, what a program can reach, and what remains after a failure.
 * Exit 77 without an engine. Nothing here sleeps: every wait is for an event that has to come. */
#include "tests/live/docker/live.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <time.h>

static void run(struct cbx_sandbox *sandbox, const char *language, const char *source,
                struct seen *seen)
{
    run_limited(sandbox, language, source, live_limits.wall_ms, seen);
}

static void keeps_state_and_streams_apart(void **state)
{
    IN_SANDBOX("ipython");
    run(sandbox, "ipython", "x = 41", &seen);
    run(sandbox, "ipython", "import sys\nprint('o')\nprint('e', file=sys.stderr)\nx + 1", &seen);
    assert_int_equal(seen.result.status, CBX_RUN_OK);
    assert_string_equal(seen.out.p, "o\n");
    assert_string_equal(seen.err.p, "e\n");
    assert_string_equal(seen.plain.p, "42");
}

static void runs_javascript_with_state(void **state)
{
    IN_SANDBOX("javascript");
    run(sandbox, "javascript", "const x = 41; console.log('o'); console.error('e')", &seen);
    assert_string_equal(seen.out.p, "o\n");
    assert_string_equal(seen.err.p, "e\n");
    run(sandbox, "javascript", "const y = await Promise.resolve(1); x + y", &seen);
    assert_string_equal(seen.plain.p, "42");
    run(sandbox, "javascript", "throw new TypeError('no')", &seen);
    assert_int_equal(seen.result.status, CBX_RUN_ERROR);
    assert_string_equal(seen.result.ename, "TypeError");
    run(sandbox, "javascript", "process.exit(3)", &seen);
    assert_int_equal(seen.result.exit_code, 3);
}

static void shows_a_figure_as_png(void **state)
{
    IN_SANDBOX("ipython");
    run(sandbox, "ipython", "import matplotlib.pyplot as plt\n_ = plt.plot([1, 2])", &seen);
    assert_int_equal(seen.result.status, CBX_RUN_OK);
    assert_true(seen.png);
}

static void reports_exit_status_traceback_and_files(void **state)
{
    IN_SANDBOX("python");
    run(sandbox, "python",
        "import sys, os\nopen('a.txt', 'w').write('abc')\nos.symlink('/etc/passwd', "
        "'l')\nsys.exit(3)",
        &seen);
    assert_int_equal(seen.result.status, CBX_RUN_ERROR);
    assert_int_equal(seen.result.exit_code, 3);
    assert_string_equal(seen.files.p, "a.txt:3\n");
    run(sandbox, "python", "def f():\n    return 1 / 0\nf()", &seen);
    assert_string_equal(seen.result.ename, "ZeroDivisionError");
    assert_null(strchr(seen.result.traceback, 0x1b));
    assert_non_null(strstr(seen.result.traceback, "1 / 0"));
    assert_null(strstr(seen.result.traceback, "python_kernel"));
}

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
        "import os\nprint(sorted(int(p) for p in os.listdir('/proc') if p.isdigit()) == [1, "
        "os.getpid()])",
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

static void reports_out_of_memory(void **state)
{
    IN_SANDBOX("python");
    run(sandbox, "python", "b = []\nwhile True:\n    b.append(bytearray(1 << 24))", &seen);
    assert_int_equal(seen.result.status, CBX_RUN_OOM);
    assert_true(seen.result.session_lost);
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

/* Each attempt prints nothing when it is refused. */
static void refuses_attempts_to_leave_the_sandbox(void **state)
{
    IN_SANDBOX("python");
    run(sandbox, "python",
        "import ctypes, socket, os\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "def call(name, number, *args):\n"
        "    if libc.syscall(number, *args) >= 0: print('got through:', name)\n"
        "call('setuid', 105, 0)\ncall('mount', 165, b'x', b'/tmp', b'tmpfs', 0, 0)\n"
        "call('unshare', 272, 0x10000000)\ncall('ptrace', 101, 16, 1, 0, "
        "0)\ncall('io_uring_setup', 425, 8, ctypes.create_string_buffer(120))\n"
        "call('keyctl', 250, 0, -3, 1)\ncall('add_key', 248, b'user', b'a', b'b', 1, "
        "-3)\ncall('bpf', 321, 0, 0, 0)\n"
        "call('userfaultfd', 323, 1)\ncall('perf_event_open', 298, 0, 0, -1, -1, 0)\ncall('setns', "
        "308, 0, 0)\n"
        "call('clone-newuser', 56, 0x10000011, 0, 0, 0, 0)\ncall('clone3', 435, 0, "
        "0)\ncall('pidfd_getfd', 438, 0, 0, 0)\n"
        "call('process_vm_readv', 310, 1, 0, 0, 0, 0, 0)\ncall('personality', 135, "
        "0x0040000)\ncall('chroot', 161, b'/tmp')\n"
        "for family in [16, 17, 31, 38, 40, 44, 15, 29]:\n"
        "    for kind in [1, 2, 3, 5]:\n"
        "        call('socket %d' % family, 41, family, kind, 0)\n"
        "for path in ['/x', '/etc/x', '/codebox/x', '/proc/sys/kernel/core_pattern', "
        "'/proc/sysrq-trigger', '/sys/x', '/proc/1/mem', '/dev/x']:\n"
        "    try:\n        os.close(os.open(path, os.O_WRONLY | os.O_CREAT)); print('wrote', "
        "path)\n    except OSError:\n        pass\n"
        "for path in ['/proc/1/fd', '/proc/kcore']:\n"
        "    try:\n        os.listdir(path) if path.endswith('fd') else open(path, 'rb').read(1); "
        "print('read', path)\n    except OSError:\n        pass\n"
        "try:\n    socket.create_connection(('1.1.1.1', 53), 1); print('network')\nexcept "
        "OSError:\n    pass\n"
        "print('suid:', [os.path.join(d, f) for d, _, fs in os.walk('/usr') for f in fs if "
        "os.lstat(os.path.join(d, f)).st_mode & 0o6000 and not os.path.islink(os.path.join(d, "
        "f))])\n"
        "s = open('/proc/self/status').read()\n"
        "print([l for l in s.splitlines() if l.startswith(('CapEff', 'CapBnd', 'NoNewPrivs', "
        "'Seccomp:'))], os.getuid())\n"
        "import mmap\n"
        "def int80():\n"
        "    m = mmap.mmap(-1, 4096, prot=7)\n    m.write(b'\\xb8\\x14\\0\\0\\0\\xcd\\x80\\xc3')\n"
        "    return "
        "ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(m)))()\n"
        "for name, entry in [('32-bit', int80), ('x32', lambda: libc.syscall(0x40000000 + 39))]:\n"
        "    pid = os.fork()\n    if pid == 0: os._exit(entry() > 0)\n"
        "    if os.waitpid(pid, 0)[1] == 256: print('got through:', name)\n"
        "os.kill(1, 9)\n"
        "print('end')\n",
        &seen);
    assert_string_equal(seen.out.p,
                        "suid: []\n['CapEff:\\t0000000000000000', 'CapBnd:\\t0000000000000000', "
                        "'NoNewPrivs:\\t1', 'Seccomp:\\t2'] 65532\nend\n");
}

static void refuses_forged_frames(void **state)
{
    IN_SANDBOX("python");
    run(sandbox, "python",
        "import os\nos.write(3, b'Z\\xff\\xff\\xff\\xff' + b'x' * 100)\nwhile True: pass", &seen);
    assert_int_equal(seen.result.status, CBX_RUN_KILLED);
    run(sandbox, "python",
        "import os, struct\nos.write(3, b'D' + struct.pack('<I', 8) + struct.pack('<I', 2 ** 31) + "
        "b'[[[[')\nprint('on')",
        &seen);
    assert_int_equal(seen.result.status, CBX_RUN_OK);
    assert_int_equal(seen.displays, 0);
    assert_string_equal(seen.out.p, "on\n");
}

static void refuses_a_permit_that_is_for_something_else(void **state)
{
    IN_SANDBOX("python");
    struct cbx_err err;
    clear(&seen);
    struct cbx_permit good = permit_for("python", "1"), p = good;
    assert_int_equal(cbx_sandbox_run(sandbox, &p, CBX_STR("2"), NULL, &seen.result, &err),
                     CBX_ESEAL);
    p = good;
    p.action = CBX_ACTION_OPEN;
    assert_int_equal(cbx_sandbox_run(sandbox, &p, CBX_STR("1"), NULL, &seen.result, &err),
                     CBX_ESEAL);
    p = good;
    snprintf(p.session, sizeof(p.session), "other");
    assert_int_equal(cbx_sandbox_run(sandbox, &p, CBX_STR("1"), NULL, &seen.result, &err),
                     CBX_ESEAL);
    p = permit_for("javascript", "1");
    assert_int_equal(cbx_sandbox_run(sandbox, &p, CBX_STR("1"), NULL, &seen.result, &err),
                     CBX_ESEAL);
}

static void reports_a_container_that_is_killed_during_a_run(void **state)
{
    IN_SANDBOX("python");
    seen.kill_on = cbx_sandbox_id(sandbox);
    run(sandbox, "python", "print('on', flush=True)\nwhile True: pass", &seen);
    assert_int_equal(seen.result.status, CBX_RUN_KILLED);
    assert_true(seen.result.session_lost);
    assert_false(cbx_sandbox_poll(sandbox));
}

static void reaps_what_carries_its_label(void **state)
{
    IN_SANDBOX("python");
    size_t removed = 0;
    struct cbx_err err;
    struct cbx_container_state ignored;
    assert_int_equal(
        cbx_sandbox_reap(engine, &(struct cbx_reap){ .instance = config.instance }, &removed, &err),
        0);
    assert_true(removed >= 1);
    assert_int_equal(cbx_engine_container_state(engine, cbx_sandbox_id(sandbox), &ignored, &err),
                     CBX_ENOTFOUND);
    (void)seen;
}

/* A gateway is killed and no other one starts: the lease ends. */
static void leaves_no_container_when_the_gateway_is_killed(void **state)
{
    (void)state;
    int ends[2];
    char id[CBX_CONTAINER_ID_CHARS + 1] = "", chunk[4096];
    struct cbx_err err;
    assert_int_equal(pipe(ends), 0);
    pid_t gateway = fork();
    if (gateway == 0) {
        struct cbx_engine *own = NULL;
        struct cbx_sandbox *sandbox = NULL;
        struct cbx_permit p = permit_for("python", "");
        struct cbx_sandbox_config short_lived = config;
        short_lived.lease_ms = 1000;
        if (cbx_engine_new(NULL, &own, &err) == 0 &&
            open_with(own, &short_lived, &p, &sandbox, &err) == 0) {
            (void)!write(ends[1], cbx_sandbox_id(sandbox), CBX_CONTAINER_ID_CHARS);
        }
        pause();
    }
    close(ends[1]);
    assert_int_equal(read(ends[0], id, CBX_CONTAINER_ID_CHARS), CBX_CONTAINER_ID_CHARS);
    close(ends[0]);
    kill(gateway, SIGKILL);
    waitpid(gateway, NULL, 0);
    CBX_AUTO(attach) attach = NULL;
    size_t n = 1;
    if (cbx_engine_container_attach(engine, id, &attach, &err) == 0) {
        while (cbx_attach_receive(attach, chunk, sizeof(chunk), 10000, &n, &err) == 0 && n > 0) {
        }
    }
    /* The stream has ended; the engine removes the container right behind it. Each question is one
     * round trip. */
    struct cbx_container_state left;
    int found = 0;
    for (time_t until = time(NULL) + 10; found == 0 && time(NULL) < until;) {
        found = cbx_engine_container_state(engine, id, &left, &err);
    }
    assert_int_equal(found, CBX_ENOTFOUND);
}

/* --- a host that dies, and the next one ------------------------------------------------------- */

/* Begins a run and dies in the middle of it; the container's id comes through the pipe. */
static void begin_and_die(const char *source, int to)
{
    struct cbx_engine *own = NULL;
    struct cbx_sandbox *sandbox = NULL;
    struct cbx_err err;
    struct cbx_permit p = permit_for("ipython", source);
    struct seen seen = { 0 };
    clear(&seen);
    if (cbx_engine_new(NULL, &own, &err) == 0 && open_with(own, &config, &p, &sandbox, &err) == 0) {
        run(sandbox, "ipython", "kept = 6", &seen);
        (void)!write(to, cbx_sandbox_id(sandbox), CBX_CONTAINER_ID_CHARS);
        run(sandbox, "ipython", source, &seen);
    }
    _exit(0);
}

static struct cbx_sandbox *adopt_from_the_dead(const char *source, int64_t after_ms)
{
    int ends[2];
    char id[CBX_CONTAINER_ID_CHARS + 1] = "";
    struct cbx_err err = { 0 };
    assert_int_equal(pipe(ends), 0);
    pid_t gateway = fork();
    if (gateway == 0) {
        begin_and_die(source, ends[1]);
    }
    close(ends[1]);
    assert_int_equal(read(ends[0], id, CBX_CONTAINER_ID_CHARS), CBX_CONTAINER_ID_CHARS);
    close(ends[0]);
    struct timespec moment = { .tv_nsec = after_ms * 1000000 };
    nanosleep(&moment, NULL); /* not to wait for something: to be in the middle of it */
    kill(gateway, SIGKILL);
    waitpid(gateway, NULL, 0);
    struct cbx_sandbox *sandbox = NULL;
    if (cbx_sandbox_adopt(engine, &config, id, &sandbox, &err) != 0) {
        fail_msg("%s", err.text);
    }
    return sandbox;
}

static void the_next_host_has_the_state_and_all_output_of_a_run(void **state)
{
    (void)state;
    for (int64_t after_ms = 50; after_ms < 1000; after_ms += 400) {
        CBX_AUTO(sandbox)
        sandbox = adopt_from_the_dead("import time\nfor i in range(4):\n    print(i, flush=True)\n "
                                      "   time.sleep(.2)\nkept * 7",
                                      after_ms);
        __attribute__((cleanup(drop))) struct seen seen = { 0 };
        struct cbx_sink sink = { .event = take_event, .context = &seen };
        struct cbx_err err;
        assert_string_equal(cbx_sandbox_session(sandbox), "live");
        assert_string_equal(cbx_sandbox_principal(sandbox), "tester");
        assert_string_equal(cbx_sandbox_run_id(sandbox), "d");
        assert_int_equal(cbx_sandbox_limits(sandbox)->memory_bytes, 256 << 20);
        assert_int_equal(cbx_sandbox_resume(sandbox, "other", NULL, &seen.result, &err),
                         CBX_ENOTFOUND);
        for (int i = 0; i < 2; i++) { /* and once more, until it is acknowledged */
            clear(&seen);
            assert_int_equal(cbx_sandbox_resume(sandbox, "d", &sink, &seen.result, &err), 0);
            assert_int_equal(seen.result.status, CBX_RUN_OK);
            assert_string_equal(seen.out.p, "0\n1\n2\n3\n");
            assert_string_equal(seen.plain.p, "42");
        }
        cbx_sandbox_acknowledge(sandbox, "d");
        run(sandbox, "ipython", "kept", &seen);
        assert_string_equal(seen.plain.p, "6");
    }
}

static void following_an_acknowledged_run_fails_at_once(void **state)
{
    IN_SANDBOX("python");
    struct cbx_result result = { 0 };
    struct cbx_err err;
    run(sandbox, "python", "print(1)", &seen);
    char id[64];
    snprintf(id, sizeof(id), "%s", cbx_sandbox_run_id(sandbox));
    cbx_sandbox_acknowledge(sandbox, "another");
    assert_int_equal(cbx_sandbox_resume(sandbox, id, NULL, &result, &err), 0);
    cbx_sandbox_acknowledge(sandbox, id);
    assert_int_equal(cbx_sandbox_resume(sandbox, id, NULL, &result, &err), CBX_ENOTFOUND);
}

static void cannot_be_adopted_without_its_secret(void **state)
{
    IN_SANDBOX("python");
    struct cbx_sandbox_config other = config;
    struct cbx_sandbox *taken = NULL;
    struct cbx_err err;
    (void)seen;
    other.secret[0] ^= 1;
    assert_int_not_equal(cbx_sandbox_adopt(engine, &other, cbx_sandbox_id(sandbox), &taken, &err),
                         0);
    assert_null(taken);
}

/* An engine accepts the attach all the same, without an error. */
static void a_container_that_does_not_run_is_not_waited_for(void **state)
{
    (void)state;
    char image[CBX_IMAGE_ID_CHARS + 1], id[CBX_CONTAINER_ID_CHARS + 1];
    struct cbx_sandbox *taken = NULL;
    struct cbx_err err;
    assert_int_equal(cbx_engine_image_id(engine, "codebox-python:latest", image, &err), 0);
    CBX_AUTO_JSON body = cbx_container_body(&config, "python", &live_limits, image);
    assert_int_equal(cbx_engine_container_create(engine, body, id, &err), 0);
    int failed = cbx_sandbox_adopt(engine, &config, id, &taken, &err);
    cbx_engine_container_remove(engine, id, NULL);
    assert_null(taken);
    assert_int_equal(failed, CBX_ENOTFOUND);
}

static void a_prewarmed_sandbox_is_claimed_by_one_permit_once(void **state)
{
    (void)state;
    struct cbx_err err;
    CBX_AUTO(sandbox) sandbox = NULL;
    struct cbx_permit p = permit_for("python", "print(1)"), wrong = p;
    __attribute__((cleanup(drop))) struct seen seen = { 0 };
    struct cbx_sink sink = { .event = take_event, .context = &seen };
    clear(&seen);
    assert_int_equal(cbx_sandbox_prepare(engine, &config, "python", &p.limits, &sandbox, &err), 0);
    assert_int_equal(cbx_sandbox_run(sandbox, &p, CBX_STR("print(1)"),
                                     &(struct cbx_run_options){ .sink = &sink }, &seen.result,
                                     &err),
                     CBX_ESEAL);
    wrong.limits.memory_bytes *= 2;
    assert_int_equal(cbx_sandbox_claim(sandbox, &wrong, &err), CBX_ESEAL);
    wrong = p;
    wrong.action = CBX_ACTION_CHECK;
    assert_int_equal(cbx_sandbox_claim(sandbox, &wrong, &err), CBX_ESEAL);
    assert_int_equal(cbx_sandbox_claim(sandbox, &p, &err), 0);
    assert_int_equal(cbx_sandbox_claim(sandbox, &p, &err), CBX_ESEAL);
    snprintf(wrong.principal, sizeof(wrong.principal), "somebody else");
    wrong.action = CBX_ACTION_RUN;
    assert_int_equal(cbx_sandbox_run(sandbox, &wrong, CBX_STR("print(1)"),
                                     &(struct cbx_run_options){ .sink = &sink }, &seen.result,
                                     &err),
                     CBX_ESEAL);
    run(sandbox, "python", "print(1)", &seen);
    assert_string_equal(seen.out.p, "1\n");
}

/* --- limits ----------------------------------------------------------------------------------- */

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

static void ends_what_uses_too_much_processor_time(void **state)
{
    IN_SANDBOX("python");
    struct cbx_permit p = permit_for("python", "while True: pass");
    struct cbx_sink sink = { .event = take_event, .context = &seen };
    struct cbx_err err;
    clear(&seen);
    p.limits.cpu_ms = 300;
    assert_int_equal(cbx_sandbox_run(sandbox, &p, CBX_STR("while True: pass"),
                                     &(struct cbx_run_options){ .sink = &sink }, &seen.result,
                                     &err),
                     0);
    assert_int_equal(seen.result.status, CBX_RUN_CPU);
    assert_true(seen.result.cpu_ms >= 300 && seen.result.cpu_ms < 5000);
    run(sandbox, "python", "print('here')", &seen); /* it obeyed the interrupt */
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

/* --- questions, files, a new beginning -------------------------------------------------------- */

static void asks_for_input_only_when_the_client_answers(void **state)
{
    IN_SANDBOX("python");
    static const char source[] = "import getpass\na = input('name? ')\nb = getpass.getpass()\n"
                                 "print(a, b)\ninput()";
    struct cbx_permit p = permit_for("python", source);
    struct cbx_sink sink = { .event = take_event, .context = &seen };
    struct cbx_run_options interactive = { .sink = &sink, .interactive = true };
    struct cbx_err err;
    clear(&seen);
    seen.answers_for = sandbox;
    assert_int_equal(
        cbx_sandbox_run(sandbox, &p, cbx_str_of(source), &interactive, &seen.result, &err), 0);
    assert_string_equal(seen.asked.p, "name? |Password: *||");
    assert_string_equal(seen.out.p, "ann ann\n");
    assert_string_equal(seen.result.ename, "EOFError");
    seen.answers_for = NULL;
    run(sandbox, "python", "input()", &seen);
    assert_string_equal(seen.result.ename, "EOFError");
    assert_non_null(strstr(seen.result.evalue, "has no answer"));
}

static void moves_files_in_and_out(void **state)
{
    IN_SANDBOX("python");
    static const char odd[] = "a b/\xc3\xa9\nx/..y";
    struct cbx_err err;
    struct cbx_str name = cbx_str_of(odd);
    CBX_AUTO_DONE(buf) bytes;
    cbx_buf_init(&bytes, 1 << 24);
    assert_int_equal(cbx_sandbox_put(sandbox, name, (struct cbx_str){ "\0\xff", 2 }, &err), 0);
    assert_int_equal(cbx_sandbox_get(sandbox, name, &bytes, &err), 0);
    assert_int_equal(bytes.len, 2);
    run(sandbox, "python", "print(open('a b/\xc3\xa9\\nx/..y', 'rb').read())", &seen);
    assert_string_equal(seen.out.p, "b'\\x00\\xff'\n");
    CBX_AUTO_JSON list = NULL;
    bool complete;
    assert_int_equal(cbx_sandbox_list(sandbox, CBX_STR("a b"), &list, &complete, &err), 0);
    assert_int_equal(json_array_size(list), 1);
    assert_true(complete);
    assert_int_equal(cbx_sandbox_delete(sandbox, CBX_STR("a b"), &err), 0);
    assert_int_equal(cbx_sandbox_get(sandbox, name, &bytes, &err), CBX_ENOTFOUND);
}

static void no_file_leads_out_of_the_workspace_or_waits(void **state)
{
    IN_SANDBOX("python");
    struct cbx_err err;
    run(sandbox, "python",
        "import os, socket\nos.symlink('/etc/passwd', 'link')\nos.symlink('/etc', 'dir')\n"
        "os.mkfifo('fifo')\nsocket.socket(socket.AF_UNIX).bind('sock')\n"
        "f = open('sparse', 'wb'); f.truncate(12 << 20)\nos.mkdir('d'); os.link('sparse', "
        "'d/hard')\n"
        "open('n' * 255, 'w')\nos.symlink('.', 'self')",
        &seen);
    assert_int_equal(seen.result.status, CBX_RUN_OK);
    static const char *const paths[] = { "link",
                                         "dir/passwd",
                                         "fifo",
                                         "sock",
                                         "/etc/passwd",
                                         "../etc/passwd",
                                         "d/../../etc/passwd",
                                         "self/self/link",
                                         "/proc/1/environ",
                                         "d" };
    CBX_AUTO_DONE(buf) bytes;
    cbx_buf_init(&bytes, 1 << 24);
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        int failed = cbx_sandbox_get(sandbox, cbx_str_of(paths[i]), &bytes, &err);
        if (failed != CBX_EINVAL && failed != CBX_ENOTFOUND) {
            fail_msg("'%s' gave %d", paths[i], failed);
        }
        assert_int_equal(bytes.len, 0);
        failed = cbx_sandbox_put(sandbox, cbx_str_of(paths[i]), CBX_STR("x"), &err);
        assert_true(failed == CBX_EINVAL || failed == CBX_ENOTFOUND);
    }
    assert_int_equal(cbx_sandbox_get(sandbox, CBX_STR("sparse"), &bytes, &err), CBX_ETOOBIG);
    assert_int_equal(cbx_sandbox_delete(sandbox, CBX_STR("dir"), &err), 0); /* the link alone */
    assert_int_equal(cbx_sandbox_delete(sandbox, CBX_STR(".."), &err), CBX_EINVAL);
    CBX_AUTO_JSON list = NULL;
    bool complete;
    assert_int_equal(cbx_sandbox_list(sandbox, CBX_STR(""), &list, &complete, &err), 0);
    assert_int_equal(json_array_size(list), 3); /* d, the long one, sparse: no links, no devices */
}

struct insistence {
    struct cbx_sandbox *sandbox;
    atomic_bool over;
};

static void *interrupt_until_over(void *context)
{
    struct insistence *i = context;
    while (!atomic_load(&i->over)) {
        cbx_sandbox_interrupt(i->sandbox);
        sched_yield();
    }
    return NULL;
}

static void a_run_that_is_interrupted_before_its_kernel_is_there_never_begins(void **state)
{
    IN_SANDBOX("python");
    struct cbx_err err;
    pthread_t thread;
    struct insistence insistence = { .sandbox = sandbox };
    run(sandbox, language, "1", &seen);
    assert_int_equal(cbx_sandbox_reset(sandbox, &err), 0); /* the next run needs a new kernel */
    assert_int_equal(pthread_create(&thread, NULL, interrupt_until_over, &insistence), 0);
    run(sandbox, language, "open('began', 'w')", &seen);
    atomic_store(&insistence.over, true);
    pthread_join(thread, NULL);
    assert_int_equal(seen.result.status, CBX_RUN_KILLED);
    assert_int_equal(seen.result.signal, SIGINT);
    assert_false(seen.result.session_lost);
    run(sandbox, language, "import os\nprint(os.listdir('.'))", &seen);
    assert_string_equal(seen.out.p, "[]\n");
}

static void begins_anew_and_keeps_the_files(void **state)
{
    IN_SANDBOX("ipython");
    struct cbx_err err;
    run(sandbox, "ipython", "x = 1; open('kept', 'w').write('k')", &seen);
    assert_int_equal(cbx_sandbox_reset(sandbox, &err), 0);
    run(sandbox, "ipython", "'x' in globals(), open('kept').read()", &seen);
    assert_string_equal(seen.plain.p, "(False, 'k')");
}

int main(int argc, char **argv)
{
    if (live_begin() != 0) {
        return LIVE_NO_ENGINE;
    }
    if (argc > 1 && strcmp(argv[1], "hold") == 0) { /* for the script `inspect` */
        CBX_AUTO(sandbox) sandbox = open_sandbox("python");
        puts(cbx_sandbox_id(sandbox));
        fflush(stdout);
        while (getchar() != EOF) {
        }
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_state_and_streams_apart),
        cmocka_unit_test(runs_javascript_with_state),
        cmocka_unit_test(shows_a_figure_as_png),
        cmocka_unit_test(reports_exit_status_traceback_and_files),
        cmocka_unit_test(kills_a_tree_that_ignores_signals_at_the_limit),
        cmocka_unit_test(caps_a_flood_and_the_session_survives),
        cmocka_unit_test(reports_out_of_memory),
        cmocka_unit_test(outlives_a_fork_bomb),
        cmocka_unit_test(refuses_attempts_to_leave_the_sandbox),
        cmocka_unit_test(refuses_forged_frames),
        cmocka_unit_test(refuses_a_permit_that_is_for_something_else),
        cmocka_unit_test(reports_a_container_that_is_killed_during_a_run),
        cmocka_unit_test(leaves_no_container_when_the_gateway_is_killed),
        cmocka_unit_test(the_next_host_has_the_state_and_all_output_of_a_run),
        cmocka_unit_test(following_an_acknowledged_run_fails_at_once),
        cmocka_unit_test(cannot_be_adopted_without_its_secret),
        cmocka_unit_test(a_container_that_does_not_run_is_not_waited_for),
        cmocka_unit_test(a_prewarmed_sandbox_is_claimed_by_one_permit_once),
        cmocka_unit_test(keeps_the_head_and_the_tail_of_a_flood),
        cmocka_unit_test(ends_what_uses_too_much_processor_time),
        cmocka_unit_test(ends_threads_that_continue_after_a_forged_end),
        cmocka_unit_test(asks_for_input_only_when_the_client_answers),
        cmocka_unit_test(moves_files_in_and_out),
        cmocka_unit_test(no_file_leads_out_of_the_workspace_or_waits),
        cmocka_unit_test(a_run_that_is_interrupted_before_its_kernel_is_there_never_begins),
        cmocka_unit_test(begins_anew_and_keeps_the_files),
        cmocka_unit_test(reaps_what_carries_its_label),
    };
    LIVE_RUN(argc, argv, tests);
}
