/* SPDX-License-Identifier: MIT
 * Advice: the meaning of an error in the sandbox, and the limit that stopped a run. */
#include "gateway/front/denial/advice.h"
#include "tests/unit/unit.h"

#include <stdlib.h>

static void take(void *context, struct cbx_str line)
{
    struct cbx_buf *all = context;
    assert_int_equal(line.p[line.len], '\0');
    cbx_buf_add(all, line);
    cbx_buf_add_char(all, '\n');
}

/* The lines of advice for a program of this language that failed with these errors. */
static char *advise(const char *language, const char *errors, const struct cbx_strs *hosts)
{
    struct cbx_result result = { .status = CBX_RUN_ERROR };
    struct cbx_limits limits = { .memory_bytes = 512 << 20, .disk_bytes = 64 << 20, .pids = 32 };
    struct cbx_advice advice = { .result = &result,
                                 .limits = &limits,
                                 .language = cbx_str_of(language),
                                 .hosts = hosts,
                                 .errors = cbx_str_of(errors) };
    struct cbx_buf all;
    cbx_buf_init(&all, 65536);
    cbx_advice_give(&advice, take, &all);
    return cbx_buf_take(&all);
}

static void assert_advice(const char *language, const char *errors, const char *part)
{
    char *lines = advise(language, errors, NULL);
    if (strstr(lines, part) == NULL || strchr(lines, '\n') != strrchr(lines, '\n')) {
        fail_msg("%s: %s", errors, lines);
    }
    free(lines);
}

static void assert_no_advice(const char *language, const char *errors)
{
    char *lines = advise(language, errors, NULL);
    assert_string_equal(lines, "");
    free(lines);
}

static void says_which_modules_there_are(void **state)
{
    (void)state;
    assert_advice(
        "ipython", "ModuleNotFoundError: No module named 'torch'\n",
        "the module 'torch' is not in the sandbox; the policy lets no package be installed; "
        "Python has the standard library, numpy, pandas, matplotlib, scipy");
    assert_advice("python", "/usr/bin/python3: No module named 'pip'", "pip is not in the sandbox");
    assert_advice("javascript", "Error: Cannot find module 'lodash'\n", "the module 'lodash'");
    assert_advice("typescript", "Error: Cannot find package 'axios' imported", "package 'axios'");
    assert_advice("python",
                  "ImportError: Missing optional dependency 'pyarrow'. Use pip or conda to install",
                  "the module 'pyarrow' is not in the sandbox");
    assert_advice("python", "using the \"kaleido\" engine requires the kaleido package",
                  "write_html('figure.html')");
    assert_advice("python", "  >>> nltk.download('punkt_tab')\n",
                  "the data 'punkt_tab' of NLTK is not in the sandbox");
    assert_advice("c", "main.c:1:10: fatal error: curl/curl.h: No such file", "header curl/curl.h");
}

static void says_where_files_are(void **state)
{
    (void)state;
    assert_advice("python",
                  "FileNotFoundError: [Errno 2] No such file or directory: '/mnt/data/x.csv'",
                  "there is no '/mnt/data/x.csv' in the sandbox: files are in the working folder");
    assert_advice("javascript", "ENOENT: no such file or directory, open '/data/x.csv'",
                  "'/data/x.csv'");
    assert_advice("shell", "cat: /content/x.csv: No such file or directory", "'/content/x.csv'");
    assert_no_advice("python", "No such file or directory: 'x.csv'");
    assert_no_advice("python", "No such file or directory: '/workspace/x.csv'");
    assert_no_advice("shell", "cat: x.csv: No such file or directory");
}

static const char contents_label[] =
    "{\"version\":1,\"runtime\":{\"name\":\"Python\",\"version\":\"3.11.2\"},\"packages\":["
    "{\"name\":\"beautifulsoup4\",\"version\":\"4.11.2\",\"modules\":[\"bs4\"]},"
    "{\"name\":\"seaborn\",\"version\":\"0.12.2\",\"modules\":[\"seaborn\"]}]}";

static void names_the_module_or_package_that_the_image_has_instead(void **state)
{
    (void)state;
    static const struct {
        const char *error, *part;
    } cases[] = {
        { "No module named 'beautifulsoup4'",
          "the sandbox has beautifulsoup4: its module is 'bs4'" },
        { "No module named 'BS4.element'", "its module is 'bs4'" },
        { "No module named 'seaborn.none'", "has seaborn 0.12.2 without this part" },
        { "No module named 'seabron'", "did you mean 'seaborn'?" },
    };
    struct cbx_contents contents;
    assert_int_equal(cbx_contents_read(cbx_str_of(contents_label), &contents, NULL), 0);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cbx_result result = { .status = CBX_RUN_ERROR };
        struct cbx_limits limits = { 0 };
        struct cbx_advice advice = { .result = &result,
                                     .limits = &limits,
                                     .language = CBX_STR("python"),
                                     .errors = cbx_str_of(cases[i].error) };
        CBX_AUTO_DONE(buf) all;
        cbx_buf_init(&all, 65536);
        assert_true(cbx_advice_names_contents(&advice));
        advice.contents = &contents;
        cbx_advice_give(&advice, take, &all);
        if (strstr(all.p, cases[i].part) == NULL) {
            fail_msg("%s: %s", cases[i].error, all.p);
        }
        advice.errors = CBX_STR("MemoryError");
        assert_false(cbx_advice_names_contents(&advice));
    }
    cbx_contents_done(&contents);
}

static void says_that_there_is_no_network(void **state)
{
    (void)state;
    static const char *const errors[] = {
        "socket.gaierror: [Errno -3] Temporary failure in name resolution",
        "TypeError: fetch failed\n  code: 'EAI_AGAIN'",
        "connect ECONNREFUSED 1.2.3.4:80",
        "OSError: [Errno 101] Network is unreachable",
        "HTTPSConnectionPool: Max retries exceeded with url: /",
    };
    for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
        assert_advice("python", errors[i], "programs reach no other machine under this policy");
    }
    const struct cbx_str names[] = { CBX_STR("api.example.org"), CBX_STR("*.example.net") };
    const struct cbx_strs hosts = { .items = names, .count = 2 };
    char *lines = advise("python", errors[0], &hosts);
    assert_non_null(strstr(lines, "reach only api.example.org and *.example.net, by HTTP"));
    free(lines);
}

static void says_which_command_input_screen_or_place_is_missing(void **state)
{
    (void)state;
    assert_advice("shell", "x.sh: pip: command not found", "send the language \"python\"");
    assert_advice("shell", "x.sh: cowsay: command not found", "the command 'cowsay'");
    assert_advice("python", "EOFError: the input has ended",
                  "give the program its input with `stdin`");
    assert_advice("python", "ImportError: Cannot load backend 'TkAgg'", "there is no screen");
    assert_advice("python", "OSError: [Errno 30] Read-only file system: '/x'",
                  "use a relative path");
    assert_advice("python", "PermissionError: [Errno 13] Permission denied: '/opt/x'",
                  "/workspace");
}

static void says_the_limit_that_was_reached(void **state)
{
    (void)state;
    assert_advice("python", "OSError: [Errno 28] No space left on device",
                  "holds 64 MiB, the limit");
    assert_advice("python", "MemoryError", "may use 512 MiB of memory, the limit");
    assert_advice("python", "RuntimeError: can't start new thread", "may have 32 threads");
}

static void gives_no_advice_for_other_errors_other_languages_and_success(void **state)
{
    (void)state;
    static const char *const errors[] = { "ZeroDivisionError: division by zero", "",
                                          "No module named '", "fatal error: x" };
    for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
        char *lines = advise("python", errors[i], NULL);
        assert_string_equal(lines, "");
        free(lines);
    }
    struct cbx_result result = { .status = CBX_RUN_OK };
    struct cbx_limits limits = { 0 };
    struct cbx_advice advice = { .result = &result,
                                 .limits = &limits,
                                 .errors = CBX_STR("MemoryError") };
    CBX_AUTO_DONE(buf) all;
    cbx_buf_init(&all, 4096);
    cbx_advice_give(&advice, take, &all);
    assert_int_equal(all.len, 0);
}

static void gives_at_most_three_lines_of_harmless_text(void **state)
{
    (void)state;
    char *lines = advise("python",
                         "No module named 'a\x1b[2J"
                         "b'\nMemoryError\nEOFError\nEROFS\n"
                         "ECONNREFUSED\nNo space left on device",
                         NULL);
    size_t count = 0;
    for (const char *p = lines; *p != '\0'; p++) {
        count += *p == '\n';
        assert_true(*p == '\n' || (unsigned char)*p >= ' ');
    }
    assert_int_equal(count, CBX_ADVICE_MAX);
    free(lines);
    char errors[5000] = "No module named '";
    memset(errors + strlen(errors), 'm', 4000);
    lines = advise("python", errors, NULL);
    assert_true(strlen(lines) < 400);
    free(lines);
}

static void reads_the_end_of_long_errors_and_the_traceback(void **state)
{
    (void)state;
    size_t len = 2 * CBX_ADVICE_READ_BYTES;
    char *errors = malloc(len + 32), *traceback = strdup("MemoryError");
    assert_non_null(errors);
    memset(errors, 'x', len);
    memcpy(errors + len, "EOFError", 9);
    struct cbx_result result = { .status = CBX_RUN_ERROR, .traceback = traceback };
    struct cbx_limits limits = { .memory_bytes = 1 << 20 };
    struct cbx_advice advice = { .result = &result,
                                 .limits = &limits,
                                 .errors = cbx_str_of(errors) };
    CBX_AUTO_DONE(buf) all;
    cbx_buf_init(&all, 4096);
    cbx_advice_give(&advice, take, &all);
    assert_non_null(strstr(all.p, "1 MiB of memory"));
    assert_non_null(strstr(all.p, "input()"));
    free(errors);
    free(traceback);
}

static void names_the_limit_of_a_run_that_was_stopped(void **state)
{
    (void)state;
    const struct cbx_limits limits = { .wall_ms = 1500, .cpu_ms = 900, .memory_bytes = 512 << 20 };
    static const struct {
        enum cbx_run_status status;
        const char *text, *unknown;
    } cases[] = {
        { CBX_RUN_TIMEOUT,
          "timeout: stopped after 1.5 s, the time limit; make the program faster "
          "or its work smaller",
          "timeout: stopped after 2.01 s, the time limit;" },
        { CBX_RUN_CPU,
          "cpu: stopped after 900 ms of processor time, the limit; make the program "
          "faster or its work smaller",
          "cpu: stopped after 70 ms of processor time" },
        { CBX_RUN_OOM,
          "oom: stopped, the program needed more than 512 MiB of memory, the limit; "
          "process the data in pieces",
          "oom: stopped, the program needed more memory than the limit; process" },
        { CBX_RUN_KILLED, "", "" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cbx_result result = { .status = cases[i].status, .duration_ms = 2010, .cpu_ms = 70 };
        CBX_AUTO_DONE(buf) out;
        cbx_buf_init(&out, 1024);
        assert_int_equal(cbx_advice_stopped(&result, &limits, &out), cases[i].text[0] != '\0');
        assert_string_equal(out.p, cases[i].text);
        cbx_buf_reset(&out);
        cbx_advice_stopped(&result, &(struct cbx_limits){ 0 }, &out);
        assert_int_equal(strncmp(out.p, cases[i].unknown, strlen(cases[i].unknown)), 0);
    }
}

static void says_what_became_of_the_input(void **state)
{
    (void)state;
    struct cbx_limits limits = { .wall_ms = 2000 };
    struct cbx_result result = { .status = CBX_RUN_TIMEOUT, .input_awaited = true };
    CBX_AUTO_DONE(buf) out;
    cbx_buf_init(&out, 1024);
    assert_true(cbx_advice_stopped(&result, &limits, &out));
    assert_non_null(strstr(out.p, "2 s, the time limit: the program had read all of its standard"));
    cbx_buf_reset(&out);
    result = (struct cbx_result){ .status = CBX_RUN_OK, .input_cut = true };
    assert_true(cbx_advice_stopped(&result, &limits, &out));
    assert_int_equal(strncmp(out.p, "input: the gateway was restarted before", 39), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(says_which_modules_there_are),
        cmocka_unit_test(says_where_files_are),
        cmocka_unit_test(names_the_module_or_package_that_the_image_has_instead),
        cmocka_unit_test(says_that_there_is_no_network),
        cmocka_unit_test(says_which_command_input_screen_or_place_is_missing),
        cmocka_unit_test(says_the_limit_that_was_reached),
        cmocka_unit_test(says_what_became_of_the_input),
        cmocka_unit_test(gives_no_advice_for_other_errors_other_languages_and_success),
        cmocka_unit_test(gives_at_most_three_lines_of_harmless_text),
        cmocka_unit_test(reads_the_end_of_long_errors_and_the_traceback),
        cmocka_unit_test(names_the_limit_of_a_run_that_was_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
