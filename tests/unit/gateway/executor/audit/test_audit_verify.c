/* SPDX-License-Identifier: MIT
 * Verifying the audit log: every later change of it is found. */
#include "tests/unit/gateway/executor/audit_log.h"

#include <ctype.h>

static void verifies_what_it_wrote(void **state)
{
    (void)state;
    struct scratch s;
    scratch_make(&s);
    append_many(s.path, 0);
    assert_verifies(s.path, 0, 0, "");
    for (int i = 1; i <= 3; i++) {
        append_many(s.path, 5);
        assert_verifies(s.path, 5 * (uint64_t)i, 0, "");
    }
    struct stat status;
    char path[128];
    static const char *const names[] = { CBX_AUDIT_FILE, CBX_AUDIT_HEAD, CBX_AUDIT_KEY };
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof(path), "%s/%s", s.path, names[i]);
        assert_int_equal(stat(path, &status), 0);
        assert_int_equal(status.st_mode & 0777, 0600);
    }
    scratch_remove(&s);
}

static void finds_a_change_of_any_byte_of_a_record(void **state)
{
    (void)state;
    struct scratch s;
    struct lines lines;
    begin(&s, &lines);
    size_t start = (size_t)(lines.at[2].p - lines.text.p);
    for (size_t i = 0; i + 1 < lines.at[2].len; i++) {
        lines.text.p[start + i] ^= 1;
        scratch_write(s.path, CBX_AUDIT_FILE, cbx_buf_str(&lines.text));
        assert_verifies(s.path, 2, 3, "");
        lines.text.p[start + i] ^= 1;
    }
    scratch_write(s.path, CBX_AUDIT_FILE, cbx_buf_str(&lines.text));
    assert_verifies(s.path, RECORDS, 0, "");
    end(&s, &lines);
}

static void finds_records_that_are_missing_moved_or_there_twice(void **state)
{
    (void)state;
    static const struct {
        const char *order;
        uint64_t line;
        const char *problem;
    } orders[] = {
        { "12456", 3, "removed, added or moved" },
        { "124356", 3, "removed, added or moved" },
        { "1233456", 4, "removed, added or moved" },
        { "23456", 1, "removed, added or moved" },
        { "12345", 6, "records at the end are missing" },
        { "1", 2, "records at the end are missing" },
        { "", 1, "records at the end are missing" },
        { "1234566", 7, "removed, added or moved" },
    };
    struct scratch s;
    struct lines lines;
    begin(&s, &lines);
    for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
        rewrite(&s, &lines, orders[i].order);
        assert_verifies(s.path, orders[i].line - 1, orders[i].line, orders[i].problem);
    }
    end(&s, &lines);
}

static void finds_a_cut_in_the_middle_of_a_line(void **state)
{
    (void)state;
    struct scratch s;
    struct lines lines;
    begin(&s, &lines);
    struct cbx_str all = cbx_buf_str(&lines.text);
    scratch_write(s.path, CBX_AUDIT_FILE, cbx_str_sub(all, 0, all.len - 1));
    assert_verifies(s.path, 5, 6, "torn");
    scratch_write(s.path, CBX_AUDIT_FILE,
                  cbx_str_sub(all, 0, (size_t)(lines.at[3].p - all.p) + 20));
    assert_verifies(s.path, 3, 4, "torn");
    end(&s, &lines);
}

/* Otherwise the next record would come with a new head, which would hide the missing records. */
static void takes_no_record_after_a_cut(void **state)
{
    (void)state;
    struct scratch s;
    struct lines lines;
    begin(&s, &lines);
    static const char *const cuts[] = { "12345", "1", "" };
    for (size_t i = 0; i < 3; i++) {
        rewrite(&s, &lines, cuts[i]);
        assert_takes_no_more(s.path, "record 6 was written");
    }
    struct cbx_str all = cbx_buf_str(&lines.text);
    scratch_write(s.path, CBX_AUDIT_FILE, cbx_str_sub(all, 0, all.len - 5));
    assert_takes_no_more(s.path, "record 6 was written");
    char path[128];
    snprintf(path, sizeof(path), "%s/" CBX_AUDIT_FILE, s.path);
    assert_int_equal(unlink(path), 0);
    assert_takes_no_more(s.path, "record 6 was written");
    rewrite(&s, &lines, "123456");
    append_many(s.path, 1);
    assert_verifies(s.path, RECORDS + 1, 0, "");
    end(&s, &lines);
}

static void finds_a_head_that_is_missing_empty_or_older(void **state)
{
    (void)state;
    struct scratch s;
    struct lines lines;
    CBX_AUTO_DONE(buf) old;
    begin(&s, &lines);
    scratch_read(s.path, CBX_AUDIT_HEAD, &old);
    append_many(s.path, 2);
    scratch_write(s.path, CBX_AUDIT_HEAD, cbx_buf_str(&old));
    assert_verifies(s.path, RECORDS + 2, RECORDS + 1, "records 7 to 8 are not signed");
    append_many(s.path, 1); /* continues as after a crash, and records that */
    assert_true(scratch_holds(s.path, CBX_AUDIT_FILE, "\"unsigned_from\":7,\"unsigned_to\":8"));
    assert_verifies(s.path, RECORDS + 4, 0, "");
    scratch_write(s.path, CBX_AUDIT_HEAD, CBX_STR(""));
    assert_verifies(s.path, RECORDS + 4, RECORDS + 5, "missing or empty");
    assert_takes_no_more(s.path, "no signed head");
    char path[128];
    snprintf(path, sizeof(path), "%s/" CBX_AUDIT_HEAD, s.path);
    unlink(path);
    assert_verifies(s.path, RECORDS + 4, RECORDS + 5, "missing or empty");
    assert_takes_no_more(s.path, "no signed head");
    end(&s, &lines);
}

static void finds_a_head_that_was_signed_with_another_key_or_altered(void **state)
{
    (void)state;
    struct scratch s, other;
    struct lines lines;
    CBX_AUTO_DONE(buf) head;
    CBX_AUTO_DONE(buf) own;
    begin(&s, &lines);
    scratch_read(s.path, CBX_AUDIT_HEAD, &own);
    scratch_make(&other);
    append_many(other.path, RECORDS);
    scratch_read(other.path, CBX_AUDIT_HEAD, &head);
    scratch_write(s.path, CBX_AUDIT_HEAD, cbx_buf_str(&head));
    assert_verifies(s.path, RECORDS, RECORDS + 1, "signature is not valid");
    assert_takes_no_more(s.path, "signature is not valid");
    scratch_write(s.path, CBX_AUDIT_FILE,
                  CBX_STR("")); /* also without a record to compare the head with */
    assert_verifies(s.path, 0, 1, "signature is not valid");
    scratch_write(s.path, CBX_AUDIT_FILE, cbx_buf_str(&lines.text));
    for (size_t i = 0; i < own.len; i++) {
        own.p[i] ^= 2;
        scratch_write(s.path, CBX_AUDIT_HEAD, cbx_buf_str(&own));
        assert_verifies(s.path, RECORDS, RECORDS + 1, "head");
        own.p[i] ^= 2;
    }
    scratch_write(s.path, CBX_AUDIT_HEAD, cbx_buf_str(&own));
    assert_verifies(s.path, RECORDS, 0, "");
    scratch_remove(&other);
    end(&s, &lines);
}

/* A forgery in the right form, without the key. */
static void finds_self_made_records_with_right_hashes(void **state)
{
    (void)state;
    struct scratch s;
    struct lines lines;
    begin(&s, &lines);
    for (int after = 1; after <= RECORDS; after++) {
        struct cbx_chain chain = { 0 };
        CBX_AUTO_DONE(buf) text;
        CBX_AUTO_JSON body = json_pack("{s:s}", "verdict", "deny");
        cbx_buf_init(&text, 1 << 20);
        for (int i = 0; i < after; i++) {
            struct cbx_str line = lines.at[i];
            assert_int_equal(
                cbx_chain_check(&chain, cbx_str_sub(line, 0, line.len - 1), NULL, NULL), 0);
            cbx_buf_add(&text, line);
        }
        assert_int_equal(cbx_chain_add(&chain, "decision", body, cbx_time_ms(), &text), 0);
        for (int i = after; i < RECORDS; i++) {
            cbx_buf_add(&text, lines.at[i]);
        }
        scratch_write(s.path, CBX_AUDIT_FILE, cbx_buf_str(&text));
        uint64_t line = (uint64_t)after + (after < RECORDS ? 2 : 1);
        assert_verifies(s.path, (uint64_t)after + 1, line,
                        after < RECORDS ? "removed, added or moved" : "not signed");
    }
    end(&s, &lines);
}

/* Replaces a record by another that follows the record before it and has the right hash. */
static void finds_a_record_that_was_replaced_by_one_with_a_right_hash(void **state)
{
    (void)state;
    struct scratch s;
    struct lines lines;
    begin(&s, &lines);
    for (int replaced = 0; replaced < RECORDS; replaced++) {
        struct cbx_chain chain = { 0 };
        CBX_AUTO_DONE(buf) text;
        CBX_AUTO_JSON body = json_pack("{s:s}", "verdict", "deny");
        cbx_buf_init(&text, 1 << 20);
        for (int i = 0; i < replaced; i++) {
            struct cbx_str line = cbx_str_sub(lines.at[i], 0, lines.at[i].len - 1);
            assert_int_equal(cbx_chain_check(&chain, line, NULL, NULL), 0);
            cbx_buf_add(&text, lines.at[i]);
        }
        assert_int_equal(cbx_chain_add(&chain, "decision", body, cbx_time_ms(), &text), 0);
        for (int i = replaced + 1; i < RECORDS; i++) {
            cbx_buf_add(&text, lines.at[i]);
        }
        scratch_write(s.path, CBX_AUDIT_FILE, cbx_buf_str(&text));
        bool last = replaced == RECORDS - 1;
        assert_verifies(s.path, (uint64_t)replaced + 1, (uint64_t)replaced + (last ? 1 : 2),
                        last ? "not the one that was signed" : "does not follow the one before it");
    }
    end(&s, &lines);
}

/* A line with its right hash. */
static void add_hashed(json_t *record, struct cbx_buf *out)
{
    CBX_AUTO_DONE(buf) bare;
    char hex[CBX_SHA256_HEX + 1];
    cbx_buf_init(&bare, 4096);
    cbx_json_write(&bare, record);
    struct cbx_sha256 hash = cbx_sha256_of(cbx_buf_str(&bare));
    cbx_sha256_hex(&hash, hex);
    json_object_set_new(record, "hash", json_string(hex));
    cbx_json_write(out, record);
}

static void reads_records_of_its_own_and_the_older_form_and_names_newer_ones(void **state)
{
    (void)state;
    static const struct {
        int version; /* -1 = none */
        bool good;
    } forms[] = { { -1, true }, { CBX_CHAIN_VERSION, true }, { 2, false }, { 0, false } };
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        struct cbx_chain chain = { 0 };
        struct cbx_err err = { 0 };
        char zeroes[CBX_SHA256_HEX + 1];
        CBX_AUTO_DONE(buf) line;
        cbx_buf_init(&line, 4096);
        cbx_sha256_hex(&chain.hash, zeroes);
        CBX_AUTO_JSON record = json_pack("{s:i,s:s,s:s,s:s,s:{}}", "seq", 1, "time", "t", "type",
                                         "note", "prev", zeroes, "body");
        if (forms[i].version >= 0) {
            json_object_set_new(record, "v", json_integer(forms[i].version));
        }
        add_hashed(record, &line);
        int failed = cbx_chain_check(&chain, cbx_buf_str(&line), NULL, &err);
        assert_int_equal(failed, forms[i].good ? 0 : CBX_EAUDIT);
        assert_true(forms[i].good || strstr(err.text, "format version") != NULL);
    }
}

/* The whole tail, made anew with right hashes: only the signature shows it. */
static void finds_a_log_that_was_rewritten_to_the_end(void **state)
{
    (void)state;
    struct scratch s;
    struct lines lines;
    begin(&s, &lines);
    struct cbx_chain chain = { 0 };
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, 1 << 20);
    for (int i = 0; i < RECORDS; i++) {
        CBX_AUTO_JSON body = json_pack("{s:i}", "n", i + 100);
        assert_int_equal(cbx_chain_add(&chain, "note", body, cbx_time_ms(), &text), 0);
    }
    scratch_write(s.path, CBX_AUDIT_FILE, cbx_buf_str(&text));
    assert_verifies(s.path, RECORDS, RECORDS, "not the one that was signed");
    assert_takes_no_more(s.path, "not the one that was signed");
    CBX_AUTO_JSON body = json_object();
    assert_int_equal(cbx_chain_add(&chain, "note", body, cbx_time_ms(), &text), 0);
    scratch_write(s.path, CBX_AUDIT_FILE, cbx_buf_str(&text));
    assert_verifies(s.path, RECORDS + 1, RECORDS, "not the one that was signed");
    end(&s, &lines);
}

/* --- a pinned key ----------------------------------------------------------------------------- */

static void public_key_of(const char *dir, uint8_t out[CBX_AUDIT_PUBLIC_BYTES])
{
    char path[128];
    struct cbx_err err;
    snprintf(path, sizeof(path), "%s/" CBX_AUDIT_PUB, dir);
    if (cbx_audit_public_key(path, out, &err) != 0) {
        fail_msg("%s", err.text);
    }
}

static void assert_pinned(const char *dir, const uint8_t *key, uint64_t line, const char *problem)
{
    struct cbx_audit_report report;
    struct cbx_err err;
    assert_int_equal(cbx_audit_verify_pinned(dir, key, &report, &err), 0);
    if (report.line != line || strstr(report.problem, problem) == NULL) {
        fail_msg("line %llu: %s", (unsigned long long)report.line, report.problem);
    }
}

/* Log, head and both keys are replaced together: the key of the state directory fits. */
static void a_pinned_key_finds_a_log_that_was_made_anew_with_its_keys(void **state)
{
    (void)state;
    struct scratch s, other;
    struct lines lines;
    uint8_t key[CBX_AUDIT_PUBLIC_BYTES];
    begin(&s, &lines);
    scratch_make(&other);
    append_many(other.path, RECORDS);
    public_key_of(s.path, key);
    assert_pinned(s.path, key, 0, "");
    static const char *const names[] = { CBX_AUDIT_FILE, CBX_AUDIT_HEAD, CBX_AUDIT_KEY,
                                         CBX_AUDIT_PUB };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        CBX_AUTO_DONE(buf) text;
        scratch_read(other.path, names[i], &text);
        scratch_write(s.path, names[i], cbx_buf_str(&text));
    }
    assert_verifies(s.path, RECORDS, 0, "");
    assert_pinned(s.path, key, RECORDS + 1, "with the given public key: ");
    scratch_remove(&other);
    end(&s, &lines);
}

static void a_pinned_key_needs_no_key_in_the_state_directory(void **state)
{
    (void)state;
    struct scratch s;
    struct lines lines;
    uint8_t key[CBX_AUDIT_PUBLIC_BYTES];
    begin(&s, &lines);
    public_key_of(s.path, key);
    scratch_write(s.path, CBX_AUDIT_PUB, CBX_STR("no key"));
    assert_verifies(s.path, RECORDS, RECORDS + 1, "cannot be read");
    assert_pinned(s.path, key, 0, "");
    end(&s, &lines);
}

/* Without a pinned key, an empty log that was never signed is a new one. */
static void with_a_pinned_key_a_log_without_a_head_is_wrong_also_when_it_is_empty(void **state)
{
    (void)state;
    struct scratch s;
    struct lines lines;
    uint8_t key[CBX_AUDIT_PUBLIC_BYTES];
    begin(&s, &lines);
    public_key_of(s.path, key);
    scratch_write(s.path, CBX_AUDIT_FILE, CBX_STR(""));
    scratch_write(s.path, CBX_AUDIT_HEAD, CBX_STR(""));
    assert_verifies(s.path, 0, 0, "");
    assert_pinned(s.path, key, 1, "missing or empty");
    end(&s, &lines);
}

static void a_public_key_is_a_file_or_hexadecimal_digits(void **state)
{
    (void)state;
    struct scratch s;
    struct lines lines;
    struct cbx_audit_report report;
    struct cbx_err err;
    uint8_t key[CBX_AUDIT_PUBLIC_BYTES], read[CBX_AUDIT_PUBLIC_BYTES];
    begin(&s, &lines);
    public_key_of(s.path, key);
    assert_int_equal(cbx_audit_verify(s.path, &report, &err), 0);
    assert_int_equal(cbx_audit_public_key(report.public_key, read, &err), 0);
    assert_memory_equal(read, key, sizeof(key));
    for (char *p = report.public_key; *p != '\0'; p++) {
        *p = (char)toupper((unsigned char)*p);
    }
    assert_int_equal(cbx_audit_public_key(report.public_key, read, &err), 0);
    assert_memory_equal(read, key, sizeof(key));
    report.public_key[63] = '\0'; /* one digit is missing: the name of no file */
    assert_int_equal(cbx_audit_public_key(report.public_key, read, &err), CBX_EINVAL);
    static const char *const others[] = { "", "/", "/dev/null", "/nowhere" };
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        assert_int_equal(cbx_audit_public_key(others[i], read, &err), CBX_EINVAL);
    }
    char path[128];
    snprintf(path, sizeof(path), "%s/" CBX_AUDIT_KEY, s.path);
    assert_int_equal(cbx_audit_public_key(path, read, &err), CBX_EINVAL);
    assert_non_null(strstr(err.text, "allowed is an Ed25519 public key in PEM"));
    end(&s, &lines);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verifies_what_it_wrote),
        cmocka_unit_test(finds_a_change_of_any_byte_of_a_record),
        cmocka_unit_test(finds_records_that_are_missing_moved_or_there_twice),
        cmocka_unit_test(finds_a_cut_in_the_middle_of_a_line),
        cmocka_unit_test(takes_no_record_after_a_cut),
        cmocka_unit_test(finds_a_head_that_is_missing_empty_or_older),
        cmocka_unit_test(finds_a_head_that_was_signed_with_another_key_or_altered),
        cmocka_unit_test(finds_self_made_records_with_right_hashes),
        cmocka_unit_test(finds_a_record_that_was_replaced_by_one_with_a_right_hash),
        cmocka_unit_test(reads_records_of_its_own_and_the_older_form_and_names_newer_ones),
        cmocka_unit_test(finds_a_log_that_was_rewritten_to_the_end),
        cmocka_unit_test(a_pinned_key_finds_a_log_that_was_made_anew_with_its_keys),
        cmocka_unit_test(a_pinned_key_needs_no_key_in_the_state_directory),
        cmocka_unit_test(with_a_pinned_key_a_log_without_a_head_is_wrong_also_when_it_is_empty),
        cmocka_unit_test(a_public_key_is_a_file_or_hexadecimal_digits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
