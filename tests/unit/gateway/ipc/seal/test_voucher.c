/* SPDX-License-Identifier: MIT
 * Vouchers: a valid one opens, a changed one does not. tests/unit/gateway/executor/test_callers.c
 * tests the principals that get one. */
#include "gateway/ipc/seal/voucher.h"
#include "tests/unit/unit.h"

#define SUBJECT "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static const struct cbx_sha256 key = { { 1, 2, 3 } };

static struct cbx_voucher_claim claim_of(enum cbx_voucher_kind kind, const char *principal,
                                         const char *credential, const char *subject)
{
    return (struct cbx_voucher_claim){ .kind = kind,
                                       .principal = cbx_str_of(principal),
                                       .credential = cbx_str_of(credential),
                                       .subject = cbx_str_of(subject) };
}

static void a_voucher_is_for_who_asked_with_what_when_and_for_what(void **state)
{
    (void)state;
    char voucher[CBX_VOUCHER_CHARS + 1];
    int64_t time_ms = 0;
    struct cbx_voucher_claim claim = claim_of(CBX_VOUCHER_RUN, "ann", "token 1", SUBJECT);
    cbx_voucher_make(&key, &claim, 1764000000123, voucher);
    assert_int_equal(strlen(voucher), CBX_VOUCHER_CHARS);
    assert_true(cbx_voucher_check(&key, &claim, cbx_str_of(voucher), &time_ms));
    assert_int_equal(time_ms, 1764000000123);
    const struct cbx_voucher_claim others[] = {
        claim_of(CBX_VOUCHER_APPROVAL, "ann", "token 1", SUBJECT),
        claim_of(CBX_VOUCHER_NONE, "ann", "token 1", SUBJECT),
        claim_of(CBX_VOUCHER_RUN, "bob", "token 1", SUBJECT),
        claim_of(CBX_VOUCHER_RUN, "ann", "token 2", SUBJECT),
        claim_of(CBX_VOUCHER_RUN, "ann", "token 1", "f" SUBJECT),
        claim_of(CBX_VOUCHER_RUN, "anntoken 1", "", SUBJECT), /* the same letters */
    };
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        assert_false(cbx_voucher_check(&key, &others[i], cbx_str_of(voucher), &time_ms));
    }
    struct cbx_sha256 other = key;
    other.bytes[31] = 1;
    assert_false(cbx_voucher_check(&other, &claim, cbx_str_of(voucher), &time_ms));
}

static void any_changed_character_makes_it_worthless(void **state)
{
    (void)state;
    char voucher[CBX_VOUCHER_CHARS + 1];
    int64_t time_ms;
    struct cbx_voucher_claim claim = claim_of(CBX_VOUCHER_RUN, "ann", "token 1", SUBJECT);
    cbx_voucher_make(&key, &claim, 1764000000123, voucher);
    for (size_t i = 0; i < CBX_VOUCHER_CHARS; i++) {
        char changed[CBX_VOUCHER_CHARS + 1];
        memcpy(changed, voucher, sizeof(changed));
        changed[i] = changed[i] == '0' ? '1' : '0';
        assert_false(cbx_voucher_check(&key, &claim, cbx_str_of(changed), &time_ms));
        struct cbx_str cut = cbx_str_sub(cbx_str_of(voucher), 0, i);
        assert_false(cbx_voucher_check(&key, &claim, cut, &time_ms));
    }
}

static void a_run_is_its_session_and_its_source(void **state)
{
    (void)state;
    char one[CBX_SHA256_HEX + 1], same[CBX_SHA256_HEX + 1], other[CBX_SHA256_HEX + 1];
    cbx_voucher_run(CBX_STR("s"), CBX_STR("abc"), one);
    cbx_voucher_run(CBX_STR("s"), CBX_STR("abc"), same);
    assert_string_equal(one, same);
    cbx_voucher_run(CBX_STR(""), CBX_STR("abc"), other);
    assert_string_not_equal(one, other);
    cbx_voucher_run(CBX_STR("sa"), CBX_STR("bc"), other);
    assert_string_not_equal(one, other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_voucher_is_for_who_asked_with_what_when_and_for_what),
        cmocka_unit_test(any_changed_character_makes_it_worthless),
        cmocka_unit_test(a_run_is_its_session_and_its_source),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
