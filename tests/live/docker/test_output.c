/* SPDX-License-Identifier: MIT
 * Output of a program arrives in its order and form, and an interrupt keeps the state: Python,
 * JavaScript and TypeScript, on the real engine. Exit 77 without an engine. Nothing here sleeps. */
#include "tests/live/docker/live.h"

/* Runs it: it ends well, and this arrives. */
#define SHOWS(source, expected)                                                                    \
    do {                                                                                           \
        RUN(source);                                                                               \
        assert_string_equal(seen.order.p, expected);                                               \
        assert_null(seen.result.ename);                                                            \
        assert_int_equal(seen.result.status, CBX_RUN_OK);                                          \
    } while (0)

/* Runs it: it fails with this, and its traceback has that in it. */
#define FAILS(source, name, text)                                                                  \
    do {                                                                                           \
        RUN(source);                                                                               \
        assert_int_equal(seen.result.status, CBX_RUN_ERROR);                                       \
        assert_string_equal(seen.result.ename, name);                                              \
        assert_non_null(strstr(seen.result.traceback, text));                                      \
        assert_false(seen.result.session_lost);                                                    \
    } while (0)

#define VALUE(source, expected)                                                                    \
    do {                                                                                           \
        RUN(source);                                                                               \
        assert_string_equal(seen.value.p, expected);                                               \
    } while (0)

/* Both ways to end a program: an interrupt, and its time limit. */
static void assert_obeys(struct cbx_sandbox *sandbox, const char *language, const char *source,
                         const char *ename, struct seen *seen)
{
    for (int by_clock = 0; by_clock < 2; by_clock++) {
        run_limited(sandbox, language,
                    strcmp(language, "ipython") == 0 ? "kept = 6" : "globalThis.kept = 6", 120000,
                    seen);
        seen->interrupt = by_clock ? NULL : sandbox;
        run_limited(sandbox, language, source, by_clock ? 700 : 120000, seen);
        if (seen->result.session_lost || seen->result.ename == NULL ||
            strcmp(seen->result.ename, ename) != 0) {
            fail_msg("%s, ended by %s: %s, %s, %s%s", source, by_clock ? "the clock" : "somebody",
                     cbx_run_status_name(seen->result.status),
                     seen->result.ename != NULL ? seen->result.ename : "no error",
                     seen->result.evalue != NULL ? seen->result.evalue : "",
                     seen->result.session_lost ? ", the session is lost" : "");
        }
        assert_int_equal(seen->result.status, by_clock ? CBX_RUN_TIMEOUT : CBX_RUN_ERROR);
        run_limited(sandbox, language, "kept", 120000, seen);
        if (strcmp(seen->value.p, "6") != 0) {
            fail_msg("after %s, ended by %s: %s, %s, '%s'", source,
                     by_clock ? "the clock" : "somebody", cbx_run_status_name(seen->result.status),
                     seen->result.ename != NULL ? seen->result.ename : "no error", seen->value.p);
        }
        assert_string_equal(seen->order.p, "result(text/plain)"); /* and nothing goes on */
    }
}

/* --- Python ----------------------------------------------------------------------------------- */

static void python_shows_everything_that_ipython_can_display(void **state)
{
    IN_SANDBOX("ipython");
    SHOWS("from IPython.display import *\n"
          "display(HTML('<b>'), JSON({}), Latex('$x$'), Markdown('#'), SVG('<svg/>'), "
          "Image(data=b'\\xff\\xd8\\xff', format='jpeg'))",
          "display(text/plain text/html)display(text/plain application/json)display(text/plain "
          "text/latex)display(text/plain text/markdown)display(text/plain image/svg+xml)"
          "display(image/jpeg text/plain)");
    SHOWS("class P:\n    def _repr_pdf_(self): return b'%PDF-\\xff'\nP()",
          "result(text/plain application/pdf)");
    SHOWS("h = display(1, display_id=True)\nh.update(2)\nclear_output()\nprint('on')",
          "display(text/plain)display(text/plain)out(on\n)");
    SHOWS("import pandas\npandas.DataFrame({'a': [1]})", "result(text/plain text/html)");
    assert_string_equal(seen.value.p, "   a\n0  1");
    SHOWS("display({'image/png': 'no base64'}, raw=True)", "display(image/png)");
}

static void python_shows_figures_in_their_place_with_every_backend(void **state)
{
    IN_SANDBOX("ipython");
    static const char figures[] = "import matplotlib.pyplot as plt\nprint(1)\nplt.plot([1])\n"
                                  "plt.show()\nprint(2)\nplt.figure(); plt.plot([2])\n"
                                  "plt.figure(); plt.plot([3])\nprint(3)";
    static const char shown[] = "out(1\n)display(text/plain image/png)out(2\n3\n)"
                                "display(text/plain image/png)display(text/plain image/png)";
    SHOWS(figures, shown);
    SHOWS("import matplotlib\nmatplotlib.use('Agg')", "");
    SHOWS(figures, shown);
    SHOWS("plt.close('all')\nplt.plot([1])\nplt.savefig('f.png')", "");
}

static void a_value_or_figure_that_cannot_be_shown_is_an_error(void **state)
{
    IN_SANDBOX("ipython");
    FAILS("class R:\n    def __repr__(self): raise RuntimeError('no')\nR()", "RuntimeError",
          "in __repr__");
    FAILS("10 ** 5000", "ValueError", "digits");
    FAILS("import matplotlib.pyplot as plt\n_ = plt.title(r'$\\badmath$')", "ValueError",
          "badmath");
}

static void python_cells_are_those_of_a_notebook_with_and_without_ipython(void **state)
{
    static const char *const loads[] = { "pass", "get_ipython() and None" };
    for (int i = 0; i < 2; i++) {
        IN_SANDBOX("ipython");
        RUN(loads[i]);
        VALUE("20 + 21", "41");
        VALUE("_ + 1", "42");
        VALUE("_2, Out[3], In[2]", "(41, 42, '20 + 21')");
        SHOWS("'quiet';", "");
        VALUE("import asyncio\nawait asyncio.sleep(0, 'v')", "'v'");
        VALUE("{'k': [1.5, None, b'x']}", "{'k': [1.5, None, b'x']}");
        VALUE("{3, 1, 2}", "{1, 2, 3}");
        VALUE("list(range(30))[-1:] * 40",
              "[29,\n 29,\n 29,\n 29,\n 29,\n 29,\n 29,\n 29,\n 29,\n 29,\n 29,\n 29,\n 29,\n "
              "29,\n 29,\n 29,\n 29,\n 29,\n 29,\n 29,\n 29,\n 29,\n 29,\n 29,\n 29,\n 29,\n "
              "29,\n 29,\n 29,\n 29,\n 29,\n 29,\n 29,\n 29,\n 29,\n 29,\n 29,\n 29,\n 29,\n "
              "29]");
        FAILS("print(1)\nreturn 2", "SyntaxError", "'return' outside function");
        assert_string_equal(seen.order.p, "out(1\n)");
        FAILS("(1,", "SyntaxError", "was never closed");
        FAILS("from __future__ import annotations\nx: Undefined = 1\n1 / 0", "ZeroDivisionError",
              "<cell-12>\", line 3");
        SHOWS("y: Undefined2 = 1", "");
    }
}

static void only_cells_that_need_ipython_load_it(void **state)
{
    IN_SANDBOX("ipython");
    SHOWS("import json\nfor _ in range(2): print(json.dumps({}))\nx = 5\nx",
          "out({}\n{}\n)result(text/plain)");
    VALUE("import sys\n'IPython' in sys.__dict__['mod' 'ules']", "False");
    SHOWS("display('now')", "display(text/plain)");
    VALUE("'IPython' in sys.__dict__['mod' 'ules']", "True");
    VALUE("_1", "5");
}

static void python_bytes_keep_their_order_whichever_way_they_come(void **state)
{
    IN_SANDBOX("ipython");
    SHOWS("import os, subprocess, sys\n"
          "for i in range(10):\n"
          "    print('p', end='')\n    os.write(1, b'w')\n    sys.stdout.buffer.write(b'b')\n"
          "    subprocess.run(['printf', 'c'])\n    os.system('printf s')\n"
          "print()\nsys.stderr.write('e\\n')\nprint('after')",
          "out(pwbcspwbcspwbcspwbcspwbcspwbcspwbcspwbcspwbcspwbcs\n)err(e\n)out(after\n)");
    RUN("import threading\n"
        "def f(c):\n    for i in range(300): print(c * 99)\n"
        "ts = [threading.Thread(target=f, args=(c,)) for c in 'abcdef']\n"
        "for t in ts: t.start()\nfor t in ts: t.join()");
    assert_int_equal(seen.order.len, strlen("out()") + 6 * 300 * 100);
    assert_int_equal(seen.result.status, CBX_RUN_OK);
}

static void python_bytes_of_every_kind_arrive(void **state)
{
    IN_SANDBOX("ipython");
    RUN("import sys\nsys.stdout.buffer.write(b'\\xff\\xc3')\nsys.stdout.flush()\n"
        "sys.stdout.buffer.write(b'\\xa9')\nprint('\\ud800')\nprint('\\r1\\r2')\nNone");
    assert_string_equal(seen.order.p, "out(\xff\xc3\xa9\\ud800\n\r1\r2\n)");
    RUN("sys.stdout.buffer.write(b'a\\0b')\nNone");
    assert_int_equal(seen.order.len, strlen("out(a?b)"));
    SHOWS("sys.stdout.reconfigure(encoding='utf-8')\nimport io\n"
          "sys.stdout = io.TextIOWrapper(sys.stdout.buffer)\nprint('w')",
          "out(w\n)");
    SHOWS("sys.stdout = sys.__stdout__\nimport gc\ngc.collect()\nsys.stdout.close()\nprint('c')",
          "out(c\n)");
}

static void python_errors_of_every_kind_are_reported(void **state)
{
    IN_SANDBOX("ipython");
    FAILS("class E(Exception):\n    def __str__(self): raise KeyError\nraise E()", "E",
          "line 3, in <module>");
    FAILS("raise ExceptionGroup('g', [ValueError('a')])", "ExceptionGroup", "| ValueError: a");
    FAILS("import sys\nsys.setrecursionlimit(10 ** 6)\ndef f(n): return f(n + 1)\nf(0)",
          "RecursionError", "frames in the middle are left out");
    FAILS("raise ValueError('\\U0001f600' * 100000)", "ValueError", "\n...\n");
    FAILS("raise ValueError('\\x01' * 300000)", "ValueError", "<cell-5>");
    FAILS("raise ValueError('\\ud800')", "ValueError", "\\ud800");
    FAILS("async def f(): raise KeyError('k')\nawait f()", "KeyError", "in f");
    RUN("import threading\nt = threading.Thread(target=lambda: 1 / 0)\nt.start()\nt.join()");
    assert_non_null(strstr(seen.order.p, "ZeroDivisionError"));
    RUN("raise SystemExit(10 ** 30)");
    assert_int_equal(seen.result.exit_code, 255);
    RUN("raise SystemExit('said')");
    assert_string_equal(seen.order.p, "err(said\n)");
    assert_int_equal(seen.result.exit_code, 1);
}

static void a_program_that_breaks_its_process_is_reported_on_all_the_same(void **state)
{
    static const char *const breaks[] = {
        "import json, struct, socket, traceback, linecache\n"
        "json.dumps = struct.pack = socket.socket = None\n"
        "traceback.TracebackException = linecache.getline = linecache.cache = None",
        "import builtins\n"
        "for n in ['len', 'str', 'type', 'isinstance', 'bytes', 'sum', 'min']:\n"
        "    setattr(builtins, n, None)",
        "import sys\ndel sys.stdout, sys.stderr",
        "import sys\nclass B:\n    def __getattr__(self, n): raise RuntimeError\n"
        "sys.stdout = sys.stderr = B()",
        "import sys\nsys.settrace(lambda *a: None); sys.setrecursionlimit(80)",
        "import sys\nsys.modules.clear()",
    };
    IN_SANDBOX("ipython");
    struct cbx_err err;
    for (size_t i = 0; i < sizeof(breaks) / sizeof(breaks[0]); i++) {
        char source[1024];
        snprintf(source, sizeof(source), "%s\nraise KeyError('k')", breaks[i]);
        FAILS(source, "KeyError", "<cell-1>");
        assert_int_equal(cbx_sandbox_reset(sandbox, cbx_sandbox_ledger(sandbox), &err), 0);
    }
}

static void a_fork_that_comes_to_its_end_does_not_become_a_second_kernel(void **state)
{
    IN_SANDBOX("ipython");
    SHOWS("import os\npid = os.fork()\nif pid == 0:\n    print('child')\nelse:\n"
          "    print('parent', os.waitpid(pid, 0)[1])",
          "out(child\nparent 0\n)");
    SHOWS("print('one')", "out(one\n)");
}

static void a_program_runs_what_it_left_for_its_exit(void **state)
{
    IN_SANDBOX("python");
    SHOWS("import atexit\natexit.register(print, 'bye')\nprint('hi')", "out(hi\nbye\n)");
    SHOWS("print([line for line in __import__('sys').stdin], "
          "__import__('sys').stdin.buffer.read())",
          "out([] b''\n)");
}

static void an_interrupt_ends_python_wherever_it_is(void **state)
{
    static const char *const programs[] = {
        "print(1)\nimport time\ntime.sleep(60)",
        "print(1)\nwhile True: pass",
        "print(1)\nimport time\nwhile True:\n    try:\n        time.sleep(1)\n    except:\n       "
        " pass",
        "print(1)\ndef f():\n    while True:\n        try:\n            while True: pass\n        "
        "except BaseException:\n            continue\nf()",
        "print(1)\nimport asyncio\nawait asyncio.sleep(60)",
        "print(1)\nimport re\nre.match(r'(a+)+$', 'a' * 40 + 'b')",
        "while True: print('x' * 90)",
        "print(1)\nimport signal, time\nsignal.signal(signal.SIGALRM, signal.SIG_IGN)\n"
        "try:\n    time.sleep(60)\nfinally:\n    time.sleep(0.1)",
    };
    IN_SANDBOX("ipython");
    RUN("import asyncio, re");
    for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
        assert_obeys(sandbox, language, programs[i], "KeyboardInterrupt", &seen);
    }
}

/* --- JavaScript ------------------------------------------------------------------------------- */

static void javascript_shows_values_pictures_and_bundles(void **state)
{
    IN_SANDBOX("javascript");
    SHOWS("Buffer.from('89504e470d0a1a0a', 'hex')", "result(image/png)");
    SHOWS("display(Buffer.from('GIF89a')); display(new Uint8Array([255, 216, 255])); "
          "display(Buffer.from('RIFF1234WEBP')); display('<svg/>', 'image/svg+xml'); "
          "display({'text/html': '<b>', 'text/plain': 'b'}); display({a: 1})",
          "display(image/gif)display(image/jpeg)display(image/webp)display(image/svg+xml)"
          "display(text/html text/plain)display(text/plain)");
    VALUE("{a: 1, b: [2]}", "{ a: 1, b: [ 2 ] }");
    VALUE("(await import('path')).sep", "'/'");
    VALUE("new Error('shown').stack", "'Error: shown\\n    at cell-5.js:1:1'");
    SHOWS("console.group('g'); console.log(1); console.groupEnd(); console.error(2); "
          "process.stdout.write(Buffer.from([0xc3])); require('fs').writeSync(1, "
          "Buffer.from([0xa9])); process.exitCode = 0; undefined",
          "out(g\n  1\n)err(2\n)out(\xc3\xa9)");
}

static void javascript_errors_have_place_and_reason(void **state)
{
    IN_SANDBOX("javascript");
    FAILS("let a = 1;\nlet b = ;", "SyntaxError", "cell-1.js:2\nlet b = ;\n        ^");
    FAILS("throw new Error('out', {cause: new TypeError('in')})", "Error", "[cause]: TypeError");
    FAILS("throw 5", "Error", "Uncaught 5");
    FAILS("Promise.reject(new RangeError('r'))", "RangeError", "cell-4.js");
    FAILS("setTimeout(() => { throw new EvalError('late') }, 5)", "EvalError", "cell-5.js");
    FAILS("throw new Error('\\u{1f600}'.repeat(100000))", "Error", "\n...\n");
    FAILS("throw new Error('\\ud800')", "Error", "cell-7.js");
    FAILS("JSON.stringify = Buffer.concat = Buffer.from = Atomics.load = null; throw new "
          "URIError('u')",
          "URIError", "cell-8.js");
    RUN("process.exitCode = 4; undefined");
    assert_int_equal(seen.result.exit_code, 4);
}

static void javascript_finds_an_input_that_has_ended_in_every_run(void **state)
{
    IN_SANDBOX("javascript");
    for (int i = 0; i < 2; i++) {
        VALUE("var lines = []; for await (const line of require('readline').createInterface("
              "{input: process.stdin})) lines.push(line); lines",
              "[]");
    }
    FAILS("await require('readline/promises').createInterface({input: process.stdin})"
          ".question('name? ')",
          "Error", "there is none here");
}

static void an_interrupt_ends_javascript_wherever_it_is(void **state)
{
    static const char *const programs[] = {
        "console.log(1); while (true) {}",
        "console.log(1); await new Promise(() => {})",
        "console.log(1); await 1; while (true) {}",
        "setInterval(() => console.log(1), 20); undefined",
        "setTimeout(() => { console.log(1); while (true) {} }, 20); undefined",
        "console.log(1); setImmediate(() => { while (true) {} }); undefined",
        "console.log(1); while (true) { try { while (true) {} } catch (e) {} }",
        "while (true) console.log('x'.repeat(90))",
        "console.log(1); require('net').createServer().listen('/tmp/s' + Date.now()); undefined",
        "console.log(1); require('child_process').execSync('sleep 60')",
        "console.log(1); (async () => { for (;;) await null })(); undefined",
        "console.log(1); /(a+)+$/.test('a'.repeat(40) + 'b')",
    };
    IN_SANDBOX("javascript");
    for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
        assert_obeys(sandbox, language, programs[i], "Interrupted", &seen);
    }
}

/* The code ends about when the supervisor sends SIGINT, 30 ms after the interrupt: Node counts a
 * signal that arrives then for a later run. The second kind ends about when the watcher has V8
 * terminate it. */
static void an_interrupt_of_a_javascript_run_does_not_reach_the_next_run(void **state)
{
    static const char *const programs[] = {
        "console.log(1); const from = Date.now(), pause = 28 + 6 * Math.random(); while "
        "(Date.now() - from < pause); await new Promise(() => {})",
        "const wait = () => new Promise((next) => setTimeout(next, 0)); await wait(); "
        "console.log(1); for (;;) { const from = Date.now(), pause = 49 + 4 * Math.random(); while "
        "(Date.now() - from < pause); await wait(); }",
    };
    enum { ROUNDS = 30 };
    IN_SANDBOX("javascript");
    for (int i = 0; i < 2 * ROUNDS; i++) {
        seen.interrupt = sandbox;
        RUN(programs[i / ROUNDS]);
        assert_false(seen.result.session_lost);
        assert_string_equal(seen.result.ename, "Interrupted");
        VALUE("6 * 7", "42");
    }
}

static void an_interrupt_ends_typescript_too(void **state)
{
    IN_SANDBOX("typescript");
    assert_obeys(sandbox, language, "console.log(1); for (let n: number = 0; ; n++) {}",
                 "Interrupted", &seen);
    SHOWS("const o: { a: number } = { a: 1 }; display({'text/markdown': `# ${o.a}`})",
          "display(text/markdown)");
}

int main(int argc, char **argv)
{
    if (live_begin() != 0) {
        return LIVE_NO_ENGINE;
    }
    live_limits.wall_ms =
        120000; /* the first import of a plotting stack; no clock is tested by it */
    live_limits.memory_bytes = 512 << 20;
    live_limits.output_bytes = 256 * 1024;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(python_shows_everything_that_ipython_can_display),
        cmocka_unit_test(python_shows_figures_in_their_place_with_every_backend),
        cmocka_unit_test(a_value_or_figure_that_cannot_be_shown_is_an_error),
        cmocka_unit_test(python_cells_are_those_of_a_notebook_with_and_without_ipython),
        cmocka_unit_test(only_cells_that_need_ipython_load_it),
        cmocka_unit_test(python_bytes_keep_their_order_whichever_way_they_come),
        cmocka_unit_test(python_bytes_of_every_kind_arrive),
        cmocka_unit_test(python_errors_of_every_kind_are_reported),
        cmocka_unit_test(a_program_that_breaks_its_process_is_reported_on_all_the_same),
        cmocka_unit_test(a_fork_that_comes_to_its_end_does_not_become_a_second_kernel),
        cmocka_unit_test(a_program_runs_what_it_left_for_its_exit),
        cmocka_unit_test(an_interrupt_ends_python_wherever_it_is),
        cmocka_unit_test(javascript_shows_values_pictures_and_bundles),
        cmocka_unit_test(javascript_errors_have_place_and_reason),
        cmocka_unit_test(javascript_finds_an_input_that_has_ended_in_every_run),
        cmocka_unit_test(an_interrupt_ends_javascript_wherever_it_is),
        cmocka_unit_test(an_interrupt_of_a_javascript_run_does_not_reach_the_next_run),
        cmocka_unit_test(an_interrupt_ends_typescript_too),
    };
    LIVE_RUN(argc, argv, tests);
}
