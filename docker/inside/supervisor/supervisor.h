/* SPDX-License-Identifier: MIT
 * Shared by the files of the supervisor. */
#ifndef CBX_DOCKER_INSIDE_SUPERVISOR_SUPERVISOR_H
#define CBX_DOCKER_INSIDE_SUPERVISOR_SUPERVISOR_H

#include "docker/inside/confine/hash_set.h"
#include "docker/inside/wire/wire.h"
#include "docker/inside/wire/wire_connections.h"

#include <sys/types.h>
#include <time.h>

/* --- kernel.c: the kernel's process ----------------------------------------------------------- */

enum { CBX_KERNEL_MARKS = 8 };

extern struct cbx_kernel {
    const char *const *argv;
    pid_t pid;             /* 0 = none */
    int control, out, err; /* -1 = closed */
    struct cbx_inbox from; /* frames from the kernel */
    struct cbx_bytes to;   /* bytes for the kernel, */
    size_t taken;          /* of which so many are sent */
    bool ready;            /* it accepts runs */
    uint32_t accepted;     /* so many values of cbx_accepted were sent to it */
    bool has_variables;    /* and the variables */
    uint64_t offset;       /* bytes that were queued for it since its start */
    struct {
        uint64_t offset;
        uint8_t type;          /* 0 = none */
    } marks[CBX_KERNEL_MARKS]; /* where the last frames begin that the kernel asks about */
    unsigned mark;             /* the next one to be overwritten */
} cbx_kernel;

/* Whether a frame of this type begins at this offset of what was sent to the kernel. True once for each frame. */
bool cbx_kernel_sent(uint8_t type, uint64_t offset);

/* Selects the row of docker/kernels.def that cbx_kernel_start starts; false when there is none.
 */
bool cbx_kernel_select(const char *name);
void cbx_kernel_start(void);

/* The process has ended: closes its descriptors and clears its state. */
void cbx_kernel_clear(void);

/* Queues a frame for the kernel. A program may keep its kernel from reading; the frame then stays
 * queued until the deadline. */
void cbx_kernel_send(uint8_t type, const void *a, size_t a_len, const void *b, size_t b_len);

/* Writes what the kernel accepts now. */
void cbx_kernel_flush(void);

/* --- guard_notifier.c: what programs are refused ------------------------------------------------ */

enum { CBX_LISTENERS_MAX = 16 };

extern struct cbx_guard_state {
    int channel;      /* listeners of filters arrive here; -1 = closed */
    bool missing;     /* Linux has no user notification: a filter could not be installed */
    bool ends_run;    /* a refusal ends the run */
    bool proxy;       /* sockets that can reach the proxy are not refused */
    uint32_t refused; /* bits of policies/guard/guard.def; nothing while the kernel starts */
    uint32_t opened;  /* what an earlier run of this kernel was not refused */
    char *programs;   /* what may be started nevertheless, each terminated by NUL */
    size_t programs_len;
    bool has_run; /* this kernel has received a RUN */
    uint64_t
        secret; /* the kernel of Python knows it (docker/inside/confine/guard_report.h); 0 = none yet */
    pid_t line_thread; /* the thread of that kernel that starts a judged line of shell; 0 = none */
} cbx_guard;

/* A kernel starts: opens the channel anew; *theirs is the kernel's end, for filters that it or a child of it
 * installs (docker/inside/confine/filter.h). cbx_guard_close: the kernel and all its programs have ended. */
void cbx_guard_open(int *theirs);
void cbx_guard_close(void);

/* Descriptors to wait for, at most CBX_LISTENERS_MAX + 1; returns how many. */
struct pollfd;
int cbx_guard_poll(struct pollfd *fds);

/* Takes new listeners and answers the notifications that wait, a limited number. */
void cbx_guard_serve(void);

/* What a run that begins is refused, and which programs it may start nevertheless: what an earlier run of the
 * kernel was not refused stays so. */
void cbx_guard_set(const struct cbx_frame_run *run, const char *programs);

/* The log of a run begins, ends: what was refused between two runs is of the next one. */
void cbx_guard_begin(void);
void cbx_guard_end(void);

/* Answers a REFUSALS frame. EBUSY while a run is active. */
void cbx_guard_answer(void);

/* A BLOCKED of the kernel, which sends it where Linux has no user notification. A program can send it as well, so it counts nowhere else. */
void cbx_guard_told(const uint8_t *payload, size_t len);

/* --- supervisor_accept.c: files that the kernel may load as code ------------------------------- */

extern struct cbx_hash_set cbx_accepted;

/* Queues an ACCEPT with the values that the kernel has not received since its start. */
void cbx_accept_send(void);

/* --- supervisor_variables.c: of the program's environment --------------------------------------- */

/* Keeps the payload of a VARIABLES frame for this kernel and later ones; an invalid one ends the sandbox. */
void cbx_variables_set(const uint8_t *payload, size_t len);

/* Queues a VARIABLES frame, unless the kernel has received it. */
void cbx_variables_send(void);

/* --- supervisor_mounts.c: folders of the host --------------------------------------------------- */

/* Reads CODEBOX_MOUNTS, before the first kernel starts; an invalid one ends the sandbox. */
void cbx_folders_read(void);

/* Answers a MOUNTS frame. */
void cbx_folders_report(void);

/* --- supervisor_network.c: connections to the proxy ---------------------------------------------- */

/* A run may use the network: listens at the proxy's address in the sandbox, from now on. False when that fails. */
bool cbx_network_open(void);

/* Another host has attached, and does not know the connections: closes them. */
void cbx_network_reset(void);

/* Descriptors to wait for, at most CBX_NETWORK_FDS; returns how many. cbx_network_serve takes them back. A connection beyond
 * CBX_CONNECTIONS_MAX is answered with HTTP 503 and that number, here and without a frame; so many of these wait for their request, and one
 * more closes the oldest. */
enum {
    CBX_NETWORK_REFUSED_MAX = 16,
    CBX_NETWORK_FDS = 1 + CBX_NETWORK_REFUSED_MAX + CBX_CONNECTIONS_MAX
};
int cbx_network_poll(struct pollfd *fds);
void cbx_network_serve(const struct pollfd *fds, int count);

/* A frame about a connection. */
void cbx_network_take(uint8_t type, const uint8_t *payload, size_t len);

/* --- supervisor_input.c: the standard input of programs ------------------------------------------- */

/* A kernel starts: makes its pipe; *theirs is its reading end, the kernel's descriptor 0. cbx_input_close: it has ended. Ends the sandbox
 * when there can be no pipe. */
void cbx_input_open(int *theirs);
void cbx_input_close(void);

/* A run was submitted, with an input or without; it begins: what the run before left is dropped. False when its input
 * cannot be passed on. */
void cbx_input_submit(bool has_input);
bool cbx_input_begin(void);

/* FEED and FEED_END. More bytes than the window has room for end the sandbox; those of a run that has ended are dropped. */
void cbx_input_take(uint8_t type, const uint8_t *payload, size_t len);

/* The run was interrupted: its input is at its end. Its end: returns the flags for DONE. */
void cbx_input_stop(void);
uint32_t cbx_input_end(void);

/* Has the program read all that there is of an input that is not at its end? */
bool cbx_input_is_awaited(void);

/* Another host has attached: an input that was not complete ends with what there is. */
void cbx_input_reset(void);

/* The descriptor to wait for, -1 = none. Writes what the pipe accepts now. */
void cbx_input_poll(struct pollfd *fd);
void cbx_input_flush(void);

/* --- supervisor_run.c: the state of a run ----------------------------------------------------- */

/* STARTING: the run waits until the kernel is READY. STOPPING: the program was told to end.
 * SETTLING: the kernel reported its end after the time limit. */
enum cbx_phase {
    CBX_PHASE_IDLE,
    CBX_PHASE_STARTING,
    CBX_PHASE_RUNNING,
    CBX_PHASE_STOPPING,
    CBX_PHASE_SETTLING,
};

extern struct cbx_run {
    enum cbx_phase phase;
    uint32_t stop_reason;  /* why it was told to end: CBX_DONE_TIMEOUT, _CPU, _REFUSED, or 0 */
    struct cbx_bytes held; /* its RUN, when the kernel was not ready yet */
    bool warm, warming;    /* WARM is to be sent; the kernel works on it */
    struct cbx_frame_run request; /* the last RUN; its id is empty once the host has the result */
    struct cbx_frame_done done;
    int64_t began_ms, deadline_ms, signal_ms, input_ms; /* 0 = none */
    uint64_t began_cpu_ms, settle_cpu_ms;
    int settle_checks;
    struct timespec began_wall;
    long oom_kills;
} cbx_run;

/* The program runs: frames of the kernel belong to it. */
bool cbx_run_is_active(void);

/* Reads what is in the pipes of stdout and stderr, at most `most` bytes of each (rounded up to
 * chunks), so that a flood cannot hold up the clock. Output outside of a run is late. Returns the
 * number of bytes. */
size_t cbx_run_drain(size_t most);

/* The policy wants the run to end, as something was refused. */
void cbx_run_refused(void);

/* Frames of the host: RUN, WARM, INTERRUPT, RESET. A RUN during another run, without all limits, or
 * with more hashes than are allowed ends the sandbox. One whose hashes the set cannot take fails. A
 * run waits for a kernel that starts or warms up; this time does not count, and an interrupt meanwhile
 * costs the run alone. */
void cbx_run_submit(const uint8_t *payload, size_t len);
void cbx_run_warm(void);
void cbx_run_interrupt(void);
void cbx_run_reset(void);

/* Events of the kernel: READY, FINISH with this exit code, its end with a status as of waitpid(2),
 * bytes that are no frames. */
void cbx_run_kernel_ready(void);
void cbx_run_finished(int32_t code);
void cbx_run_kernel_died(int status);
void cbx_run_protocol_broken(void);

/* Milliseconds until the next deadline. cbx_run_check_deadlines interrupts or kills the program
 * whose time is over, and returns true when a deadline had passed. */
int64_t cbx_run_time_left(int64_t now_ms);
bool cbx_run_check_deadlines(int64_t now_ms);

/* --- supervisor_report.c: output for the host ------------------------------------------------------------
 * The log of a run is stored until the host acknowledges the result (ACK) or starts another run, so
 * it survives the host. Nothing here blocks; a host that does not read costs memory up to the run's
 * limits, and no more. */

/* Drops the log of the last run and starts the next one's, with these limits. */
void cbx_report_begin(const struct cbx_frame_limits *limits);

/* Adds stdout or stderr: the first three quarters of the limit as they arrive, of the rest the end.
 */
void cbx_report_output(uint8_t type, const uint8_t *bytes, size_t len);

/* Output of a program that wrote it between two runs: the log of the next run begins with it, up to
 * CBX_FRAME_LATE_MAX bytes, then CUT. Other types than STDOUT, STDERR and DISPLAY are dropped, and
 * so is everything before the first run. */
void cbx_report_late(uint8_t type, const uint8_t *bytes, size_t len);

/* Adds a bundle, error or question of the program. */
void cbx_report_bundle(uint8_t type, const uint8_t *bytes, size_t len);
void cbx_report_frame(uint8_t type, const void *a, size_t a_len, const void *b, size_t b_len);

/* Adds the end of the output, before the files and DONE. Returns its flags for DONE. */
uint32_t cbx_report_end_output(void);

/* Bytes that the program wrote to this stream. */
uint64_t cbx_report_written(uint8_t type);

void cbx_report_clear(void);

/* Sends a frame to the host that is not part of a run. */
void cbx_reply(uint8_t type, const void *a, size_t a_len, const void *b, size_t b_len);

/* A host has attached: frames for the earlier host are dropped, `mark` is sent first. */
void cbx_reply_mark(const uint8_t mark[CBX_FRAME_MARK_BYTES]);

/* Sends the log of the run from its beginning, and follows it. */
void cbx_report_follow(void);

/* Bytes of replies that wait for the host. */
size_t cbx_reply_waiting(void);

/* Whether bytes wait for the host; writes what it accepts now, false when the host is gone. */
bool cbx_report_pending(void);
bool cbx_report_send(void);

/* --- system.c: other processes, the controllers ----------------------------------------------- */

/* Kills every process but this one and `keep`, until no other is left. */
void cbx_kill_others(pid_t keep);

/* The number of processes, including this one. */
int cbx_count_processes(void);

/* How often Linux killed a process of this container for memory; 0 when unknown. */
long cbx_count_oom_kills(void);

/* Processor time of all processes of this container, and of one process; 0 when unknown.
 */
uint64_t cbx_cpu_ms(void);
uint64_t cbx_process_cpu_ms(pid_t pid);

/* Is one of its threads running or runnable? */
bool cbx_process_is_running(pid_t pid);

/* --- supervisor_files.c: files of the workspace ----------------------------------------------- */

/* PUT, GET, LIST, DELETE; each answers by cbx_reply. */
void cbx_file_put(const uint8_t *payload, size_t len);
void cbx_file_get(const uint8_t *payload, size_t len);
void cbx_file_list(const uint8_t *payload, size_t len);
void cbx_file_delete(const uint8_t *payload, size_t len);

/* The time of a run's beginning, for cbx_file_report_changed. Waits, for some milliseconds at most, until the clock of file systems is
 * past the last PUT: a file that the host put is none that the run changed. */
void cbx_file_note_begin(struct timespec *out);

/* Adds the regular files of /workspace that changed since then to the log of the run. False when
 * there were more than it adds. */
bool cbx_file_report_changed(const struct timespec *since);

#endif
