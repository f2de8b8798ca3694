/* SPDX-License-Identifier: MIT
 * The audit log: whatever is done to it afterwards is found, and it is never continued over a hole. */
#include "gateway/audit.h"

#include "gateway/audit_chain.h"
#include "tests/unit/gateway/scratch.h"

#include <pthread.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

enum { RECORDS = 6 };

static struct scratch dir;

static struct cbx_audit *open_log(void)
{
    struct cbx_audit *audit = NULL;
    struct cbx_err err = { 0 };
    assert_int_equal(cbx_audit_open(dir.path, &audit, &err), 0);
    return audit;
}

static int append(struct cbx_audit *audit, const char *text, struct cbx_err *err)
{
    CBX_AUTO_JSON body = json_pack("{s:s}", "text", text);
    return cbx_audit_append(audit, "note", body, NULL, err);
}

static void append_records(int count)
{
    CBX_AUTO(audit) audit = open_log();
    for (int i = 0; i < count; i++) {
        char text[32];
        snprintf(text, sizeof(text), "record %d", i + 1);
        assert_int_equal(append(audit, text, NULL), 0);
    }
}

static int set_up(void **state)
{
    (void)state;
    scratch_make(&dir);
    append_records(RECORDS);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    scratch_remove(&dir);
    return 0;
}

static struct cbx_audit_report verify(void)
{
    struct cbx_audit_report report;
    struct cbx_err err = { 0 };
    assert_int_equal(cbx_audit_verify(dir.path, &report, &err), 0);
    return report;
}

/* The log as lines; each with its '\n'. */
struct lines {
    struct cbx_buf text;
    struct cbx_str items[RECORDS + 4];
    size_t count;
};

static void read_lines(struct lines *lines)
{
    scratch_read(&dir, CBX_AUDIT_FILE, &lines->text);
    struct cbx_str rest = cbx_buf_str(&lines->text);
    for (lines->count = 0; rest.len > 0 && lines->count < RECORDS + 4; lines->count++) {
        const char *end = memchr(rest.p, '\n', rest.len);
        assert_non_null(end);
        lines->items[lines->count] = cbx_str_sub(rest, 0, (size_t)(end - rest.p) + 1);
        rest = cbx_str_sub(rest, lines->items[lines->count].len, rest.len);
    }
}

static void write_lines(const struct lines *lines)
{
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, 1024 * 1024);
    for (size_t i = 0; i < lines->count; i++) {
        cbx_buf_add(&text, lines->items[i]);
    }
    scratch_write(&dir, CBX_AUDIT_FILE, cbx_buf_str(&text));
}

static void finds_nothing_in_a_log_that_nobody_touched(void **state)
{
    (void)state;
    struct cbx_audit_report report = verify();
    assert_int_equal(report.line, 0);
    assert_int_equal(report.records, RECORDS);
}

static void finds_a_changed_byte_in_every_record(void **state)
{
    (void)state;
    struct lines lines;
    read_lines(&lines);
    for (size_t i = 0; i < lines.count; i++) {
        struct cbx_str line = lines.items[i];
        for (size_t at = 1; at + 1 < line.len; at += 17) {
            char *byte = (char *)(uintptr_t)line.p + at;
            *byte ^= 1;
            write_lines(&lines);
            assert_int_equal(verify().line, i + 1);
            *byte ^= 1;
        }
    }
    write_lines(&lines);
    assert_int_equal(verify().line, 0);
    cbx_buf_done(&lines.text);
}

static void finds_a_removed_record(void **state)
{
    (void)state;
    for (size_t gone = 0; gone < RECORDS; gone++) {
        struct lines lines, kept = { .count = 0 };
        read_lines(&lines);
        for (size_t i = 0; i < lines.count; i++) {
            if (i != gone) {
                kept.items[kept.count++] = lines.items[i];
            }
        }
        write_lines(&kept);
        assert_int_equal(verify().line, gone + 1);
        write_lines(&lines);
        cbx_buf_done(&lines.text);
    }
}

static void finds_swapped_and_doubled_records(void **state)
{
    (void)state;
    struct lines lines;
    read_lines(&lines);
    struct cbx_str second = lines.items[1];
    lines.items[1] = lines.items[2];
    lines.items[2] = second;
    write_lines(&lines);
    assert_int_equal(verify().line, 2);
    lines.items[2] = lines.items[1];
    lines.items[1] = second;
    lines.items[lines.count] = lines.items[lines.count - 1];
    lines.count++;
    write_lines(&lines);
    assert_int_equal(verify().line, RECORDS + 1);
    cbx_buf_done(&lines.text);
}

static void finds_a_log_that_was_cut(void **state)
{
    (void)state;
    struct lines lines;
    read_lines(&lines);
    lines.count -= 2;
    write_lines(&lines);
    assert_int_equal(verify().line, RECORDS - 1);
    scratch_write(&dir, CBX_AUDIT_FILE, CBX_STR(""));
    assert_int_equal(verify().line, 1);
    scratch_write(&dir, CBX_AUDIT_FILE, cbx_str_sub(cbx_buf_str(&lines.text), 0, lines.text.len - 20));
    assert_int_equal(verify().line, RECORDS);
    cbx_buf_done(&lines.text);
}

/* A record that fits the chain, but was never written by us: the head does not know it. */
static void finds_a_tail_that_was_rewritten_with_right_hashes(void **state)
{
    (void)state;
    struct lines lines;
    read_lines(&lines);
    struct cbx_chain chain = { 0 };
    struct cbx_err err = { 0 };
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, 1024 * 1024);
    for (size_t i = 0; i < lines.count - 1; i++) {
        assert_int_equal(cbx_chain_check(&chain, cbx_str_sub(lines.items[i], 0, lines.items[i].len - 1), NULL, &err), 0);
        cbx_buf_add(&text, lines.items[i]);
    }
    CBX_AUTO_JSON body = json_pack("{s:s}", "text", "nothing happened");
    assert_int_equal(cbx_chain_add(&chain, "note", body, 1, &text), 0);
    scratch_write(&dir, CBX_AUDIT_FILE, cbx_buf_str(&text));
    struct cbx_audit_report report = verify();
    assert_int_equal(report.line, RECORDS);
    assert_non_null(strstr(report.problem, "rewritten"));
    cbx_buf_done(&lines.text);
}

static void finds_a_head_that_was_changed_or_removed(void **state)
{
    (void)state;
    CBX_AUTO_DONE(buf) head;
    scratch_read(&dir, CBX_AUDIT_HEAD, &head);
    head.p[10] ^= 1;
    scratch_write(&dir, CBX_AUDIT_HEAD, cbx_buf_str(&head));
    assert_int_not_equal(verify().line, 0);
    scratch_write(&dir, CBX_AUDIT_HEAD, CBX_STR(""));
    assert_int_not_equal(verify().line, 0);
}

static void finds_a_head_signed_by_another_key(void **state)
{
    (void)state;
    struct scratch mine = dir;
    scratch_make(&dir);
    append_records(RECORDS);
    CBX_AUTO_DONE(buf) head;
    scratch_read(&dir, CBX_AUDIT_HEAD, &head);
    scratch_remove(&dir);
    dir = mine;
    scratch_write(&dir, CBX_AUDIT_HEAD, cbx_buf_str(&head));
    assert_int_not_equal(verify().line, 0);
}

static void does_not_go_on_over_a_hole(void **state)
{
    (void)state;
    struct lines lines;
    read_lines(&lines);
    lines.count--;
    write_lines(&lines);
    CBX_AUTO(audit) audit = open_log();
    struct cbx_err err = { 0 };
    assert_int_equal(append(audit, "as if nothing was", &err), CBX_EAUDIT);
    assert_non_null(strstr(err.text, "missing"));
    assert_int_equal(verify().line, RECORDS);
    lines.count++;
    write_lines(&lines);
    assert_int_equal(append(audit, "all is back", &err), 0);
    assert_int_equal(verify().line, 0);
    cbx_buf_done(&lines.text);
}

static void notes_a_torn_last_line_and_goes_on(void **state)
{
    (void)state;
    CBX_AUTO_DONE(buf) log;
    scratch_read(&dir, CBX_AUDIT_FILE, &log);
    cbx_buf_add(&log, CBX_STR("{\"seq\":7,\"time\":\"20"));
    scratch_write(&dir, CBX_AUDIT_FILE, cbx_buf_str(&log));
    append_records(1);
    struct cbx_audit_report report = verify();
    assert_int_equal(report.line, 0);
    assert_int_equal(report.records, RECORDS + 2);
    CBX_AUTO_DONE(buf) after;
    scratch_read(&dir, CBX_AUDIT_FILE, &after);
    assert_non_null(strstr(after.p, "\"recovered\""));
}

static void *append_many(void *context)
{
    struct cbx_audit *audit = context;
    for (int i = 0; i < 100; i++) {
        append(audit, "together", NULL);
    }
    return NULL;
}

static void keeps_the_chain_with_many_threads_and_two_processes(void **state)
{
    (void)state;
    enum { THREADS = 8 };
    pid_t other = fork();
    CBX_AUTO(audit) audit = open_log();
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, append_many, audit), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    if (other == 0) {
        _exit(0);
    }
    assert_int_equal(wait_for_end(other), 0);
    struct cbx_audit_report report = verify();
    assert_int_equal(report.line, 0);
    assert_int_equal(report.records, RECORDS + 2 * THREADS * 100);
}

/* A file that may not grow stands in for a full disk; the system test has a real one. */
static void fails_whole_when_it_cannot_write_and_works_again_afterwards(void **state)
{
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        signal(SIGXFSZ, SIG_IGN);
        CBX_AUTO(audit) audit = open_log();
        CBX_AUTO_DONE(buf) log;
        scratch_read(&dir, CBX_AUDIT_FILE, &log);
        struct rlimit small = { log.len + 100, RLIM_INFINITY };
        setrlimit(RLIMIT_FSIZE, &small);
        struct cbx_err err = { 0 };
        bool refused = append(audit, "too much", &err) == CBX_EAUDIT && strstr(err.text, "nothing runs") != NULL;
        bool whole = verify().line == 0 && verify().records == RECORDS;
        small.rlim_cur = RLIM_INFINITY;
        setrlimit(RLIMIT_FSIZE, &small);
        bool again = append(audit, "there is room", NULL) == 0 && verify().records == RECORDS + 1;
        _exit(refused && whole && again ? 0 : 1);
    }
    assert_int_equal(wait_for_end(child), 0);
    assert_int_equal(verify().line, 0);
}

static void keeps_hostile_text_on_one_line(void **state)
{
    (void)state;
    CBX_AUTO(audit) audit = open_log();
    static char large[100 * 1024];
    memset(large, '\n', sizeof(large));
    CBX_AUTO_JSON body = json_object();
    json_object_set_new(body, "text", cbx_json_text((struct cbx_str){ .p = "a\0b\n\xff\r\x1b[2J", .len = 11 }));
    json_object_set_new(body, "large", cbx_json_text((struct cbx_str){ .p = large, .len = sizeof(large) }));
    struct cbx_err err = { 0 };
    assert_int_equal(cbx_audit_append(audit, "note", body, NULL, &err), 0);
    struct cbx_audit_report report = verify();
    assert_int_equal(report.line, 0);
    assert_int_equal(report.records, RECORDS + 1);
}

static void refuses_a_directory_that_others_may_write(void **state)
{
    (void)state;
    struct cbx_audit *audit = NULL;
    struct cbx_err err = { 0 };
    assert_int_equal(chmod(dir.path, 0777), 0);
    assert_int_equal(cbx_audit_open(dir.path, &audit, &err), CBX_EAUDIT);
    assert_int_equal(chmod(dir.path, 0700), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(finds_nothing_in_a_log_that_nobody_touched),
        TEST(finds_a_changed_byte_in_every_record),
        TEST(finds_a_removed_record),
        TEST(finds_swapped_and_doubled_records),
        TEST(finds_a_log_that_was_cut),
        TEST(finds_a_tail_that_was_rewritten_with_right_hashes),
        TEST(finds_a_head_that_was_changed_or_removed),
        TEST(finds_a_head_signed_by_another_key),
        TEST(does_not_go_on_over_a_hole),
        TEST(notes_a_torn_last_line_and_goes_on),
        TEST(keeps_the_chain_with_many_threads_and_two_processes),
        TEST(fails_whole_when_it_cannot_write_and_works_again_afterwards),
        TEST(keeps_hostile_text_on_one_line),
        TEST(refuses_a_directory_that_others_may_write),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
