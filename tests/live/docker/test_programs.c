/* SPDX-License-Identifier: MIT
 * Programs that run once, on the real engine: they end like under their interpreter, and have the
 * arguments of their permit. And in a session: output after the end of a run. Exit 77 without an
 * engine. */
#include "tests/live/docker/live.h"

/* Runs it in a sandbox of its own, as the only run. */
static void run_once(const char *language, const char *source, const char *file_name,
                     struct cbx_str arguments, struct seen *seen)
{
    struct cbx_permit p = permit_for(language, source);
    p.session[0] = '\0';
    snprintf(p.file_name, sizeof(p.file_name), "%s", file_name);
    p.arguments = arguments;
    CBX_AUTO(sandbox) sandbox = open_for(&p);
    run_permit(sandbox, &p, source, seen);
}

#define ONCE(language, source)                                                                     \
    __attribute__((cleanup(drop))) struct seen seen = { 0 };                                       \
    (void)state;                                                                                   \
    run_once(language, source, "", CBX_STR(""), &seen)
#define WITH_ARGUMENTS(language, source, name, arguments)                                          \
    __attribute__((cleanup(drop))) struct seen seen = { 0 };                                       \
    (void)state;                                                                                   \
    run_once(language, source, name, CBX_STR(arguments), &seen)

/* --- how a program ends ----------------------------------------------------------------------- */

static void python_joins_its_threads(void **state)
{
    ONCE("python", "import threading, time\n"
                   "def late():\n    time.sleep(0.5)\n    print('thread')\n"
                   "threading.Thread(target=late).start()\n"
                   "threading.Timer(0.7, print, ['timer']).start()\n"
                   "threading.Thread(target=time.sleep, args=[30], daemon=True).start()\n"
                   "print('main')");
    assert_string_equal(seen.out.p, "main\nthread\ntimer\n");
    assert_int_equal(seen.result.status, CBX_RUN_OK);
}

static void python_finishes_the_jobs_of_its_executors(void **state)
{
    ONCE("python", "from concurrent.futures import ThreadPoolExecutor\nimport time\n"
                   "pool = ThreadPoolExecutor(2)\n"
                   "def work(n):\n    time.sleep(0.2)\n    print(n)\n"
                   "for n in range(4):\n    pool.submit(work, n)\n");
    assert_int_equal(seen.out.len, 8);
    assert_int_equal(seen.result.status, CBX_RUN_OK);
}

static void python_runs_its_exit_handlers(void **state)
{
    ONCE("python", "import atexit, weakref\n"
                   "class Thing:\n    def __del__(self):\n        print('del')\n"
                   "class Other: pass\nother = Other()\n"
                   "atexit.register(print, 'first')\natexit.register(print, 'second')\n"
                   "weakref.finalize(other, print, 'finalized')\nthing = Thing()\n"
                   "raise ValueError('no')");
    assert_string_equal(seen.out.p, "finalized\nsecond\nfirst\ndel\n");
    assert_string_equal(seen.result.ename, "ValueError");
    assert_int_equal(seen.result.exit_code, 1);
}

static void a_cell_that_is_run_once_ends_as_a_program_does(void **state)
{
    ONCE("ipython", "import atexit, threading, time\natexit.register(print, 'exit')\n"
                    "threading.Thread(target=lambda: (time.sleep(0.3), print('thread'))).start()\n"
                    "print('main')");
    assert_string_equal(seen.out.p, "main\nthread\nexit\n");
}

static void python_keeps_the_exit_status_of_sys_exit(void **state)
{
    ONCE("python", "import atexit, sys\natexit.register(print, 'exit')\nsys.exit(3)");
    assert_string_equal(seen.out.p, "exit\n");
    assert_int_equal(seen.result.exit_code, 3);
    assert_null(seen.result.ename);
}

static void a_thread_that_never_ends_is_stopped_at_the_time_limit(void **state)
{
    (void)state;
    __attribute__((cleanup(drop))) struct seen seen = { 0 };
    const char *source = "import threading\nthreading.Thread(target=threading.Event().wait)"
                         ".start()\nprint('main')";
    struct cbx_permit p = permit_for("python", source);
    p.session[0] = '\0';
    p.limits.wall_ms = 1500;
    CBX_AUTO(sandbox) sandbox = open_for(&p);
    run_permit(sandbox, &p, source, &seen);
    assert_string_equal(seen.out.p, "main\n");
    assert_int_equal(seen.result.status, CBX_RUN_TIMEOUT);
}

static void javascript_runs_its_exit_listeners(void **state)
{
    ONCE("javascript", "process.on('exit', (code) => console.log('exit', code));\n"
                       "let n = 0;\n"
                       "process.on('beforeExit', () => { if (n++ < 2) setImmediate(() => "
                       "console.log('more', n)); });\n"
                       "setTimeout(() => console.log('timer'), 300);\n"
                       "Promise.resolve().then(() => console.log('promise'));\n"
                       "process.exitCode = 4;");
    assert_string_equal(seen.out.p, "promise\ntimer\nmore 1\nmore 2\nexit 4\n");
    assert_int_equal(seen.result.exit_code, 4);
}

static void javascript_runs_its_exit_listeners_after_an_error(void **state)
{
    ONCE("javascript", "process.on('exit', (code) => console.log('exit', code));\n"
                       "throw new RangeError('no');");
    assert_string_equal(seen.out.p, "exit 1\n");
    assert_string_equal(seen.result.ename, "RangeError");
    assert_int_equal(seen.result.exit_code, 1);
}

static void an_error_in_an_exit_listener_is_reported(void **state)
{
    ONCE("javascript", "process.on('exit', () => { throw new RangeError('late'); });");
    assert_string_equal(seen.result.ename, "RangeError");
    assert_int_equal(seen.result.status, CBX_RUN_ERROR);
}

/* --- arguments -------------------------------------------------------------------------------- */

#define ARGUMENTS "a b\0--x='$(id)'\0\0\xc3\xa9\0"
#define SHOWN     "a b|--x='$(id)'||\xc3\xa9\n"

static void python_has_its_arguments(void **state)
{
    WITH_ARGUMENTS("python",
                   "import sys\nprint(sys.argv[0], __file__)\nprint(*sys.argv[1:], "
                   "sep='|')\nassert __name__ == '__main__'\nraise KeyError",
                   "prog.py", ARGUMENTS);
    assert_string_equal(seen.out.p, "prog.py /workspace/prog.py\n" SHOWN);
    assert_non_null(strstr(seen.result.traceback, "File \"/workspace/prog.py\", line 5"));
}

static void javascript_has_its_arguments(void **state)
{
    WITH_ARGUMENTS("javascript",
                   "console.log(process.argv[1], __filename, __dirname, require.main === module);\n"
                   "console.log(process.argv.slice(2).join('|'));",
                   "prog.js", ARGUMENTS);
    assert_string_equal(seen.out.p,
                        "/workspace/prog.js /workspace/prog.js /workspace true\n" SHOWN);
}

static void typescript_has_its_arguments(void **state)
{
    WITH_ARGUMENTS("typescript",
                   "const all: string[] = process.argv.slice(2);\n"
                   "console.log(all.join('|'));",
                   "prog.ts", ARGUMENTS);
    assert_string_equal(seen.out.p, SHOWN);
}

static void shell_has_its_arguments(void **state)
{
    WITH_ARGUMENTS("shell", "echo \"$0 $#\"; (IFS='|'; echo \"$*\")", "prog.sh", ARGUMENTS);
    assert_string_equal(seen.out.p, "prog.sh 4\n" SHOWN);
}

static void c_has_its_arguments(void **state)
{
    WITH_ARGUMENTS("c",
                   "#include <stdio.h>\nint main(int argc, char **argv)\n{\n"
                   "    puts(argv[0]);\n    for (int i = 1; i < argc; i++)\n"
                   "        printf(\"%s%s\", argv[i], i < argc - 1 ? \"|\" : \"\\n\");\n}",
                   "prog.c", ARGUMENTS);
    assert_string_equal(seen.out.p, "prog\n" SHOWN);
}

static void the_most_arguments_arrive(void **state)
{
    (void)state;
    static const char *const counts[][2] = {
        { "python", "import sys\nprint(len(sys.argv), len(sys.argv[1]))" },
        { "javascript", "console.log(process.argv.length - 1, process.argv[2].length)" },
        { "shell", "echo $(($# + 1)) ${#1}" },
    };
    char all[CBX_ARGUMENTS_BYTES_MAX];
    memset(all, 'x', sizeof(all));
    for (size_t i = 0; i < CBX_ARGUMENTS_MAX; i++) {
        all[sizeof(all) - 1 - 2 * i] = '\0';
    }
    size_t first = sizeof(all) - 2 * CBX_ARGUMENTS_MAX + 1;
    char want[64];
    snprintf(want, sizeof(want), "%d %zu\n", CBX_ARGUMENTS_MAX + 1, first);
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        __attribute__((cleanup(drop))) struct seen seen = { 0 };
        run_once(counts[i][0], counts[i][1], "p", (struct cbx_str){ .p = all, .len = sizeof(all) },
                 &seen);
        assert_string_equal(seen.out.p, want);
    }
}

/* --- after a run, in a session ---------------------------------------------------------------- */

/* Between two runs: creates the file `go` in the workspace and waits for `done`. */
static void let_it_go(struct cbx_sandbox *sandbox)
{
    struct cbx_err err = { 0 };
    CBX_AUTO_DONE(buf) done;
    cbx_buf_init(&done, 64);
    assert_int_equal(cbx_sandbox_put(sandbox, CBX_STR("go"), CBX_STR(""), &err), 0);
    int failed;
    do {
        failed = cbx_sandbox_get(sandbox, CBX_STR("done"), &done, &err);
    } while (failed == CBX_ENOTFOUND);
    assert_int_equal(failed, 0);
}

static void a_thread_of_an_earlier_cell_is_late(void **state)
{
    IN_SANDBOX("ipython");
    RUN("import os, threading, time\n"
        "def late():\n"
        "    while not os.path.exists('go'): time.sleep(0.01)\n"
        "    print('late'); open('done', 'w').close()\n"
        "threading.Thread(target=late).start(); print('now')");
    assert_string_equal(seen.out.p, "now\n");
    assert_string_equal(seen.late.p, "");
    let_it_go(sandbox);
    RUN("print('next')");
    assert_string_equal(seen.late.p, "late\n");
    assert_string_equal(seen.out.p, "next\n");
    assert_int_equal(seen.result.stdout_bytes, 5);
    RUN("1");
    assert_string_equal(seen.late.p, "");
}

static void a_thread_of_an_earlier_cell_is_late_without_the_end_of_its_line(void **state)
{
    IN_SANDBOX("ipython");
    RUN("import os, threading, time\n"
        "def late():\n"
        "    while not os.path.exists('go'): time.sleep(0.01)\n"
        "    print('late', end=''); open('done', 'w').close()\n"
        "threading.Thread(target=late).start()");
    let_it_go(sandbox);
    RUN("print('next')");
    assert_string_equal(seen.late.p, "late");
    assert_string_equal(seen.out.p, "next\n");
}

static void a_process_of_an_earlier_cell_is_late(void **state)
{
    IN_SANDBOX("shell");
    RUN("(until [ -e go ]; do sleep 0.01; done; echo late; >done) &");
    let_it_go(sandbox);
    RUN("echo next");
    assert_string_equal(seen.late.p, "late\n");
    assert_string_equal(seen.out.p, "next\n");
}

static void a_timer_that_does_not_hold_its_cell_is_late(void **state)
{
    IN_SANDBOX("javascript");
    RUN("const fs = require('fs');\nconst timer = setInterval(() => { if (fs.existsSync('go')) {\n"
        "clearInterval(timer); console.log('late'); fs.writeFileSync('done', ''); } }, 10);\n"
        "timer.unref(); 1");
    let_it_go(sandbox);
    RUN("console.log('next')");
    assert_string_equal(seen.late.p, "late\n");
    assert_string_equal(seen.out.p, "next\n");
}

/* --- prewarmed -------------------------------------------------------------------------------- */

static void a_warm_kernel_has_drawn_a_figure_and_shows_none(void **state)
{
    IN_SANDBOX("ipython");
    cbx_sandbox_warm(sandbox);
    while (!cbx_sandbox_is_warm(sandbox)) {
        assert_true(cbx_sandbox_ping(sandbox));
    }
    RUN("import filecmp, os, sys\n"
        "lists = os.listdir('/codebox/matplotlib')\n"
        "print(len(lists), filecmp.cmpfiles('/codebox/matplotlib', '/tmp/matplotlib', lists, "
        "False)[0] == lists)\n"
        "print('matplotlib.backends.backend_agg' in sys.modules, 'PIL.PngImagePlugin' in "
        "sys.modules, 'pandas' in sys.modules)\n"
        "import matplotlib.pyplot as plt\nprint(plt.get_fignums(), plt.figure().number)\n"
        "plt.close()");
    assert_string_equal(seen.out.p, "1 True\nTrue True True\n[] 1\n");
    assert_string_equal(seen.late.p, "");
    assert_int_equal(seen.displays, 0);
}

static void a_program_that_plots_uses_the_fonts_of_the_image(void **state)
{
    ONCE("python", "import matplotlib.pyplot as plt, os\nplt.plot([1, 2])\nplt.show()\n"
                   "name = os.listdir('/codebox/matplotlib')[0]\n"
                   "print(open('/tmp/matplotlib/' + name).read() == "
                   "open('/codebox/matplotlib/' + name).read())");
    assert_string_equal(seen.out.p, "True\n");
    assert_true(seen.png);
    assert_string_equal(seen.err.p, "");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(python_joins_its_threads),
        cmocka_unit_test(python_finishes_the_jobs_of_its_executors),
        cmocka_unit_test(python_runs_its_exit_handlers),
        cmocka_unit_test(a_cell_that_is_run_once_ends_as_a_program_does),
        cmocka_unit_test(python_keeps_the_exit_status_of_sys_exit),
        cmocka_unit_test(a_thread_that_never_ends_is_stopped_at_the_time_limit),
        cmocka_unit_test(javascript_runs_its_exit_listeners),
        cmocka_unit_test(javascript_runs_its_exit_listeners_after_an_error),
        cmocka_unit_test(an_error_in_an_exit_listener_is_reported),
        cmocka_unit_test(python_has_its_arguments),
        cmocka_unit_test(javascript_has_its_arguments),
        cmocka_unit_test(typescript_has_its_arguments),
        cmocka_unit_test(shell_has_its_arguments),
        cmocka_unit_test(c_has_its_arguments),
        cmocka_unit_test(the_most_arguments_arrive),
        cmocka_unit_test(a_thread_of_an_earlier_cell_is_late),
        cmocka_unit_test(a_thread_of_an_earlier_cell_is_late_without_the_end_of_its_line),
        cmocka_unit_test(a_process_of_an_earlier_cell_is_late),
        cmocka_unit_test(a_timer_that_does_not_hold_its_cell_is_late),
        cmocka_unit_test(a_warm_kernel_has_drawn_a_figure_and_shows_none),
        cmocka_unit_test(a_program_that_plots_uses_the_fonts_of_the_image),
    };
    int failed = live_begin();
    if (failed) {
        return failed;
    }
    LIVE_RUN(argc, argv, tests);
}
