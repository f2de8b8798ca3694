/* SPDX-License-Identifier: MIT
 * The guard in Python's kernel: a program that reaches every object of the kernel cannot change the
 * guard's state. Exit 77 without an engine. */
#include "tests/live/docker/live.h"

static unsigned counts[CBX_REFUSALS];
static char last[256];

static int take_blocked(void *context, const struct cbx_event *event)
{
    if (event->kind == CBX_EVENT_BLOCKED) {
        counts[event->refusal]++;
        snprintf(last, sizeof(last), "%.*s", CBX_STR_ARG(event->text));
    }
    return take_event(context, event);
}

static void run_guarded(struct cbx_sandbox *sandbox, const char *language, const char *source,
                        struct seen *seen)
{
    struct cbx_sink sink = { .event = take_blocked, .context = seen };
    struct cbx_permit permit = permit_for(language, source);
    struct cbx_err err = { 0 };
    permit.refused = 1u << CBX_REFUSE_IMPORT | 1u << CBX_REFUSE_REFLECT | 1u << CBX_REFUSE_READ |
                     1u << CBX_REFUSE_WRITE | 1u << CBX_REFUSE_UNPICKLE | 1u << CBX_REFUSE_START |
                     1u << CBX_REFUSE_EVALUATE;
    permit.imports = CBX_STR("-IPython.core.alias\0-subprocess\0");
    permit.ledger = *cbx_sandbox_ledger(sandbox);
    memset(counts, 0, sizeof(counts));
    last[0] = '\0';
    clear(seen);
    if (cbx_sandbox_run(sandbox, &permit, cbx_str_of(source),
                        &(struct cbx_run_options){ .sink = &sink }, &seen->result, &err) != 0) {
        fail_msg("%s", err.text);
    }
}

/* The program has no effect, and `what` is reported as this refusal. */
#define REFUSED(source, refusal, text)                                                             \
    do {                                                                                           \
        run_guarded(sandbox, language, source, &seen);                                             \
        if (counts[refusal] == 0 || strcmp(last, text) != 0 ||                                     \
            strstr(seen.out.p, "effect") != NULL) {                                                \
            fail_msg("%s: %u reports, the last '%s', output '%s', error '%s'", source,             \
                     counts[refusal], last, seen.out.p,                                            \
                     seen.result.evalue != NULL ? seen.result.evalue : "");                        \
        }                                                                                          \
    } while (0)

/* The program runs, and nothing is reported. */
#define RUNS(source, stdout_text)                                                                  \
    do {                                                                                           \
        run_guarded(sandbox, language, source, &seen);                                             \
        assert_string_equal(seen.result.evalue != NULL ? seen.result.evalue : "", "");             \
        assert_string_equal(seen.out.p, stdout_text);                                              \
        assert_string_equal(last, "");                                                             \
    } while (0)

#define READ_SHADOW                                                                                \
    "try: print('effect', open('/etc/' + 'shadow').read())\n"                                      \
    "except OSError: pass\n"

static void no_object_of_the_kernel_keeps_a_report_back(void **state)
{
    IN_SANDBOX("python");
    REFUSED(
        "import sys\nc = sys.stdout._channel\nreal = c.send\n"
        "c.send = lambda kind, *parts: None if kind == 'B' else real(kind, *parts)\n" READ_SHADOW
        "c.send = real\n",
        CBX_REFUSE_READ, "/etc/shadow");
    REFUSED("import sys\nc = sys.stdout._channel\nbefore = c.pid\nc.pid = 1\n" READ_SHADOW
            "c.pid = before\n",
            CBX_REFUSE_READ, "/etc/shadow");
    REFUSED("import sys, threading\nc = sys.stdout._channel\nbefore = c.lock\nc.lock = "
            "threading.Lock()\nc.lock.acquire()\n" READ_SHADOW "c.lock = before\n",
            CBX_REFUSE_READ, "/etc/shadow");
    REFUSED("import builtins\nk = display.__self__\nguard = k.guard\nk.guard = None\n" READ_SHADOW
            "k.guard = guard\n",
            CBX_REFUSE_READ, "/etc/shadow");
}

static void frames_and_what_leads_to_them_are_refused(void **state)
{
    IN_SANDBOX("python");
    REFUSED("import traceback\nprint('effect', next(traceback.walk_stack(None)))",
            CBX_REFUSE_REFLECT, "a frame");
    REFUSED("import traceback\nprint('effect', list(traceback.walk_stack(None)))",
            CBX_REFUSE_REFLECT, "a frame");
    REFUSED("import logging\nprint('effect', logging.currentframe())", CBX_REFUSE_REFLECT,
            "a frame");
    REFUSED("import inspect\nprint('effect', inspect.stack())", CBX_REFUSE_REFLECT, "a frame");
    REFUSED("import traceback\ntry: 1 / 0\nexcept Exception as e: print('effect', "
            "list(traceback.walk_tb(e.__traceback__)))",
            CBX_REFUSE_REFLECT, "tb_frame");
    REFUSED("import asyncio\nasync def main(): print('effect', "
            "asyncio.current_task().get_stack())\nasyncio.run(main())",
            CBX_REFUSE_REFLECT, "cr_frame");
    REFUSED("def g(): yield\nprint('effect', getattr(g(), 'gi_' + 'frame'))", CBX_REFUSE_REFLECT,
            "gi_frame");
    REFUSED("import sys\nsys.settrace(lambda *a: print('effect', a))\ndef f(): pass\nf()",
            CBX_REFUSE_REFLECT, "a trace function");
    REFUSED("import sys\nsys.setprofile(lambda *a: print('effect', a))", CBX_REFUSE_REFLECT,
            "a trace function");
    REFUSED("import threading\nthreading.excepthook = lambda a: None\nthreading.settrace(lambda "
            "*a: print('effect', a))\n"
            "t = threading.Thread(target=int)\nt.start()\nt.join()\nthreading.settrace(None)",
            CBX_REFUSE_REFLECT, "a trace function");
}

static void closures_and_namespaces_of_functions_are_refused(void **state)
{
    IN_SANDBOX("python");
    static const char *const names[] = { "__closure__", "__globals__", "__builtins__" };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char source[256];
        snprintf(source, sizeof(source),
                 "def f(): return display\n[print('effect', getattr(f, a)) for a in dir(f) if a == "
                 "'%s']",
                 names[i]);
        REFUSED(source, CBX_REFUSE_REFLECT, names[i]);
    }
    REFUSED("import operator\nprint('effect', operator.attrgetter('__glo' + 'bals__')(lambda: 0))",
            CBX_REFUSE_REFLECT, "__globals__");
    REFUSED("import types\nprint('effect', getattr(types.CellType(1), 'cell_' + 'contents'))",
            CBX_REFUSE_REFLECT, "cell_contents");
    REFUSED("import traceback\ndef f(): print('effect')\ntraceback.print_exc.__code__ = "
            "f.__code__\ntraceback.print_exc()",
            CBX_REFUSE_REFLECT, "code of a library");
}

static void libraries_have_frames_and_closures(void **state)
{
    IN_SANDBOX("python");
    RUNS("import collections, logging, traceback, warnings, inspect, functools, typing, "
         "dataclasses\n"
         "P = collections.namedtuple('P', 'x y')\n"
         "@dataclasses.dataclass\nclass D:\n    x: int = 1\n"
         "try: {}['a']\nexcept KeyError as e:\n"
         "    print([f.name for f in traceback.extract_tb(e.__traceback__)], "
         "len(traceback.format_exception(e)) > 1)\n"
         "logging.getLogger('x').debug('m')\n"
         "@functools.lru_cache\ndef f(n: 'int' = 1): return n\n"
         "print(P(1, 2), D(), f(3), inspect.signature(f), typing.get_type_hints(f))\n"
         "def outer():\n    n = 1\n    def inner():\n        nonlocal n\n        n += 1\n        "
         "return n\n    return inner\n"
         "print(outer()())\n"
         "import cProfile, pstats, io\np = cProfile.Profile()\np.enable()\nf(4)\np.disable()\n"
         "print('calls' in (pstats.Stats(p, stream=io.StringIO()).print_stats(), 'calls'))\n"
         "print(traceback.extract_stack()[-1].lineno > 0)\n",
         "['<module>'] True\nP(x=1, y=2) D(x=1) 3 (n: 'int' = 1) {'n': <class "
         "'int'>}\n2\nTrue\nTrue\n");
}

/* The guard's data about a library's code does not come from its file at the time of a query. */
static void a_library_stays_one_when_no_file_can_be_opened(void **state)
{
    IN_SANDBOX("python");
    RUNS("import os, traceback, collections, logging\n"
         "held = []\n"
         "try:\n    while True: held.append(os.open('/dev/null', os.O_RDONLY))\n"
         "except OSError: pass\n"
         "try: 1 / 0\nexcept Exception: traceback.format_exc()\n"
         "logging.getLogger('x').debug('m')\n"
         "for fd in held: os.close(fd)\n"
         "try: 1 / 0\nexcept Exception as e: print(len(traceback.extract_tb(e.__traceback__)))\n"
         "print(collections.namedtuple('P', 'x')(1))\n",
         "1\nP(x=1)\n");
}

/* The kernel imports IPython for the first value that needs it, also modules that the policy denies
 * to programs. */
static void the_first_displayed_value_is_no_refusal(void **state)
{
    IN_SANDBOX("ipython");
    RUNS("display({'a': 1})\n{1, 2}", "");
}

static void a_pickle_names_classes_and_no_module(void **state)
{
    IN_SANDBOX("python");
    REFUSED("import "
            "pickle\npickle.loads(b\"ccollections\\n_sys\\n(S'displayhook'\\ncbuiltins\\nlist\\ndb."
            "\")\nimport sys\n"
            "if sys.displayhook is list: print('effect')",
            CBX_REFUSE_UNPICKLE, "collections._sys");
    REFUSED("import pickle\nprint('effect', pickle.loads(b'cpathlib\\nos\\n.'))",
            CBX_REFUSE_UNPICKLE, "pathlib.os");
    REFUSED("import pickle\nprint('effect', pickle.loads(b'ccollections\\nnamedtuple\\n.'))",
            CBX_REFUSE_UNPICKLE, "collections.namedtuple");
    REFUSED("import pickle\nprint('effect', pickle.loads(b'ccollections\\n_itemgetter\\n.'))",
            CBX_REFUSE_UNPICKLE, "collections._itemgetter");
    RUNS("import pickle, datetime, collections, decimal, pathlib, uuid, fractions, ipaddress, "
         "array\n"
         "values = [datetime.datetime(2020, 1, 2), collections.OrderedDict(a=1), "
         "collections.Counter('ab'), decimal.Decimal('1.5'),\n"
         "          pathlib.PurePosixPath('x'), uuid.UUID(int=1), fractions.Fraction(1, 2), "
         "ipaddress.ip_address('::1'), array.array('i', [1]), {1}, b'x']\n"
         "print(pickle.loads(pickle.dumps(values)) == values)\n",
         "True\n");
    RUNS("import pickle, pandas as pd, numpy as np\n"
         "d = pd.DataFrame({'a': [1, 2], 'b': pd.date_range('2020-01-01', periods=2), 'c': "
         "list('xy')})\n"
         "print(pickle.loads(pickle.dumps(d)).equals(d), (pickle.loads(pickle.dumps(np.arange(3))) "
         "== np.arange(3)).all())\n",
         "True True\n");
}

/* The socket in the place of the kernel's own has another process at its end. */
static void frames_that_a_program_sends_to_its_kernel_end_it(void **state)
{
    IN_SANDBOX("python");
    run_guarded(sandbox, language,
                "import socket, os, hashlib, sys\n"
                "code = b\"print('effect')\"\n"
                "open('made.py', 'wb').write(code)\n"
                "mine, theirs = socket.socketpair()\n"
                "os.dup2(theirs.fileno(), 3)\n"
                "mine.send(b'h' + (32).to_bytes(4, 'little') + hashlib.sha256(code).digest() + "
                "b'w' + bytes(4))\n"
                "display.__self__.guard.receive()\n"
                "import made\n",
                &seen);
    assert_null(strstr(seen.out.p, "effect"));
    assert_true(seen.result.session_lost || seen.result.exit_code != 0);
}

static void code_of_changed_classes_of_trees_is_not_judged(void **state)
{
    IN_SANDBOX("ipython");
    RUNS("import subprocess\nprint(subprocess.__name__)", "subprocess\n");
    run_guarded(sandbox, language, "import ast\nast.Module.extra = 1\n", &seen);
    REFUSED("import subprocess\nprint('effect')", CBX_REFUSE_IMPORT, "subprocess");
    run_guarded(sandbox, language, "del ast.Module.extra\n", &seen);
    RUNS("import subprocess\nprint(subprocess.__name__)", "subprocess\n");
}

static void libraries_evaluate_no_call_that_was_not_judged(void **state)
{
    static const char what[] = "a text with calls that was not judged";
    IN_SANDBOX("python");
    REFUSED("import sympy\nt = ''.join(reversed(\")'x'(nepo\"))\ntry: print('effect', "
            "sympy.sympify(t))\nexcept Exception: pass",
            CBX_REFUSE_EVALUATE, what);
    REFUSED("import patsy\nt = ''.join(reversed(\"))'x'(nepo(I\"))\ntry: print('effect', "
            "patsy.dmatrix('x + ' + t, {'x': [1., 2]}))\n"
            "except PermissionError: pass",
            CBX_REFUSE_EVALUATE, what);
    REFUSED("import pandas as pd\nt = ''.join(reversed(')(mus.a'))\ntry: print('effect', "
            "pd.DataFrame({'a': [1]}).eval(t))\nexcept PermissionError: pass",
            CBX_REFUSE_EVALUATE, what);
    RUNS("import sympy, patsy, numpy as np, pandas as pd, statsmodels.formula.api as smf\n"
         "name, n = ''.join(['c', 'ol']), 3\n"
         "print(sympy.sympify(f'{name}**2 + ({name} + 1)*{n}.5'), sympy.sympify('cos(x)'))\n"
         "d = pd.DataFrame({'col': [1., 2, 4, 9], 'g': list('abab')})\n"
         "print(patsy.dmatrix(' + '.join(['np.log( col )', 'C(g)', name]), d).shape, "
         "len(d.query(f'col > {n} and g in (\"a\", \"b\")')))\n"
         "print(round(smf.ols('col ~ ' + ' + '.join(['C(g)']), d).fit().rsquared, 3))\n",
         "col**2 + 3.5*col + 3.5 cos(x)\n(4, 4) 2\n0.237\n");
}

/* The builtins as a program reaches them by values: no text of it names one. */
#define BUILTIN_OF_A_MODULE                                                                        \
    "import textwrap\nname = ''.join(reversed('cexe'))\n"                                          \
    "make = [v for v in textwrap.__dict__.values() if type(v) is dict and 'len' in v][0][name]\n"

static void code_that_a_program_makes_of_a_text_is_refused(void **state)
{
    static const char what[] = "code that was made at run time";
    IN_SANDBOX("python");
    REFUSED(BUILTIN_OF_A_MODULE "try: make('print(\"effect\")')\nexcept PermissionError: pass",
            CBX_REFUSE_EVALUATE, what);
    REFUSED(BUILTIN_OF_A_MODULE
            "from concurrent.futures import ThreadPoolExecutor\n"
            "ThreadPoolExecutor().submit(make, 'print(\"effect\")').exception()",
            CBX_REFUSE_EVALUATE, what);
    REFUSED(BUILTIN_OF_A_MODULE "try: list(map(make, ['print(\"effect\")']))\n"
                                "except PermissionError: pass",
            CBX_REFUSE_EVALUATE, what);
    REFUSED(BUILTIN_OF_A_MODULE "import jinja2\ne = jinja2.Environment()\ne.filters['f'] = make\n"
                                "try: e.from_string('{{ \"print(0)\"|f }}').render()\n"
                                "except PermissionError: pass",
            CBX_REFUSE_EVALUATE, what);
    RUNS(BUILTIN_OF_A_MODULE "print(make.__name__, make.__module__, make.__self__)",
         "exec builtins None\n");
    REFUSED("import sympy\nx = sympy.Symbol('x')\nname = ''.join(reversed('cexe'))\n"
            "try: sympy.lambdify(x, sympy.Function(name)(x))('print(\"effect\")')\n"
            "except PermissionError: pass",
            CBX_REFUSE_EVALUATE, "a text with calls that was not judged");
    RUNS("import ast, cProfile, collections, dataclasses, io, contextlib, timeit, pydantic, sympy\n"
         "from reportlab.lib import colors\n"
         "class M(pydantic.BaseModel):\n    a: int = 1\n"
         "D = dataclasses.make_dataclass('D', [('a', int)])\n"
         "P = collections.namedtuple('P', 'a')\n"
         "with contextlib.redirect_stdout(io.StringIO()): cProfile.run('len([])')\n"
         "timeit.timeit('len([])', number=1)\n"
         "print(M().a, D(2).a, P(3).a, ast.literal_eval('4'), ast.parse('5').body[0].value.value,\n"
         "      sympy.lambdify('x', 'x + 5')(1), colors.toColor('red').red)\n",
         "1 2 3 4 5 6 1.0\n");
}

static void types_that_are_texts_have_no_calls_that_were_not_judged(void **state)
{
    static const char what[] = "a text with calls that was not judged";
    IN_SANDBOX("python");
    REFUSED("import typing\nt = ''.join(reversed(\")'tceffe'(tnirp\"))\ndef f(x): pass\n"
            "f.__annotations__.update(x=t)\ntry: typing.get_type_hints(f)\n"
            "except PermissionError: pass",
            CBX_REFUSE_EVALUATE, what);
    REFUSED("import sympy\nt = '__import__(\"os\").getpid()'\ntry: print('effect', "
            "sympy.sympify(t))\nexcept Exception: pass",
            CBX_REFUSE_EVALUATE, what);
    REFUSED("import sympy\nt = 'print(\"effect\")'\nm = sympy.zeros(1)\ntry: m[0, 0] = t\n"
            "except Exception: pass",
            CBX_REFUSE_EVALUATE, what);
    REFUSED("import sympy\ny = sympy.Symbol('print(\"effect\")')\n"
            "try: sympy.lambdify(sympy.Symbol('x'), y)(1)\nexcept PermissionError: pass",
            CBX_REFUSE_EVALUATE, what);
    RUNS("from __future__ import annotations\nimport typing, functools\n"
         "def f(x: typing.Annotated[int, len('ab')]) -> typing.Optional[str]: pass\n"
         "@functools.singledispatch\ndef g(x): return 'any'\n"
         "@g.register\ndef _(x: int): return 'int'\n"
         "print(sorted(typing.get_type_hints(f)), g(1), g(''))\n",
         "['return', 'x'] int any\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_object_of_the_kernel_keeps_a_report_back),
        cmocka_unit_test(frames_and_what_leads_to_them_are_refused),
        cmocka_unit_test(closures_and_namespaces_of_functions_are_refused),
        cmocka_unit_test(libraries_have_frames_and_closures),
        cmocka_unit_test(a_library_stays_one_when_no_file_can_be_opened),
        cmocka_unit_test(the_first_displayed_value_is_no_refusal),
        cmocka_unit_test(a_pickle_names_classes_and_no_module),
        cmocka_unit_test(frames_that_a_program_sends_to_its_kernel_end_it),
        cmocka_unit_test(libraries_evaluate_no_call_that_was_not_judged),
        cmocka_unit_test(code_that_a_program_makes_of_a_text_is_refused),
        cmocka_unit_test(types_that_are_texts_have_no_calls_that_were_not_judged),
        cmocka_unit_test(code_of_changed_classes_of_trees_is_not_judged),
    };
    int status = live_begin();
    if (status != 0) {
        return status;
    }
    status = cmocka_run_group_tests(tests, NULL, NULL);
    live_end();
    return status;
}
