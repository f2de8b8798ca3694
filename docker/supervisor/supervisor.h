/* SPDX-License-Identifier: MIT
 * What the parts of the supervisor know of each other. */
#ifndef CBX_DOCKER_SUPERVISOR_SUPERVISOR_H
#define CBX_DOCKER_SUPERVISOR_SUPERVISOR_H

#include "docker/frame.h"

#include <stdbool.h>
#include <sys/types.h>
#include <time.h>

/* Bytes that grow at their end. Out of memory ends the sandbox: what is stored is capped. */
struct cbx_bytes {
    uint8_t *p;
    size_t len, size;
};
void cbx_bytes_add(struct cbx_bytes *bytes, const void *p, size_t len);
void cbx_bytes_free(struct cbx_bytes *bytes);

/* Ends the sandbox and all that runs in it. */
_Noreturn void cbx_die(void);

/* A frame that is on its way in, from the host or the kernel. */
struct cbx_inbox {
    uint8_t *bytes;
    size_t len, size;
};

/* --- kernel.c: the process that runs the code ----------------------------------------------------
 */

extern struct cbx_kernel {
    const char *const *argv;
    pid_t pid;             /* 0 = none */
    int control, out, err; /* -1 = closed */
    struct cbx_inbox from; /* what it says */
    struct cbx_bytes to;   /* what it has not taken yet, */
    size_t taken;          /* from here on */
    bool ready;            /* it takes runs */
} cbx_kernel;

/* The row of docker/languages.def with this name is what starts from now on; false = there is none.
 */
bool cbx_kernel_pick(const char *name);
void cbx_kernel_start(void);

/* It is gone: closes and forgets what was its. */
void cbx_kernel_forget(void);

/* A frame for it. A program may have made its kernel deaf; then the frame stays here until the
 * deadline. */
void cbx_kernel_tell(uint8_t type, const void *a, size_t a_len, const void *b, size_t b_len);

/* Hands over what it takes now. */
void cbx_kernel_feed(void);

/* Reads what is in the pipes of stdout and stderr, at most `most` bytes of each (rounded up to
 * chunks), so that a flood cannot hold up the clock. Output
 * outside of a run is late. Returns the number of bytes. */
size_t cbx_kernel_drain(size_t most);

enum { CBX_CHUNK_BYTES = 65536 };

void cbx_close(int *fd);

/* --- run.c: the life of a run -------------------------------------------------------------------
 */

/* STARTING: it waits until the kernel is READY. STOPPING: it was asked to end. SETTLING: it says
 * that it did, after its time was over. */
enum cbx_phase {
    CBX_PHASE_IDLE,
    CBX_PHASE_STARTING,
    CBX_PHASE_RUNNING,
    CBX_PHASE_STOPPING,
    CBX_PHASE_SETTLING,
};

extern struct cbx_run {
    enum cbx_phase phase;
    uint32_t over;              /* why it was asked to end: CBX_DONE_TIMEOUT, CBX_DONE_CPU, or 0 */
    struct cbx_bytes held;      /* its RUN, when that came before the kernel was ready */
    bool warm, warming;         /* the kernel is to import what programs need; it does */
    struct cbx_frame_run asked; /* the last one; its id is empty when the host has its result */
    struct cbx_frame_done done;
    int64_t began_ms, deadline_ms, signal_ms; /* 0 = none */
    uint64_t began_cpu_ms, settle_cpu_ms;
    int looks;
    struct timespec began_wall;
    long oom_kills;
} cbx_run;

/* The program has begun and not ended: what the kernel says belongs to it. */
bool cbx_run_is_on(void);

/* What the host says: RUN, WARM, INTERRUPT, RESET. A RUN while another one is on ends the sandbox.
 * What runs while a kernel warms up waits for it, as when it starts: its time is its own, and an
 * interrupt costs it and nothing else. */
void cbx_run_take(const uint8_t *payload, size_t len);
void cbx_run_warm(void);
void cbx_run_interrupt(void);
void cbx_run_reset(void);

/* What becomes of the kernel: READY, FINISH with this exit code, a status as of waitpid(2), words
 * that are no frames. */
void cbx_run_kernel_ready(void);
void cbx_run_finished(int32_t code);
void cbx_run_kernel_died(int status);
void cbx_run_protocol_broken(void);

/* Milliseconds until the clock is to be looked at again. The other asks or forces the program to
 * end when its time is over, and is true when a deadline had come. */
int64_t cbx_run_time_left(int64_t now_ms);
bool cbx_run_keep_time(int64_t now_ms);

/* Of CLOCK_MONOTONIC. */
int64_t cbx_now_ms(void);

/* --- report.c: what the host hears ------------------------------------------------------------
 * What a run says is kept until the host says that it has it (ACK) or wants another run: a host
 * that died does not take it along. Nothing here blocks; a host that does not read costs memory up
 * to the run's limits, and no more. */

/* Forgets the last run and keeps what the next one says, at most so much. */
void cbx_report_begin(uint64_t output_bytes, uint64_t files_bytes);

/* stdout or stderr: the first three quarters of the limit as they come, of the rest the end. */
void cbx_report_output(uint8_t type, const uint8_t *bytes, size_t len);

/* Output of a program that wrote it between two runs: the log of the next run begins with it, up to
 * CBX_FRAME_LATE_MAX bytes, then CUT. Other types than STDOUT, STDERR and DISPLAY are dropped, and
 * so is everything before the first run. */
void cbx_report_late(uint8_t type, const uint8_t *bytes, size_t len);

/* A bundle, error or question of the program. */
void cbx_report_bundle(uint8_t type, const uint8_t *bytes, size_t len);
void cbx_report_frame(uint8_t type, const void *a, size_t a_len, const void *b, size_t b_len);

/* The end of the output follows, before the files and DONE. The flags of DONE that it gives. */
uint32_t cbx_report_end_output(void);

/* Counts of what the program wrote. */
uint64_t cbx_report_written(uint8_t type);

void cbx_report_forget(void);

/* An answer to the host, not part of a run. */
void cbx_reply(uint8_t type, const void *a, size_t a_len, const void *b, size_t b_len);

/* A host has attached: what was on its way to the one before is void, `mark` goes first. */
void cbx_reply_mark(const uint8_t mark[CBX_FRAME_MARK_BYTES]);

/* The run's words go to the host, from the beginning or from where they are. */
void cbx_report_follow(void);

/* Is there something to send? Then send what the host takes now; false when it is gone. */
bool cbx_report_pending(void);
bool cbx_report_send(void);

/* --- look.c ------------------------------------------------------------------------------------
 * Files of the workspace, other processes, the controllers. */

/* Reports the regular files of /workspace that changed since then. False when there were more than
 * it reports. */
bool cbx_report_files(const struct timespec *since);

/* Kills every process but this one and `keep`, until there is none. */
void cbx_kill_others(pid_t keep);

/* How many processes there are, this one counted. */
int cbx_count_processes(void);

/* How often the kernel killed something in this container for memory; 0 when it cannot be told. */
long cbx_count_oom_kills(void);

/* Processor time of all that ran in this container, and of one process; 0 when it cannot be told.
 */
uint64_t cbx_cpu_ms(void);
uint64_t cbx_process_cpu_ms(pid_t pid);

/* Is one of its threads computing, or waiting for a processor? */
bool cbx_process_runs(pid_t pid);

/* --- files.c: PUT, GET, LIST, DELETE; each answers by cbx_reply ----------------------------------
 */
void cbx_file_put(const uint8_t *payload, size_t len);
void cbx_file_get(const uint8_t *payload, size_t len);
void cbx_file_list(const uint8_t *payload, size_t len);
void cbx_file_delete(const uint8_t *payload, size_t len);

#endif
