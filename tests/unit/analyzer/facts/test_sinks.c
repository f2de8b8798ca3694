/* SPDX-License-Identifier: MIT
 * Capabilities of names, and rules that use them. */
#include "analyzer/analyze.h"
#include "analyzer/facts/sinks.h"
#include "tests/unit/unit.h"

#define CAN(id) (1u << CBX_CAN_##id)

static uint32_t python(const char *name)
{
    return cbx_sinks_of(CBX_PYTHON, cbx_str_of(name));
}

static uint32_t python_import(const char *name)
{
    return cbx_sinks_of_module(CBX_PYTHON, cbx_str_of(name));
}

static uint32_t javascript(const char *name)
{
    return cbx_sinks_of(CBX_JAVASCRIPT, cbx_str_of(name));
}

static void finds_callables_by_their_whole_name(void **state)
{
    (void)state;
    assert_int_equal(python("os.system"), CAN(PROCESS));
    assert_int_equal(python("os.remove"), CAN(FILE_DELETE));
    assert_int_equal(python("open"), CAN(FILE_READ) | CAN(FILE_WRITE));
    assert_int_equal(python("os.systems"), 0);
    assert_int_equal(python("os.syste"), 0);
    assert_int_equal(python("my.os.system"), 0);
    assert_int_equal(python("os.system.x"), 0);
    assert_int_equal(python(""), 0);
    assert_int_equal(python("."), 0);
    assert_int_equal(javascript("fs.rmSync"), CAN(FILE_DELETE));
    assert_int_equal(javascript("fs/promises.rm"), CAN(FILE_DELETE));
    assert_int_equal(javascript("fetch"), CAN(HTTP));
}

static void a_module_covers_what_is_in_it(void **state)
{
    (void)state;
    assert_int_equal(python("subprocess.anything.at.all"), CAN(PROCESS));
    assert_int_equal(python_import("subprocess"), CAN(PROCESS));
    assert_int_equal(python_import("ctypes.util"), CAN(NATIVE));
    assert_int_equal(python_import("subprocesses"), 0);
    assert_int_equal(javascript("child_process.exec"), CAN(PROCESS));
}

static void importing_a_module_with_some_sinks_gives_nothing(void **state)
{
    (void)state;
    assert_int_equal(python_import("os"), 0);
    assert_int_equal(python_import("os.system"), 0);
    assert_int_equal(python_import("numpy"), 0);
    assert_int_equal(cbx_sinks_of_module(CBX_JAVASCRIPT, CBX_STR("fs")), 0);
}

static void words_that_variables_have_count_when_they_are_imported(void **state)
{
    (void)state;
    assert_int_equal(python("code.append"), 0);
    assert_int_equal(python("sh"), 0);
    assert_int_equal(python_import("sh"), CAN(PROCESS));
    assert_int_equal(python("code.interact"), CAN(RUN_CODE) | CAN(SHELL_INTERFACE));
}

static void the_longest_row_counts_alone(void **state)
{
    (void)state;
    assert_int_equal(python_import("importlib"), CAN(LOAD_MODULE));
    assert_int_equal(python_import("importlib.metadata"), 0);
    assert_int_equal(python("importlib.metadata.version"), 0);
    assert_int_equal(python_import("xmlrpc.client"), CAN(HTTP));
}

/* The symbols of the findings, joined. */
static const char *symbols(const char *match, const char *language, const char *code)
{
    static char out[512];
    char yaml[512];
    CBX_AUTO(policy) policy = NULL;
    CBX_AUTO_DONE(arena) arena;
    struct cbx_err err = { 0 };
    struct cbx_decision decision;
    snprintf(yaml, sizeof(yaml),
             "version: 1\nname: x\nlanguages: [python, javascript, shell]\n"
             "shell: {allow: [rm, ls]}\nrules:\n  - {id: a, match: {%s}}\n",
             match);
    cbx_arena_init(&arena, CBX_ANALYSIS_ARENA_MAX);
    if (cbx_policy_parse(cbx_str_of(yaml), "x", &policy, &err) != 0) {
        fail_msg("%s", err.text);
    }
    struct cbx_analysis request = { .source = cbx_str_of(code), .language = cbx_str_of(language) };
    assert_int_equal(cbx_analyze(policy, &request, &arena, &decision, &err), 0);
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < decision.finding_count && used < sizeof(out); i++) {
        used += (size_t)snprintf(out + used, sizeof(out) - used, "%s%.*s", i > 0 ? " " : "",
                                 CBX_STR_ARG(decision.findings[i].symbol));
    }
    return out;
}

static void a_rule_finds_calls_uses_and_imports(void **state)
{
    (void)state;
    const char *process = "capability: start-process";
    assert_string_equal(symbols(process, "python", "import os\nos.system(x)"), "os.system");
    assert_string_equal(symbols(process, "python", "import os\nf = os.system"), "os.system");
    assert_string_equal(symbols(process, "python", "import os\nos.getcwd()"), "");
    assert_string_equal(symbols(process, "python", "from subprocess import run"), "subprocess.run");
    assert_string_equal(symbols(process, "javascript", "require('child_process')"),
                        "child_process");
    assert_string_equal(symbols("capability: [file-delete, weak-hash]", "python",
                                "import os, hashlib\nos.remove('x')\nhashlib.md5()"),
                        "os.remove hashlib.md5");
}

static void an_import_covers_its_uses(void **state)
{
    (void)state;
    assert_string_equal(symbols("capability: start-process", "python",
                                "import subprocess as s\ns.run(1)\ns.call(2)"),
                        "subprocess");
}

static void entries_with_an_exclamation_mark_take_names_out(void **state)
{
    (void)state;
    const char *code = "import os\nos.system(x)\nos.popen(x)\nimport pty";
    assert_string_equal(symbols("capability: start-process", "python", code),
                        "os.system os.popen pty");
    assert_string_equal(
        symbols("capability: start-process, reference: [\"!os.popen\"]", "python", code),
        "os.system pty");
    assert_string_equal(symbols("capability: start-process, call: [\"!os.*\"]", "python", code),
                        "pty");
    assert_string_equal(
        symbols("capability: start-process, import: [\"!pty\", re]", "python", code),
        "os.system os.popen");
}

static void shell_commands_are_names_too(void **state)
{
    (void)state;
    const char *deletes = "capability: file-delete";
    assert_string_equal(symbols(deletes, "shell", "ls; rm x; /bin/rm y"), "rm rm");
    assert_string_equal(symbols(deletes, "shell", "ls | xargs -n 1 sudo rm"), "rm");
    assert_string_equal(symbols(deletes, "shell", "bash -c 'rm x'"), "rm");
    assert_string_equal(symbols("capability: socket", "shell", "cat < /dev/tcp/192.0.2.1/80"),
                        "/dev/tcp");
    assert_string_equal(symbols("call: [curl]", "shell", "curl https://example.org"), "curl");
    assert_string_equal(symbols(deletes, "python", "import os\nos.system('rm x')"), "rm");
}

/* A duplicate row would be hidden. */
static void no_name_stands_in_a_table_twice(void **state)
{
    (void)state;
    static const char *const names[] = {
#define CBX_SINK(name, capabilities)    name,
#define CBX_MODULE(name, capabilities)  name,
#define CBX_PACKAGE(name, capabilities) name,
#include "analyzer/lang/python/library.def"
#include "analyzer/lang/python/sinks.def"
        NULL,
#define CBX_FS(name, capabilities) "fs." name,
#include "analyzer/lang/javascript/sinks.def"
        NULL,
#include "analyzer/lang/shell/sinks.def"
        NULL,
    };
    size_t from = 0;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        for (size_t k = from; names[i] != NULL && k < i; k++) {
            if (strcmp(names[i], names[k]) == 0) {
                fail_msg("%s stands there twice", names[i]);
            }
        }
        from = names[i] == NULL ? i + 1 : from;
    }
}

static void a_row_without_capabilities_takes_a_name_out_of_its_module(void **state)
{
    (void)state;
    assert_true(cbx_sinks_cleared(CBX_PYTHON, CBX_STR("pickle.dumps")));
    assert_false(cbx_sinks_cleared(CBX_PYTHON, CBX_STR("pickle.loads")));
    assert_false(cbx_sinks_cleared(CBX_PYTHON, CBX_STR("numpy.zeros"))); /* no row at all */
    assert_true(cbx_sinks_is_module(CBX_PYTHON, CBX_STR("marshal")));
    assert_false(cbx_sinks_is_module(CBX_PYTHON, CBX_STR("eval")));
}

static void an_import_is_judged_by_the_members_that_are_used(void **state)
{
    (void)state;
    const char *rule = "capability: [deserialise, load-module]";
    assert_string_equal(symbols(rule, "python", "import pickle\npickle.dumps(1)"), "");
    assert_string_equal(symbols(rule, "python", "import pickle"), "pickle");
    assert_string_equal(symbols(rule, "python", "import pickle\npickle.dumps(1)\nf(pickle)"),
                        "pickle");
    assert_string_equal(symbols(rule, "python", "import pickle\npickle.loads(x)"), "pickle");
    assert_string_equal(
        symbols(rule, "python", "import importlib\nimportlib.import_module('json')"), "");
    assert_string_equal(symbols("import: [pickle]", "python", "import pickle\npickle.dumps(1)"),
                        "pickle.dumps");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_callables_by_their_whole_name),
        cmocka_unit_test(a_module_covers_what_is_in_it),
        cmocka_unit_test(importing_a_module_with_some_sinks_gives_nothing),
        cmocka_unit_test(words_that_variables_have_count_when_they_are_imported),
        cmocka_unit_test(the_longest_row_counts_alone),
        cmocka_unit_test(a_rule_finds_calls_uses_and_imports),
        cmocka_unit_test(an_import_covers_its_uses),
        cmocka_unit_test(entries_with_an_exclamation_mark_take_names_out),
        cmocka_unit_test(shell_commands_are_names_too),
        cmocka_unit_test(no_name_stands_in_a_table_twice),
        cmocka_unit_test(a_row_without_capabilities_takes_a_name_out_of_its_module),
        cmocka_unit_test(an_import_is_judged_by_the_members_that_are_used),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
