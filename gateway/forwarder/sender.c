/* SPDX-License-Identifier: MIT
 * The process that sends records to the syslog server. It has the connection and reads no file of
 * the gateway. Records that the server has not acknowledged at the end of a connection are sent
 * again. */
#include "gateway/executor/audit/audit_reader.h"
#include "gateway/forwarder/connection.h"
#include "gateway/forwarder/forwarder.h"
#include "gateway/ipc/jail/files.h"
#include "gateway/ipc/jail/jail.h"
#include "gateway/ipc/master/state.h"
#include "policies/base/log.h"
#include "policies/base/text/json.h"
#include "policies/base/time/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>

enum { BATCH_MAX = 128, BATCH_BYTES = 4 * 1024 * 1024, PAUSE_MIN_MS = 200, PAUSE_MAX_MS = 5000 };

struct sender {
    int channel;
    const struct cbx_forwarder_config *config;
    char host[256];
    struct cbx_buf messages[BATCH_MAX];
    size_t count, bytes;
    uint64_t last; /* record of the batch */
    bool failing;
};

/* Takes the next record as a message of the batch. */
static void take_record(struct sender *s)
{
    struct cbx_forwarder_frame frame;
    if (!cbx_forwarder_take(s->channel, &frame, sizeof(frame)) ||
        frame.bytes > CBX_FORWARDER_LINE_MAX) {
        _exit(1); /* the reader has ended; the master starts both again */
    }
    CBX_AUTO_MEM char *line = malloc(frame.bytes + 1u);
    if (line == NULL || !cbx_forwarder_take(s->channel, line, frame.bytes)) {
        _exit(1);
    }
    struct cbx_err err;
    struct cbx_str text = { .p = line, .len = frame.bytes };
    struct cbx_buf *message = &s->messages[s->count];
    cbx_buf_reset(message);
    size_t max = cbx_connection_max(s->config->url.transport);
    int failed;
    if (max > 0) {
        failed = cbx_syslog_format(text, s->host, max, message, &err);
    } else {
        failed = cbx_syslog_frame(text, s->host, message, &err);
    }
    if (failed) {
        cbx_log(CBX_LOG_WARNING, "syslog: a line of the audit log is not sent: %s", err.text);
    } else {
        s->bytes += message->len;
        s->count++;
    }
    s->last = frame.seq;
}

/* Takes one record, and the records that have arrived behind it. */
static void take_batch(struct sender *s)
{
    struct pollfd ready = { .fd = s->channel, .events = POLLIN };
    s->count = s->bytes = 0;
    do {
        take_record(s);
    } while (s->count < BATCH_MAX && s->bytes < BATCH_BYTES && poll(&ready, 1, 0) > 0);
}

static int send_all(struct sender *s, struct cbx_connection *c, struct cbx_err *err)
{
    int failed = cbx_connection_open(c, err);
    for (size_t i = 0; i < s->count && !failed; i++) {
        failed = cbx_connection_write(c, cbx_buf_str(&s->messages[i]), err);
    }
    if (failed) {
        return failed;
    }
    return cbx_connection_settle(c, err);
}

/* Sends until the server has the batch. */
static void send_batch(struct sender *s, struct cbx_connection *c)
{
    int64_t pause_ms = PAUSE_MIN_MS;
    struct cbx_err err;
    while (s->count > 0 && send_all(s, c, &err) != 0) {
        cbx_connection_close(c);
        if (!s->failing) {
            cbx_log(CBX_LOG_WARNING, "syslog: records wait in the audit log: %s", err.text);
        }
        s->failing = true;
        struct timespec pause = cbx_timespec_of(pause_ms);
        nanosleep(&pause, NULL);
        pause_ms = 2 * pause_ms < PAUSE_MAX_MS ? 2 * pause_ms : PAUSE_MAX_MS;
    }
    if (s->failing) {
        cbx_log(CBX_LOG_INFO, "syslog: the server takes records again");
    }
    s->failing = false;
    if (!cbx_forwarder_put(s->channel, &s->last, sizeof(s->last))) {
        _exit(1);
    }
}

static int confine(const struct cbx_forwarder_config *config, struct cbx_err *err)
{
    bool local = config->url.transport == CBX_SYSLOG_UNIX;
    int failed = 0;
    if (local) {
        failed = cbx_files_confine(NULL, 0, false, err);
    } else {
        failed = cbx_files_confine_to_network(err);
    }
    if (failed) {
        return failed;
    }
    return cbx_jail_sender(local, err);
}

_Noreturn void cbx_forwarder_send(int channel, const struct cbx_forwarder_config *config)
{
    static struct sender s;
    struct cbx_err err = { 0 };
    s.channel = channel;
    s.config = config;
    prctl(PR_SET_NAME, "cbx-syslog");
    json_object_seed(0); /* OpenSSL reads /dev/urandom */
    if (gethostname(s.host, sizeof(s.host) - 1) < 0) {
        snprintf(s.host, sizeof(s.host), "-");
    }
    for (size_t i = 0; i < BATCH_MAX; i++) {
        cbx_buf_init(&s.messages[i], CBX_FORWARDER_LINE_MAX + 8192);
    }
    if (confine(config, &err) != 0) {
        cbx_log(CBX_LOG_ERROR, "syslog: %s", err.text);
        _exit(1);
    }
    struct cbx_connection connection = { .fd = -1,
                                         .url = &config->url,
                                         .tls_settings = config->tls };
    for (;;) {
        take_batch(&s);
        send_batch(&s, &connection);
    }
}

int cbx_forwarder_read_options(const char *url, const char *ca_file,
                               struct cbx_forwarder_config *out, struct cbx_err *err)
{
    int failed = cbx_syslog_parse(url, &out->url, err);
    if (failed) {
        return failed;
    }
    if (out->url.transport == CBX_SYSLOG_TLS) {
        return cbx_connection_tls_new(ca_file, &out->tls, err);
    }
    if (ca_file != NULL) {
        return cbx_fail(err, CBX_EINVAL, "--syslog-ca is for --syslog tls://HOST:PORT alone");
    }
    return 0;
}

int cbx_forwarder_prepare(const char *state_dir, struct cbx_forwarder_config *out,
                          struct cbx_err *err)
{
    CBX_AUTO_FD dir = -1;
    int failed = cbx_state_open(state_dir, &dir, err);
    if (failed) {
        return failed;
    }
    snprintf(out->state_dir, sizeof(out->state_dir), "%s", state_dir);
    struct stat status;
    if ((mkdirat(dir, CBX_AUDIT_CURSOR_FOLDER, 0700) < 0 && errno != EEXIST) ||
        fstatat(dir, CBX_AUDIT_CURSOR_FOLDER, &status, AT_SYMLINK_NOFOLLOW) < 0 ||
        !S_ISDIR(status.st_mode)) {
        return cbx_fail(err, CBX_EAUDIT,
                        "the folder '" CBX_AUDIT_CURSOR_FOLDER
                        "' of the state directory cannot be made");
    }
    return 0;
}
