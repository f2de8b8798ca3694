/* SPDX-License-Identifier: MIT
 * The process that reads the audit log for the sender, and keeps the cursor. It has no network,
 * and of the state directory only the files of the log. Files that are added to the log later are
 * not among them; for those its parent, which reads neither the log nor the channel, forks it
 * again. */
#include "gateway/executor/audit/audit_files.h"
#include "gateway/executor/audit/audit_reader.h"
#include "gateway/forwarder/forwarder.h"
#include "gateway/ipc/jail/files.h"
#include "gateway/ipc/jail/jail.h"
#include "policies/base/hash.h"
#include "policies/base/log.h"
#include "policies/base/memory.h"
#include "policies/base/time/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

enum {
    CURSOR_BYTES = 20 + 1 + CBX_SHA256_HEX + 1,
    SENT_MAX = 4096,
    RENEW_STATUS = 3, /* exit status: the log has a file that this process may not open */
    RENEW_PAUSE_MS = 100,
};

/* Records that were handed to the sender and are not confirmed: hashes for the cursor. */
struct sent {
    uint64_t seq;
    char hash[CBX_SHA256_HEX + 1];
};

struct reader {
    int channel, cursor_fd;
    struct cbx_audit_reader *log;
    uint64_t seq; /* position of the cursor */
    char hash[CBX_SHA256_HEX + 1];
    struct sent sent[SENT_MAX]; /* a ring */
    size_t first, count;
    int64_t synced_ms;
    bool found; /* true after the cursor's record was read, or without a cursor */
};

bool cbx_forwarder_take(int channel, void *p, size_t bytes)
{
    char *at = p;
    while (bytes > 0) {
        ssize_t n = read(channel, at, bytes);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return false;
        }
        at += n;
        bytes -= (size_t)n;
    }
    return true;
}

bool cbx_forwarder_put(int channel, const void *p, size_t bytes)
{
    const char *at = p;
    while (bytes > 0) {
        ssize_t n = write(channel, at, bytes);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return false;
        }
        at += n;
        bytes -= (size_t)n;
    }
    return true;
}

/* --- the cursor ------------------------------------------------------------------------------- */

/* A malformed cursor counts as missing: everything is sent again. */
static void read_cursor(struct reader *r)
{
    char text[CURSOR_BYTES + 1] = "";
    struct cbx_sha256 hash;
    ssize_t n = pread(r->cursor_fd, text, CURSOR_BYTES, 0);
    char *end;
    uint64_t seq = n == CURSOR_BYTES ? strtoull(text, &end, 10) : 0;
    struct cbx_str hex = { .p = text + 21, .len = CBX_SHA256_HEX };
    if (seq > 0 && end == text + 20 && cbx_sha256_from_hex(hex, &hash)) {
        r->seq = seq;
        cbx_sha256_hex(&hash, r->hash);
    } else if (n > 0) {
        cbx_log(CBX_LOG_WARNING,
                "syslog: the cursor cannot be read; the whole audit log is sent again");
    }
    r->found = r->seq == 0;
}

/* Losing the last positions of the cursor sends records twice, so it is synced at most once a
 * second. */
static void write_cursor(struct reader *r)
{
    enum { SYNC_MS = 1000 };
    char text[CURSOR_BYTES + 1];
    snprintf(text, sizeof(text), "%020" PRIu64 " %s\n", r->seq, r->hash);
    if (pwrite(r->cursor_fd, text, CURSOR_BYTES, 0) != CURSOR_BYTES) {
        cbx_log(CBX_LOG_WARNING, "syslog: the cursor cannot be written: %s", strerror(errno));
    }
    if (cbx_clock_ms() - r->synced_ms >= SYNC_MS) {
        fdatasync(r->cursor_fd);
        r->synced_ms = cbx_clock_ms();
    }
}

static void confirm(struct reader *r, uint64_t seq)
{
    while (r->count > 0 && r->sent[r->first].seq <= seq) {
        const struct sent *done = &r->sent[r->first];
        r->seq = done->seq;
        memcpy(r->hash, done->hash, sizeof(r->hash));
        r->first = (r->first + 1) % SENT_MAX;
        r->count--;
    }
    write_cursor(r);
}

/* Reads the sender's confirmations, waiting up to `wait_ms`; -1 = no limit. */
static void take_confirmations(struct reader *r, int wait_ms)
{
    struct pollfd ready = { .fd = r->channel, .events = POLLIN };
    while (poll(&ready, 1, wait_ms) > 0) {
        uint64_t seq;
        if (!cbx_forwarder_take(r->channel, &seq, sizeof(seq))) {
            _exit(1); /* the sender has ended; the master starts both again */
        }
        confirm(r, seq);
        wait_ms = 0;
    }
}

/* --- the log ---------------------------------------------------------------------------------- */

/* The last hash in the line is the record's; it stands behind the body. */
static bool read_hash(struct cbx_str line, char out[CBX_SHA256_HEX + 1])
{
    enum { TAIL_MAX = 400 };
    static const char key[] = ",\"hash\":\"";
    struct cbx_str tail =
        cbx_str_sub(line, line.len > TAIL_MAX ? line.len - TAIL_MAX : 0, line.len);
    struct cbx_sha256 hash;
    bool found = false;
    for (const char *at; (at = memmem(tail.p, tail.len, key, sizeof(key) - 1)) != NULL;) {
        tail = cbx_str_sub(tail, (size_t)(at - tail.p) + sizeof(key) - 1, tail.len);
        found = cbx_sha256_from_hex(cbx_str_sub(tail, 0, CBX_SHA256_HEX), &hash) || found;
    }
    if (found) {
        cbx_sha256_hex(&hash, out);
    }
    return found;
}

/* The state directory is the working directory. */
static int open_reader(struct reader *r, struct cbx_err *err)
{
    cbx_audit_reader_free(r->log);
    r->log = NULL;
    return cbx_audit_reader_new(".", r->seq > 0 ? r->seq - 1 : 0, &r->log, err);
}

/* The cursor is of another log: this one was begun anew. */
static void start_over(struct reader *r)
{
    struct cbx_err err = { 0 };
    cbx_log(CBX_LOG_WARNING,
            "syslog: the audit log has no record %" PRIu64
            " with the hash that was sent; all of it is sent",
            r->seq);
    r->seq = 0;
    r->found = true;
    if (open_reader(r, &err) != 0) {
        _exit(1);
    }
}

/* Records up to the cursor's were sent before. False = this one is not to be sent. */
static bool is_new(struct reader *r, uint64_t seq, const char *hash)
{
    if (r->found) {
        return seq > r->seq;
    }
    if (seq < r->seq) {
        return false;
    }
    if (seq == r->seq && strcmp(hash, r->hash) == 0) {
        r->found = true;
        return false;
    }
    if (seq == r->seq) {
        start_over(r);
        return false;
    }
    cbx_log(CBX_LOG_WARNING,
            "syslog: records %" PRIu64 " to %" PRIu64 " were removed before they were sent",
            r->seq + 1, seq - 1);
    r->found = true;
    return true;
}

static void hand_over(struct reader *r, struct cbx_str line, uint64_t seq, const char *hash)
{
    while (r->count == SENT_MAX) {
        take_confirmations(r, -1);
    }
    struct sent *sent = &r->sent[(r->first + r->count++) % SENT_MAX];
    sent->seq = seq;
    memcpy(sent->hash, hash, sizeof(sent->hash));
    struct cbx_forwarder_frame frame = { .seq = seq, .bytes = (uint32_t)line.len };
    if (!cbx_forwarder_put(r->channel, &frame, sizeof(frame)) ||
        !cbx_forwarder_put(r->channel, line.p, line.len)) {
        _exit(1);
    }
    take_confirmations(r, 0);
}

static void read_log(struct reader *r)
{
    enum { POLL_MS = 100 };
    struct cbx_str line;
    bool any = false;
    while (cbx_audit_reader_next(r->log, &line)) {
        char hash[CBX_SHA256_HEX + 1];
        uint64_t seq = cbx_audit_line_seq(line);
        any = true;
        if (seq == 0 || line.len > CBX_FORWARDER_LINE_MAX || !read_hash(line, hash)) {
            cbx_log(CBX_LOG_WARNING, "syslog: a line of the audit log that is no record is not "
                                     "sent; see 'codebox audit verify'");
        } else if (is_new(r, seq, hash)) {
            hand_over(r, line, seq, hash);
        }
    }
    if (any && !r->found) {
        start_over(r); /* the log ends before the cursor */
        return;
    }
    if (cbx_audit_reader_is_denied(r->log)) {
        while (r->count > 0) { /* a record that is confirmed now is not sent again */
            take_confirmations(r, -1);
        }
        _exit(RENEW_STATUS);
    }
    take_confirmations(r, POLL_MS);
}

/* From now on the process can open only names in the working directory, and the present files of
 * the log. */
static int confine_to_log(struct cbx_err *err)
{
    CBX_AUTO_DONE(audit_files) files = { 0 };
    CBX_AUTO_FD dir = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int failed;
    if (dir < 0) {
        failed = cbx_fail(err, CBX_EIO, "the state directory: %s", strerror(errno));
    } else {
        failed = cbx_audit_files_list(dir, &files, err);
    }
    if (failed) {
        return failed;
    }
    size_t count = files.count + 2;
    CBX_AUTO_MEM char(*names)[CBX_AUDIT_NAME_BYTES] = cbx_new_array(count, sizeof(*names));
    CBX_AUTO_MEM struct cbx_grant *grants = cbx_new_array(count, sizeof(*grants));
    grants[0].path = ".";
    for (size_t i = 1; i < count; i++) {
        cbx_audit_file_name(i < count - 1 ? files.first[i - 1] : 0, names[i]);
        grants[i] = (struct cbx_grant){ .path = names[i], .file = true };
    }
    return cbx_files_confine(grants, count, false, err);
}

static int open_files(struct reader *r, struct cbx_err *err)
{
    r->cursor_fd = open(CBX_AUDIT_CURSOR, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (r->cursor_fd < 0) {
        return cbx_fail(err, CBX_EIO, "'" CBX_AUDIT_CURSOR "': %s", strerror(errno));
    }
    read_cursor(r);
    int failed = confine_to_log(err);
    if (failed) {
        return failed;
    }
    failed = cbx_jail_reader(err);
    if (failed) {
        return failed;
    }
    return open_reader(r, err);
}

static _Noreturn void read_files(int channel)
{
    static struct reader r;
    struct cbx_err err = { 0 };
    r.channel = channel;
    if (open_files(&r, &err) != 0) {
        cbx_log(CBX_LOG_ERROR, "syslog: %s", err.text);
        _exit(1);
    }
    for (;;) {
        read_log(&r);
    }
}

/* Forks the process that reads; true if another one is needed. */
static bool read_in_child(int channel)
{
    int status = 0;
    pid_t parent = getpid(), child = fork();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) {
            _exit(1);
        }
        read_files(channel);
    }
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == RENEW_STATUS;
}

_Noreturn void cbx_forwarder_read(int channel, const struct cbx_forwarder_config *config)
{
    const struct timespec pause = { .tv_nsec = RENEW_PAUSE_MS * 1000000L };
    prctl(PR_SET_NAME, "cbx-syslog-log");
    json_object_seed(0); /* OpenSSL reads /dev/urandom */
    if (chdir(config->state_dir) < 0) {
        cbx_log(CBX_LOG_ERROR, "syslog: the state directory: %s", strerror(errno));
        _exit(1);
    }
    while (read_in_child(channel)) {
        nanosleep(&pause, NULL);
    }
    _exit(1); /* the master starts reader and sender again */
}
