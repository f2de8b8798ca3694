/* SPDX-License-Identifier: MIT
 * The kernels read no configuration that a program or an upload can write: not in the working
 * folder, which is also the home folder, and not in /tmp. Exit 77 without an engine. */
#include "tests/live/docker/live.h"

#define GIVES(source, stdout_text)                                                                 \
    do {                                                                                           \
        RUN(source);                                                                               \
        assert_string_equal(seen.result.evalue != NULL ? seen.result.evalue : "", "");             \
        assert_string_equal(seen.err.p, "");                                                       \
        assert_string_equal(seen.out.p, stdout_text);                                              \
    } while (0)

static void reset(struct cbx_sandbox *sandbox)
{
    struct cbx_err err = { 0 };
    if (cbx_sandbox_reset(sandbox, cbx_sandbox_ledger(sandbox), &err) != 0) {
        fail_msg("%s", err.text);
    }
}

/* Defines plant(), which writes files; their text begins with MARK, which appends to the file
 * `ran`. */
#define PYTHON_PLANT                                                                               \
    "import os\n"                                                                                  \
    "MARK = \"open('/workspace/ran', 'a').write(__file__ + ' ')\\n\"\n"                            \
    "def plant(*names, text=MARK, folder='/workspace'):\n"                                         \
    "    for name in names:\n"                                                                     \
    "        path = os.path.join(folder, name)\n"                                                  \
    "        os.makedirs(os.path.dirname(path), exist_ok=True)\n"                                  \
    "        with open(path, 'w') as file: file.write(text)\n"

static void python_starts_without_files_of_the_workspace(void **state)
{
    IN_SANDBOX("ipython");
    GIVES(
        PYTHON_PLANT
        "site = '.local/lib/python3.13/site-packages/'\n"
        "plant('sitecustomize.py', 'usercustomize.py', '.pythonrc.py', '.pythonrc', "
        "'encodings.py', "
        "'ipython_config.py', site + 'usercustomize.py', site + 'sitecustomize.py', "
        "'.ipython/profile_default/startup/a.py', '.ipython/profile_default/ipython_config.py', "
        "'.config/ipython/profile_default/startup/a.py', "
        "'.config/ipython/profile_default/ipython_config.py')\n"
        "plant('/tmp/ipython/profile_default/startup/a.py', "
        "'/tmp/ipython/profile_default/ipython_config.py')\n"
        "plant('x.pth', site + 'x.pth', text=\"import os; open('/workspace/ran', "
        "'a').write('pth')\\n\")\n"
        "plant('pyvenv.cfg', text='home = /workspace\\ninclude-system-site-packages = false\\n')\n",
        "");
    reset(sandbox);
    GIVES("import os, IPython, numpy, pandas\n"
          "display\nget_ipython()\nprint(os.path.exists('ran'), IPython.get_ipython() is not None)",
          "False True\n");
}

static void python_modules_of_the_workspace_hide_none_of_a_library(void **state)
{
    IN_SANDBOX("ipython");
    GIVES(
        PYTHON_PLANT
        "plant('statistics.py', 'asyncio.py', 'shutil.py', 'concurrent.py', 'traitlets.py', "
        "'pygments.py', "
        "'IPython.py', 'numpy.py', 'pandas/__init__.py', 'matplotlib/__init__.py', 'decorator.py', "
        "'random.py')\n"
        "plant('helper.py', text='import statistics\\nmean = statistics.mean\\n')\n"
        "plant('package/__init__.py', text='from .part import value\\n')\n"
        "plant('package/part.py', text='value = 42\\n')\n",
        "");
    reset(sandbox);
    accept_file("import statistics\nmean = statistics.mean\n");
    accept_file("from .part import value\n");
    accept_file("value = 42\n");
    GIVES(
        "import os, sys, statistics, random, shutil, numpy, pandas, helper, package\n"
        "print(helper.mean([1, 2, 3]), package.value, sys.path[-1], sys.path.count('/workspace'))\n"
        "import asyncio; await asyncio.sleep(0)\n"
        "import matplotlib.pyplot as plt; plt.plot([1, 2]); plt.close()\n"
        "get_ipython(); print(os.path.exists('ran'))",
        "2 42 /workspace 1\nFalse\n");
}

static void python_programs_import_files_beside_them(void **state)
{
    IN_SANDBOX("python");
    accept_file("value = 42\n");
    GIVES(PYTHON_PLANT "plant('helper.py', text='value = 42\\n')\nplant('statistics.py')\n"
                       "import helper, statistics\nprint(helper.value, statistics.mean([1, 3]), "
                       "os.path.exists('ran'))",
          "42 2 False\n");
}

static void matplotlib_reads_no_configuration_that_a_program_wrote(void **state)
{
    IN_SANDBOX("ipython");
    GIVES(PYTHON_PLANT
          "plant('matplotlibrc', 'sub/matplotlibrc', '.config/matplotlib/matplotlibrc', "
          "'.matplotlib/matplotlibrc', '/tmp/matplotlib/matplotlibrc', "
          "text='figure.figsize: 1, 1\\nbackend: module://evil\\n')\nplant('evil.py')\n",
          "");
    reset(sandbox);
    GIVES("import os\nos.chdir('sub')\nimport matplotlib\n"
          "print(matplotlib.rcParams['figure.figsize'], matplotlib.matplotlib_fname() == "
          "'matplotlibrc', "
          "os.getcwd())\n"
          "import matplotlib.pyplot as plt\nplt.plot([1]); plt.close()\n"
          "print(plt.rcParams['figure.figsize'] == plt.rcParamsDefault['figure.figsize'], "
          "os.path.exists('/workspace/ran'))",
          "[6.4, 4.8] True /workspace/sub\nTrue False\n");
}

static void ipython_loads_extensions_of_the_image_alone(void **state)
{
    IN_SANDBOX("ipython");
    accept_file("open('/workspace/ran', 'a').write(__file__ + ' ')\n"
                "def load_ipython_extension(shell): open('/workspace/ran', 'a').write('loaded')\n");
    GIVES(PYTHON_PLANT
          "text = MARK + \"def load_ipython_extension(shell): open('/workspace/ran', "
          "'a').write('loaded')\\n\"\n"
          "plant('evil.py', 'storemagic.py', 'autoreload.py', '/tmp/ipython/extensions/evil.py', "
          "'/tmp/ipython/extensions/other.py', '.ipython/extensions/other.py', text=text)\n"
          "shell = get_ipython()\n"
          "for name in 'evil', 'other', 'evil.part':\n"
          "    for magic in 'load_ext', 'reload_ext':\n"
          "        try:\n"
          "            shell.run_line_magic(magic, name)\n"
          "        except ModuleNotFoundError as error:\n"
          "            print(error)\n"
          "shell.run_line_magic('load_ext', 'autoreload')\n"
          "shell.run_line_magic('load_ext', 'storemagic')\n"
          "print(os.path.exists('ran'), sorted(shell.extension_manager.loaded))\n"
          "import evil; print(open('ran').read())",
#define REFUSED(name)                                                                              \
    "extension '" name                                                                             \
    "' is not installed here, and extensions are not loaded from files; import the file as a "     \
    "module\n"
          REFUSED("evil") REFUSED("evil") REFUSED("other") REFUSED("other") REFUSED("evil.part")
              REFUSED("evil.part") "False ['IPython.extensions.autoreload', "
                                   "'IPython.extensions.storemagic']\n/workspace/evil.py \n");
}

/* IPython unpickles its stored data. */
static void ipython_stores_nothing_where_a_program_writes(void **state)
{
    IN_SANDBOX("ipython");
    GIVES("import os, pickle\n"
          "class Evil:\n"
          "    def __reduce__(self): return os.mkdir, ('/workspace/ran',)\n"
          "for folder in '/tmp/ipython/profile_default/db', '.ipython/profile_default/db':\n"
          "    os.makedirs(folder, exist_ok=True)\n"
          "    for name in 'bookmarks', 'dhist', 'stored_aliases':\n"
          "        with open(f'{folder}/{name}', 'wb') as file: file.write(pickle.dumps(Evil()))\n",
          "");
    reset(sandbox);
    RUN("shell = get_ipython()\nimport os\nos.mkdir('sub')\nshell.run_line_magic('cd', 'sub')\n"
        "shell.run_line_magic('bookmark', 'here')\nshell.run_line_magic('cd', '/tmp')\n"
        "shell.run_line_magic('cd', '-b here')\nprint(os.getcwd())\n"
        "x = 5\nshell.run_line_magic('load_ext', 'storemagic')\nshell.run_line_magic('store', "
        "'x')\n"
        "x = 6\nshell.run_line_magic('store', '-r')\nprint(x)\nshell.run_line_magic('cd', "
        "'nothing')\n"
        "print(os.path.exists('/workspace/ran'))");
    assert_string_equal(seen.result.evalue != NULL ? seen.result.evalue : "", "");
    assert_non_null(strstr(seen.out.p, "\n/workspace/sub\n"));
    assert_non_null(strstr(seen.out.p, "\n5\n"));
    assert_non_null(strstr(seen.out.p, "\nFalse\n"));
    RUN("print(os.listdir('/tmp/ipython/profile_default'))");
    assert_string_equal(seen.out.p, "['db']\n");
}

#define NODE_PLANT                                                                                 \
    "const fs = require('fs'), path = require('path');\n"                                          \
    "const MARK = \"require('fs').appendFileSync('/workspace/ran', __filename + ' ');\";\n"        \
    "const plant = (names, text = MARK) => { for (const name of names) {\n"                        \
    "  fs.mkdirSync(path.dirname(path.resolve(name)), { recursive: true });\n"                     \
    "  fs.writeFileSync(name, text); } };\n"

static void assert_node_reads_nothing(const char *of)
{
    void *ignored = NULL, **state = &ignored;
    IN_SANDBOX(of);
    GIVES(
        NODE_PLANT
        "plant(['.node_modules/evil.js', '.node_libraries/evil.js', 'index.js', '.noderc.js', "
        "'.node_modules/typescript.js', '.node_modules/source-map-support.js', 'fs.js', "
        "'node_modules/fs/index.js', 'node_modules/path.js']);\n"
        "plant(['package.json', '/tmp/package.json'], JSON.stringify({ type: 'module', main: "
        "'index.js', imports: { '#evil': './index.js', fs: './index.js' } }));\n"
        "plant(['.env', '.npmrc', '.node-options'], 'NODE_OPTIONS=--require=/workspace/index.js\\n"
        "node-options=--require=/workspace/index.js\\n');\n"
        "plant(['.node_repl_history'], MARK);\n"
        "plant(['tsconfig.json'], '{\"compilerOptions\": {\"plugins\": [{\"name\": "
        "\"evil\"}]}}');\n"
        "plant(['openssl.cnf'], 'evil');",
        "");
    reset(sandbox);
    GIVES("let missing = '';\n"
          "for (const name of ['evil', 'source-map-support']) {\n"
          "  try { require(name); } catch (error) { missing += `${error.code} `; }\n}\n"
          "console.log(missing + require('fs').existsSync('/workspace/ran'), process.env.HOME);",
          "MODULE_NOT_FOUND MODULE_NOT_FOUND false /workspace\n");
}

static void javascript_reads_no_configuration_of_the_workspace(void **state)
{
    (void)state;
    assert_node_reads_nothing("javascript");
}

static void typescript_reads_no_configuration_of_the_workspace(void **state)
{
    (void)state;
    assert_node_reads_nothing("typescript");
}

static void shell_reads_no_startup_file(void **state)
{
    IN_SANDBOX("shell");
    GIVES("for f in .bashrc .bash_profile .bash_login .profile .inputrc .bash_logout "
          ".bash_aliases; do\n"
          "echo 'touch /workspace/ran' >$f; done",
          "");
    reset(sandbox);
    GIVES("x=1; [ -e ran ] || echo none", "none\n");
    RUN("exit 3");
    GIVES("echo $x; [ -e ran ] || echo none", "1\nnone\n");
}

int main(int argc, char **argv)
{
    if (live_begin() != 0) {
        return LIVE_NO_ENGINE;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(python_starts_without_files_of_the_workspace),
        cmocka_unit_test(python_modules_of_the_workspace_hide_none_of_a_library),
        cmocka_unit_test(python_programs_import_files_beside_them),
        cmocka_unit_test(matplotlib_reads_no_configuration_that_a_program_wrote),
        cmocka_unit_test(ipython_loads_extensions_of_the_image_alone),
        cmocka_unit_test(ipython_stores_nothing_where_a_program_writes),
        cmocka_unit_test(javascript_reads_no_configuration_of_the_workspace),
        cmocka_unit_test(typescript_reads_no_configuration_of_the_workspace),
        cmocka_unit_test(shell_reads_no_startup_file),
    };
    LIVE_RUN(argc, argv, tests);
}
