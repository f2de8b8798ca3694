/* SPDX-License-Identifier: MIT
 * Sandboxes on the real engine: their runs, the permits that they accept, and the access of
 * programs. Exit 77 without an engine. Nothing here sleeps: every wait is for an event that has to
 * come. */
#include "tests/live/docker/live.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

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
        "try:\n    os.kill(1, 9)\nexcept PermissionError:\n    pass\n"
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

static void a_prewarmed_sandbox_is_claimed_by_one_permit_once(void **state)
{
    (void)state;
    struct cbx_err err;
    CBX_AUTO(sandbox) sandbox = NULL;
    struct cbx_permit p = permit_for("python", "print(1)"), wrong = p;
    __attribute__((cleanup(drop))) struct seen seen = { 0 };
    struct cbx_sink sink = { .event = take_event, .context = &seen };
    clear(&seen);
    assert_int_equal(
        cbx_sandbox_prepare(engine, &config, "python", &p.limits, NULL, &sandbox, &err), 0);
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
    p.ledger = *cbx_sandbox_ledger(sandbox);
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
    assert_int_equal(cbx_sandbox_reset(sandbox, cbx_sandbox_ledger(sandbox), &err),
                     0); /* the next run needs a new kernel */
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
    assert_int_equal(cbx_sandbox_reset(sandbox, cbx_sandbox_ledger(sandbox), &err), 0);
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
        cmocka_unit_test(refuses_attempts_to_leave_the_sandbox),
        cmocka_unit_test(refuses_forged_frames),
        cmocka_unit_test(refuses_a_permit_that_is_for_something_else),
        cmocka_unit_test(a_prewarmed_sandbox_is_claimed_by_one_permit_once),
        cmocka_unit_test(asks_for_input_only_when_the_client_answers),
        cmocka_unit_test(a_run_that_is_interrupted_before_its_kernel_is_there_never_begins),
        cmocka_unit_test(begins_anew_and_keeps_the_files),
    };
    LIVE_RUN(argc, argv, tests);
}
