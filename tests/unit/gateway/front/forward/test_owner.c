/* SPDX-License-Identifier: MIT
 * The replica that serves a request: by what it names, and nowhere else. */
#include "gateway/front/forward/owner.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

static struct cbx_replicas replicas;
static char theirs[37], decision[CBX_ID_CHARS + 1], mcp_session[CBX_SHA256_HEX + 1], ours[37];

/* This replica is `a`; the identifiers are of `b`, and one of `a`. */
static int make(void **state)
{
    static const char *const rows[] = { "a=h:1", "b=h:2", "c=h:3" };
    struct cbx_sha256 random = cbx_sha256_of(CBX_STR("x"));
    struct cbx_replicas other;
    struct cbx_err err;
    (void)state;
    if (cbx_replicas_read("a", rows, 3, &replicas, &err) != 0 ||
        cbx_replicas_read("b", rows, 3, &other, &err) != 0) {
        return -1;
    }
    cbx_tag_use(other.own_tag);
    cbx_uuid_make(theirs);
    cbx_id_make(decision);
    cbx_sha256_hex(&random, mcp_session);
    cbx_tag_mark(mcp_session);
    cbx_tag_use(replicas.own_tag);
    cbx_uuid_make(ours);
    cbx_tag_use(CBX_TAG_NONE);
    return 0;
}

/* "%" in `path` and `body` is the identifier; returns the replica's name, "-" for this one. */
static const char *owner_with(const char *method, const char *path, const char *body,
                              const char *id, struct cbx_http_request request)
{
    static char target[512], text[1024];
    const char *sign = strchr(path, '%'), *in_body = strchr(body, '%');
    snprintf(target, sizeof(target), "%.*s%s%s", sign != NULL ? (int)(sign - path) : 400, path,
             sign != NULL ? id : "", sign != NULL ? sign + 1 : "");
    snprintf(text, sizeof(text), "%.*s%s%s", in_body != NULL ? (int)(in_body - body) : 900, body,
             in_body != NULL ? id : "", in_body != NULL ? in_body + 1 : "");
    request.method = cbx_str_of(method);
    request.path = cbx_str_of(target);
    request.body = cbx_str_of(text);
    const struct cbx_owners owners = { .replicas = &replicas };
    const struct cbx_replica *owner = cbx_owner_find(&owners, &request, "ann");
    return owner != NULL ? owner->name : "-";
}

static const char *owner(const char *method, const char *path, const char *body, const char *id)
{
    return owner_with(method, path, body, id, (struct cbx_http_request){ .method = { 0 } });
}

static void what_a_request_names_decides(void **state)
{
    (void)state;
    static const struct {
        const char *method, *path, *body;
    } named[] = {
        { "GET", "/v1/sessions/%", "" },
        { "DELETE", "/sessions/%", "" },
        { "PUT", "/v1/sessions/%/files/a.txt", "x" },
        { "POST", "/v1/sessions/%/interrupt", "" },
        { "GET", "/execute/%/results", "" },
        { "POST", "/v1/executions/%/input", "{\"text\": \"a\"}" },
        { "POST", "/v1/executions", "{\"code\": \"1\", \"session_id\": \"%\"}" },
        { "POST", "/execute", "{\"code\": \"1\", \"session_id\": \"%\"}" },
        { "POST", "/mcp", "{\"params\": {\"arguments\": {\"session\": \"%\"}}}" },
        { "POST", "/mcp", "{\"params\": {\"arguments\": {\"path\": \"sandbox://x/%/stdout\"}}}" },
        { "POST", "/mcp", "{\"params\": {\"uri\": \"sandbox://executions/%\"}}" },
    };
    for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++) {
        assert_string_equal(owner(named[i].method, named[i].path, named[i].body, theirs), "b");
        assert_string_equal(owner(named[i].method, named[i].path, named[i].body, ours), "-");
    }
    assert_string_equal(owner("POST", "/v1/decisions/%/approve", "", decision), "b");
    assert_string_equal(owner("POST", "/v1/executions", "{\"approval\": \"%\"}", decision), "b");
}

static void code_and_files_decide_nothing(void **state)
{
    (void)state;
    static const struct {
        const char *method, *path, *body;
    } others[] = {
        { "POST", "/v1/executions", "{\"code\": \"%\"}" },
        { "POST", "/v1/check", "{\"code\": \"1\", \"session_id\": \"%\"}" },
        { "POST", "/mcp", "{\"params\": {\"arguments\": {\"code\": \"%\"}}}" },
        { "POST", "/mcp", "{\"params\": {\"name\": \"%\"}}" },
        { "POST", "/v1/executions", "not JSON %" },
        { "POST", "/v1/executions", "[\"%\"]" },
        { "GET", "/v1/sessions", "" },
        { "GET", "/healthz", "" },
    };
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        assert_string_equal(owner(others[i].method, others[i].path, others[i].body, theirs), "-");
    }
    /* the first identifier of a path is the session's; another one is the name of a file */
    char path[200];
    snprintf(path, sizeof(path), "/v1/sessions/%s/files/%%", ours);
    assert_string_equal(owner("GET", path, "", theirs), "-");
}

static void a_key_has_one_replica(void **state)
{
    (void)state;
    bool elsewhere = false;
    for (int i = 0; i < 50; i++) {
        char key[16];
        snprintf(key, sizeof(key), "%d", i);
        const struct cbx_http_request request = { .idempotency_key = cbx_str_of(key) };
        const char *one = owner_with("POST", "/v1/executions", "{\"code\": \"1\"}", "", request);
        elsewhere = elsewhere || strcmp(one, "-") != 0;
        assert_string_equal(
            owner_with("POST", "/v1/executions", "{\"session_id\": \"%\"}", ours, request), "-");
        assert_string_equal(
            owner_with("POST", "/v1/executions", "{\"session_id\": \"%\"}", theirs, request), "b");
        assert_string_equal(owner_with("POST", "/execute", "{\"code\": \"1\"}", "", request), "-");
    }
    assert_true(elsewhere);
}

static void an_object_comes_before_the_session_of_mcp(void **state)
{
    (void)state;
    const struct cbx_http_request request = { .mcp.session = cbx_str_of(mcp_session) };
    assert_string_equal(owner_with("POST", "/mcp", "{\"method\": \"ping\"}", "", request), "b");
    assert_string_equal(owner_with("DELETE", "/mcp", "", "", request), "b");
    assert_string_equal(owner_with("GET", "/v1/sessions", "", "", request), "-");
    static const char *const named[] = {
        "{\"params\": {\"arguments\": {\"session\": \"%\"}}}",
        "{\"params\": {\"uri\": \"sandbox://executions/%\"}}",
    };
    for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++) {
        assert_string_equal(owner_with("POST", "/mcp", named[i], ours, request), "-");
        assert_string_equal(owner_with("POST", "/mcp", named[i], "unknown", request), "b");
    }
}

static void a_state_goes_back_to_its_server(void **state)
{
    (void)state;
    char body[400];
    snprintf(body, sizeof(body),
             "{\"params\": {\"requestState\": \"%s[5,{\\\"asked\\\":\\\"%%\\\"}]\"}}", mcp_session);
    assert_string_equal(owner("POST", "/mcp", body, decision), "b");
    assert_string_equal(owner("POST", "/mcp", "{\"params\": {\"requestState\": \"%\"}}", decision),
                        "-");
}

static void a_cookie_of_the_page_decides(void **state)
{
    (void)state;
    char header[200];
    snprintf(header, sizeof(header), "x=1; codebox=%s; y=2", mcp_session);
    assert_string_equal(cbx_owner_of_cookie(&replicas, cbx_str_of(header))->name, "b");
    snprintf(header, sizeof(header), "__Host-codebox=%s", mcp_session);
    assert_string_equal(cbx_owner_of_cookie(&replicas, cbx_str_of(header))->name, "b");
    snprintf(header, sizeof(header), "other=%s", mcp_session);
    assert_null(cbx_owner_of_cookie(&replicas, cbx_str_of(header)));
    assert_null(cbx_owner_of_cookie(&replicas, CBX_STR("")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_request_names_decides),
        cmocka_unit_test(code_and_files_decide_nothing),
        cmocka_unit_test(a_key_has_one_replica),
        cmocka_unit_test(an_object_comes_before_the_session_of_mcp),
        cmocka_unit_test(a_state_goes_back_to_its_server),
        cmocka_unit_test(a_cookie_of_the_page_decides),
    };
    return cmocka_run_group_tests(tests, make, NULL);
}
