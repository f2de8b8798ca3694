/* SPDX-License-Identifier: MIT
 * The strict request check: requests that libmicrohttpd accepts and that two readers could
 * interpret differently. */
#include "gateway/front/http/http_check.h"
#include "tests/unit/unit.h"

#include <string.h>

enum { PORT = 8000, BODY_MAX = 1000 };
#define HOST                                                                                       \
    {                                                                                              \
        "Host", "127.0.0.1:8000"                                                                   \
    }

struct vector {
    const char *what, *method, *target;
    struct {
        const char *name, *value;
    } fields[4];
    int status;
};

static const struct vector vectors[] = {
    { "an ordinary request", "GET", "/healthz", { HOST }, 0 },
    { "localhost", "GET", "/", { { "host", "LOCALHOST:8000" } }, 0 },
    { "IPv6 loopback", "GET", "/", { { "Host", "[::1]:8000" } }, 0 },
    { "a body with its length", "POST", "/x", { HOST, { "Content-Length", "1000" } }, 0 },
    { "a chunked body", "POST", "/x", { HOST, { "Transfer-Encoding", "chunked" } }, 0 },
    { "our own origin", "POST", "/x", { HOST, { "Origin", "http://localhost:8000" } }, 0 },
    { "white space behind a value", "GET", "/", { { "Host", "127.0.0.1:8000 \t" } }, 0 },
    { "no Host", "GET", "/", { { "Accept", "*/*" } }, 400 },
    { "two Hosts", "GET", "/", { HOST, { "host", "127.0.0.1:8000" } }, 400 },
    { "another Host", "GET", "/", { { "Host", "evil.example" } }, 421 },
    { "a name that ends in ours", "GET", "/", { { "Host", "evil.localhost:8000" } }, 421 },
    { "our name without the port", "GET", "/", { { "Host", "127.0.0.1" } }, 421 },
    { "our name with another port", "GET", "/", { { "Host", "127.0.0.1:80000" } }, 421 },
    { "a user in the Host", "GET", "/", { { "Host", "127.0.0.1:8000@evil" } }, 421 },
    { "a foreign origin", "GET", "/", { HOST, { "Origin", "http://evil.example" } }, 403 },
    { "the null origin", "GET", "/", { HOST, { "Origin", "null" } }, 403 },
    { "an origin over TLS", "GET", "/", { HOST, { "Origin", "https://127.0.0.1:8000" } }, 403 },
    { "two origins",
      "GET",
      "/",
      { HOST, { "Origin", "http://127.0.0.1:8000" }, { "Origin", "http://evil" } },
      400 },
    { "two lengths",
      "POST",
      "/x",
      { HOST, { "Content-Length", "3" }, { "content-length", "3" } },
      400 },
    { "a length and a coding",
      "POST",
      "/x",
      { HOST, { "Content-Length", "3" }, { "Transfer-Encoding", "chunked" } },
      400 },
    { "two codings",
      "POST",
      "/x",
      { HOST, { "Transfer-Encoding", "chunked" }, { "Transfer-Encoding", "identity" } },
      400 },
    { "an unknown coding", "POST", "/x", { HOST, { "Transfer-Encoding", "xchunked" } }, 400 },
    { "a list of codings", "POST", "/x", { HOST, { "Transfer-Encoding", "gzip, chunked" } }, 400 },
    { "a signed length", "POST", "/x", { HOST, { "Content-Length", "+3" } }, 400 },
    { "a length in hex", "POST", "/x", { HOST, { "Content-Length", "0x3" } }, 400 },
    { "an empty length", "POST", "/x", { HOST, { "Content-Length", "" } }, 400 },
    { "a list of lengths", "POST", "/x", { HOST, { "Content-Length", "3, 3" } }, 400 },
    { "a body that is too large, before it is sent",
      "POST",
      "/x",
      { HOST, { "Content-Length", "1001" }, { "Expect", "100-continue" } },
      413 },
    { "one that is being sent", "POST", "/x", { HOST, { "Content-Length", "1001" } }, 0 },
    { "a body that is compressed", "POST", "/x", { HOST, { "Content-Encoding", "gzip" } }, 415 },
    { "a body that says it is not", "POST", "/x", { HOST, { "Content-Encoding", "identity" } }, 0 },
    { "two encodings of content",
      "POST",
      "/x",
      { HOST, { "Content-Encoding", "identity" }, { "Content-Encoding", "gzip" } },
      400 },
    { "UTF-8", "POST", "/x", { HOST, { "Content-Type", "application/json; charset=UTF-8" } }, 0 },
    { "UTF-8 in quotes",
      "POST",
      "/x",
      { HOST, { "Content-Type", "application/json;charset=\"utf-8\"; a=b" } },
      0 },
    { "another charset",
      "POST",
      "/x",
      { HOST, { "Content-Type", "application/json; charset=iso-8859-1" } },
      415 },
    { "another charset behind ours",
      "POST",
      "/x",
      { HOST, { "Content-Type", "text/plain;charset=utf-8; Charset=utf-16" } },
      415 },
    { "a parameter that ends in charset",
      "POST",
      "/x",
      { HOST, { "Content-Type", "text/plain; xcharset=utf-16" } },
      0 },
    { "a length beyond every number",
      "POST",
      "/x",
      { HOST, { "Content-Length", "99999999999999999999999999" }, { "Expect", "100-continue" } },
      413 },
    { "two authorizations",
      "GET",
      "/",
      { HOST, { "Authorization", "Bearer a" }, { "Authorization", "Bearer b" } },
      400 },
    { "two types",
      "POST",
      "/",
      { HOST, { "Content-Type", "a/b" }, { "Content-Type", "c/d" } },
      400 },
    { "a space before the colon", "GET", "/", { HOST, { "Foo ", "x" } }, 400 },
    { "a name with a colon", "GET", "/", { HOST, { "Fo:o", "x" } }, 400 },
    { "an empty name", "GET", "/", { HOST, { "", "x" } }, 400 },
    { "a line end in a value", "GET", "/", { HOST, { "Foo", "a\r\nBar: b" } }, 400 },
    { "an absolute target", "GET", "http://x/", { HOST }, 400 },
    { "no target", "GET", "", { HOST }, 400 },
    { "a control character in the target", "GET", "/\x01", { HOST }, 400 },
    { "a blank in the target", "GET", "/a b", { HOST }, 400 },
    { "a blank behind the target", "GET", "/a ", { HOST }, 400 },
    { "a tab in the target", "GET", "/a\tb", { HOST }, 400 },
    { "bytes of UTF-8 in the target", "GET", "/\xC3\xA4", { HOST }, 0 },
    { "a method that is no token", "GE T", "/", { HOST }, 400 },
};

static const struct cbx_http_names names = { .port = PORT };

static void gives_every_vector_its_status(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) {
        const struct vector *v = &vectors[i];
        struct cbx_http_headers headers = { 0 };
        const char *detail = NULL;
        for (size_t f = 0; f < 4 && v->fields[f].name != NULL; f++) {
            cbx_http_check_field(&headers, cbx_str_of(v->fields[f].name),
                                 cbx_str_of(v->fields[f].value));
        }
        int status = cbx_http_check(&headers, cbx_str_of(v->method), cbx_str_of(v->target), &names,
                                    BODY_MAX, &detail);
        if (status != v->status || (status != 0 && detail == NULL)) {
            fail_msg("%s: %d instead of %d", v->what, status, v->status);
        }
    }
}

static void refuses_a_nul_in_a_value(void **state)
{
    (void)state;
    struct cbx_http_headers headers = { 0 };
    const char *detail;
    cbx_http_check_field(&headers, CBX_STR("Host"), CBX_STR("127.0.0.1:8000"));
    cbx_http_check_field(&headers, CBX_STR("Foo"), CBX_STR("a\0b"));
    assert_int_equal(
        cbx_http_check(&headers, CBX_STR("GET"), CBX_STR("/"), &names, BODY_MAX, &detail), 400);
}

static void refuses_a_request_of_which_nothing_is_known(void **state)
{
    (void)state;
    struct cbx_http_headers headers = { 0 };
    const char *detail;
    assert_int_not_equal(
        cbx_http_check(&headers, CBX_STR("GET"), CBX_STR("/"), &names, BODY_MAX, &detail), 0);
}

/* A request by a name. */
struct named {
    const char *host, *origin; /* NULL = not sent */
    int status;
};

static void assert_statuses(const struct named *rows, size_t count,
                            const struct cbx_http_names *of_server)
{
    for (size_t i = 0; i < count; i++) {
        struct cbx_http_headers headers = { 0 };
        const char *detail = NULL;
        cbx_http_check_field(&headers, CBX_STR("Host"), cbx_str_of(rows[i].host));
        if (rows[i].origin != NULL) {
            cbx_http_check_field(&headers, CBX_STR("Origin"), cbx_str_of(rows[i].origin));
        }
        int status =
            cbx_http_check(&headers, CBX_STR("GET"), CBX_STR("/"), of_server, BODY_MAX, &detail);
        if (status != rows[i].status) {
            fail_msg("%s: %d instead of %d", rows[i].host, status, rows[i].status);
        }
    }
}

static void the_names_of_the_configuration_are_its_own_and_no_others(void **state)
{
    (void)state;
    static const char *const hosts[] = { "codebox.example.com", "box:9000" };
    static const struct cbx_http_names both = {
        .port = PORT, .hosts = hosts, .host_count = 2, .origin = "https://codebox.example.com"
    };
    static const struct named rows[] = {
        { "codebox.example.com", NULL, 0 },
        { "CODEBOX.example.com", "https://codebox.example.com", 0 },
        { "codebox.example.com:8000", NULL, 0 },
        { "codebox.example.com:8001", NULL, 421 },
        { "box:9000", NULL, 0 },
        { "box", NULL, 421 },
        { "codebox.example.com.evil.test", NULL, 421 },
        { "localhost", NULL, 421 },
        { "localhost:8000", "https://codebox.example.com", 0 },
        { "codebox.example.com", "https://evil.test", 403 },
        { "codebox.example.com", "https://codebox.example.com:444", 403 },
        { "codebox.example.com", "http://codebox.example.com", 0 },
        { "codebox.example.com", "null", 403 },
    };
    assert_statuses(rows, sizeof(rows) / sizeof(rows[0]), &both);
}

static void https_has_its_own_port_and_scheme(void **state)
{
    (void)state;
    static const struct cbx_http_names https = { .port = 443, .https = true };
    static const struct named rows[] = {
        { "localhost", "https://localhost", 0 },
        { "localhost:443", "https://localhost:443", 0 },
        { "localhost", "http://localhost", 403 },
        { "localhost:80", NULL, 421 },
    };
    assert_statuses(rows, sizeof(rows) / sizeof(rows[0]), &https);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_names_of_the_configuration_are_its_own_and_no_others),
        cmocka_unit_test(https_has_its_own_port_and_scheme),
        cmocka_unit_test(gives_every_vector_its_status),
        cmocka_unit_test(refuses_a_nul_in_a_value),
        cmocka_unit_test(refuses_a_request_of_which_nothing_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
