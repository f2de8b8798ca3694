/* SPDX-License-Identifier: MIT
 * A ledger has one value for one sequence of entries. */
#include "policies/ledger.h"
#include "tests/unit/unit.h"

#include <string.h>

static const struct cbx_entry entries[] = {
    { CBX_ENTRY_CELL, CBX_STR("ipython"), CBX_STR(""), CBX_STR("x = 1") },
    { CBX_ENTRY_CELL, CBX_STR("ipython"), CBX_STR(""), CBX_STR("x = 2") },
    { CBX_ENTRY_CELL, CBX_STR("python"), CBX_STR(""), CBX_STR("x = 1") },
    { CBX_ENTRY_FILE, CBX_STR("python"), CBX_STR(""), CBX_STR("x = 1") },
    { CBX_ENTRY_FILE, CBX_STR("python"), CBX_STR("a.py"), CBX_STR("x = 1") },
    { CBX_ENTRY_FILE, CBX_STR("python"), CBX_STR("a.pyx"), CBX_STR(" = 1") },
    { CBX_ENTRY_RESET, CBX_STR(""), CBX_STR(""), CBX_STR("") },
};
enum { ENTRIES = sizeof(entries) / sizeof(entries[0]) };

static struct cbx_sha256 begin(const char *session, const char *policy)
{
    struct cbx_sha256 hash = cbx_sha256_of(cbx_str_of(policy));
    return cbx_ledger_begin(cbx_str_of(session), &hash);
}

static void entries_that_differ_in_any_member_have_different_hashes(void **state)
{
    (void)state;
    for (size_t i = 0; i < ENTRIES; i++) {
        struct cbx_sha256 a = cbx_entry_hash(&entries[i]);
        for (size_t k = 0; k < ENTRIES; k++) {
            struct cbx_sha256 b = cbx_entry_hash(&entries[k]);
            assert_int_equal(cbx_sha256_equal(&a, &b), i == k);
        }
    }
}

static void a_ledger_is_of_one_session_under_one_policy(void **state)
{
    (void)state;
    struct cbx_sha256 a = begin("a", "p"), same = begin("a", "p"), other = begin("b", "p"),
                      stricter = begin("a", "q"), one_shot = begin("", "p");
    assert_true(cbx_sha256_equal(&a, &same));
    assert_false(cbx_sha256_equal(&a, &other));
    assert_false(cbx_sha256_equal(&a, &stricter));
    assert_false(cbx_sha256_equal(&a, &one_shot));
}

static void order_and_number_of_entries_count(void **state)
{
    (void)state;
    struct cbx_sha256 x = cbx_entry_hash(&entries[0]), y = cbx_entry_hash(&entries[1]);
    struct cbx_sha256 none = begin("a", "p"), xs = cbx_ledger_add(&none, &x),
                      ys = cbx_ledger_add(&none, &y), xy = cbx_ledger_add(&xs, &y),
                      yx = cbx_ledger_add(&ys, &x), xx = cbx_ledger_add(&xs, &x);
    const struct cbx_sha256 all[] = { none, xs, ys, xy, yx, xx };
    for (size_t i = 0; i < 6; i++) {
        for (size_t k = 0; k < 6; k++) {
            assert_int_equal(cbx_sha256_equal(&all[i], &all[k]), i == k);
        }
    }
}

static void entries_are_read_as_they_were_written(void **state)
{
    (void)state;
    CBX_AUTO_DONE(buf) bytes;
    struct cbx_entry entry;
    cbx_buf_init(&bytes, 4096);
    for (size_t i = 0; i < ENTRIES; i++) {
        cbx_entry_write(&entries[i], &bytes);
    }
    struct cbx_str rest = cbx_buf_str(&bytes);
    for (size_t i = 0; i < ENTRIES; i++) {
        assert_true(cbx_entry_next(&rest, &entry));
        struct cbx_sha256 a = cbx_entry_hash(&entry), b = cbx_entry_hash(&entries[i]);
        assert_true(cbx_sha256_equal(&a, &b));
    }
    assert_int_equal(rest.len, 0);
    assert_false(cbx_entry_next(&rest, &entry));
}

static void a_cut_entry_is_none(void **state)
{
    (void)state;
    CBX_AUTO_DONE(buf) bytes;
    struct cbx_entry entry;
    cbx_buf_init(&bytes, 4096);
    cbx_entry_write(&entries[4], &bytes);
    for (size_t len = 0; len < bytes.len; len++) {
        struct cbx_str cut = cbx_str_sub(cbx_buf_str(&bytes), 0, len);
        assert_false(cbx_entry_next(&cut, &entry));
        assert_int_equal(cut.len, len);
    }
    uint32_t kind = 9;
    memcpy(bytes.p, &kind, sizeof(kind));
    struct cbx_str unknown = cbx_buf_str(&bytes);
    assert_false(cbx_entry_next(&unknown, &entry));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_that_differ_in_any_member_have_different_hashes),
        cmocka_unit_test(a_ledger_is_of_one_session_under_one_policy),
        cmocka_unit_test(order_and_number_of_entries_count),
        cmocka_unit_test(entries_are_read_as_they_were_written),
        cmocka_unit_test(a_cut_entry_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
