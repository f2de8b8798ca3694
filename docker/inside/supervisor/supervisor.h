/* SPDX-License-Identifier: MIT
 * Declarations shared by the files of the supervisor. */
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
    size_t taken;          /* number of them that were sent */
    bool ready;            /* true if it accepts runs */
    uint32_t accepted;     /* number of values of cbx_accepted that were sent to it */
    bool has_variables;    /* true after the variables were sent */
    uint64_t offset;       /* number of bytes queued for it since its start */
    struct {
        uint64_t offset;
        uint8_t type;          /* 0 = none */
    } marks[CBX_KERNEL_MARKS]; /* starts of the last frames that the kernel asks about */
    unsigned mark;             /* index of the mark to overwrite next */
} cbx_kernel;

/* True if a frame of this type begins at this offset of the bytes for the kernel. True once for
 * each frame. */
bool cbx_kernel_sent(uint8_t type, uint64_t offset);

/* Selects the row of docker/kernels.def that cbx_kernel_start starts; false if there is none. */
bool cbx_kernel_select(const char *name);
void cbx_kernel_start(void);

/* Called after the process has ended: closes its descriptors and clears its state. */
void cbx_kernel_clear(void);

/* Queues a frame for the kernel. A program may prevent its kernel from reading; the frame then
 * stays queued until the deadline. */
void cbx_kernel_send(uint8_t type, const void *a, size_t a_len, const void *b, size_t b_len);

/* Writes as many bytes as the kernel accepts now. */
void cbx_kernel_flush(void);

/* --- guard_notifier.c: what programs are refused ---------------------------------------------- */

enum { CBX_LISTENERS_MAX = 16 };

extern struct cbx_guard_state {
    int channel;      /* receives the listeners of filters; -1 = closed */
    bool missing;     /* true if Linux has no user notification: a filter could not be installed */
    bool ends_run;    /* true if a refusal ends the run */
    bool proxy;       /* true if sockets that can reach the proxy are not refused */
    uint32_t refused; /* bits of policies/guard/guard.def; none while the kernel starts */
    uint32_t opened;  /* actions that were not refused in an earlier run of this kernel */
    char *programs;   /* programs that may be started nevertheless, each terminated by NUL */
    size_t programs_len;
    bool has_run; /* true after this kernel received a RUN */
    /* secret of a kernel that reports refusals (docker/inside/confine/guard_report.h, SECRET);
     * 0 = none yet */
    uint64_t secret;
    pid_t line_thread; /* thread of that kernel that starts a judged line of shell; 0 = none */
} cbx_guard;

/* cbx_guard_open, at the start of a kernel, opens the channel anew; *theirs is the kernel's end,
 * for filters that it or a child of it installs (docker/inside/confine/filter.h).
 * cbx_guard_close: the kernel and all its programs have ended. */
void cbx_guard_open(int *theirs);
void cbx_guard_close(void);

/* Writes the descriptors to poll, at most CBX_LISTENERS_MAX + 1; returns their number. */
struct pollfd;
int cbx_guard_poll(struct pollfd *fds);

/* Takes new listeners and answers waiting notifications, a limited number. */
void cbx_guard_serve(void);

/* Sets the refusals of a new run, and the programs that it may start nevertheless: an action
 * that was not refused in an earlier run of the kernel stays permitted. */
void cbx_guard_set(const struct cbx_frame_run *run, const char *programs);

/* Begin and end the log of a run: refusals between two runs belong to the next one. */
void cbx_guard_begin(void);
void cbx_guard_end(void);

/* Answers a REFUSALS frame. EBUSY while a run is active. */
void cbx_guard_answer(void);

/* Takes a BLOCKED of the kernel, which sends it if Linux has no user notification. A program can
 * send it too, so it is ignored otherwise. */
void cbx_guard_told(const uint8_t *payload, size_t len);

/* Takes a SECRET of the kernel; only the first one before the first run counts. */
void cbx_guard_introduced(const uint8_t *payload, size_t len);

/* Takes a REFUSED of the kernel, which is ignored without the kernel's secret. */
void cbx_guard_reported(const uint8_t *payload, size_t len);

/* --- supervisor_accept.c: files that the kernel may load as code ------------------------------ */

extern struct cbx_hash_set cbx_accepted;

/* Queues an ACCEPT with the values that the kernel has not received since its start. */
void cbx_accept_send(void);

/* --- supervisor_variables.c: of the program's environment ------------------------------------- */

/* Stores the payload of a VARIABLES frame for this kernel and later ones; an invalid one ends
 * the sandbox. */
void cbx_variables_set(const uint8_t *payload, size_t len);

/* Queues a VARIABLES frame, unless the kernel has received it. */
void cbx_variables_send(void);

/* --- supervisor_mounts.c: folders of the host ------------------------------------------------- */

/* Reads CODEBOX_MOUNTS, before the first kernel starts; an invalid one ends the sandbox. */
void cbx_folders_read(void);

/* Answers a MOUNTS frame. */
void cbx_folders_report(void);

/* --- supervisor_network.c: connections to the proxy ------------------------------------------- */

/* Called for a run that may use the network: listens at the proxy's address in the sandbox from
 * now on. False if that fails. */
bool cbx_network_open(void);

/* Called after another host has attached, which does not have the connections: closes them. */
void cbx_network_reset(void);

/* cbx_network_poll writes the descriptors to poll, at most CBX_NETWORK_FDS, and returns their
 * number; cbx_network_serve takes them back. A connection beyond CBX_CONNECTIONS_MAX receives
 * HTTP 503 and that number, here and without a frame; a limited number of these wait for their
 * request, and one more closes the oldest. */
enum {
    CBX_NETWORK_REFUSED_MAX = 16,
    CBX_NETWORK_FDS = 1 + CBX_NETWORK_REFUSED_MAX + CBX_CONNECTIONS_MAX
};
int cbx_network_poll(struct pollfd *fds);
void cbx_network_serve(const struct pollfd *fds, int count);

/* Takes a frame about a connection. */
void cbx_network_take(uint8_t type, const uint8_t *payload, size_t len);

/* --- supervisor_input.c: the standard input of programs --------------------------------------- */

/* cbx_input_open, at the start of a kernel, creates its pipe; *theirs is its reading end, the
 * kernel's descriptor 0. cbx_input_close: the kernel has ended. Ends the sandbox if the pipe
 * cannot be created. */
void cbx_input_open(int *theirs);
void cbx_input_close(void);

/* cbx_input_submit: a run was submitted, with an input or without. The other function, at its
 * start, drops unread input of the run before. False if its input cannot be passed on. */
void cbx_input_submit(bool has_input);
bool cbx_input_begin(void);

/* Takes FEED and FEED_END. More bytes than the window allows end the sandbox; bytes for an ended
 * run are dropped. */
void cbx_input_take(uint8_t type, const uint8_t *payload, size_t len);

/* cbx_input_stop, after an interrupt, ends the run's input. The other function, at its end,
 * returns the flags for DONE. */
void cbx_input_stop(void);
uint32_t cbx_input_end(void);

/* True if the program has read all bytes so far of an input that has not ended. */
bool cbx_input_is_awaited(void);

/* Called after another host has attached: an incomplete input ends with the present bytes. */
void cbx_input_reset(void);

/* cbx_input_poll writes the descriptor to poll, -1 = none; the other function writes as many
 * bytes as the pipe accepts now. */
void cbx_input_poll(struct pollfd *fd);
void cbx_input_flush(void);

/* --- supervisor_run.c: the state of a run ----------------------------------------------------- */

/* STARTING: the run waits until the kernel is READY. STOPPING: the program is being stopped.
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
    uint32_t stop_reason;  /* reason for stopping it: CBX_DONE_TIMEOUT, _CPU, _REFUSED, or 0 */
    struct cbx_bytes held; /* its RUN, if the kernel was not ready yet */
    bool warm, warming;    /* WARM must be sent; the kernel is warming */
    /* the last RUN; its id is empty after the host received the result */
    struct cbx_frame_run request;
    struct cbx_frame_done done;
    int64_t began_ms, deadline_ms, signal_ms, input_ms; /* 0 = none */
    uint64_t began_cpu_ms, settle_cpu_ms;
    int settle_checks;
    struct timespec began_wall;
    long oom_kills;
} cbx_run;

/* True while the program runs: frames of the kernel belong to it. */
bool cbx_run_is_active(void);

/* Reads the pipes of stdout and stderr, at most `most` bytes of each (rounded up to chunks), so
 * that a flood cannot delay the deadlines. Output outside of a run is late. Returns the number
 * of bytes. */
size_t cbx_run_drain(size_t most);

/* Ends the run after a refusal, as the policy requires. */
void cbx_run_refused(void);

/* Frames of the host: RUN, WARM, INTERRUPT, RESET. A RUN during another run, without all limits,
 * or with more hashes than allowed ends the sandbox. A RUN whose hashes do not fit the set
 * fails. A run waits for a kernel that starts or warms up; this time does not count, and an
 * interrupt meanwhile ends only the run. */
void cbx_run_submit(const uint8_t *payload, size_t len);
void cbx_run_warm(void);
void cbx_run_interrupt(void);
void cbx_run_reset(void);

/* Events of the kernel: READY, FINISH with this exit code, its end with a status as in waitpid(2)
 * and the most memory that it had, in bytes, bytes that are no frames. A kernel is out of memory if
 * Linux killed a process for lack of memory, or if the kernel aborted and had most of the
 * container's memory: V8 aborts when its heap is nearly full and a collection frees nothing. */
void cbx_run_kernel_ready(void);
void cbx_run_finished(int32_t code);
void cbx_run_kernel_died(int status, uint64_t peak_bytes);
void cbx_run_protocol_broken(void);

/* cbx_run_time_left returns the milliseconds until the next deadline. cbx_run_check_deadlines
 * interrupts or kills a program after its time limit, and returns true if a deadline had passed. */
int64_t cbx_run_time_left(int64_t now_ms);
bool cbx_run_check_deadlines(int64_t now_ms);

/* --- supervisor_report.c: output for the host
 * ------------------------------------------------------------ The log of a run is stored until
 * the host acknowledges the result (ACK) or starts another run, so it survives the host. Nothing
 * here blocks; a host that does not read costs memory up to the run's limits, and no more. */

/* Drops the log of the last run and starts the next one's, with these limits. */
void cbx_report_begin(const struct cbx_frame_limits *limits);

/* Adds stdout or stderr: the first three quarters of the limit as they arrive, and the end of
 * the rest. */
void cbx_report_output(uint8_t type, const uint8_t *bytes, size_t len);

/* Adds output that a program wrote between two runs: the log of the next run begins with it, up
 * to CBX_FRAME_LATE_MAX bytes, then CUT. Types other than STDOUT, STDERR and DISPLAY are
 * dropped, and so is all output before the first run. */
void cbx_report_late(uint8_t type, const uint8_t *bytes, size_t len);

/* Adds a bundle, error or question of the program. */
void cbx_report_bundle(uint8_t type, const uint8_t *bytes, size_t len);
void cbx_report_frame(uint8_t type, const void *a, size_t a_len, const void *b, size_t b_len);

/* Adds the end of the output, before the files and DONE. Returns its flags for DONE. */
uint32_t cbx_report_end_output(void);

/* Returns the number of bytes that the program wrote to this stream. */
uint64_t cbx_report_written(uint8_t type);

void cbx_report_clear(void);

/* Sends a frame to the host that is not part of a run. */
void cbx_reply(uint8_t type, const void *a, size_t a_len, const void *b, size_t b_len);

/* Called after a host has attached: frames for the earlier host are dropped, `mark` is sent
 * first. */
void cbx_reply_mark(const uint8_t mark[CBX_FRAME_MARK_BYTES]);

/* Sends the log of the run from its beginning, and follows it. */
void cbx_report_follow(void);

/* Returns the number of reply bytes queued for the host. */
size_t cbx_reply_waiting(void);

/* cbx_report_pending: true if bytes are queued for a connected host; cbx_report_send writes as many as
 * it accepts now, false if the host has disconnected. */
bool cbx_report_pending(void);
bool cbx_report_send(void);

/* --- supervisor_host.c: the connection to the host -------------------------------------------- */

extern struct cbx_host {
    int in, out; /* -1 = no host is connected */
} cbx_host;

/* Reads CODEBOX_BRIDGE (docker/inside/bridge/bridge.h): without it the host is at the standard
 * streams, and its end is the sandbox's. False if the sandbox must not start. */
bool cbx_host_open(void);

/* Reads available bytes of the host, if one is connected, and passes its frames on. False if the
 * host has disconnected, or sent a frame that is not allowed. */
bool cbx_host_read(void (*take)(uint8_t type, const uint8_t *payload, size_t len));

/* Closes the connection after such a failure; without bridges this ends the sandbox. */
void cbx_host_lost(void);

/* Answers the payload of an ATTACH with the mark, after which HELLO follows. False, without an
 * answer, if an earlier host had a higher epoch. */
bool cbx_host_attach(const uint8_t attach[CBX_FRAME_ATTACH_BYTES]);

/* cbx_host_poll writes the descriptors to poll, at most CBX_HOST_FDS, and returns their number;
 * cbx_host_serve takes them back. A bridge that has sent the key and an ATTACH with an epoch that
 * is not too low replaces the connected host; its ATTACH is passed on. */
enum { CBX_HOST_PEERS = 4, CBX_HOST_FDS = CBX_HOST_PEERS + 1 };
int cbx_host_poll(struct pollfd *fds);
void cbx_host_serve(const struct pollfd *fds, int count,
                    void (*take)(uint8_t type, const uint8_t *payload, size_t len));

/* --- system.c: other processes, the controllers ----------------------------------------------- */

/* True if the parent of a process is outside of the sandbox: the engine started it. */
bool cbx_process_is_foreign(pid_t pid);

/* Kills every process except this one, `keep` (0 = none) and foreign ones, until no other is
 * left. */
void cbx_kill_others(pid_t keep);

/* Returns the number of processes, including this one. */
int cbx_count_processes(void);

/* Returns how often Linux killed a process of this container for lack of memory; 0 if unknown. */
long cbx_count_oom_kills(void);

/* Returns the memory limit of this container in bytes; 0 if unknown or without limit. */
uint64_t cbx_memory_limit(void);

/* Return the processor time of all processes of this container, and of one process; 0 if
 * unknown. */
uint64_t cbx_cpu_ms(void);
uint64_t cbx_process_cpu_ms(pid_t pid);

/* True if one of its threads is running or runnable. */
bool cbx_process_is_running(pid_t pid);

/* --- supervisor_files.c: files of the workspace ----------------------------------------------- */

/* Serve PUT, GET, LIST, DELETE; each replies with cbx_reply. */
void cbx_file_put(const uint8_t *payload, size_t len);
void cbx_file_get(const uint8_t *payload, size_t len);
void cbx_file_list(const uint8_t *payload, size_t len);
void cbx_file_delete(const uint8_t *payload, size_t len);

/* Writes the start time of a run, for cbx_file_report_changed. Waits, for some milliseconds at
 * most, until the clock of file systems is past the last PUT: a file that the host put does not
 * count as changed by the run. */
void cbx_file_note_begin(struct timespec *out);

/* Adds the regular files of /workspace that changed since then to the log of the run. False if
 * there were more than it adds. */
bool cbx_file_report_changed(const struct timespec *since);

#endif
