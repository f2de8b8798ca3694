/* SPDX-License-Identifier: MIT
 * Hexadecimal text: one text for equal bytes. */
#include "policies/base/text/hex.h"
#include "tests/unit/unit.h"

static void encodes_every_byte_and_reads_it_back(void **state)
{
    (void)state;
    unsigned char bytes[256], back[256];
    char text[513];
    for (int i = 0; i < 256; i++) {
        bytes[i] = (unsigned char)i;
    }
    cbx_hex_encode(bytes, sizeof(bytes), text);
    assert_int_equal(strlen(text), 512);
    assert_memory_equal(text, "000102", 6);
    assert_memory_equal(text + 508, "feff", 5);
    assert_true(cbx_hex_decode(cbx_str_of(text), back, sizeof(back)));
    assert_memory_equal(back, bytes, sizeof(bytes));
}

static void refuses_what_encoding_never_gives_and_leaves_the_output_alone(void **state)
{
    (void)state;
    static const char *const wrong[] = { "", "0", "0a0", "0A0b", "0g0b", "0a0b0c", "0x0a", "0a b" };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        unsigned char out[2] = { 7, 7 };
        assert_false(cbx_hex_decode(cbx_str_of(wrong[i]), out, sizeof(out)));
        assert_int_equal(out[0], 7);
        assert_int_equal(out[1], 7);
        assert_false(cbx_hex_is(cbx_str_of(wrong[i]), 4));
    }
    assert_true(cbx_hex_is(CBX_STR("0a0b"), 4));
}

static void a_digit_of_either_case_has_a_value(void **state)
{
    (void)state;
    for (int i = 0; i < 16; i++) {
        assert_int_equal(cbx_hex_value(cbx_hex_digits[i]), i);
        assert_int_equal(cbx_hex_value("0123456789ABCDEF"[i]), i);
    }
    for (const char *p = "/:@G`g \xff"; *p != '\0'; p++) {
        assert_int_equal(cbx_hex_value(*p), -1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(encodes_every_byte_and_reads_it_back),
        cmocka_unit_test(refuses_what_encoding_never_gives_and_leaves_the_output_alone),
        cmocka_unit_test(a_digit_of_either_case_has_a_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
