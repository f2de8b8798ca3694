/* SPDX-License-Identifier: MIT
 * PID 1 of every sandbox. Starts the kernel, relays frames between kernel and host, enforces
 * deadlines and caps, kills programs that do not end, reaps processes. Static, with only the C
 * library. All frames of the kernel are hostile: the program shares its process.
 *
 * A host may die and another one take over: the log of a run is stored (supervisor_report.c),
 * and the sandbox runs until the lease of the last host expires. Only file operations block
 * here, so deadlines hold for any behaviour of host and program. */
#include "docker/inside/supervisor/supervisor.h"

#include "docker/inside/confine/harden.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    FIRST_LEASE_MS = 60000, /* until a host attaches */
    /* A program that prints line by line would wake every process between here and the client
     * for each line. So output is read at most once a millisecond, after a burst of reads
     * without delay; the output that accumulates meanwhile is one read and one frame. A read of
     * BULK_BYTES costs little. */
    READ_BURST = 16,
    BULK_BYTES = 32 * 1024,
    LATE_BYTES = 1024 * 1024, /* maximum of late output read at the start of a run */
    INPUT_FD = 6,             /* index of the standard input among the polled descriptors */
    GUARD_FDS = 7,            /* number of polled descriptors before the guard's descriptors */
};

static struct {
    int children;
    uint8_t tag[CBX_FRAME_TAG_MAX];
    size_t tag_len;
    int64_t lease_ms; /* end of the lease */
    int64_t paced_ms; /* time when READ_BURST reads without delay are available again */
    size_t received;  /* bytes of output in this iteration */
} s;

/* --- frames ----------------------------------------------------------------------------------- */

static void take_kernel_frame(uint8_t type, const uint8_t *payload, size_t len)
{
    int32_t code;
    if (type == CBX_FRAME_READY && !cbx_kernel.ready) {
        cbx_run_kernel_ready();
    }
    if (type == CBX_FRAME_SECRET) {
        cbx_guard_introduced(payload, len);
        return;
    }
    if (type == CBX_FRAME_REFUSED) {
        cbx_guard_reported(payload, len);
        return;
    }
    if (!cbx_run_is_active()) {
        if (cbx_kernel.ready) {
            cbx_report_late(type, payload, len);
        }
        return;
    }
    switch (type) {
    case CBX_FRAME_FINISH:
        if (len == sizeof(code) && cbx_run.phase != CBX_PHASE_SETTLING) {
            memcpy(&code, payload, sizeof(code));
            cbx_run_finished(code);
        }
        return;
    case CBX_FRAME_STDOUT:
    case CBX_FRAME_STDERR:
        cbx_report_output(type, payload, len);
        return;
    case CBX_FRAME_READY:
        return;
    case CBX_FRAME_BLOCKED:
        cbx_guard_told(payload, len);
        return;
    default: /* DISPLAY, RESULT, ERROR, ASK */
        cbx_report_bundle(type, payload, len);
    }
}

/* Output that other processes wrote before the kernel sent its frames comes first. */
static bool read_kernel(void)
{
    size_t before = cbx_kernel.from.len;
    if (!cbx_inbox_read(cbx_kernel.control, &cbx_kernel.from)) {
        return false;
    }
    s.received += cbx_kernel.from.len - before;
    s.received += cbx_run_drain(CBX_CHUNK_BYTES);
    return cbx_inbox_take(&cbx_kernel.from, cbx_kernel.from.len, 'c', take_kernel_frame);
}

static void take_control(short revents)
{
    if (revents == 0 || cbx_kernel.control < 0 || read_kernel()) {
        return;
    }
    if ((revents & POLLHUP) == 0) {
        cbx_run_protocol_broken();
    } else {
        /* It closed the channel or died: SIGCHLD or the deadline follows. */
        cbx_close(&cbx_kernel.control);
    }
}

/* Reads frames that a thread of an earlier cell sent before the host's RUN arrived: after the
 * start of the run they would be its output. A thread that prints without a pause cannot delay
 * the run by more than LATE_BYTES. */
static void take_late_frames(void)
{
    struct pollfd kernel = { .fd = cbx_kernel.control, .events = POLLIN };
    s.received = 0;
    while (cbx_kernel.control >= 0 && s.received < LATE_BYTES && poll(&kernel, 1, 0) > 0) {
        take_control(kernel.revents);
    }
}

static void send_hello(void)
{
    struct cbx_frame_hello hello = {
        .version = CBX_FRAME_VERSION,
        .run = cbx_run.request.id[0] == '\0'     ? CBX_HELLO_IDLE
               : cbx_run.phase == CBX_PHASE_IDLE ? CBX_HELLO_ENDED
                                                 : CBX_HELLO_RUNNING,
    };
    memcpy(hello.id, cbx_run.request.id, sizeof(hello.id));
    cbx_network_reset(); /* frames about its connections may have been lost */
    cbx_input_reset();
    cbx_reply(CBX_FRAME_HELLO, &hello, sizeof(hello), s.tag, s.tag_len);
}

static void renew_lease(const uint8_t *payload)
{
    uint32_t lease_ms;
    memcpy(&lease_ms, payload, sizeof(lease_ms));
    if (lease_ms == 0) {
        /* at once: the next host's frames may follow, and it must not attach to a discarded
         * sandbox */
        cbx_die();
    }
    s.lease_ms = cbx_now_ms() + lease_ms;
}

static void drop_run(const uint8_t *payload, size_t len)
{
    if (cbx_run.phase == CBX_PHASE_IDLE && len == sizeof(cbx_run.request.id) &&
        memcmp(payload, cbx_run.request.id, len) == 0) {
        cbx_report_clear();
        cbx_run.request.id[0] = '\0';
    }
}

static void attach(const uint8_t *payload, size_t len)
{
    if (len != CBX_FRAME_ATTACH_BYTES) {
        cbx_die();
    }
    if (cbx_host_attach(payload)) {
        renew_lease(payload + CBX_FRAME_NONCE_BYTES);
        send_hello();
    }
}

static void take_lease(const uint8_t *payload, size_t len)
{
    if (len == 4) {
        renew_lease(payload);
    }
}

static void take_tag(const uint8_t *payload, size_t len)
{
    memcpy(s.tag, payload, len);
    s.tag_len = len;
}

static void take_run(const uint8_t *payload, size_t len)
{
    take_late_frames();
    cbx_run_submit(payload, len);
}

/* A line for a program that asked for one. */
static void pass_line(uint8_t type, const uint8_t *payload, size_t len)
{
    if (cbx_kernel.pid > 0 && cbx_run.phase == CBX_PHASE_RUNNING) {
        cbx_kernel_send(type, payload, len, NULL, 0);
    }
}

static void send_pong(void)
{
    cbx_reply(CBX_FRAME_PONG, NULL, 0, NULL, 0);
}

/* Every frame that a host may send (frame.def: h) has a row with one function. */
static void take_host_frame(uint8_t type, const uint8_t *payload, size_t len)
{
    static const struct {
        void (*act)(void);
        void (*take)(const uint8_t *payload, size_t len);
        void (*take_typed)(uint8_t type, const uint8_t *payload, size_t len);
    } rows[UINT8_MAX + 1] = {
        [CBX_FRAME_ATTACH] = { .take = attach },
        [CBX_FRAME_LEASE] = { .take = take_lease },
        [CBX_FRAME_TAG] = { .take = take_tag },
        [CBX_FRAME_VARIABLES] = { .take = cbx_variables_set },
        [CBX_FRAME_MOUNTS] = { .act = cbx_folders_report },
        [CBX_FRAME_RUN] = { .take = take_run },
        [CBX_FRAME_FOLLOW] = { .act = cbx_report_follow },
        [CBX_FRAME_ACK] = { .take = drop_run },
        [CBX_FRAME_INTERRUPT] = { .act = cbx_run_interrupt },
        [CBX_FRAME_RESET] = { .act = cbx_run_reset },
        [CBX_FRAME_INPUT] = { .take_typed = pass_line },
        [CBX_FRAME_FEED] = { .take_typed = cbx_input_take },
        [CBX_FRAME_FEED_END] = { .take_typed = cbx_input_take },
        [CBX_FRAME_WARM] = { .act = cbx_run_warm },
        [CBX_FRAME_PART] = { .take_typed = cbx_network_take },
        [CBX_FRAME_GRANT] = { .take_typed = cbx_network_take },
        [CBX_FRAME_CLOSE] = { .take_typed = cbx_network_take },
        [CBX_FRAME_PUT] = { .take = cbx_file_put },
        [CBX_FRAME_GET] = { .take = cbx_file_get },
        [CBX_FRAME_LIST] = { .take = cbx_file_list },
        [CBX_FRAME_DELETE] = { .take = cbx_file_delete },
        [CBX_FRAME_REFUSALS] = { .act = cbx_guard_answer },
        [CBX_FRAME_PING] = { .act = send_pong },
    };
    if (rows[type].act != NULL) {
        rows[type].act();
    } else if (rows[type].take != NULL) {
        rows[type].take(payload, len);
    } else if (rows[type].take_typed != NULL) {
        rows[type].take_typed(type, payload, len);
    } else {
        cbx_die();
    }
}

static void reap(void)
{
    struct signalfd_siginfo info;
    (void)!read(s.children, &info, sizeof(info));
    int status;
    struct rusage usage;
    pid_t pid;
    while ((pid = wait4(-1, &status, WNOHANG, &usage)) > 0) {
        if (pid == cbx_kernel.pid) {
            /* Its last frames may still be in the socket. */
            for (size_t before = 1; cbx_kernel.control >= 0 && before != 0;) {
                struct pollfd left = { .fd = cbx_kernel.control, .events = POLLIN };
                before = poll(&left, 1, 0) > 0 && (left.revents & POLLIN) != 0 && read_kernel();
            }
            if (cbx_kernel.pid == pid) {
                cbx_kernel.pid = 0;
                cbx_run_kernel_died(status, (uint64_t)usage.ru_maxrss * 1024);
            }
        }
    }
}

/* True while output accumulates in the pipes and the channel and is not read yet. */
static bool is_gathering(int64_t now)
{
    return s.paced_ms - now > READ_BURST;
}

static int time_left(void)
{
    int64_t now = cbx_now_ms(), left = cbx_run_time_left(now);
    left = s.lease_ms - now < left ? s.lease_ms - now : left;
    left = is_gathering(now) && left > 1 ? 1 : left;
    return left < 0 ? 0 : left > 1000000 ? 1000000 : (int)left;
}

/* Deadlines are checked first, so that a flood of bytes cannot delay them. The lease is the
 * exception: after a pause of the sandbox, renewals may be unread. */
static bool check_deadlines(void)
{
    int64_t now = cbx_now_ms();
    if (now >= s.lease_ms && (!cbx_host_read(take_host_frame) || now >= s.lease_ms)) {
        cbx_die(); /* no host has renewed the lease */
    }
    return cbx_run_check_deadlines(now);
}

/* Reads the output of the kernel and its programs, unless it should accumulate. */
static void take_output(short control)
{
    int64_t now = cbx_now_ms();
    if (is_gathering(now)) {
        return;
    }
    s.received = cbx_run_drain(CBX_CHUNK_BYTES);
    take_control(control);
    if (s.received > 0 && s.received < BULK_BYTES) {
        s.paced_ms = (s.paced_ms > now ? s.paced_ms : now) + 1;
    }
}

static void serve(void)
{
    for (;;) {
        short feeds = cbx_kernel.taken < cbx_kernel.to.len ? POLLOUT : 0;
        bool reads = !is_gathering(cbx_now_ms());
        struct pollfd fds[] = {
            { .fd = cbx_host.in, .events = POLLIN },
            { .fd = cbx_report_pending() ? cbx_host.out : -1, .events = POLLOUT },
            { .fd = reads ? cbx_kernel.control : -1, .events = (short)(POLLIN | feeds) },
            { .fd = reads ? cbx_kernel.out : -1, .events = POLLIN },
            { .fd = reads ? cbx_kernel.err : -1, .events = POLLIN },
            { .fd = s.children, .events = POLLIN },
            [GUARD_FDS] = { .fd = -1 },
            [GUARD_FDS + CBX_LISTENERS_MAX + CBX_NETWORK_FDS + CBX_HOST_FDS] = { .fd = -1 },
        };
        cbx_input_poll(&fds[INPUT_FD]);
        int guards = cbx_guard_poll(fds + GUARD_FDS);
        struct pollfd *connections = fds + GUARD_FDS + guards;
        int connected = cbx_network_poll(connections);
        struct pollfd *bridges = connections + connected;
        int bridged = cbx_host_poll(bridges);
        if (poll(fds, (nfds_t)(GUARD_FDS + guards + connected + bridged), time_left()) < 0 &&
            errno != EINTR) {
            cbx_die();
        }
        if (check_deadlines()) {
            continue;
        }
        if (fds[0].revents != 0 && !cbx_host_read(take_host_frame)) {
            cbx_host_lost();
        }
        cbx_host_serve(bridges, bridged, take_host_frame);
        bool notified = false;
        for (int i = 0; i < guards; i++) {
            notified |= fds[GUARD_FDS + i].revents != 0;
        }
        if (notified) {
            cbx_guard_serve();
        }
        cbx_network_serve(connections, connected);
        take_output(fds[2].fd == cbx_kernel.control ? fds[2].revents & ~POLLOUT : 0);
        cbx_kernel_flush();
        cbx_input_flush();
        if (fds[5].revents != 0) {
            reap();
        }
        if (!cbx_report_send()) {
            cbx_host_lost();
        }
    }
}

int main(int argc, char **argv)
{
    if (argc != 2 || !cbx_kernel_select(argv[1]) || prctl(PR_SET_DUMPABLE, 0) != 0 ||
        !cbx_harden()) {
        return 2;
    }
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    s.children = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
    s.lease_ms = cbx_now_ms() + FIRST_LEASE_MS;
    if (!cbx_host_open()) {
        return 2;
    }
    cbx_folders_read();
    cbx_kernel_start();
    serve();
    return 0;
}
