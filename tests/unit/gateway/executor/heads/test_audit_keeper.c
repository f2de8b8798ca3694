/* SPDX-License-Identifier: MIT
 * Keeping heads: the written text and its time, and refused places; a failing place delays
 * nothing. */
#include "gateway/executor/heads/audit_heads.h"
#include "gateway/executor/heads/audit_keeper.h"
#include "tests/unit/gateway/executor/audit_log.h"

#include <sys/socket.h>
#include <sys/un.h>

#define OWN       "0123456789abcdef0123456789abcdef"
#define FILE_NAME OWN CBX_AUDIT_HEADS_SUFFIX
enum { LONG_MS = 3600000, WAIT_MS = DEADLINE_MS, LINE = CBX_AUDIT_HEAD_CHARS };

static struct cbx_audit_keeper *open_keeper(const char *place, int interval_ms)
{
    struct cbx_audit_keeper *keeper = NULL;
    struct cbx_err err = { 0 };
    if (cbx_audit_keeper_new(place, OWN, interval_ms, &keeper, &err) != 0) {
        fail_msg("%s %s", err.text, err.detail);
    }
    return keeper;
}

static void offer(struct cbx_audit_keeper *keeper, EVP_PKEY *key, uint64_t seq)
{
    const struct cbx_chain chain = { .seq = seq };
    cbx_audit_keeper_offer(keeper, &chain, key);
}

static void await_kept(struct cbx_audit_keeper *keeper, uint64_t seq)
{
    struct cbx_audit_keeper_state now;
    int64_t end = cbx_clock_ms() + DEADLINE_MS;
    for (cbx_audit_keeper_state(keeper, &now); now.kept < seq;
         cbx_audit_keeper_state(keeper, &now)) {
        assert_true(cbx_clock_ms() < end);
        poll(NULL, 0, 2);
    }
}

/* The numbers in the file of kept heads, each line of which must be a head or say that it was
 * torn. */
static size_t read_seqs(const char *dir, uint64_t out[64])
{
    CBX_AUTO_DONE(buf) text;
    scratch_read(dir, FILE_NAME, &text);
    struct cbx_str left = cbx_buf_str(&text);
    size_t count = 0;
    while (left.len > 0) {
        const char *end = memchr(left.p, '\n', left.len);
        struct cbx_audit_head head;
        assert_non_null(end);
        struct cbx_str line = cbx_str_sub(left, 0, (size_t)(end - left.p));
        left = cbx_str_sub(left, line.len + 1, left.len);
        if (cbx_str_ends(line, CBX_STR(CBX_AUDIT_HEAD_TORN))) {
            continue;
        }
        assert_true(cbx_audit_head_read(line, &head) && count < 64);
        assert_string_equal(head.instance, OWN);
        out[count++] = head.chain.seq;
    }
    return count;
}

static void keeps_the_first_head_at_once_and_the_last_one_when_told_to(void **state)
{
    (void)state;
    struct scratch s;
    uint64_t seqs[64];
    scratch_make(&s);
    EVP_PKEY *key = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
    CBX_AUTO(audit_keeper) keeper = open_keeper(s.path, LONG_MS);
    offer(keeper, key, 7);
    await_kept(keeper, 7);
    for (uint64_t seq = 8; seq < 1000; seq++) {
        offer(keeper, key, seq);
    }
    assert_int_equal(read_seqs(s.path, seqs), 1);
    assert_true(cbx_audit_keeper_flush(keeper, WAIT_MS));
    assert_true(cbx_audit_keeper_flush(keeper, WAIT_MS));
    assert_int_equal(read_seqs(s.path, seqs), 2);
    assert_int_equal(seqs[0], 7);
    assert_int_equal(seqs[1], 999);
    EVP_PKEY_free(key);
    scratch_remove(&s);
}

static void keeps_a_head_after_the_interval_without_another_record(void **state)
{
    (void)state;
    struct scratch s;
    uint64_t seqs[64];
    scratch_make(&s);
    EVP_PKEY *key = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
    CBX_AUTO(audit_keeper) keeper = open_keeper(s.path, 20);
    offer(keeper, key, 1);
    offer(keeper, key, 2);
    await_kept(keeper, 2);
    offer(keeper, key, 3);
    await_kept(keeper, 3);
    assert_true(read_seqs(s.path, seqs) >= 2);
    EVP_PKEY_free(key);
    scratch_remove(&s);
}

static void keeps_the_heads_of_a_log_which_match_it(void **state)
{
    (void)state;
    struct scratch s, heads_dir;
    scratch_make(&s);
    scratch_make(&heads_dir);
    CBX_AUTO(audit_keeper) keeper = open_keeper(heads_dir.path, LONG_MS);
    {
        CBX_AUTO(audit) audit = open_log(s.path);
        struct cbx_err err;
        cbx_audit_set_keeper(audit, keeper);
        for (int i = 0; i < 20; i++) {
            assert_int_equal(append(audit, i, &err), 0);
        }
        cbx_audit_flush(audit);
        assert_true(cbx_audit_keeper_flush(keeper, WAIT_MS));
    }
    CBX_AUTO(audit_heads) heads = cbx_audit_heads_new();
    static struct cbx_audit_report log;
    struct cbx_audit_heads_report report;
    struct cbx_err err = { 0 };
    assert_int_equal(cbx_audit_heads_read(heads, heads_dir.path, &err), 0);
    assert_int_equal(cbx_audit_verify_heads(s.path, NULL, heads, &log, &err), 0);
    assert_int_equal(cbx_audit_heads_judge(heads, OWN, &log, &report, &err), 0);
    assert_true(report.matched >= 1); /* the first one may be kept late */
    assert_int_equal(report.newest, 20);
    assert_int_equal(report.finding_count, 0);
    scratch_remove(&s);
    scratch_remove(&heads_dir);
}

/* --- places ----------------------------------------------------------------------------------- */

static void assert_refused(const char *place, const char *problem)
{
    struct cbx_audit_keeper *keeper = NULL;
    struct cbx_err err = { 0 };
    assert_true(cbx_audit_keeper_new(place, OWN, LONG_MS, &keeper, &err) < 0);
    if (strstr(err.text, problem) == NULL) {
        fail_msg("'%s' does not say '%s'", err.text, problem);
    }
}

static void refuses_folders_that_others_could_change(void **state)
{
    (void)state;
    struct scratch s;
    char path[128], link[128];
    struct cbx_err err;
    scratch_make(&s);
    snprintf(path, sizeof(path), "%s/heads", s.path);
    assert_refused(path, "cannot be opened: No such file");
    assert_int_equal(cbx_audit_keeper_check(path, &err), CBX_ENOTFOUND);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(cbx_audit_keeper_check(path, &err), 0);
    assert_int_equal(chmod(path, 0777), 0);
    assert_refused(path, "has mode 777, allowed is a directory that only its owner can write to");
    assert_int_equal(cbx_audit_keeper_check(path, &err), CBX_EINVAL);
    assert_int_equal(chmod(path, 0700), 0);
    snprintf(link, sizeof(link), "%s/link", s.path);
    assert_int_equal(symlink(path, link), 0);
    assert_refused(link, "is a symbolic link, allowed is a directory");
    assert_refused("/dev/null", "cannot be opened: Not a directory");
    if (geteuid() == 0) {
        assert_int_equal(chown(path, 12345, 12345), 0);
        assert_refused(path, "belongs to uid 12345, allowed is root");
    }
    scratch_remove(&s);
}

static void refuses_a_file_that_is_none_or_has_another_name(void **state)
{
    (void)state;
    struct scratch s;
    char path[160], other[160];
    scratch_make(&s);
    snprintf(path, sizeof(path), "%s/" FILE_NAME, s.path);
    snprintf(other, sizeof(other), "%s/other", s.path);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_refused(s.path, "is no regular file");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(symlink(other, path), 0);
    assert_refused(s.path, "cannot be kept");
    assert_int_equal(unlink(path), 0);
    scratch_write(s.path, "other", CBX_STR(""));
    assert_int_equal(link(other, path), 0);
    assert_refused(s.path, "has another name elsewhere");
    assert_int_equal(unlink(other), 0);
    assert_int_equal(chmod(path, 0666), 0);
    assert_refused(s.path, "can be written to by other users");
    scratch_remove(&s);
}

static void goes_on_behind_a_line_that_was_torn(void **state)
{
    (void)state;
    struct scratch s;
    uint64_t seqs[64];
    scratch_make(&s);
    scratch_write(s.path, FILE_NAME, CBX_STR("codebox-head 1 0000"));
    char path[160];
    snprintf(path, sizeof(path), "%s/" FILE_NAME, s.path);
    assert_int_equal(chmod(path, 0600), 0);
    EVP_PKEY *key = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
    {
        CBX_AUTO(audit_keeper) keeper = open_keeper(s.path, LONG_MS);
        offer(keeper, key, 5);
        assert_true(cbx_audit_keeper_flush(keeper, WAIT_MS));
    }
    assert_int_equal(read_seqs(s.path, seqs), 1);
    assert_true(scratch_holds(s.path, FILE_NAME, "codebox-head 1 0000" CBX_AUDIT_HEAD_TORN "\n"));
    EVP_PKEY_free(key);
    scratch_remove(&s);
}

static void several_keepers_of_one_log_mix_no_lines(void **state)
{
    (void)state;
    enum { KEEPERS = 4, HEADS = 10 };
    struct scratch s;
    uint64_t seqs[64];
    scratch_make(&s);
    EVP_PKEY *key = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
    struct cbx_audit_keeper *keepers[KEEPERS];
    for (size_t i = 0; i < KEEPERS; i++) {
        keepers[i] = open_keeper(s.path, 1);
    }
    for (uint64_t seq = 1; seq <= HEADS; seq++) {
        for (size_t i = 0; i < KEEPERS; i++) {
            offer(keepers[i], key, seq);
        }
        for (size_t i = 0; i < KEEPERS; i++) {
            assert_true(cbx_audit_keeper_flush(keepers[i], WAIT_MS));
        }
    }
    for (size_t i = 0; i < KEEPERS; i++) {
        cbx_audit_keeper_free(keepers[i]);
    }
    assert_int_equal(read_seqs(s.path, seqs), KEEPERS * HEADS);
    EVP_PKEY_free(key);
    scratch_remove(&s);
}

/* --- a place that fails ----------------------------------------------------------------------- */

static void a_full_disk_is_reported_and_leaves_the_lines_before_it_whole(void **state)
{
    (void)state;
    struct scratch s;
    struct cbx_audit_keeper_state now;
    uint64_t seqs[64];
    scratch_make(&s);
    EVP_PKEY *key = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
    CBX_AUTO(audit_keeper) keeper = open_keeper(s.path, LONG_MS);
    offer(keeper, key, 1);
    assert_true(cbx_audit_keeper_flush(keeper, WAIT_MS));
    struct rlimit before, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = LINE + 100; /* a part of the next line */
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    offer(keeper, key, 2);
    bool kept = cbx_audit_keeper_flush(keeper, WAIT_MS);
    cbx_audit_keeper_state(keeper, &now);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_false(kept);
    assert_int_equal(now.kept, 1);
    assert_int_equal(now.offered, 2);
    assert_true(now.failures > 0);
    assert_non_null(strstr(now.reason, "heads of the audit log cannot be kept"));
    assert_int_equal(read_seqs(s.path, seqs), 1);
    assert_true(cbx_audit_keeper_flush(keeper, WAIT_MS));
    cbx_audit_keeper_state(keeper, &now);
    assert_string_equal(now.reason, "");
    assert_int_equal(read_seqs(s.path, seqs), 2);
    EVP_PKEY_free(key);
    scratch_remove(&s);
}

static int listen_at(const char *path)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    return fd;
}

static void sends_heads_to_a_syslog_daemon_also_to_one_that_was_started_anew(void **state)
{
    (void)state;
    struct scratch s;
    char path[100], place[128], text[2048];
    scratch_make(&s);
    snprintf(path, sizeof(path), "%s/log", s.path);
    snprintf(place, sizeof(place), "unix://%s", path);
    assert_refused(place, "cannot be kept");
    int daemon = listen_at(path);
    EVP_PKEY *key = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
    CBX_AUTO(audit_keeper) keeper = open_keeper(place, LONG_MS);
    for (uint64_t seq = 1; seq <= 2; seq++) {
        offer(keeper, key, seq);
        assert_true(cbx_audit_keeper_flush(keeper, WAIT_MS));
        ssize_t n = recv(daemon, text, sizeof(text) - 1, 0);
        assert_true(n > LINE);
        text[n] = '\0';
        assert_memory_equal(text, "<109>1 20", 9);
        assert_non_null(strstr(text, " codebox - head [codebox@32473 seq=\""));
        struct cbx_audit_head head;
        assert_true(cbx_audit_head_read(cbx_str_of(text + n - LINE), &head));
        assert_int_equal(head.chain.seq, seq);
        if (seq == 1) {
            close(daemon);
            assert_int_equal(unlink(path), 0);
            daemon = listen_at(path);
        }
    }
    close(daemon);
    assert_int_equal(unlink(path), 0);
    offer(keeper, key, 3);
    assert_false(cbx_audit_keeper_flush(keeper, WAIT_MS));
    EVP_PKEY_free(key);
    scratch_remove(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_the_first_head_at_once_and_the_last_one_when_told_to),
        cmocka_unit_test(keeps_a_head_after_the_interval_without_another_record),
        cmocka_unit_test(keeps_the_heads_of_a_log_which_match_it),
        cmocka_unit_test(refuses_folders_that_others_could_change),
        cmocka_unit_test(refuses_a_file_that_is_none_or_has_another_name),
        cmocka_unit_test(goes_on_behind_a_line_that_was_torn),
        cmocka_unit_test(several_keepers_of_one_log_mix_no_lines),
        cmocka_unit_test(a_full_disk_is_reported_and_leaves_the_lines_before_it_whole),
        cmocka_unit_test(sends_heads_to_a_syslog_daemon_also_to_one_that_was_started_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
