/* SPDX-License-Identifier: MIT
 * Claims of clients are accepted if they are well-formed and short, and cause no failure
 * otherwise. */
#include "gateway/front/claims.h"
#include "tests/unit/unit.h"

#include <string.h>

#define TRACE "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

static struct cbx_claims read_meta(const char *text)
{
    CBX_AUTO_JSON meta = NULL;
    struct cbx_err err = { 0 };
    struct cbx_claims claims = { 0 };
    assert_int_equal(cbx_json_parse(cbx_str_of(text), 1 << 20, &meta, &err), 0);
    cbx_claims_read_request("\"7\"", meta, &claims);
    return claims;
}

static void reads_what_a_client_says_of_itself_and_of_a_call(void **state)
{
    (void)state;
    struct cbx_claims claims =
        read_meta("{\"io.modelcontextprotocol/clientInfo\":{\"name\":\"claude-code\",\"version\":"
                  "\"2.1\"},\"traceparent\":\"" TRACE "\",\"claudecode/toolUseId\":\"toolu_1\"}");
    struct cbx_subject subject = { 0 };
    cbx_claims_lend(&claims, &subject);
    assert_true(cbx_str_is(subject.claimed_client, "claude-code"));
    assert_true(cbx_str_is(subject.claimed_client_version, "2.1"));
    assert_true(cbx_str_is(subject.claimed_request, "\"7\""));
    assert_true(cbx_str_is(subject.claimed_trace, TRACE));
    assert_true(cbx_str_is(subject.claimed_tool_use, "toolu_1"));
    assert_null(subject.principal.p);
}

static void keeps_the_introduction_of_a_client_that_says_no_more(void **state)
{
    (void)state;
    CBX_AUTO_JSON info = json_pack("{s:s,s:i}", "name", "gemini", "version", 3);
    struct cbx_claims claims = { .claimed_client_version = "old" };
    cbx_claims_read_client(info, &claims);
    cbx_claims_read_request("1", NULL, &claims);
    assert_string_equal(claims.claimed_client, "gemini");
    assert_string_equal(claims.claimed_client_version, "");
    cbx_claims_read_client(NULL, &claims);
    assert_string_equal(claims.claimed_client, "");
}

static void takes_no_trace_that_is_malformed(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool taken;
    } cases[] = {
        { TRACE, true },
        { "cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more", true },
        { TRACE "-more", false },
        { TRACE "0", false },
        { "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", false },
        { "00-4BF92F3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", false },
        { "00-00000000000000000000000000000000-00f067aa0ba902b7-01", false },
        { "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01", false },
        { "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0", false },
        { "00_4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", false },
        { "", false },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char meta[200];
        snprintf(meta, sizeof(meta), "{\"traceparent\":\"%s\"}", cases[i].text);
        struct cbx_claims claims = read_meta(meta);
        assert_int_equal(strlen(claims.claimed_trace), cases[i].taken ? 55 : 0);
        assert_int_equal(strncmp(claims.claimed_trace, cases[i].text, 55) == 0,
                         cases[i].taken || cases[i].text[0] == '\0');
    }
    assert_string_equal(read_meta("{\"traceparent\":7}").claimed_trace, "");
}

static void cuts_long_texts_between_characters(void **state)
{
    (void)state;
    char name[200], meta[300];
    memset(name, 'x', 63);
    snprintf(name + 63, sizeof(name) - 63, "\xc3\xa9 and more");
    snprintf(meta, sizeof(meta), "{\"io.modelcontextprotocol/clientInfo\":{\"name\":\"%s\"}}",
             name);
    struct cbx_claims claims = read_meta(meta);
    assert_int_equal(strlen(claims.claimed_client), 63);
    snprintf(meta, sizeof(meta), "{\"claudecode/toolUseId\":\"%0200d\"}", 0);
    assert_int_equal(strlen(read_meta(meta).claimed_tool_use), 128);
    assert_string_equal(read_meta("{\"claudecode/toolUseId\":\"a\\u0000b\"}").claimed_tool_use,
                        "a");
}

static void knows_the_tool_use_of_other_clients(void **state)
{
    (void)state;
    assert_string_equal(read_meta("{\"vscode.requestId\":\"r\"}").claimed_tool_use, "r");
    assert_string_equal(
        read_meta("{\"vscode.requestId\":\"r\",\"claudecode/toolUseId\":\"t\"}").claimed_tool_use,
        "t");
    assert_string_equal(read_meta("{\"claudecode/toolUseId\":{}}").claimed_tool_use, "");
}

static void reads_back_what_it_wrote(void **state)
{
    (void)state;
    CBX_AUTO_JSON json = json_object();
    struct cbx_claims claims =
        read_meta("{\"io.modelcontextprotocol/clientInfo\":{\"name\":\"a\",\"version\":\"2\"},"
                  "\"traceparent\":\"" TRACE "\"}");
    const struct cbx_caller caller = { .credential = "issuer corp (ops)" };
    cbx_claims_prove(&caller, &claims);
    struct cbx_claims back = { .claimed_tool_use = "of another call" };
    cbx_claims_write(&claims, json);
    assert_null(json_object_get(json, "claimed_tool_use"));
    cbx_claims_read(json, &back);
    assert_string_equal(back.claimed_client, "a");
    assert_string_equal(back.claimed_client_version, "2");
    assert_string_equal(back.claimed_request, "\"7\"");
    assert_string_equal(back.claimed_trace, TRACE);
    assert_string_equal(back.claimed_tool_use, "");
    assert_string_equal(back.credential, "issuer corp (ops)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_what_a_client_says_of_itself_and_of_a_call),
        cmocka_unit_test(reads_back_what_it_wrote),
        cmocka_unit_test(keeps_the_introduction_of_a_client_that_says_no_more),
        cmocka_unit_test(takes_no_trace_that_is_malformed),
        cmocka_unit_test(cuts_long_texts_between_characters),
        cmocka_unit_test(knows_the_tool_use_of_other_clients),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
