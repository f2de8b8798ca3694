/* SPDX-License-Identifier: MIT
 * Files of a workspace: decoding of paths, judged files, refusals, downloads. */
#include "gateway/front/service/service_files.h"
#include "tests/unit/gateway/front/rest/rig.h"

static struct cbx_http_exchange *put(struct rig *rig, const char *session, const char *path,
                                     struct cbx_str body)
{
    char target[400];
    snprintf(target, sizeof(target), "/v1/sessions/%s/files/%s", session, path);
    struct sending s = { .method = "PUT", .path = target, .body = body };
    return rig_send(rig, &s);
}

static struct cbx_http_exchange *get(struct rig *rig, const char *path)
{
    char target[400];
    snprintf(target, sizeof(target), "/v1/sessions/abc/files%s", path);
    return rig_get(rig, target);
}

static const char *last_path(struct rig *rig, enum cbx_executor_call call)
{
    const struct seen *seen = executor_last(&rig->executor, call);
    assert_non_null(seen);
    assert_string_equal(text_at(seen->header, "principal"), "local");
    return text_at(seen->header, "path");
}

/* --- clients ---------------------------------------------------------------------------------- */

static void what_a_client_says_of_itself_goes_with_data_and_with_code(void **state)
{
    struct rig *rig = *state;
    char session[37];
    struct cbx_claims claims = { .claimed_client = "some-agent", .claimed_tool_use = "toolu_1" };
    open_session(rig, "{}", session);
    CBX_AUTO_DONE(outcome) denial = { 0 };
    assert_int_equal(cbx_service_put_file(&rig->service, CBX_CALLER_LOCAL, session, "a.csv",
                                          CBX_STR("1,2"), "mcp", &claims, &denial, NULL),
                     0);
    const struct seen *seen = executor_last(&rig->executor, CBX_CALL_put_file);
    assert_non_null(seen);
    assert_string_equal(text_at(seen->header, "claimed_client"), "some-agent");
    assert_string_equal(text_at(seen->header, "claimed_tool_use"), "toolu_1");
    assert_int_equal(cbx_service_put_file(&rig->service, CBX_CALLER_LOCAL, session, "a.py",
                                          CBX_STR("x = 1"), "mcp", &claims, &denial, NULL),
                     0);
    assert_string_equal(worker_seen(rig)->action, "file");
    assert_string_equal(worker_seen(rig)->claimed_client, "some-agent");
}

/* --- paths ------------------------------------------------------------------------------------ */

static void a_path_is_percent_decoded_once(void **state)
{
    static const struct {
        const char *sent, *path;
    } cases[] = {
        { "/a/b.csv", "a/b.csv" },         { "/a%20b", "a b" }, { "/a%2Fb%2fc", "a/b/c" },
        { "/%2e%2e/x", "../x" },           { "/%2541", "%41" }, { "/a+b", "a+b" },
        { "/%c3%a4.txt", "\xc3\xa4.txt" }, { "/x%7E", "x~" },   { "/%4A%4a", "JJ" },
    };
    struct rig *rig = *state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        await_answer(get(rig, cases[i].sent), 200);
        assert_string_equal(last_path(rig, CBX_CALL_get_file), cases[i].path);
    }
}

static void a_path_that_is_no_text_is_refused(void **state)
{
    static const struct {
        const char *sent, *says;
    } cases[] = {
        { "/a%", "'%'" },   { "/a%4", "'%'" },   { "/a%zz", "'%'" },  { "/a%4g", "'%'" },
        { "/a%00", "NUL" }, { "/%ff", "UTF-8" }, { "/%c3", "UTF-8" }, { "/a%%41", "'%'" },
        { "/%g1", "'%'" },  { "/%-1", "'%'" },
    };
    struct rig *rig = *state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_problem(get(rig, cases[i].sent), 400, cases[i].says);
        assert_problem(put(rig, "abc", cases[i].sent + 1, CBX_STR("x")), 400, cases[i].says);
    }
    assert_int_equal(rig->executor.seen_count, 0);
}

static void a_path_that_is_too_long_is_refused(void **state)
{
    enum { LONG = 5000 };
    char path[LONG + 64] = "/v1/sessions/abc/files/";
    size_t start = strlen(path);
    memset(path + start, 'a', LONG);
    assert_problem(rig_get(*state, path), 400, "the path is too long");
    path[start + 4096] = '\0';
    await_answer(rig_get(*state, path), 200);
    path[start + 4097] = '\0';
}

/* --- reading ---------------------------------------------------------------------------------- */

static void a_path_that_ends_in_a_slash_or_none_is_listed(void **state)
{
    static const struct {
        const char *sent, *path;
    } cases[] = { { "", "" }, { "/", "" }, { "/data/", "data" }, { "/a/b//", "a/b" } };
    struct rig *rig = *state;
    struct script script = { .json =
                                 "{\"files\":[{\"path\":\"a\",\"size\":1}],\"complete\":true}" };
    executor_script(&rig->executor, CBX_CALL_list_files, script);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const json_t *json = await_answer(get(rig, cases[i].sent), 200);
        assert_json(json, "{'files':[{'path':'a','size':1}],'complete':true}");
        assert_string_equal(last_path(rig, CBX_CALL_list_files), cases[i].path);
    }
    assert_int_equal(executor_count(&rig->executor, CBX_CALL_get_file), 0);
}

static void a_download_has_the_bytes_and_the_type_of_its_name(void **state)
{
    static const struct {
        const char *path, *type;
    } cases[] = {
        { "/a.png", "image/png" },
        { "/a.CSV", "text/csv; charset=utf-8" },
        { "/a.html", "text/plain; charset=utf-8" }, /* never a page of this server */
        { "/a.svg", "text/plain; charset=utf-8" },
        { "/a.xml", "text/plain; charset=utf-8" },
        { "/a.bin", "application/octet-stream" },
        { "/png", "application/octet-stream" },
    };
    struct rig *rig = *state;
    struct script script = { .bytes = { .p = "a\0b\xff", .len = 4 } };
    executor_script(&rig->executor, CBX_CALL_get_file, script);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cbx_http_exchange *e = get(rig, cases[i].path);
        assert_null(await_answer(e, 200));
        assert_int_equal(e->response.bytes_len, 4);
        assert_memory_equal(e->response.bytes, "a\0b\xff", 4);
        assert_string_equal(e->response.type, cases[i].type);
    }
}

/* Also a file whose name would end the header, or its quotes. */
static void a_download_is_an_attachment_of_its_path(void **state)
{
    static const struct {
        const char *sent, *path;
    } cases[] = {
        { "/a.png", "a.png" },
        { "/out/a%22b.html", "out/a\"b.html" },
        { "/a%0d%0aX-Evil:%201", "a\r\nX-Evil: 1" },
        { "/%c3%a4%2f..%5cb.svg", "\xc3\xa4/..\\b.svg" },
    };
    struct rig *rig = *state;
    struct script script = { .bytes = CBX_STR("<script>") };
    executor_script(&rig->executor, CBX_CALL_get_file, script);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cbx_http_exchange *e = get(rig, cases[i].sent);
        assert_null(await_answer(e, 200));
        assert_string_equal(e->response.attachment, cases[i].path);
    }
    await_answer(get(rig, "/"), 200);
    assert_null(get(rig, "/")->response.attachment);
}

static void errors_of_the_workspace_are_the_answers(void **state)
{
    struct rig *rig = *state;
    struct script gone = { .code = CBX_ENOTFOUND, .text = "no such file" };
    executor_script(&rig->executor, CBX_CALL_get_file, gone);
    executor_script(&rig->executor, CBX_CALL_list_files, gone);
    executor_script(&rig->executor, CBX_CALL_delete_file, gone);
    executor_script(&rig->executor, CBX_CALL_put_file, gone);
    assert_problem(get(rig, "/a.txt"), 404, "no such file");
    assert_problem(get(rig, "/a/"), 404, "no such file");
    assert_problem(put(rig, "abc", "a.txt", CBX_STR("x")), 404, "no such file");
    assert_problem(rig_json(rig, "DELETE", "/v1/sessions/abc/files/a.txt", ""), 404,
                   "no such file");
}

/* --- writing ---------------------------------------------------------------------------------- */

static void data_is_uploaded_as_it_is_and_not_judged(void **state)
{
    struct rig *rig = *state;
    struct cbx_str body = { .p = "DENY\0\xff", .len = 6 };
    const json_t *json = await_answer(put(rig, "abc", "d%20e.csv", body), 201);
    assert_json(json, "{'path':'d e.csv','size':6}");
    const struct seen *call = executor_last(&rig->executor, CBX_CALL_put_file);
    assert_true(cbx_str_equal(cbx_buf_str(&call->bytes), body));
    assert_string_equal(text_at(call->header, "session"), "abc");
    assert_string_equal(last_path(rig, CBX_CALL_put_file), "d e.csv");
    assert_int_equal(worker_judged(rig), 0);
}

static void source_is_judged_in_its_language_under_the_policy_of_the_session(void **state)
{
    static const struct {
        const char *path, *language;
    } cases[] = { { "m.py", "python" }, { "m.mjs", "javascript" }, { "m.sh", "shell" } };
    struct rig *rig = *state;
    char id[37];
    open_session(rig, "{'policy':'strict'}", id);
    for (size_t i = 0; i < 3; i++) {
        await_answer(put(rig, id, cases[i].path, CBX_STR("fine")), 201);
        assert_string_equal(worker_seen(rig)->language, cases[i].language);
        assert_string_equal(worker_seen(rig)->policy, "strict");
        assert_string_equal(worker_seen(rig)->action, "file");
        assert_true(cbx_str_is(cbx_buf_str(&worker_seen(rig)->source), "fine"));
    }
    assert_int_equal(executor_count(&rig->executor, CBX_CALL_put_file), 0); /* for data */
    assert_problem(put(rig, id, "m.py", CBX_STR("DENY")), 400, "py.process");
    assert_problem(put(rig, id, "m.py", CBX_STR("ASK")), 400, "py.process");
    assert_int_equal(executor_count(&rig->executor, CBX_CALL_submit), 6); /* each is recorded */
}

static void source_for_an_unknown_session_is_refused(void **state)
{
    struct rig *rig = *state;
    assert_problem(put(rig, "gone", "m.py", CBX_STR("x")), 404, "");
    assert_int_equal(worker_judged(rig), 0);
    assert_int_equal(rig->executor.seen_count, 0);
}

static void code_that_cannot_be_judged_is_refused(void **state)
{
    static const char *const paths[] = {
        "a.pyc", "a.PYC",    "a.so",   "a.pyd", "b.pth", "c.egg",
        "d.whl", "x/e.node", "f.wasm", "g.jar", "h.pyo", "a%2epyc"
    };
    struct rig *rig = *state;
    char id[37];
    open_session(rig, "{}", id);
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        assert_problem(put(rig, id, paths[i], CBX_STR("x")), 403, "cannot be judged");
    }
    assert_int_equal(executor_count(&rig->executor, CBX_CALL_put_file), 0);
}

static void a_file_is_deleted_under_its_decoded_path(void **state)
{
    struct rig *rig = *state;
    const json_t *json =
        await_answer(rig_json(rig, "DELETE", "/v1/sessions/abc/files/a%20b", ""), 200);
    assert_string_equal(text_at(json, "status"), "deleted");
    assert_string_equal(last_path(rig, CBX_CALL_delete_file), "a b");
    assert_problem(rig_json(rig, "DELETE", "/v1/sessions/abc/files/%", ""), 400, "'%'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(what_a_client_says_of_itself_goes_with_data_and_with_code),
        RIG_TEST(a_path_is_percent_decoded_once),
        RIG_TEST(a_path_that_is_no_text_is_refused),
        RIG_TEST(a_path_that_is_too_long_is_refused),
        RIG_TEST(a_path_that_ends_in_a_slash_or_none_is_listed),
        RIG_TEST(a_download_has_the_bytes_and_the_type_of_its_name),
        RIG_TEST(a_download_is_an_attachment_of_its_path),
        RIG_TEST(errors_of_the_workspace_are_the_answers),
        RIG_TEST(data_is_uploaded_as_it_is_and_not_judged),
        RIG_TEST(source_is_judged_in_its_language_under_the_policy_of_the_session),
        RIG_TEST(source_for_an_unknown_session_is_refused),
        RIG_TEST(code_that_cannot_be_judged_is_refused),
        RIG_TEST(a_file_is_deleted_under_its_decoded_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
