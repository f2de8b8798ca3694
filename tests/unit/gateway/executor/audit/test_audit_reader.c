/* SPDX-License-Identifier: MIT
 * Reading the audit log over its files, while it grows. */
#include "gateway/executor/audit/audit_reader.h"
#include "tests/unit/gateway/executor/audit_log.h"

static void append_small(const char *dir, int count)
{
    CBX_AUTO(audit) audit = open_log(dir);
    cbx_audit_set_max_bytes(audit, 1); /* each record closes the file before it */
    for (int i = 0; i < count; i++) {
        assert_int_equal(append(audit, i, NULL), 0);
    }
}

static void assert_reads(struct cbx_audit_reader *reader, uint64_t from, uint64_t to)
{
    struct cbx_str line;
    for (uint64_t seq = from; seq <= to; seq++) {
        assert_true(cbx_audit_reader_next(reader, &line));
        assert_int_equal(cbx_audit_line_seq(line), seq);
    }
    assert_false(cbx_audit_reader_next(reader, &line));
}

static void reads_all_files_and_goes_on_with_what_comes(void **state)
{
    (void)state;
    struct scratch s;
    scratch_make(&s);
    CBX_AUTO(audit_reader) reader = NULL;
    assert_int_equal(cbx_audit_reader_new(s.path, 0, &reader, NULL), 0);
    assert_reads(reader, 1, 0);
    append_many(s.path, 2);
    assert_reads(reader, 1, 2);
    append_small(s.path, 3); /* closes the file that is being read */
    assert_reads(reader, 3, 5);
    append_many(s.path, 2);
    assert_reads(reader, 6, 7);
    uint64_t number;
    assert_string_equal(cbx_audit_reader_place(reader, &number), CBX_AUDIT_FILE);
    assert_int_equal(number, 3);
    scratch_remove(&s);
}

static void leaves_out_files_before_the_wanted_record(void **state)
{
    (void)state;
    struct scratch s;
    scratch_make(&s);
    append_small(s.path, 6);
    for (uint64_t after = 0; after < 5; after++) {
        CBX_AUTO(audit_reader) reader = NULL;
        assert_int_equal(cbx_audit_reader_new(s.path, after, &reader, NULL), 0);
        assert_reads(reader, after + 1, 6);
    }
    scratch_remove(&s);
}

static void waits_for_the_end_of_a_line(void **state)
{
    (void)state;
    struct scratch s;
    scratch_make(&s);
    CBX_AUTO(audit_reader) reader = NULL;
    struct cbx_str line;
    assert_int_equal(cbx_audit_reader_new(s.path, 0, &reader, NULL), 0);
    scratch_write(s.path, CBX_AUDIT_FILE, CBX_STR("{\"a\""));
    assert_false(cbx_audit_reader_next(reader, &line));
    CBX_AUTO_FILE f = NULL;
    char path[128];
    snprintf(path, sizeof(path), "%s/" CBX_AUDIT_FILE, s.path);
    f = fopen(path, "ae");
    fputs(":1}\n", f);
    fflush(f);
    assert_true(cbx_audit_reader_next(reader, &line));
    assert_true(cbx_str_is(line, "{\"a\":1}"));
    scratch_remove(&s);
}

static void takes_the_number_of_the_record_and_no_other(void **state)
{
    (void)state;
    assert_int_equal(cbx_audit_line_seq(CBX_STR("{\"body\":{\"a\":1,\"seq\":9},\"hash\":\"\","
                                                "\"prev\":\"\",\"seq\":12,\"time\":\"\"}")),
                     12);
    assert_int_equal(cbx_audit_line_seq(CBX_STR("{\"a\":1}")), 0);
    assert_int_equal(cbx_audit_line_seq(CBX_STR("")), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_all_files_and_goes_on_with_what_comes),
        cmocka_unit_test(leaves_out_files_before_the_wanted_record),
        cmocka_unit_test(waits_for_the_end_of_a_line),
        cmocka_unit_test(takes_the_number_of_the_record_and_no_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
