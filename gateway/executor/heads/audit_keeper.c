/* SPDX-License-Identifier: MIT
 * Keeping heads. Lines are appended and never changed: this works with an append-only file; an
 * interrupted write damages only the last line, and the next one has the mark that it was torn. */
#include "gateway/executor/heads/audit_keeper.h"

#include "gateway/executor/heads/audit_heads.h"
#include "gateway/ipc/jail/trusted.h"
#include "policies/base/log.h"
#include "policies/base/memory.h"
#include "policies/base/time/clock.h"
#include "policies/base/time/deadline.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#define LOCAL_SYSLOG "/dev/log"
#define UNIX_PREFIX  "unix://"
enum { RETRY_MS = 5000 };

struct cbx_audit_keeper {
    int fd; /* descriptor of the file or the socket */
    bool file;
    char place[160];            /* description of the place, for messages */
    struct sockaddr_un address; /* address of the socket */
    char host[256];
    char instance[CBX_AUDIT_INSTANCE_CHARS + 1];
    int64_t interval_ms;
    pthread_t thread;
    bool started;
    pthread_mutex_t lock; /* protects all members below */
    pthread_cond_t changed;
    struct cbx_chain chain; /* position offered last */
    EVP_PKEY *key;
    int64_t due_ms; /* earliest time of the next attempt, monotonic */
    bool urgent, closing, busy;
    uint64_t attempts;
    struct cbx_audit_keeper_state state;
};

/* --- the place -------------------------------------------------------------------------------- */

/* Returns the socket's path; NULL = the place is a folder. */
static const char *socket_of(const char *place)
{
    if (strcmp(place, "syslog") == 0) {
        return LOCAL_SYSLOG;
    }
    return strncmp(place, UNIX_PREFIX, strlen(UNIX_PREFIX)) == 0 ? place + strlen(UNIX_PREFIX)
                                                                 : NULL;
}

static int fail_errno(struct cbx_err *err, const char *what, const char *place)
{
    return cbx_fail(err, CBX_EIO, "heads of the audit log cannot be kept in '%.150s' (%s: %s)",
                    place, what, strerror(errno));
}

static int open_socket(struct cbx_audit_keeper *k, struct cbx_err *err)
{
    cbx_fd_auto(&k->fd);
    CBX_AUTO_FD fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (const struct sockaddr *)&k->address, sizeof(k->address)) < 0) {
        return fail_errno(err, "connect", k->address.sun_path);
    }
    k->fd = cbx_fd_steal(&fd);
    return 0;
}

static int begin_socket(struct cbx_audit_keeper *k, const char *path, struct cbx_err *err)
{
    k->address.sun_family = AF_UNIX;
    if (path[0] != '/' || strlen(path) >= sizeof(k->address.sun_path)) {
        return cbx_fail(
            err, CBX_EINVAL,
            "--audit-heads is 'unix://%.150s', allowed is unix:///PATH with at most %zu "
            "characters",
            path, sizeof(k->address.sun_path) - 1);
    }
    snprintf(k->address.sun_path, sizeof(k->address.sun_path), "%s", path);
    if (gethostname(k->host, sizeof(k->host) - 1) < 0) {
        snprintf(k->host, sizeof(k->host), "-");
    }
    return open_socket(k, err);
}

static int open_folder(const char *path, int *out, struct cbx_err *err)
{
    static const struct cbx_trusted_kind kind = {
        .what = "the folder of kept heads (--audit-heads)",
        .advice = "choose a folder of the gateway's user or of root",
        .code = CBX_EINVAL
    };
    int failed = cbx_trusted_open(&kind, path, out, err);
    if (!failed && faccessat(*out, ".", W_OK | X_OK, AT_EACCESS) < 0) {
        failed = fail_errno(err, "write", path);
        cbx_fd_auto(out);
    }
    return failed;
}

static int check_file(const struct stat *status, const char *name, struct cbx_err *err)
{
    const char *found = NULL;
    if (!S_ISREG(status->st_mode)) {
        found = "is no regular file";
    } else if (status->st_nlink != 1) {
        found = "has another name elsewhere";
    } else if (status->st_uid != 0 && status->st_uid != geteuid()) {
        found = "belongs to another user";
    } else if ((status->st_mode & 022) != 0) {
        found = "can be written to by other users";
    }
    if (found != NULL) {
        return cbx_fail(err, CBX_EINVAL,
                        "the file '%s' of kept heads %s, allowed is a regular file with one name, "
                        "of the gateway's user, that nobody else can write to",
                        name, found);
    }
    return 0;
}

static int begin_file(struct cbx_audit_keeper *k, const char *path, struct cbx_err *err)
{
    char name[CBX_AUDIT_INSTANCE_CHARS + sizeof(CBX_AUDIT_HEADS_SUFFIX)];
    struct stat status;
    CBX_AUTO_FD folder = -1;
    int failed = open_folder(path, &folder, err);
    if (failed) {
        return failed;
    }
    snprintf(name, sizeof(name), "%s" CBX_AUDIT_HEADS_SUFFIX, k->instance);
    /* For reading too: the last byte shows whether the last line is whole. */
    CBX_AUTO_FD fd = openat(
        folder, name, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0644);
    if (fd < 0 || fstat(fd, &status) < 0) {
        return fail_errno(err, name, path);
    }
    failed = check_file(&status, name, err);
    if (!failed) {
        fsync(folder); /* makes the name durable */
        k->file = true;
        k->fd = cbx_fd_steal(&fd);
    }
    return failed;
}

int cbx_audit_keeper_check(const char *place, struct cbx_err *err)
{
    const char *path = socket_of(place);
    struct cbx_audit_keeper probe = { .fd = -1 };
    int failed;
    if (path != NULL) {
        failed = begin_socket(&probe, path, err);
    } else {
        failed = open_folder(place, &probe.fd, err);
    }
    cbx_fd_auto(&probe.fd);
    return failed;
}

int cbx_audit_keeper_new(const char *place, const char *instance, int interval_ms,
                         struct cbx_audit_keeper **out, struct cbx_err *err)
{
    CBX_AUTO(audit_keeper) k = cbx_new(sizeof(*k));
    k->fd = -1;
    k->interval_ms = interval_ms;
    snprintf(k->place, sizeof(k->place), "%.150s", place);
    snprintf(k->instance, sizeof(k->instance), "%s", instance);
    pthread_mutex_init(&k->lock, NULL);
    cbx_cond_init(&k->changed);
    const char *path = socket_of(place);
    int failed;
    if (path != NULL) {
        failed = begin_socket(k, path, err);
    } else {
        failed = begin_file(k, place, err);
    }
    if (!failed) {
        *out = cbx_steal(&k);
    }
    return failed;
}

/* --- one head --------------------------------------------------------------------------------- */

/* Other processes with the same log append to the same file. */
static int append(struct cbx_audit_keeper *k, const char *line, struct cbx_err *err)
{
    char text[sizeof(CBX_AUDIT_HEAD_TORN) + CBX_AUDIT_HEAD_CHARS + 2], last = '\n';
    struct stat status;
    if (fstat(k->fd, &status) < 0 ||
        (status.st_size > 0 && pread(k->fd, &last, 1, status.st_size - 1) != 1)) {
        return fail_errno(err, "read", k->place);
    }
    int len =
        snprintf(text, sizeof(text), "%s%s\n", last != '\n' ? CBX_AUDIT_HEAD_TORN "\n" : "", line);
    ssize_t n = write(k->fd, text, (size_t)len);
    if (n != len) {
        int number = n < 0 ? errno : ENOSPC;
        /* cannot succeed in an append-only file */
        bool cut = n <= 0 || ftruncate(k->fd, status.st_size) == 0;
        errno = number;
        return fail_errno(err, cut ? "write" : "write, a part of it", k->place);
    }
    if (fdatasync(k->fd) < 0) {
        return fail_errno(err, "sync", k->place);
    }
    return 0;
}

static int append_alone(struct cbx_audit_keeper *k, const char *line, struct cbx_err *err)
{
    bool locked = flock(k->fd, LOCK_EX) == 0; /* if the file system has locks */
    int failed = append(k, line, err);
    if (locked) {
        flock(k->fd, LOCK_UN);
    }
    return failed;
}

/* RFC 5424: facility 13 (log audit), severity 5 (notice); 32473 is the number for documentation,
 * as in forwarder/syslog.c. */
static int send_message(struct cbx_audit_keeper *k, const struct cbx_audit_head *head,
                        const char *line, struct cbx_err *err)
{
    char text[1024], when[32], hash[CBX_SHA256_HEX + 1];
    cbx_chain_format_time(head->time_ms, when);
    cbx_sha256_hex(&head->chain.hash, hash);
    int len = snprintf(text, sizeof(text),
                       "<109>1 %s %s codebox - head [codebox@32473 seq=\"%" PRIu64
                       "\" hash=\"%s\" instance=\"%s\"] %s",
                       when, k->host, head->chain.seq, hash, head->instance, line);
    if (len >= (int)sizeof(text)) {
        errno = EMSGSIZE;
        return fail_errno(err, "send", k->address.sun_path);
    }
    for (int tries = 0; tries < 2; tries++) {
        if (k->fd >= 0 && send(k->fd, text, (size_t)len, MSG_DONTWAIT | MSG_NOSIGNAL) == len) {
            return 0;
        }
        if (k->fd >= 0 && errno == EAGAIN) {
            break; /* the daemon does not read: the next attempt comes later */
        }
        if (tries == 0) { /* the daemon was restarted */
            int failed = open_socket(k, err);
            if (failed) {
                return failed;
            }
        }
    }
    return fail_errno(err, "send", k->address.sun_path);
}

static int keep(struct cbx_audit_keeper *k, const struct cbx_chain *chain, EVP_PKEY *key,
                struct cbx_err *err)
{
    char line[CBX_AUDIT_HEAD_CHARS + 1];
    struct cbx_audit_head head = { .chain = *chain, .time_ms = cbx_time_ms() };
    memcpy(head.instance, k->instance, sizeof(head.instance));
    if (cbx_audit_head_sign(&head, key, line) != 0) {
        return cbx_fail(err, CBX_EIO, "a head of the audit log cannot be signed");
    }
    if (k->file) {
        return append_alone(k, line, err);
    }
    return send_message(k, &head, line, err);
}

/* --- the thread ------------------------------------------------------------------------------- */

/* Call it with the lock held. */
static void note(struct cbx_audit_keeper *k, uint64_t seq, int failed, const struct cbx_err *err)
{
    bool was_failing = k->state.reason[0] != '\0';
    k->attempts++;
    k->due_ms = cbx_clock_ms() + (failed && k->interval_ms > RETRY_MS ? RETRY_MS : k->interval_ms);
    snprintf(k->state.reason, sizeof(k->state.reason), "%.*s", (int)sizeof(k->state.reason) - 1,
             failed ? err->text : "");
    if (failed) {
        k->state.failures++;
    } else {
        k->state.kept = seq;
    }
    if (failed && !was_failing) {
        cbx_log(CBX_LOG_ERROR, "%s; records are written all the same", err->text);
    }
    if (!failed && was_failing) {
        cbx_log(CBX_LOG_INFO, "heads of the audit log are kept again");
    }
    pthread_cond_broadcast(&k->changed);
}

/* Call it with the lock held; the call releases it meanwhile. */
static void keep_last(struct cbx_audit_keeper *k)
{
    struct cbx_chain chain = k->chain;
    struct cbx_err err = { 0 };
    EVP_PKEY *key = k->key;
    EVP_PKEY_up_ref(key);
    k->urgent = false;
    k->busy = true;
    pthread_mutex_unlock(&k->lock);
    int failed = keep(k, &chain, key, &err);
    EVP_PKEY_free(key);
    pthread_mutex_lock(&k->lock);
    k->busy = false;
    note(k, chain.seq, failed, &err);
}

static void *keep_heads(void *context)
{
    struct cbx_audit_keeper *k = context;
    pthread_mutex_lock(&k->lock);
    while (!k->closing) {
        if (k->state.kept >= k->state.offered) {
            pthread_cond_wait(&k->changed, &k->lock);
        } else if (k->urgent || cbx_clock_ms() >= k->due_ms) {
            keep_last(k);
        } else {
            cbx_cond_wait_until(&k->changed, &k->lock, k->due_ms);
        }
    }
    pthread_mutex_unlock(&k->lock);
    return NULL;
}

void cbx_audit_keeper_offer(struct cbx_audit_keeper *k, const struct cbx_chain *chain,
                            EVP_PKEY *key)
{
    pthread_mutex_lock(&k->lock);
    if (k->key != key) {
        EVP_PKEY_free(k->key);
        EVP_PKEY_up_ref(key);
        k->key = key;
    }
    if (k->state.offered == 0) {
        k->state.kept = chain->seq - 1;
    }
    k->chain = *chain;
    k->state.offered = chain->seq;
    if (!k->started) { /* not earlier: a process before its confinement must have no threads */
        k->started = pthread_create(&k->thread, NULL, keep_heads, k) == 0;
    }
    pthread_cond_broadcast(&k->changed);
    pthread_mutex_unlock(&k->lock);
}

bool cbx_audit_keeper_flush(struct cbx_audit_keeper *k, int64_t timeout_ms)
{
    int64_t until = cbx_clock_ms() + timeout_ms;
    pthread_mutex_lock(&k->lock);
    uint64_t offered = k->state.offered;
    /* an attempt in progress may be for an older head */
    uint64_t last = k->attempts + (k->busy ? 2 : 1);
    bool waits = k->started;
    k->urgent = true;
    pthread_cond_broadcast(&k->changed);
    while (waits && k->state.kept < offered && k->attempts < last) {
        waits = cbx_cond_wait_until(&k->changed, &k->lock, until);
    }
    bool kept = k->state.kept >= offered;
    pthread_mutex_unlock(&k->lock);
    return kept;
}

void cbx_audit_keeper_state(struct cbx_audit_keeper *k, struct cbx_audit_keeper_state *out)
{
    pthread_mutex_lock(&k->lock);
    *out = k->state;
    pthread_mutex_unlock(&k->lock);
}

void cbx_audit_keeper_free(struct cbx_audit_keeper *k)
{
    if (k == NULL) {
        return;
    }
    pthread_mutex_lock(&k->lock);
    k->closing = true;
    pthread_cond_broadcast(&k->changed);
    pthread_mutex_unlock(&k->lock);
    if (k->started) {
        pthread_join(k->thread, NULL);
    }
    cbx_fd_auto(&k->fd);
    EVP_PKEY_free(k->key);
    pthread_mutex_destroy(&k->lock);
    pthread_cond_destroy(&k->changed);
    free(k);
}
