/* SPDX-License-Identifier: MIT
 * The kernels load as code only files of the workspace whose bytes the host accepted, unchanged,
 * and no other file that a program can write. Exit 77 without an engine. */
#include "tests/live/docker/live.h"

#define GIVES(source, stdout_text)                                                                 \
    do {                                                                                           \
        RUN(source);                                                                               \
        assert_string_equal(seen.result.evalue != NULL ? seen.result.evalue : "", "");             \
        assert_string_equal(seen.err.p, "");                                                       \
        assert_string_equal(seen.out.p, stdout_text);                                              \
    } while (0)

#define FAILS(source, name, part)                                                                  \
    do {                                                                                           \
        RUN(source);                                                                               \
        assert_string_equal(seen.result.ename, name);                                              \
        assert_non_null(strstr(seen.result.evalue, part));                                         \
    } while (0)

#define PUT(path, text) put_file(sandbox, path, text)

static void put_file(struct cbx_sandbox *sandbox, const char *path, const char *text)
{
    struct cbx_err err = { 0 };
    if (cbx_sandbox_put(sandbox, cbx_str_of(path), cbx_str_of(text), &err) != 0) {
        fail_msg("%s", err.text);
    }
}

static void put_accepted(struct cbx_sandbox *sandbox, const char *path, const char *text)
{
    put_file(sandbox, path, text);
    accept_file(text);
}
#define PUT_ACCEPTED(path, text) put_accepted(sandbox, path, text)

static void reset(struct cbx_sandbox *sandbox)
{
    struct cbx_err err = { 0 };
    if (cbx_sandbox_reset(sandbox, cbx_sandbox_ledger(sandbox), &err) != 0) {
        fail_msg("%s", err.text);
    }
}

/* --- Python ----------------------------------------------------------------------------------- */

#define EVIL "open('/workspace/ran', 'w')\n"

static void python_imports_a_file_after_it_was_accepted(void **state)
{
    IN_SANDBOX("ipython");
    PUT("helper.py", "value = 42\n");
    FAILS("import helper", "ImportError",
          "helper.py was not judged, so it is not loaded as code: upload it, or write it in a cell "
          "with %%writefile");
    accept_file("value = 42\n");
    GIVES("import helper; print(helper.value, helper.__file__)", "42 /workspace/helper.py\n");
    PUT("helper.py", "value = 43\n");
    FAILS("import importlib; importlib.reload(helper)", "ImportError", "helper.py was not judged");
    accept_file("value = 43\n");
    GIVES("importlib.reload(helper); print(helper.value)", "43\n");
    reset(sandbox);
    GIVES("import helper, os; print(helper.value, os.listdir())", "43 ['helper.py']\n");
}

static void python_imports_packages_with_relative_imports_and_data(void **state)
{
    IN_SANDBOX("ipython");
    PUT("pkg/__init__.py", "");
    PUT_ACCEPTED("pkg/a.py", "from .sub.b import x\nfrom . import __name__ as n\n");
    PUT_ACCEPTED("pkg/sub/__init__.py",
                 "import pkgutil\nd = pkgutil.get_data(__name__, 'd.txt')\n");
    PUT_ACCEPTED("pkg/sub/b.py", "from . import d\nx = d.decode()\n");
    PUT("pkg/sub/d.txt", "data");
    GIVES("import pkg.a; print(pkg.a.x, pkg.a.n)", "data pkg\n");
}

static void python_programs_import_accepted_files_alone(void **state)
{
    IN_SANDBOX("python");
    PUT_ACCEPTED("good.py", "value = 42\n");
    PUT("evil.py", EVIL);
    FAILS("import good\nprint(good.value)\nimport evil\n", "ImportError", "evil.py was not judged");
    assert_string_equal(seen.out.p, "42\n");
}

/* Each line loads the text in evil.py, or in a file made of it, in another way. */
static void python_loads_nothing_else_whatever_the_loader(void **state)
{
    IN_SANDBOX("ipython");
    PUT("evil.py", EVIL);
    PUT("sub/evil2.py", EVIL);
    PUT_ACCEPTED("good.py", "value = 42\n");
    RUN("import os, sys, importlib, importlib.util, importlib.machinery as m, py_compile, runpy, "
        "shutil, site, warnings, zipfile, zipimport\n"
        "warnings.simplefilter('ignore')\n"
        "text = open('evil.py').read()\n"
        "here = '/workspace/evil.py'\n"
        "unchecked = py_compile.PycInvalidationMode.UNCHECKED_HASH\n"
        "def compile_to(path):\n"
        "    os.makedirs(os.path.dirname(path), exist_ok=True)\n"
        "    py_compile.compile('evil.py', cfile=path, invalidation_mode=unchecked)\n"
        "compile_to('/workspace/__pycache__/good.cpython-313.pyc')\n"
        "compile_to('/workspace/c.pyc')\n"
        "compile_to('/tmp/p/usr/lib/python3.13/this.cpython-313.pyc')\n"
        "with zipfile.ZipFile('z.zip', 'w') as z: z.write('evil.py', 'zipped.py')\n"
        "shutil.copy('evil.py', 'data.txt'); os.symlink(here, 'link.py'); os.mkfifo('fifo.py')\n"
        "os.makedirs('spaces'); shutil.copy('evil.py', 'spaces/evil.py')\n"
        "open('x.pth', 'w').write('import sys; ' + text)\n"
        "native = next(e.path for e in os.scandir('/usr/lib/python3.13/lib-dynload'))\n"
        "name = os.path.basename(native).split('.')[0]\n"
        "shutil.copy(native, os.path.basename(native))\n"
        "memory = os.memfd_create('m'); os.write(memory, text.encode())\n"
        "class Finder:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        return importlib.util.spec_from_file_location(name, here) if name == 'found' else "
        "None\n"
        "class Loader(m.SourceFileLoader):\n"
        "    def get_data(self, path): return text.encode()\n"
        "class Name(str):\n"
        "    def startswith(self, *a): return True\n"
        "    def __contains__(self, part): return False\n"
        "def of_instance():\n"
        "    loader = m.SourceFileLoader('this', '/usr/lib/python3.13/this.py')\n"
        "    loader.get_data = lambda path: text.encode()\n"
        "    loader.path_stats = lambda path: {'mtime': 0, 'size': 0}\n"
        "    loader.load_module()\n"
        "def by_spec():\n"
        "    loader = m.SourceFileLoader('e', '/workspace/data.txt')\n"
        "    spec = importlib.util.spec_from_file_location('e', '/workspace/data.txt', "
        "loader=loader)\n"
        "    loader.exec_module(importlib.util.module_from_spec(spec))\n"
        "def by_zipimporter():\n"
        "    z = zipimport.zipimporter.__new__(zipimport.zipimporter)\n"
        "    z.archive, z.prefix, z._files = '/workspace/z.zip', '', "
        "zipimport._read_directory('/workspace/z.zip')\n"
        "    z.load_module('zipped')\n"
        "def by_hook():\n"
        "    sys.path_hooks.insert(0, m.FileFinder.path_hook((m.SourceFileLoader, ['.txt'])))\n"
        "    sys.path_importer_cache.clear()\n"
        "    import data\n"
        "def with_prefix():\n"
        "    sys.pycache_prefix = '/tmp/p'\n"
        "    import this\n"
        "def by_extension_loader():\n"
        "    return m.ExtensionFileLoader(name, '/workspace/' + "
        "os.path.basename(native)).load_module()\n"
        "ways = [\n"
        "    lambda: __import__('evil'), lambda: __import__('link'), lambda: __import__('c'),\n"
        "    lambda: __import__('spaces.evil'), lambda: __import__('fifo'),\n"
        "    lambda: (sys.path.insert(0, '/workspace/sub'), __import__('evil2')),\n"
        "    lambda: (sys.path.insert(0, '/workspace/z.zip'), __import__('zipped')),\n"
        "    lambda: (__import__('json').__path__.append('/workspace'), __import__('json.evil')),\n"
        "    lambda: (sys.meta_path.insert(0, Finder()), __import__('found')),\n"
        "    lambda: m.SourceFileLoader('e', here).load_module(),\n"
        "    lambda: m.SourceFileLoader('e', Name(here)).load_module(),\n"
        "    lambda: m.SourceFileLoader('e', '/usr/..' + here).load_module(),\n"
        "    lambda: m.SourceFileLoader('e', f'/proc/self/fd/{memory}').load_module(),\n"
        "    lambda: m.SourceFileLoader('e', '/workspace/fifo.py').load_module(),\n"
        "    lambda: m.SourcelessFileLoader('c', '/workspace/c.pyc').load_module(),\n"
        "    lambda: Loader('e', here).load_module(), of_instance, by_spec, by_zipimporter,\n"
        "    lambda: zipimport.zipimporter('/workspace/z.zip'),\n"
        "    lambda: runpy.run_path(here), lambda: runpy.run_module('evil'),\n"
        "    lambda: runpy.run_path('/workspace/c.pyc'), lambda: "
        "runpy.run_path('/workspace/z.zip'),\n"
        "    lambda: site.addsitedir('/workspace'), by_extension_loader, with_prefix,\n"
        "    lambda: (open('good.py', 'w').write(text), importlib.reload(__import__('good'))),\n"
        "    lambda: (sys.path.insert(0, '/codebox/kernels'), __import__('python_loaders')),\n"
        "    by_hook]\n"
        "import good\n"
        "outcomes = []\n"
        "for way in ways:\n"
        "    for each in 'evil', 'e', 'c', 'this': sys.modules.pop(each, None)\n"
        "    try:\n"
        "        way(); outcomes.append('-')\n"
        "    except ImportError: outcomes.append('i')\n"
        "print(''.join(outcomes), good.value, os.path.exists('ran'))");
    assert_string_equal(seen.result.evalue != NULL ? seen.result.evalue : "", "");
    /* The three that load something load a module of the image, or skip a line of a .pth file. */
    assert_non_null(strstr(seen.out.p, "iiiiiiiiiiiiiiii-iiiiiii-i-iii 42 False\n"));
}

static void python_streams_do_not_lead_to_what_the_kernel_received(void **state)
{
    IN_SANDBOX("ipython");
    GIVES("import sys\n"
          "held = [getattr(s, n) for s in (sys.stdout, sys.stdin) for n in dir(s) if 'chan' in n]\n"
          "print(len(held), [type(getattr(h, n)) for h in held for n in dir(h) if "
          "isinstance(getattr(h, n), (bytes, bytearray, set))])",
          "2 []\n");
}

/* --- JavaScript ------------------------------------------------------------------------------- */

#define JS_EVIL "require('fs').writeFileSync('/workspace/ran', '');\n"

static void javascript_requires_a_file_after_it_was_accepted(void **state)
{
    IN_SANDBOX("javascript");
    PUT("lib/a.js", "exports.value = 42;\n");
    FAILS("require('./lib/a.js')", "Error",
          "lib/a.js was not judged, so it is not loaded as code: upload it");
    accept_file("exports.value = 42;\n");
    GIVES("console.log(require('./lib/a.js').value)", "42\n");
    PUT_ACCEPTED("lib/index.js",
                 "#!/usr/bin/env node\n'use strict';\nexports.b = require('./a').value + "
                 "require('./data.json').n;\nexports.main = require.main === module;\n"
                 "exports.euro = '\u20ac\U0001f600'.length;\n");
    PUT("lib/data.json", "{\"n\": 1}");
    GIVES("console.log(require('./lib'))", "{ b: 43, main: false, euro: 3 }\n");
    reset(sandbox);
    GIVES("console.log(require('./lib').b)", "43\n");
}

/* A source of the size of a compiler, with characters of four bytes wherever the kernel cuts the
 * text. */
static void javascript_requires_a_file_of_many_megabytes(void **state)
{
    enum { LINES = 110000 };
    IN_SANDBOX("javascript");
    CBX_AUTO_DONE(buf) source;
    cbx_buf_init(&source, 16 << 20);
    for (int i = 0; i < LINES; i++) {
        cbx_buf_printf(&source, "// %d: 😀 a line of the file that says nothing at all, €\n", i);
    }
    cbx_buf_printf(&source, "exports.text = '%.*s😀';\n", 3, "abc");
    PUT_ACCEPTED("large.js", source.p);
    GIVES("const { text } = require('./large.js'); console.log(text, text.length)", "abc😀 5\n");
}

static void javascript_imports_modules_after_they_were_accepted(void **state)
{
    IN_SANDBOX("javascript");
    PUT_ACCEPTED("a.mjs",
                 "import { n } from './b.mjs';\nimport c from './c.cjs';\n"
                 "import fs from 'fs';\nexport const sum = n + c.n + typeof fs.statSync;\n");
    PUT("b.mjs", "export let n = 1;\nexport const inc = () => { n++; };\n");
    PUT_ACCEPTED("c.cjs", "exports.n = 2;\n");
    FAILS("(await import('./a.mjs')).sum", "Error", "b.mjs was not judged");
    accept_file("export let n = 1;\nexport const inc = () => { n++; };\n");
    GIVES("console.log((await import('./a.mjs')).sum)", "3function\n");
    GIVES("import path from 'node:path';\nimport { inc } from './b.mjs';\ninc();\n"
          "const b = await import('./b.mjs');\nconsole.log(path.join('a', 'b'), b.n);",
          "a/b 2\n");
    PUT("b2.mjs", "export {};\n" JS_EVIL);
    FAILS("import './b2.mjs';", "Error", "b2.mjs was not judged");
    GIVES("console.log(require('fs').existsSync('ran'))", "false\n");
}

/* The hooks still answer, and the next run ends, after a run that failed while they worked. */
static void javascript_imports_after_a_run_that_failed_during_an_import(void **state)
{
    IN_SANDBOX("javascript");
    PUT_ACCEPTED("a.mjs", "import './none.mjs';\nimport './b.mjs';\n");
    PUT_ACCEPTED("b.mjs", "export const n = 42;\n");
    FAILS("setTimeout(() => { throw new Error('stop'); }); import('./b.mjs'); await "
          "import('./a.mjs')",
          "Error", "");
    GIVES("console.log('on')", "on\n");
    GIVES("console.log((await import('./b.mjs')).n)", "42\n");
}

/* ES modules by import, by require, by scripts of vm, and with functions that Node uses
 * replaced. */
static void javascript_imports_nothing_else_whatever_the_way(void **state)
{
    IN_SANDBOX("javascript");
    PUT_ACCEPTED("good.mjs", "export const value = 42;\n");
    GIVES(
        "const fs = require('fs'), vm = require('vm'), Module = require('module');\n"
        "const EVIL = `globalThis.ran = true;`;\n"
        "for (const name of ['evil.mjs', 'evil.mts', 'evil.ts', 'evil.wasm', 'evil']) "
        "fs.writeFileSync(name, EVIL);\n"
        "fs.writeFileSync('empty.mjs', '');\n"
        "fs.mkdirSync('node_modules/name', { recursive: true });\n"
        "fs.writeFileSync('node_modules/name/package.json', '{\"type\": \"module\", "
        "\"exports\": \"./i.js\"}');\n"
        "fs.writeFileSync('node_modules/name/i.js', EVIL);\n"
        "fs.symlinkSync('/workspace/evil.mjs', 'link.mjs');\n"
        "const byNode = { importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER "
        "};\n"
        "const patched = async (where, name, own, specifier) => {\n"
        "  const old = Object.getOwnPropertyDescriptor(where, name);\n"
        "  Object.defineProperty(where, name, { ...own, configurable: true });\n"
        "  try { await import(specifier); } finally { Object.defineProperty(where, name, old); }\n"
        "};\n"
        "const source = { format: 'module', source: EVIL, shortCircuit: true };\n"
        "const ways = [\n"
        "  ...['./evil.mjs', './evil.mts', './evil.ts', './evil.wasm', './evil', 'name', "
        "'./link.mjs', './evil.mjs?again', 'file:///workspace/%65vil.mjs', "
        "'file://localhost/workspace/evil.mjs', 'file:///usr/%2e%2e/workspace/evil.mjs', "
        "'file:///proc/self/cwd/evil.mjs'].map((name) => () => import(name)),\n"
        "  ...['./evil.mjs', './evil.mts', './evil.ts', 'name'].map((name) => () => "
        "require(name)),\n"
        "  () => new vm.Script('import(\"/workspace/evil.mjs\")', { filename: '/workspace/x.js', "
        "...byNode }).runInThisContext(),\n"
        "  () => vm.compileFunction('return import(\"/workspace/evil.mjs\")', [], byNode)(),\n"
        "  () => Module.registerHooks({ load: () => source }),\n"
        "  async () => (await import('node:module')).register('data:,'),\n"
        "  () => patched(TextDecoder.prototype, 'decode', { value: () => EVIL }, "
        "'./empty.mjs').finally(() => { throw Error(); }),\n"
        "  () => patched(URL.prototype, 'pathname', { get: () => '/workspace/evil.mjs' }, "
        "'/usr/share/none.mjs'),\n"
        "  () => patched(fs, 'readFileSync', { value: () => EVIL }, './evil.mjs'),\n"
        "];\n"
        "let refused = 0;\n"
        "for (const way of ways) { try { await way(); console.log(`${way}`); } catch { refused++; "
        "} }\n"
        "console.log(refused === ways.length, globalThis.ran, (await "
        "import('./good.mjs')).value, require('./good.mjs').value);",
        "true undefined 42 42\n");
}

/* A program that replaces the event functions gets neither the kernel's socket nor its threads. */
static void javascript_programs_do_not_find_the_kernel_through_events(void **state)
{
    IN_SANDBOX("javascript");
    PUT_ACCEPTED("a.mjs", "export const n = 42;\n");
    GIVES("const seen = new Set();\n"
          "for (const of of [require('events').EventEmitter.prototype, "
          "require('stream').Readable.prototype, MessagePort.prototype, "
          "require('worker_threads').Worker.prototype]) {\n"
          "  for (const name of ['emit', 'on', 'addListener', 'push', 'postMessage', 'start', "
          "'ref']) {\n"
          "    const old = of[name];\n"
          "    if (typeof old === 'function') of[name] = function (...all) { "
          "seen.add(this.constructor.name); return old.apply(this, all); };\n"
          "  }\n"
          "}",
          "");
    GIVES("await new Promise((done) => setTimeout(done, 20)); (await import('./a.mjs')).n;", "");
    PUT("b.js", "");
    GIVES("await new Promise((done) => setTimeout(done, 20)); require('./b.js');\n"
          "console.log(['Worker', 'InternalWorker'].filter((name) => seen.has(name)), "
          "process._getActiveHandles().length)",
          "[] 0\n");
}

static void javascript_loads_nothing_else_whatever_the_way(void **state)
{
    IN_SANDBOX("javascript");
    PUT_ACCEPTED("good.js", "exports.value = 42;\n");
    GIVES("const fs = require('fs');\nconst EVIL = `" JS_EVIL "`;\n"
          "for (const name of ['evil.js', 'evil.JS', 'evil.dat', 'evil', 'evil.cjs', 'index.js', "
          "'evil.mjs', 'x.node', 'x.wasm']) fs.writeFileSync(name, EVIL);\n"
          "fs.mkdirSync('main'); fs.writeFileSync('main/package.json', '{\"main\": "
          "\"../evil.dat\"}');\n"
          "fs.mkdirSync('type'); fs.writeFileSync('type/package.json', '{\"type\": "
          "\"module\"}'); fs.writeFileSync('type/m.js', EVIL);\n"
          "fs.mkdirSync('node_modules/name', { recursive: true }); "
          "fs.writeFileSync('node_modules/name/index.js', EVIL);\n"
          "fs.symlinkSync('/workspace/evil.js', 'link.js');\n"
          "const Module = require('module');\n"
          "const overwritten = () => { delete require.cache[require.resolve('./good.js')]; "
          "fs.writeFileSync('good.js', EVIL); return require('./good.js'); };\n"
          "const patched = (where, name, value) => () => { const old = where[name]; where[name] = "
          "value; try { require('./evil.js'); } finally { where[name] = old; } };\n"
          "const ways = [\n"
          "  ...['./evil.js', './evil.JS', './evil.dat', './evil', './evil.cjs', '.', './main', "
          "'name', './link.js', './x.node', './x.wasm', '/proc/self/cwd/evil.js', "
          "'/usr/../workspace/evil.js', '/codebox/kernels/javascript_loaders.js'].map((name) => () "
          "=> require(name)),\n"
          "  () => new Module('x')._compile(EVIL, '/workspace/x.js'),\n"
          "  () => new Module('x')._compile(EVIL, { n: 0, toString() { return this.n++ ? "
          "'/workspace/evil.js' : '/usr/x.js'; } }),\n"
          "  () => Module.createRequire('/usr/x.js')('/workspace/evil.js'),\n"
          "  () => process.dlopen({ exports: {} }, '/workspace/x.node'),\n"
          "  patched(Module._extensions, '.js', (module, file) => module._compile(EVIL, file)),\n"
          "  patched(String.prototype, 'startsWith', () => true),\n"
          "  patched(Set.prototype, 'has', () => true),\n"
          "  patched(Buffer.prototype, 'utf8Write', () => 0),\n"
          "  patched(globalThis, 'Uint8Array', class { constructor() { return new "
          "Array(999).fill(0); } "
          "}),\n"
          "  overwritten,\n"
          "];\n"
          "let refused = 0;\n"
          "for (const way of ways) { try { way(); } catch (error) { refused++; } }\n"
          "Module.wrap = () => EVIL; Module.wrapper[0] = EVIL;\n"
          "fs.writeFileSync('good.js', 'exports.value = 42;\\n');\n"
          "console.log(refused === ways.length, require('./good.js').value, "
          "fs.existsSync('ran'), Module.register, Module.runMain);",
          "true 42 false undefined undefined\n");
    GIVES("refused = 0;\n"
          "const buffers = [], Real = SharedArrayBuffer;\n"
          "globalThis.SharedArrayBuffer = function (size) { const b = new Real(size); "
          "buffers.push(b); "
          "return b; };\n"
          "require('path').resolve = () => '/workspace/evil.mjs';\n"
          "const names = ['./evil.mjs', './evil.js', './evil.dat', './type/m.js', './link.js', "
          "'./x.wasm', './x.node', 'name', 'file:///workspace/evil.mjs', './evil.mjs?x', "
          "'file:///usr/../workspace/evil.mjs', '/proc/self/cwd/evil.mjs'];\n"
          "for (const name of names) { try { await import(name); } catch (error) { refused++; } }\n"
          "console.log(refused === names.length, fs.existsSync('ran'), buffers.some((b) => "
          "b.byteLength > 32))",
          "true false false\n");
}

static void javascript_accepts_files_while_a_program_of_an_earlier_run_waits(void **state)
{
    IN_SANDBOX("javascript");
    GIVES("await new Promise((done) => setTimeout(done, 20)); console.log('on')", "on\n");
    PUT_ACCEPTED("a.js", "exports.value = 42;\n");
    GIVES("console.log(require('./a.js').value)", "42\n");
}

static void typescript_requires_accepted_files_alone(void **state)
{
    IN_SANDBOX("typescript");
    PUT_ACCEPTED("a.js", "exports.value = 42;\n");
    PUT("evil.js", JS_EVIL);
    GIVES("const value: number = require('./a.js').value;\nconsole.log(value);", "42\n");
    GIVES("import a from './a.js';\nconsole.log(a.value as number);", "42\n");
    FAILS("require('./evil.js')", "Error", "evil.js was not judged");
}

/* --- C ---------------------------------------------------------------------------------------- */

#define C_PROGRAM                                                                                  \
    "#include \"a.h\"\n#include <stdio.h>\nint main(void) { printf(\"%d\\n\", VALUE); }\n"

static void c_includes_files_after_they_were_accepted(void **state)
{
    IN_SANDBOX("c");
    PUT("a.h", "#include \"lib/b c.h\"\n#define VALUE B\n");
    PUT("lib/b c.h", "#define B 42\n");
    FAILS(C_PROGRAM, "CompileError",
          "a.h was not judged, so it is not included: upload it, and include it by its name in the "
          "workspace");
    accept_file("#include \"lib/b c.h\"\n#define VALUE B\n");
    FAILS(C_PROGRAM, "CompileError", "lib/b c.h was not judged");
    accept_file("#define B 42\n");
    GIVES(C_PROGRAM, "42\n");
    PUT("a.h", "#define VALUE 43\n");
    FAILS(C_PROGRAM, "CompileError", "a.h was not judged");
}

static void c_reads_no_other_file_that_a_program_can_write(void **state)
{
    IN_SANDBOX("c");
    PUT("a.h", "#define VALUE 42\n");
    PUT_ACCEPTED("stdio.h", "#error hides that of the library\n");
    GIVES("#include <stdio.h>\n#include <stdlib.h>\n#include <sys/stat.h>\n#include <unistd.h>\n"
          "static void put(const char *path)\n"
          "{\n"
          "    FILE *f = fopen(path, \"w\");\n"
          "    if (f == NULL) abort();\n"
          "    fputs(\"#define VALUE 42\\n\", f);\n"
          "    fclose(f);\n"
          "}\n"
          "int main(void)\n"
          "{\n"
          "    mkdir(\"/tmp/codebox\", 0700);\n"
          "    mkdir(\"/tmp/codebox/hidden\", 0700);\n"
          "    put(\"/tmp/codebox/hidden/a.h\");\n"
          "    chmod(\"/tmp/codebox/hidden\", 0111);\n"
          "    put(\"/tmp/codebox/b.h\");\n"
          "    put(\"/tmp/a.h\");\n"
          "    put(\"/dev/shm/a.h\");\n"
          "    symlink(\"/workspace/a.h\", \"/workspace/linked.h\");\n"
          "}\n",
          "");
    static const char *const ways[] = {
        "#include \"/workspace/a.h\"\n",
        "#include </workspace/a.h>\n",
        "#include \"../../workspace/a.h\"\n",
        "#include \"/proc/self/cwd/../../workspace/a.h\"\n",
        "#include \"linked.h\"\n",
        "#include \"/tmp/a.h\"\n",
        "#include \"/dev/shm/a.h\"\n",
        "#include \"hidden/a.h\"\n",
        "#include \"b.h\"\n",
        "asm(\".incbin \\\"/workspace/a.h\\\"\");\n",
        "asm(\".include \\\"/workspace/a.h\\\"\");\n",
        "#if __has_include(\"/workspace/a.h\")\n#define VALUE 1\n#endif\nint x = VALUE;\n",
    };
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        char source[256];
        snprintf(source, sizeof(source), "%sint main(void) { return 0; }\n", ways[i]);
        RUN(source);
        assert_string_equal(seen.result.ename != NULL ? seen.result.ename : ways[i],
                            "CompileError");
    }
}

/* --- shell ------------------------------------------------------------------------------------ */

static void shell_sources_a_file_after_it_was_accepted(void **state)
{
    IN_SANDBOX("shell");
    PUT("lib.sh", "declare -A map=([a]=b)\necho \"$1 ${BASH_SOURCE[0]}\"\nreturn 7\n");
    RUN(". ./lib.sh");
    assert_string_equal(seen.err.p,
                        "codebox: ./lib.sh was not judged, so it is not loaded as code: upload it\n"
                        "bash: ./lib.sh: Permission denied\n");
    assert_int_equal(seen.result.exit_code, 1);
    accept_file("declare -A map=([a]=b)\necho \"$1 ${BASH_SOURCE[0]}\"\nreturn 7\n");
    GIVES("set -- x; source ./lib.sh; echo $? ${map[a]}; (. lib.sh y); env | grep -c LD_PRELOAD; "
          "true",
          "x ./lib.sh\n7 b\ny lib.sh\n0\n");
    reset(sandbox);
    GIVES(". ./lib.sh z; true", "z ./lib.sh\n");
    GIVES(". /etc/profile; echo on", "on\n");
}

static void shell_sources_nothing_else_whatever_the_way(void **state)
{
    IN_SANDBOX("shell");
    PUT_ACCEPTED("good.sh", "echo good\n");
    PUT("evil.sh", "touch /workspace/ran\n");
    RUN("ln -s evil.sh link.sh; mkfifo pipe.sh; . ./good.sh\n"
        "for name in ./evil.sh evil.sh ./link.sh ./pipe.sh /usr/../workspace/evil.sh "
        "/proc/self/cwd/evil.sh /dev/stdin; do . \"$name\" <evil.sh && echo \"$name\"; done\n"
        "builtin source ./evil.sh; command . ./evil.sh; enable source .; source ./evil.sh\n"
        "cp evil.sh good.sh; . ./good.sh; PATH=/workspace:$PATH; . evil.sh\n"
        "shopt -s sourcepath; . evil.sh; source <(cat evil.sh); ./evil.sh\n"
        "[ ! -e ran ] && echo held; true");
    assert_string_equal(seen.out.p, "good\nheld\n");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(python_imports_a_file_after_it_was_accepted),
        cmocka_unit_test(python_imports_packages_with_relative_imports_and_data),
        cmocka_unit_test(python_programs_import_accepted_files_alone),
        cmocka_unit_test(python_loads_nothing_else_whatever_the_loader),
        cmocka_unit_test(python_streams_do_not_lead_to_what_the_kernel_received),
        cmocka_unit_test(javascript_requires_a_file_after_it_was_accepted),
        cmocka_unit_test(javascript_requires_a_file_of_many_megabytes),
        cmocka_unit_test(javascript_imports_modules_after_they_were_accepted),
        cmocka_unit_test(javascript_imports_after_a_run_that_failed_during_an_import),
        cmocka_unit_test(javascript_imports_nothing_else_whatever_the_way),
        cmocka_unit_test(javascript_programs_do_not_find_the_kernel_through_events),
        cmocka_unit_test(javascript_loads_nothing_else_whatever_the_way),
        cmocka_unit_test(javascript_accepts_files_while_a_program_of_an_earlier_run_waits),
        cmocka_unit_test(typescript_requires_accepted_files_alone),
        cmocka_unit_test(c_includes_files_after_they_were_accepted),
        cmocka_unit_test(c_reads_no_other_file_that_a_program_can_write),
        cmocka_unit_test(shell_sources_a_file_after_it_was_accepted),
        cmocka_unit_test(shell_sources_nothing_else_whatever_the_way),
    };
    if (live_begin() != 0) {
        return LIVE_NO_ENGINE;
    }
    LIVE_RUN(argc, argv, tests);
}
