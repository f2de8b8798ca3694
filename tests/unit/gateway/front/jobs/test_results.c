/* SPDX-License-Identifier: MIT
 * The JSON of results: the form that is stored and that /v1 answers, and that of CodeBox-AI. */
#include "gateway/front/jobs/results.h"

#include "tests/unit/gateway/front/rest/rig.h"

static json_t *parse(const char *text)
{
    CBX_AUTO_DONE(buf) copy;
    cbx_buf_init(&copy, 65536);
    for (const char *c = text; *c != '\0'; c++) {
        cbx_buf_add_char(&copy, *c == '\'' ? '"' : *c);
    }
    json_t *json = json_loads(copy.p, JSON_DECODE_ANY, NULL);
    assert_non_null(json);
    return json;
}

/* The results of a run that ended like this. */
static json_t *results_of(const struct cbx_result *result)
{
    struct cbx_outcome outcome = { .ran = true, .audit_seq = 5, .result = *result };
    struct cbx_err err = { 0 };
    CBX_AUTO_JSON items = json_array();
    snprintf(outcome.id, sizeof(outcome.id), "decision-1");
    return cbx_results(items, &outcome, NULL, &err);
}

static void results_have_every_field(void **state)
{
    (void)state;
    struct cbx_result result = { .status = CBX_RUN_OK,
                                 .duration_ms = 12,
                                 .cpu_ms = 3,
                                 .stdout_bytes = 4,
                                 .stderr_bytes = 6,
                                 .output_truncated = true };
    CBX_AUTO_JSON json = results_of(&result);
    assert_json(
        json,
        "{'outcome':'ok','exit_code':0,'signal':null,'error':null,'output':[],"
        "'files':[],'blocked':[],'duration_ms':12,'cpu_ms':3,'stdout_bytes':4,'stderr_bytes':6,"
        "'truncated':true,'files_truncated':false,'session_lost':false,"
        "'session_restarted':false,'decision':'decision-1','audit_seq':5}");
}

static void an_error_says_why_the_run_ended(void **state)
{
    (void)state;
    static const struct {
        struct cbx_result result;
        const char *outcome, *error;
    } cases[] = {
        { { .status = CBX_RUN_ERROR, .exit_code = 3 }, "error", "exit code 3" },
        { { .status = CBX_RUN_TIMEOUT, .exit_code = -1, .duration_ms = 60 },
          "timeout",
          "stopped at the time limit after 60 ms" },
        { { .status = CBX_RUN_OOM, .exit_code = -1, .session_lost = true, .duration_ms = 1 },
          "oom",
          "stopped at the memory limit after 1 ms; the session's state is lost" },
        { { .status = CBX_RUN_KILLED, .exit_code = -1, .signal = 9 },
          "killed",
          "the program was killed after 0 ms" },
        { { .status = CBX_RUN_KILLED, .exit_code = -1, .signal = 2 },
          "killed",
          "the program was interrupted after 0 ms" },
        { { .status = CBX_RUN_CPU, .exit_code = -1 },
          "cpu",
          "stopped at the limit of processor time after 0 ms" },
        { { .status = CBX_RUN_FAILED, .exit_code = -1 }, "failed", "the run failed after 0 ms" },
        { { .status = CBX_RUN_LOST, .exit_code = -1, .lost_since_ms = 1000, .session_lost = true },
          "lost",
          "lost: engine unreachable since 1970-01-01T00:00:01Z, outcome unknown; the session's "
          "state "
          "is lost" },
        { { .status = CBX_RUN_LOST,
            .exit_code = -1,
            .silent = CBX_SILENT_SANDBOX,
            .lost_since_ms = 1000 },
          "lost",
          "lost: sandbox silent since 1970-01-01T00:00:01Z, outcome unknown" },
        { { .status = CBX_RUN_LOST,
            .exit_code = -1,
            .silent = CBX_SILENT_TAKEN,
            .lost_since_ms = 1000,
            .session_lost = true },
          "lost",
          "lost: sandbox evicted or removed by its cluster, silent since 1970-01-01T00:00:01Z, "
          "outcome unknown; the session's state is lost" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        CBX_AUTO_JSON json = results_of(&cases[i].result);
        assert_string_equal(text_at(json, "outcome"), cases[i].outcome);
        assert_string_equal(text_at(json, "error"), cases[i].error);
        int code = cases[i].result.exit_code;
        assert_true(code >= 0 ? json_integer_value(json_object_get(json, "exit_code")) == code
                              : json_is_null(json_object_get(json, "exit_code")));
    }
}

static void an_exception_has_its_name_its_value_and_its_lines(void **state)
{
    (void)state;
    char ename[] = "ValueError", traceback[] = "one\n\ntwo\n";
    struct cbx_result result = {
        .status = CBX_RUN_ERROR, .exit_code = 1, .ename = ename, .traceback = traceback
    };
    CBX_AUTO_JSON json = results_of(&result);
    assert_json(json_object_get(json, "error"),
                "{'ename':'ValueError','evalue':'','traceback':['one','','two']}");
}

static void what_did_not_run_has_its_error_and_neither_exit_code_nor_audit_record(void **state)
{
    (void)state;
    struct cbx_outcome outcome = { 0 };
    struct cbx_err err = { .code = CBX_EENGINE, .text = "the engine is away" };
    CBX_AUTO_JSON items = json_array();
    CBX_AUTO_JSON json = cbx_results(items, &outcome, NULL, &err);
    assert_string_equal(text_at(json, "outcome"), "failed");
    assert_string_equal(text_at(json, "error"), "the engine is away");
    assert_json(json_object_get(json, "exit_code"), "null");
    assert_json(json_object_get(json, "audit_seq"), "null");
}

static void files_are_listed_apart_with_the_type_of_their_names(void **state)
{
    (void)state;
    struct cbx_outcome outcome = { .ran = true, .result = { .status = CBX_RUN_OK } };
    struct cbx_err err = { 0 };
    CBX_AUTO_JSON items = parse("[{'kind':'stdout','text':'a'},{'kind':'file','path':'x.PNG',"
                                "'size':3},{'kind':'file','path':'no-ending','size':0}]");
    CBX_AUTO_JSON json = cbx_results(items, &outcome, NULL, &err);
    assert_json(json_object_get(json, "output"), "[{'kind':'stdout','text':'a'}]");
    assert_json(json_object_get(json, "files"),
                "[{'path':'x.PNG','size':3,'type':'image/png'},{'path':'no-ending','size':0,"
                "'type':'application/octet-stream'}]");
}

static void legacy_results_have_streams_results_and_pictures(void **state)
{
    (void)state;
    CBX_AUTO_JSON results =
        parse("{'outcome':'ok','files':[{'path':'o.csv'}],'output':["
              "{'kind':'stdout','text':'a'},{'kind':'stderr','text':'b'},{'kind':'cut','size':7},"
              "{'kind':'result','data':{'text/plain':'4'}},"
              "{'kind':'display','data':{'text/html':'<p>'}},"
              "{'kind':'display','data':{'image/png':'aGk=','text/plain':'<Figure>'}}]}");
    CBX_AUTO_JSON json = cbx_results_legacy(results);
    assert_json(
        json_object_get(json, "output"),
        "[{'type':'stream','name':'stdout','content':'a'},"
        "{'type':'stream','name':'stderr','content':'b'},"
        "{'type':'stream','name':'stdout','content':'\\n[7 bytes of output are left out here]\\n'},"
        "{'type':'result','content':'4','data':{'text/plain':'4'}},"
        "{'type':'result','content':'','data':{'text/html':'<p>'}}]");
    assert_json(json_object_get(json, "files"), "['aGk=']");
    assert_json(json_object_get(json, "created"), "[{'path':'o.csv'}]");
    assert_string_equal(text_at(json, "outcome"), "ok");
}

static void an_execution_names_its_language_as_clients_do_and_no_session_as_null(void **state)
{
    (void)state;
    CBX_AUTO_JSON row = parse("{'request_id':'e1','session_id':'','status':'running','created_at':"
                              "'t','completed_at':null,'results':null,'language':'ipython'}");
    CBX_AUTO_JSON json = cbx_execution_json(row);
    assert_string_equal(text_at(json, "execution_id"), "e1");
    assert_string_equal(text_at(json, "language"), "python");
    assert_json(json_object_get(json, "session_id"), "null");
    json_object_set_new(row, "session_id", json_string("s1"));
    CBX_AUTO_JSON with = cbx_execution_json(row);
    assert_string_equal(text_at(with, "session_id"), "s1");
}

/* Results with so many items of 100 bytes of text each. */
static json_t *long_results(int outputs, int files)
{
    char text[101];
    struct cbx_result result = { .status = CBX_RUN_OK };
    json_t *results = results_of(&result);
    snprintf(text, sizeof(text), "%0100d", 0);
    for (int i = 0; i < outputs; i++) {
        json_array_append_new(json_object_get(results, "output"),
                              json_pack("{s:s,s:s}", "kind", "stdout", "text", text));
    }
    for (int i = 0; i < files; i++) {
        json_array_append_new(json_object_get(results, "files"), json_pack("{s:s}", "path", text));
    }
    return results;
}

static size_t bytes_of(const json_t *json)
{
    return json_dumpb(json, NULL, 0, JSON_COMPACT);
}

static void results_that_are_too_large_lose_their_end_and_say_so(void **state)
{
    (void)state;
    enum { MAX = 4000 };
    CBX_AUTO_JSON results = long_results(100, 3);
    CBX_AUTO_JSON whole = json_deep_copy(results);
    cbx_results_shorten(results, bytes_of(results), "enough room");
    assert_true(json_equal(results, whole));
    cbx_results_shorten(results, MAX, "the reason");
    assert_true(bytes_of(results) <= MAX);
    const json_t *output = json_object_get(results, "output");
    size_t count = json_array_size(output);
    assert_in_range(count, 10, 30);
    assert_string_equal(text_at(json_array_get(output, 0), "kind"), "stdout");
    const json_t *cut = json_array_get(output, count - 1);
    assert_string_equal(text_at(cut, "kind"), "cut");
    assert_true(json_integer_value(json_object_get(cut, "size")) > 7000);
    assert_json(json_object_get(results, "truncated"), "true");
    assert_json(json_object_get(results, "files_truncated"), "false");
    assert_int_equal(json_array_size(json_object_get(results, "files")), 3);
    assert_string_equal(text_at(json_object_get(results, "left_out"), "reason"), "the reason");
    CBX_AUTO_JSON legacy = cbx_results_legacy(results);
    const json_t *last = json_array_get(json_object_get(legacy, "output"), count - 1);
    assert_non_null(strstr(text_at(last, "content"), "are left out here"));
}

static void results_whose_files_are_too_many_lose_these_too(void **state)
{
    (void)state;
    enum { MAX = 4000 };
    CBX_AUTO_JSON results = long_results(2, 100);
    cbx_results_shorten(results, MAX, "the reason");
    assert_true(bytes_of(results) <= MAX);
    assert_json(json_object_get(results, "files_truncated"), "true");
    assert_in_range(json_array_size(json_object_get(results, "files")), 10, 30);
}

static void an_error_that_is_too_large_is_replaced(void **state)
{
    (void)state;
    enum { MAX = 4000 };
    char value[10000];
    memset(value, 'v', sizeof(value) - 1);
    value[sizeof(value) - 1] = '\0';
    struct cbx_result result = { .status = CBX_RUN_ERROR,
                                 .ename = (char[]){ "E" },
                                 .evalue = value };
    CBX_AUTO_JSON results = results_of(&result);
    cbx_results_shorten(results, MAX, "the reason");
    assert_true(bytes_of(results) <= MAX);
    assert_string_equal(text_at(results, "error"), "the error is too large to be stored");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_have_every_field),
        cmocka_unit_test(an_error_says_why_the_run_ended),
        cmocka_unit_test(an_exception_has_its_name_its_value_and_its_lines),
        cmocka_unit_test(what_did_not_run_has_its_error_and_neither_exit_code_nor_audit_record),
        cmocka_unit_test(files_are_listed_apart_with_the_type_of_their_names),
        cmocka_unit_test(results_that_are_too_large_lose_their_end_and_say_so),
        cmocka_unit_test(results_whose_files_are_too_many_lose_these_too),
        cmocka_unit_test(an_error_that_is_too_large_is_replaced),
        cmocka_unit_test(legacy_results_have_streams_results_and_pictures),
        cmocka_unit_test(an_execution_names_its_language_as_clients_do_and_no_session_as_null),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
