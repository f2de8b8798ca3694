/* SPDX-License-Identifier: MIT
 * Messages on a byte stream: complete, incomplete, one after the other, and refused. */
#include "analyzer/lint/lsp/lsp_frame.h"

#include "tests/unit/unit.h"

static void a_message_is_taken_when_it_is_complete(void **state)
{
    (void)state;
    const struct cbx_str all = CBX_STR(
        "content-length: 4\r\nContent-Type: application/vscode-jsonrpc; charset=utf8\r\n\r\n"
        "{ab}Content-Length: 0\r\n\r\n");
    struct cbx_str body;
    struct cbx_err err;
    size_t used = 0, second = 0;
    size_t complete = all.len - 21;
    for (size_t i = 0; i < complete; i++) {
        assert_int_equal(cbx_lsp_frame_next(cbx_str_sub(all, 0, i), &body, &used, &err), 0);
    }
    assert_int_equal(cbx_lsp_frame_next(all, &body, &used, &err), 1);
    assert_true(cbx_str_is(body, "{ab}"));
    assert_int_equal(used, complete);
    assert_int_equal(cbx_lsp_frame_next(cbx_str_sub(all, used, all.len), &body, &second, &err), 1);
    assert_int_equal(body.len, 0);
    assert_int_equal(used + second, all.len);
}

static void the_length_has_a_cap(void **state)
{
    (void)state;
    static const struct {
        const char *length;
        int result;
    } cases[] = { { "16777216", 0 }, { "16777217", -1 }, { "18446744073709551617", -1 },
                  { "1 2", -1 },     { "+1", -1 },       { "", -1 } };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[128];
        struct cbx_str body;
        struct cbx_err err;
        size_t used;
        snprintf(text, sizeof(text), "Content-Length:%s\r\n\r\n", cases[i].length);
        int result = cbx_lsp_frame_next(cbx_str_of(text), &body, &used, &err);
        assert_int_equal(result < 0 ? -1 : result, cases[i].result);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_message_is_taken_when_it_is_complete),
        cmocka_unit_test(the_length_has_a_cap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
