/* SPDX-License-Identifier: MIT
 * The guard: filters of the kernel and its programs whose notifications (seccomp_unotify(2)) the
 * supervisor answers. A denied call fails with an error and is reported; all other calls
 * continue. The filter of the container, whose errors take precedence, also stays in effect.
 * This file has the listeners and the reports; guard_calls.c decides. */
#include "docker/inside/supervisor/guard_notifier.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS /* Linux 6.6 */
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS      SECCOMP_IOW(4, __u64)
#define SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP 1ul
#endif

enum { SERVED_MAX = 64, KEPT_MAX = 16 /* number of different texts per run */ };

struct cbx_guard_state cbx_guard = { .channel = -1 };

/* The refusals in a run: KEPT_MAX different texts and the first of each row of
 * policies/guard/guard.def, and for each row one entry for all others. So a flood of refusals of
 * one row hides no refusal of another. */
static struct {
    struct entry {
        uint32_t refusal, count;
        bool reported;
        char what[CBX_FRAME_BLOCKED_MAX];
    } entries[KEPT_MAX + CBX_GUARD_COUNT], others[CBX_GUARD_COUNT];
    int count;
} refusals;

/* --- listeners -------------------------------------------------------------------------------- */

static struct cbx_listener listeners[CBX_LISTENERS_MAX];
static int listener_count;

static void drop_listener(int i)
{
    close(listeners[i].fd);
    listeners[i] = listeners[--listener_count];
}

void cbx_guard_open(int *theirs)
{
    int ends[2];
    cbx_guard_close();
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0) {
        cbx_die();
    }
    cbx_guard.channel = ends[0];
    *theirs = ends[1];
}

void cbx_guard_close(void)
{
    cbx_close(&cbx_guard.channel);
    while (listener_count > 0) {
        drop_listener(0);
    }
    free(cbx_guard.programs);
    cbx_guard.programs = NULL;
    cbx_guard.programs_len = 0;
    cbx_guard.refused = cbx_guard.opened = 0;
    cbx_guard.missing = cbx_guard.has_run = false;
    cbx_guard.secret = 0;
    cbx_guard.line_thread = 0;
}

/* Linux then runs the supervisor on the caller's processor at once. Without it a notification
 * takes about seven times as long. */
static void prefer_caller(int listener)
{
    ioctl(listener, SECCOMP_IOCTL_NOTIF_SET_FLAGS, SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP);
}

/* The oldest listener is closed if there are too many: notified calls of its programs then fail. */
static void take_listener(unsigned kind, int fd)
{
    if (fd < 0) {
        cbx_guard.missing = true;
        return;
    }
    if (listener_count == CBX_LISTENERS_MAX) {
        close(listeners[0].fd);
        memmove(listeners, listeners + 1, sizeof(listeners) - sizeof(listeners[0]));
        listener_count--;
    }
    fcntl(fd, F_SETFL, O_NONBLOCK);
    prefer_caller(fd);
    listeners[listener_count++] = (struct cbx_listener){ .fd = fd, .kind = kind, .starts = true };
}

int cbx_guard_poll(struct pollfd *fds)
{
    int n = 0;
    fds[n++] = (struct pollfd){ .fd = cbx_guard.channel, .events = POLLIN };
    for (int i = 0; i < listener_count; i++) {
        fds[n++] = (struct pollfd){ .fd = listeners[i].fd, .events = POLLIN };
    }
    return n;
}

/* --- reports ---------------------------------------------------------------------------------- */

static void report_refusal(struct entry *entry)
{
    struct cbx_frame_blocked head = { .refusal = entry->refusal, .count = entry->count };
    entry->reported = true;
    cbx_report_frame(CBX_FRAME_BLOCKED, &head, sizeof(head), entry->what, strlen(entry->what));
}

/* Returns the entry of this refusal; a new one has count 0. */
static struct entry *find_entry(uint32_t refusal, const char *what)
{
    bool first = true;
    for (int i = 0; i < refusals.count; i++) {
        struct entry *entry = &refusals.entries[i];
        if (entry->refusal == refusal && strcmp(entry->what, what) == 0) {
            return entry;
        }
        first = first && entry->refusal != refusal;
    }
    bool room = refusals.count < KEPT_MAX || first;
    struct entry *entry = room ? &refusals.entries[refusals.count++] : &refusals.others[refusal];
    if (entry->count == 0) {
        *entry = (struct entry){ .refusal = refusal };
        snprintf(entry->what, sizeof(entry->what), "%s", room ? what : "others");
    }
    return entry;
}

void cbx_guard_note(uint32_t refusal, const char *what)
{
    struct entry *entry = find_entry(refusal, what);
    entry->count += entry->count < UINT32_MAX;
    if (entry->count == 1 && cbx_run_is_active()) {
        report_refusal(entry);
    }
    if (cbx_guard.ends_run) {
        cbx_run_refused();
    }
}

static void note_text(uint32_t refusal, const uint8_t *text, size_t len)
{
    char what[CBX_FRAME_BLOCKED_MAX] = "";
    memcpy(what, text, len < sizeof(what) - 1 ? len : sizeof(what) - 1);
    cbx_guard_printable(what);
    if (refusal < CBX_GUARD_COUNT && (cbx_guard.refused >> refusal & 1) != 0) {
        cbx_guard_note(refusal, what);
    }
}

void cbx_guard_told(const uint8_t *payload, size_t len)
{
    struct cbx_frame_blocked head;
    if (!cbx_guard.missing || len < sizeof(head)) {
        return;
    }
    memcpy(&head, payload, sizeof(head));
    note_text(head.refusal, payload + sizeof(head), len - sizeof(head));
}

void cbx_guard_introduced(const uint8_t *payload, size_t len)
{
    if (len == sizeof(cbx_guard.secret) && cbx_guard.secret == 0 && !cbx_guard.has_run) {
        memcpy(&cbx_guard.secret, payload, sizeof(cbx_guard.secret));
    }
}

/* The kernels write the number of this row. */
_Static_assert(CBX_GUARD_EVALUATE == 9,
               "docker/inside/kernels/javascript_kernel.js has this number");

void cbx_guard_reported(const uint8_t *payload, size_t len)
{
    struct cbx_frame_refused head;
    if (len < sizeof(head) || cbx_guard.secret == 0) {
        return;
    }
    memcpy(&head, payload, sizeof(head));
    if (head.secret == cbx_guard.secret && head.refusal == CBX_GUARD_EVALUATE) {
        note_text(head.refusal, payload + sizeof(head), len - sizeof(head));
    }
}

void cbx_guard_printable(char *text)
{
    for (char *c = text; *c != '\0'; c++) {
        *c = *c >= ' ' && *c < 127 ? *c : '?';
    }
}

void cbx_guard_set(const struct cbx_frame_run *run, const char *programs)
{
    cbx_guard.opened |= ~(uint32_t)run->refused;
    cbx_guard.refused = run->refused & ~cbx_guard.opened;
    cbx_guard.ends_run = run->refusal_ends != 0;
    cbx_guard.proxy = run->network != 0;
    cbx_guard.has_run = true;
    if (run->programs_bytes > 0) {
        free(cbx_guard.programs);
        cbx_guard.programs = malloc(run->programs_bytes);
        cbx_guard.programs_len = run->programs_bytes;
        if (cbx_guard.programs == NULL) {
            cbx_die();
        }
        memcpy(cbx_guard.programs, programs, run->programs_bytes);
    }
}

/* Returns the entries of texts, then the entries of rows. */
static struct entry *entry_at(int i)
{
    return i < refusals.count ? &refusals.entries[i] : &refusals.others[i - refusals.count];
}

void cbx_guard_begin(void)
{
    for (int i = 0; i < refusals.count + CBX_GUARD_COUNT; i++) {
        if (entry_at(i)->count > 0) {
            report_refusal(entry_at(i));
        }
    }
}

void cbx_guard_end(void)
{
    for (int i = 0; i < refusals.count + CBX_GUARD_COUNT; i++) {
        struct entry *entry = entry_at(i);
        if (entry->count > 1 || (entry->count == 1 && !entry->reported)) {
            report_refusal(entry);
        }
    }
    memset(&refusals, 0, sizeof(refusals));
}

void cbx_guard_answer(void)
{
    struct cbx_bytes list = { 0 };
    uint32_t code = cbx_run.phase == CBX_PHASE_IDLE ? 0 : EBUSY;
    for (int i = 0; code == 0 && i < refusals.count + CBX_GUARD_COUNT; i++) {
        const struct entry *entry = entry_at(i);
        struct cbx_frame_blocked head = { .refusal = entry->refusal, .count = entry->count };
        uint8_t len = (uint8_t)strlen(entry->what);
        if (entry->count > 0) {
            cbx_bytes_add(&list, &head, sizeof(head));
            cbx_bytes_add(&list, &len, sizeof(len));
            cbx_bytes_add(&list, entry->what, len);
        }
    }
    if (code == 0) {
        memset(&refusals, 0, sizeof(refusals));
    }
    cbx_reply(CBX_FRAME_ANSWER, &code, sizeof(code), list.p, list.len);
    cbx_bytes_free(&list);
}

/* --- notifications ---------------------------------------------------------------------------- */

static void answer_call(struct cbx_listener *listener, const struct seccomp_notif *call)
{
    struct seccomp_notif_resp response = { .id = call->id };
    int decision = cbx_guard_decide(listener, call);
    response.error = decision < 0 ? decision : 0;
    response.flags = decision == 0 ? SECCOMP_USER_NOTIF_FLAG_CONTINUE : 0;
    ioctl(listener->fd, SECCOMP_IOCTL_NOTIF_SEND, &response);
}

/* False after every process with the filter has ended. */
static bool serve_listener(struct cbx_listener *listener)
{
    for (int i = 0; i < SERVED_MAX; i++) {
        /* A newer Linux may have a larger struct. */
        union {
            struct seccomp_notif call;
            char bytes[512];
        } received;
        memset(&received, 0, sizeof(received)); /* Linux refuses other contents */
        struct pollfd waiting = { .fd = listener->fd, .events = POLLIN };
        if (poll(&waiting, 1, 0) <= 0 || (waiting.revents & POLLIN) == 0) {
            return (waiting.revents & (POLLHUP | POLLERR)) == 0;
        }
        if (ioctl(listener->fd, SECCOMP_IOCTL_NOTIF_RECV, &received) == 0) {
            answer_call(listener, &received.call);
        }
    }
    return true;
}

void cbx_guard_serve(void)
{
    int fd = -1;
    int kind;
    while (cbx_guard.channel >= 0 && (kind = cbx_filter_receive(cbx_guard.channel, &fd)) > 0) {
        take_listener((unsigned)kind, fd);
    }
    if (cbx_guard.channel >= 0 && kind < 0) {
        /* The kernel has its filter, and starts no programs by itself. */
        cbx_close(&cbx_guard.channel);
    }
    for (int i = listener_count - 1; i >= 0; i--) {
        if (!serve_listener(&listeners[i])) {
            drop_listener(i);
        }
    }
}
