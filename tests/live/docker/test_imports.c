/* SPDX-License-Identifier: MIT
 * Imports of denied modules in Python: a statement of judged code may import them, and so may the
 * libraries of the image; code made at run time and computed names may not. Exit 77 without an
 * engine. */
#include "tests/live/docker/live.h"

static struct cbx_str denied;
static size_t blocked_count;
static char blocked_last[256];

static int take_blocked(void *context, const struct cbx_event *event)
{
    if (event->kind == CBX_EVENT_BLOCKED) {
        blocked_count++;
        snprintf(blocked_last, sizeof(blocked_last), "%.*s", CBX_STR_ARG(event->text));
    }
    return take_event(context, event);
}

static void run_denying(struct cbx_sandbox *sandbox, const char *language, const char *source,
                        struct seen *seen)
{
    struct cbx_sink sink = { .event = take_blocked, .context = seen };
    struct cbx_permit permit = permit_for(language, source);
    struct cbx_err err = { 0 };
    permit.refused = 1u << CBX_REFUSE_IMPORT;
    permit.imports = denied;
    permit.ledger = *cbx_sandbox_ledger(sandbox);
    blocked_count = 0;
    clear(seen);
    if (cbx_sandbox_run(sandbox, &permit, cbx_str_of(source),
                        &(struct cbx_run_options){ .sink = &sink,
                                                   .accept = live_accepted,
                                                   .accept_count = live_accepted_count },
                        &seen->result, &err) != 0) {
        fail_msg("%s", err.text);
    }
    live_accepted_count = 0;
}

#define DENY(list) denied = CBX_STR(list)
#define GIVES(source, stdout_text)                                                                 \
    do {                                                                                           \
        run_denying(sandbox, language, source, &seen);                                             \
        assert_string_equal(seen.result.evalue != NULL ? seen.result.evalue : "", "");             \
        assert_string_equal(seen.err.p, "");                                                       \
        assert_string_equal(seen.out.p, stdout_text);                                              \
    } while (0)

/* Runs ways to get a module whose name the program has put together, and prints those that
 * succeed. */
#define TRY                                                                                        \
    "import importlib, importlib.util, importlib.machinery, sys, threading, warnings\n"            \
    "warnings.simplefilter('ignore')\n"                                                            \
    "def attempt(ways):\n"                                                                         \
    "    for at, way in enumerate(ways):\n"                                                        \
    "        try:\n"                                                                               \
    "            if way() is not False: print('way', at, 'succeeds')\n"                            \
    "        except ImportError: pass\n"                                                           \
    "        except Exception as error:\n"                                                         \
    "            if 'denies' not in str(error) and 'globals must' not in str(error): "             \
    "print('way', at, repr(error))\n"                                                              \
    "n, of = ''.join(['sub', 'process']), ''.join(['xml', 'rpc'])\n"

static void code_that_was_made_at_run_time_imports_nothing_denied(void **state)
{
    static const char source[] = TRY
        "class Name(str):\n"
        "    def __hash__(self): return hash(n)\n"
        "    def __eq__(self, other): return other == n\n"
        "    def __str__(self): return n\n"
        "    def __format__(self, how): return n\n"
        "class Items:\n"
        "    def __iter__(self): return iter(['server'])\n"
        "class Globals(dict): pass\n"
        "def by_spec():\n"
        "    spec = importlib.util.find_spec(n)\n"
        "    module = importlib.util.module_from_spec(spec)\n"
        "    spec.loader.exec_module(module)\n"
        "def in_thread(target, *names):\n"
        "    caught = []\n"
        "    threading.excepthook = caught.append\n"
        "    thread = threading.Thread(target=target, args=names)\n"
        "    thread.start(); thread.join()\n"
        "    return not caught\n"
        "def by_code_of_statement():\n"
        "    def f():\n"
        "        import json\n"
        "    code = f.__code__.replace(co_names=(n,))\n"
        "    exec(code)\n"
        "class Finder:\n"
        "    def find_spec(self, name, path=None, target=None): return importlib.util.find_spec(n) "
        "if name == 'x' else None\n"
        "def by_finder():\n"
        "    sys.meta_path.insert(0, Finder())\n"
        "    exec('import x')\n"
        "names = {'__package__': of, '__name__': 'q'}\n"
        "attempt([\n"
        "    lambda: exec('import ' + n), lambda: exec(f'from {n} import run'), lambda: "
        "exec(f'import {n} as s'),\n"
        "    lambda: eval(f'__import__({n!r})'), lambda: __import__(n), lambda: "
        "__import__(name=n),\n"
        "    lambda: __import__(Name('json')).__name__ == n, lambda: __import__(f'{n}.x'), lambda: "
        "importlib.import_module(n),\n"
        "    lambda: importlib.import_module('.server', of), lambda: importlib.__import__(n),\n"
        "    lambda: importlib._bootstrap._gcd_import(n), lambda: "
        "importlib._bootstrap._find_and_load(n, None),\n"
        "    lambda: importlib._bootstrap._find_and_load(Name('json'), None).__name__ == n,\n"
        "    by_spec, by_code_of_statement, by_finder,\n"
        "    lambda: importlib.machinery.SourceFileLoader('x', "
        "f'/usr/lib/python3.13/{n}.py').load_module(),\n"
        "    lambda: importlib.machinery.SourceFileLoader(n, "
        "f'/usr/lib/python3.13/{n}.py').get_code(n),\n"
        "    lambda: __import__('server', names, None, ('x',), 1), lambda: __import__('server', "
        "names, None, (), 1),\n"
        "    lambda: __import__('server', Globals(names), None, ('x',), 1), lambda: __import__('', "
        "names, None, Items(), 1),\n"
        "    lambda: __import__(of, None, None, ['server']), lambda: __import__(of, None, None, "
        "Items()),\n"
        "    lambda: exec(f'from {of} import server'), lambda: exec(f'from {of} import client, "
        "server'),\n"
        "    lambda: list(map(__import__, [n])), lambda: list(map(importlib.import_module, [n])),\n"
        "    lambda: in_thread(__import__, n), lambda: in_thread(importlib.import_module, n), "
        "lambda: in_thread(exec, 'import ' + n),\n"
        "    lambda: __import__('pkgutil').resolve_name(n), lambda: __import__('pydoc').locate(n), "
        "lambda: __import__('runpy').run_module(n),\n"
        "    lambda: __import__('pickle').loads(b'c' + n.encode() + b'\\nrun\\n.'),\n"
        "])\n"
        "from xmlrpc import client\n"
        "exec('from xmlrpc import client; import xmlrpc.client as c, json')\n"
        "print('end', c is client)\n";
    IN_SANDBOX("ipython");
    DENY("-subprocess\0-xmlrpc\0+xmlrpc.client\0");
    GIVES(source, "end True\n");
    assert_true(blocked_count > 0);
}

static void statements_of_judged_code_import_what_the_analyzer_let_through(void **state)
{
    IN_SANDBOX("ipython");
    DENY("-multiprocessing\0");
    GIVES("import multiprocessing\nprint(multiprocessing.cpu_count() > 0)\n"
          "def later():\n    from multiprocessing import cpu_count\n    return cpu_count() > 0\n",
          "True\n");
    GIVES("print(later(), (lambda: __import__('json'))().__name__)", "True json\n");
    GIVES("get_ipython().run_cell_magic('timeit', '-n1 -r1 -q', 'import multiprocessing')\n"
          "import timeit; print(timeit.timeit('import multiprocessing', number=1) > 0)",
          "True\n");
    assert_int_equal(blocked_count, 0);
    run_denying(sandbox, language,
                "timeit.timeit(''.join(reversed('gnissecorpitlum tropmi')), number=1)", &seen);
    assert_string_equal(seen.result.ename, "ImportError");
}

static void accepted_files_of_the_workspace_are_judged_code(void **state)
{
    static const char helper[] = "import multiprocessing\nfrom . import other\n"
                                 "def load(name): return __import__(name)\n";
    struct cbx_err err;
    IN_SANDBOX("ipython");
    DENY("-multiprocessing\0-subprocess\0");
    assert_int_equal(cbx_sandbox_put(sandbox, CBX_STR("pkg/helper.py"), cbx_str_of(helper), &err),
                     0);
    assert_int_equal(cbx_sandbox_put(sandbox, CBX_STR("pkg/__init__.py"), CBX_STR(""), &err), 0);
    assert_int_equal(cbx_sandbox_put(sandbox, CBX_STR("pkg/other.py"), CBX_STR(""), &err), 0);
    accept_file(helper);
    GIVES("from pkg.helper import load\nprint(load('json').__name__)", "json\n");
    run_denying(sandbox, language, "load(''.join(['sub', 'process']))", &seen);
    assert_string_equal(seen.result.ename, "ImportError");
    assert_string_equal(seen.result.evalue,
                        "the policy denies the module 'subprocess' to code that was not judged");
    assert_string_equal(blocked_last, "subprocess");
}

static void libraries_of_the_image_import_what_they_need(void **state)
{
    IN_SANDBOX("ipython");
    DENY("-_thread\0"
         "-builtins\0"
         "-copyreg\0"
         "-ctypes\0"
         "-fcntl\0"
         "-importlib\0"
         "-marshal\0"
         "-mmap\0"
         "-multiprocessing\0"
         "-pickle\0"
         "-pkgutil\0"
         "-socket\0"
         "-subprocess\0"
         "-webbrowser\0");
    GIVES(
        "import asyncio, platform, uuid, json, sqlite3, unittest.mock, concurrent.futures, "
        "logging.config\n"
        "import numpy, pandas, matplotlib.pyplot, scipy.stats\n"
        "exec('import asyncio, http.client, numpy.linalg, pandas.io.html, xml.etree.ElementTree')\n"
        "numpy.ctypeslib\n"
        "with concurrent.futures.ThreadPoolExecutor(2) as pool: print(list(pool.map(str, [1])))\n"
        "print(pandas.DataFrame({'a': [1, 2]}).describe().shape, asyncio.run(asyncio.sleep(0, "
        "'x')))\n",
        "['1']\n(8, 1) x\n");
    GIVES("from scipy.integrate import quad\nprint(round(quad(lambda x: x * x, 0, 3)[0]))", "9\n");
    assert_int_equal(blocked_count, 0);
}

static void pickles_name_no_denied_module(void **state)
{
    IN_SANDBOX("python");
    DENY("-builtins\0-subprocess\0");
    GIVES("import pickle, io\n"
          "def attempt(load):\n"
          "    try: print(load())\n"
          "    except ImportError: print('refused')\n"
          "data = b'c' + ''.join(['sub', 'process']).encode() + b'\\nrun\\n.'\n"
          "attempt(lambda: pickle.loads(data))\n"
          "attempt(lambda: pickle.Unpickler(io.BytesIO(data)).load())\n"
          "attempt(lambda: pickle._Unpickler(io.BytesIO(data)).load())\n"
          "attempt(lambda: pickle.loads(pickle.dumps({1, 2})))\n",
          "refused\nrefused\nrefused\n{1, 2}\n");
}

static void the_functions_of_the_kernel_judge_nothing(void **state)
{
    IN_SANDBOX("python");
    DENY("-subprocess\0");
    GIVES("kernel = display.__self__\n"
          "text = 'import sub' + 'process'\n"
          "open('made.py', 'w').write(text)\n"
          "def attempt(way):\n"
          "    try: way(); print('succeeds')\n"
          "    except ImportError: print('refused')\n"
          "attempt(lambda: exec(kernel.compile(text, '<cell-1>', 'exec'), {}))\n"
          "attempt(lambda: kernel.guard.load('/workspace/made.py', 'made'))\n"
          "attempt(lambda: kernel.guard.load('/usr/lib/python3.13/./subprocess.py', 'made'))\n"
          "attempt(lambda: kernel.guard.read_source('/workspace/made.py'))\n",
          "refused\nrefused\nrefused\nrefused\n");
}

static void a_policy_can_refuse_modules_to_judged_code_too(void **state)
{
    IN_SANDBOX("python");
    DENY("=socket\0");
    GIVES("import asyncio\n"
          "try: import socket\n"
          "except ImportError as error: print(error.args[0])\n",
          "the policy denies the module 'socket'\n");
    assert_int_equal(blocked_count, 1);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(code_that_was_made_at_run_time_imports_nothing_denied),
        cmocka_unit_test(statements_of_judged_code_import_what_the_analyzer_let_through),
        cmocka_unit_test(accepted_files_of_the_workspace_are_judged_code),
        cmocka_unit_test(libraries_of_the_image_import_what_they_need),
        cmocka_unit_test(pickles_name_no_denied_module),
        cmocka_unit_test(the_functions_of_the_kernel_judge_nothing),
        cmocka_unit_test(a_policy_can_refuse_modules_to_judged_code_too),
    };
    int status = live_begin();
    if (status != 0) {
        return status;
    }
    status = cmocka_run_group_tests(tests, NULL, NULL);
    live_end();
    return status;
}
