/* SPDX-License-Identifier: MIT
 * The process that reads the audit log for a syslog server: the records that it passes on while
 * files of the log are closed, and the files that it can open. */
#include "gateway/forwarder/forwarder.h"
#include "tests/unit/gateway/executor/audit_log.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "gateway/forwarder/reader.c"

struct rig {
    struct scratch scratch;
    struct cbx_forwarder_config config;
    int channel; /* channel of the sender, which is this test */
    pid_t reader;
};

static void start(struct rig *rig)
{
    int ends[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    rig->reader = fork();
    assert_true(rig->reader >= 0);
    if (rig->reader == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(ends[0]);
        cbx_forwarder_read(ends[1], &rig->config);
    }
    close(ends[1]);
    rig->channel = ends[0];
}

static void stop(struct rig *rig)
{
    kill(rig->reader, SIGKILL);
    await_child(rig->reader);
    close(rig->channel);
}

static void rig_make(struct rig *rig)
{
    char folder[128];
    scratch_make(&rig->scratch);
    snprintf(folder, sizeof(folder), "%s/%s", rig->scratch.path, CBX_AUDIT_CURSOR_FOLDER);
    assert_int_equal(mkdir(folder, 0700), 0);
    rig->config = (struct cbx_forwarder_config){ 0 };
    snprintf(rig->config.state_dir, sizeof(rig->config.state_dir), "%s", rig->scratch.path);
    start(rig);
}

/* Receives records until `last`, confirming each; they come in order from `first` on. */
static void receive(struct rig *rig, uint64_t first, uint64_t last)
{
    static char line[CBX_FORWARDER_LINE_MAX];
    for (uint64_t seq = first; seq <= last; seq++) {
        struct cbx_forwarder_frame frame;
        struct pollfd ready = { .fd = rig->channel, .events = POLLIN };
        assert_int_equal(poll(&ready, 1, DEADLINE_MS), 1);
        assert_true(cbx_forwarder_take(rig->channel, &frame, sizeof(frame)));
        assert_int_equal(frame.seq, seq);
        assert_true(frame.bytes <= sizeof(line));
        assert_true(cbx_forwarder_take(rig->channel, line, frame.bytes));
        assert_true(cbx_forwarder_put(rig->channel, &frame.seq, sizeof(frame.seq)));
    }
}

/* Waits until the cursor is at this record: the reader does not send it again. */
static void await_cursor(const struct rig *rig, uint64_t seq)
{
    int64_t end = cbx_clock_ms() + DEADLINE_MS;
    for (uint64_t at = 0; at != seq;) {
        CBX_AUTO_DONE(buf) text;
        assert_true(cbx_clock_ms() < end);
        scratch_read(rig->scratch.path, CBX_AUDIT_CURSOR, &text);
        at = strtoull(text.p, NULL, 10);
        poll(NULL, 0, 2);
    }
}

static void append_records(struct rig *rig, int count, bool closes_files)
{
    CBX_AUTO(audit) audit = open_log(rig->scratch.path);
    cbx_audit_set_max_bytes(audit, closes_files ? 1 : 1 << 20);
    for (int i = 0; i < count; i++) {
        assert_int_equal(append(audit, i, NULL), 0);
    }
}

static void passes_on_each_record_once_while_files_are_closed(void **state)
{
    (void)state;
    struct rig rig;
    rig_make(&rig);
    append_records(&rig, 3, false); /* there was no log when the process began */
    receive(&rig, 1, 3);
    append_records(&rig, 5, true);
    receive(&rig, 4, 8);
    append_records(&rig, 2, true);
    append_records(&rig, 2, false);
    receive(&rig, 9, 12);
    await_cursor(&rig, 12);
    stop(&rig);
    start(&rig);
    append_records(&rig, 1, false);
    receive(&rig, 13, 13);
    stop(&rig);
    scratch_remove(&rig.scratch);
}

static void ends_with_its_channel(void **state)
{
    (void)state;
    struct rig rig;
    rig_make(&rig);
    append_records(&rig, 1, false);
    receive(&rig, 1, 1);
    close(rig.channel);
    append_records(&rig, 1, false);
    int status = await_child(rig.reader);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 1);
    scratch_remove(&rig.scratch);
}

static int opens(const char *name)
{
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    return fd >= 0 ? 0 : errno;
}

/* The number of the first attempt that went otherwise; 0 = none. */
static int try_files(void)
{
    struct cbx_err err;
    if (confine_to_log(&err) != 0) {
        return 1;
    }
    return opens("audit.key") != EACCES               ? 2
           : opens("front/codebox.db") != EACCES      ? 3
           : opens("/etc/passwd") != EACCES           ? 4
           : opens("audit.jsonl") != 0                ? 5
           : rename("audit.jsonl", "a.jsonl") == 0    ? 6
           : open("audit.jsonl", O_WRONLY) >= 0       ? 7
           : open("new", O_CREAT | O_RDWR, 0600) >= 0 ? 8
                                                      : 0;
}

static void opens_files_of_the_log_and_no_key(void **state)
{
    (void)state;
    struct rig rig;
    char front[128];
    if (cbx_files_landlock() == 0) {
        skip();
    }
    rig_make(&rig);
    append_records(&rig, 1, false);
    scratch_write(rig.scratch.path, "audit.key", CBX_STR("secret"));
    snprintf(front, sizeof(front), "%s/front", rig.scratch.path);
    assert_int_equal(mkdir(front, 0700), 0);
    scratch_write(front, "codebox.db", CBX_STR("stored"));
    pid_t child = fork();
    if (child == 0) {
        _exit(chdir(rig.scratch.path) != 0 ? 99 : try_files());
    }
    int status = await_child(child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    stop(&rig);
    scratch_remove(&rig.scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(passes_on_each_record_once_while_files_are_closed),
        cmocka_unit_test(ends_with_its_channel),
        cmocka_unit_test(opens_files_of_the_log_and_no_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
