/* SPDX-License-Identifier: MIT
 * The state machine of a run: from the host's RUN to DONE, for any behaviour of kernel, program
 * and deadlines. */
#include "docker/inside/confine/filter.h"
#include "docker/inside/supervisor/supervisor.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    GRACE_MS = 400, /* from the request to end until a program is killed */
    SIGNAL_MS = 30, /* from INTERRUPT to the kernel until SIGINT to its process group, */
    /* and from that until a program that still reads gets the end of its input */
    INPUT_MS = 150,
    SETTLE_MS = 150,   /* time of observing a kernel that reported its end after the limit, */
    SETTLE_CHECKS = 4, /* and number of checks while it still runs */
    CPU_TICK_MS = 100,
    /* processes; that many are killed at once, as stopping each one would use the remaining time */
    CROWD = 32,
    KERNEL_START_MS = 20000,
    REST_BYTES = 1024 * 1024, /* maximum read from a pipe at the end of its run */
};

struct cbx_run cbx_run;

bool cbx_run_is_active(void)
{
    return cbx_run.phase == CBX_PHASE_RUNNING || cbx_run.phase == CBX_PHASE_STOPPING ||
           cbx_run.phase == CBX_PHASE_SETTLING;
}

static size_t drain(int *fd, uint8_t type, size_t most)
{
    static uint8_t chunk[CBX_CHUNK_BYTES];
    size_t total = 0;
    while (*fd >= 0 && total < most) {
        ssize_t n = read(*fd, chunk, sizeof(chunk));
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n == 0) {
            cbx_close(fd);
        }
        if (n <= 0) {
            return total;
        }
        if (cbx_run_is_active()) {
            cbx_report_output(type, chunk, (size_t)n);
        } else if (cbx_kernel.ready) { /* else a starting kernel wrote it */
            cbx_report_late(type, chunk, (size_t)n);
        }
        total += (size_t)n;
    }
    return total;
}

size_t cbx_run_drain(size_t most)
{
    size_t out = drain(&cbx_kernel.out, CBX_FRAME_STDOUT, most);
    return out + drain(&cbx_kernel.err, CBX_FRAME_STDERR, most);
}

static void finish(uint32_t status, int exit_code, int signal)
{
    cbx_run_drain(REST_BYTES);
    cbx_guard_end();
    cbx_run.done.flags |= cbx_input_end();
    cbx_run.done.flags |= cbx_report_end_output();
    if (!cbx_file_report_changed(&cbx_run.began_wall)) {
        cbx_run.done.flags |= CBX_DONE_FILES_CUT;
    }
    cbx_run.done.status = status;
    cbx_run.done.exit_code = exit_code;
    cbx_run.done.signal = signal;
    cbx_run.done.duration_ms = (uint64_t)(cbx_now_ms() - cbx_run.began_ms);
    cbx_run.done.cpu_ms = cbx_cpu_ms() - cbx_run.began_cpu_ms;
    cbx_run.done.stdout_bytes = cbx_report_written(CBX_FRAME_STDOUT);
    cbx_run.done.stderr_bytes = cbx_report_written(CBX_FRAME_STDERR);
    cbx_run.phase = CBX_PHASE_IDLE;
    cbx_run.deadline_ms = 0;
    cbx_report_frame(CBX_FRAME_DONE, &cbx_run.done, sizeof(cbx_run.done), NULL, 0);
}

static size_t accept_bytes(const struct cbx_frame_run *run)
{
    return (size_t)run->accept_count * CBX_FRAME_HASH_BYTES;
}

static void report_error(const char *reason)
{
    char error[512];
    int len = snprintf(error, sizeof(error),
                       "{\"ename\":\"Error\",\"evalue\":\"%s\",\"traceback\":[]}", reason);
    cbx_report_bundle(CBX_FRAME_ERROR, (const uint8_t *)error, (size_t)len);
}

/* Ends a run before the kernel receives it. */
static void refuse(const char *reason)
{
    cbx_run.began_ms = cbx_now_ms();
    cbx_run.began_cpu_ms = cbx_cpu_ms();
    cbx_file_note_begin(&cbx_run.began_wall);
    report_error(reason);
    finish(CBX_DONE_ENDED, 1, 0);
}

/* Refuses a run if its policy requires a refusal that nothing enforces here. */
static void refuse_unguarded(uint32_t refused)
{
    static const char *const names[] = {
#define CBX_REFUSAL(id, name, ...) name,
#include "policies/guard/guard.def"
    };
    char reason[384] = "the policy refuses";
    const char *separator = " ";
    for (size_t i = 0; i < CBX_GUARD_COUNT; i++) {
        if ((refused >> i & 1) != 0) {
            size_t used = strlen(reason);
            snprintf(reason + used, sizeof(reason) - used, "%s%s", separator, names[i]);
            separator = ", ";
        }
    }
    size_t used = strlen(reason);
    snprintf(
        reason + used, sizeof(reason) - used,
        "; this sandbox cannot enforce it, because its host kernel has no user notification of "
        "seccomp (Linux 5.5 has it, gVisor does not)");
    refuse(reason);
}

static void begin(const uint8_t *payload, size_t len)
{
    cbx_guard_serve();
    if ((cbx_run.request.refused & CBX_GUARD_NEEDED) != 0 && cbx_guard.missing) {
        refuse_unguarded(cbx_run.request.refused & CBX_GUARD_NEEDED);
        return;
    }
    if (cbx_run.request.network != 0 && !cbx_network_open()) {
        refuse("the sandbox cannot listen at the address of the proxy");
        return;
    }
    if (!cbx_input_begin()) {
        refuse("the sandbox cannot pass on the standard input");
        return;
    }
    /* Output of threads of earlier runs is not output of this run. */
    cbx_run_drain(REST_BYTES);
    cbx_run.oom_kills = cbx_count_oom_kills();
    cbx_run.began_cpu_ms = cbx_cpu_ms();
    cbx_run.began_ms = cbx_now_ms();
    cbx_run.deadline_ms = cbx_run.began_ms + (int64_t)cbx_run.request.limits.wall_ms;
    cbx_file_note_begin(&cbx_run.began_wall);
    cbx_run.phase = CBX_PHASE_RUNNING;
    size_t programs = sizeof(struct cbx_frame_run) + accept_bytes(&cbx_run.request);
    size_t program = programs + cbx_run.request.programs_bytes;
    /* The kernel is ready: its start-up has ended. */
    cbx_guard_set(&cbx_run.request, (const char *)payload + programs);
    cbx_variables_send();
    cbx_accept_send();
    cbx_kernel_send(CBX_FRAME_RUN, payload, CBX_FRAME_KERNEL_HEAD_BYTES, payload + program,
                    len - program);
    cbx_kernel_flush();
}

static bool has_limits(const struct cbx_frame_limits *limits)
{
#define CBX_RUN_LIMIT(member) &&limits->member > 0
    return true
#include "policies/limits.def"
        ;
#undef CBX_RUN_LIMIT
}

void cbx_run_submit(const uint8_t *payload, size_t len)
{
    struct cbx_frame_run run;
    if (cbx_run.phase != CBX_PHASE_IDLE || len < sizeof(run)) {
        cbx_die(); /* the host violates the protocol */
    }
    memcpy(&run, payload, sizeof(run));
    size_t rest = len - sizeof(run);
    if (run.accept_count > CBX_FRAME_ACCEPT_MAX || accept_bytes(&run) > rest ||
        run.programs_bytes > CBX_FRAME_PROGRAMS_MAX ||
        run.programs_bytes > rest - accept_bytes(&run) ||
        run.imports_bytes > CBX_FRAME_IMPORTS_MAX ||
        run.imports_bytes > rest - accept_bytes(&run) - run.programs_bytes ||
        run.arguments_bytes > rest - accept_bytes(&run) - run.programs_bytes - run.imports_bytes ||
        !has_limits(&run.limits)) {
        cbx_die();
    }
    run.language[sizeof(run.language) - 1] = '\0';
    run.id[sizeof(run.id) - 1] = '\0';
    cbx_run.request = run;
    cbx_run.stop_reason = 0;
    cbx_run.done = (struct cbx_frame_done){ .exit_code = -1 };
    cbx_run_drain(REST_BYTES); /* late output is complete before the log begins with it */
    cbx_report_begin(&run.limits);
    cbx_guard_begin();
    cbx_input_submit(run.input != 0);
    if (!cbx_hash_set_add(&cbx_accepted, payload + sizeof(run), run.accept_count)) {
        refuse("the session has too many files of code; reset it, or use fewer");
        return;
    }
    if (cbx_kernel.pid == 0) {
        cbx_kernel_start();
    }
    if (cbx_kernel.ready) {
        begin(payload, len);
        return;
    }
    if (cbx_run.warming) { /* any frame makes it skip the rest */
        cbx_kernel_send(CBX_FRAME_INTERRUPT, NULL, 0, NULL, 0);
        cbx_kernel_flush();
    }
    cbx_bytes_add(&cbx_run.held, payload, len);
    cbx_run.phase = CBX_PHASE_STARTING;
    cbx_run.began_ms = cbx_now_ms();
    cbx_run.began_cpu_ms = cbx_cpu_ms();
    cbx_file_note_begin(&cbx_run.began_wall);
    cbx_run.deadline_ms = cbx_run.began_ms + (int64_t)run.limits.wall_ms + KERNEL_START_MS;
}

void cbx_run_warm(void)
{
    cbx_run.warm = !cbx_kernel.ready && cbx_kernel.pid > 0 && !cbx_run.warming;
    if (cbx_kernel.ready && cbx_run.phase == CBX_PHASE_IDLE) {
        cbx_kernel.ready = false;
        cbx_run.warming = true;
        cbx_kernel_send(CBX_FRAME_WARM, NULL, 0, NULL, 0);
        cbx_kernel_flush();
    }
}

void cbx_run_kernel_ready(void)
{
    if (cbx_run.warming && cbx_run.phase == CBX_PHASE_IDLE) {
        cbx_reply(CBX_FRAME_READY, NULL, 0, NULL, 0);
    }
    cbx_kernel.ready = true;
    cbx_run.warming = false;
    if (cbx_run.phase == CBX_PHASE_STARTING) {
        struct cbx_bytes held = cbx_run.held;
        cbx_run.held = (struct cbx_bytes){ 0 };
        begin(held.p, held.len);
        cbx_bytes_free(&held);
    } else if (cbx_run.warm) {
        cbx_run_warm();
    }
}

/* Kills every process but this one and bridges. */
static void kill_all(void)
{
    cbx_kill_others(0);
    while (waitpid(-1, NULL, 0) > 0 || errno == EINTR) {
    }
    cbx_run_drain(REST_BYTES);
    cbx_kernel_clear();
    cbx_run.warm = cbx_run.warming = false;
    cbx_bytes_free(&cbx_run.held);
    cbx_run.done.flags |= CBX_DONE_LOST;
}

static void stop_run(uint32_t reason, int grace_ms)
{
    cbx_run.phase = CBX_PHASE_STOPPING;
    cbx_run.stop_reason = reason;
    cbx_run.deadline_ms = cbx_now_ms() + grace_ms;
    /* The control channel first, as it keeps the state; SIGINT follows if the kernel does not
     * react. */
    cbx_kernel_send(CBX_FRAME_INTERRUPT, NULL, 0, NULL, 0);
    cbx_kernel_flush();
    cbx_run.signal_ms = cbx_now_ms() + SIGNAL_MS;
    cbx_run.input_ms = 0;
}

void cbx_run_refused(void)
{
    if (cbx_run.phase == CBX_PHASE_RUNNING) {
        stop_run(CBX_DONE_REFUSED, 0);
    }
}

/* The kernel reported its end after the time limit. If it continues to compute, in a thread or
 * after a forged FINISH, it is killed. */
static void settle(void)
{
    uint64_t used = cbx_process_cpu_ms(cbx_kernel.pid) - cbx_run.settle_cpu_ms;
    bool busy = used > (uint64_t)SETTLE_MS / 3 * (unsigned)++cbx_run.settle_checks,
         runs = cbx_process_is_running(cbx_kernel.pid);
    if (runs && !busy && cbx_run.settle_checks < SETTLE_CHECKS) {
        cbx_run.deadline_ms = cbx_now_ms() + SETTLE_MS; /* a busy machine delays the end of a run */
        return;
    }
    if (busy || runs) {
        kill_all();
    }
    finish(cbx_run.stop_reason, -1, busy || runs ? SIGKILL : 0);
}

void cbx_run_interrupt(void)
{
    if (cbx_run.phase == CBX_PHASE_RUNNING) {
        stop_run(0, 3 * GRACE_MS);
    } else if (cbx_run.phase == CBX_PHASE_STARTING) {
        /* The run never begins; the starting kernel is for the next one. */
        cbx_bytes_free(&cbx_run.held);
        finish(CBX_DONE_KILLED, -1, SIGINT);
    }
}

void cbx_run_finished(int32_t code)
{
    if (cbx_run.stop_reason == 0) {
        finish(CBX_DONE_ENDED, code >= 0 && code <= 255 ? code : -1, 0);
        return;
    }
    cbx_kill_others(cbx_kernel.pid); /* the kernel obeyed; its children may not have */
    cbx_run.settle_cpu_ms = cbx_process_cpu_ms(cbx_kernel.pid);
    cbx_run.phase = CBX_PHASE_SETTLING;
    cbx_run.settle_checks = 0;
    cbx_run.deadline_ms = cbx_now_ms() + SETTLE_MS;
}

static uint32_t reason_of_end(bool oom, int signal)
{
    if (cbx_run.stop_reason != 0) {
        return cbx_run.stop_reason;
    }
    if (oom) {
        return CBX_DONE_OOM;
    }
    return signal ? CBX_DONE_KILLED : CBX_DONE_ENDED;
}

static bool is_out_of_memory(int signal, uint64_t peak_bytes)
{
    uint64_t limit = cbx_memory_limit();
    if (signal == SIGKILL) {
        return cbx_count_oom_kills() > cbx_run.oom_kills;
    }
    return signal == SIGABRT && limit > 0 && peak_bytes >= limit / 4 * 3;
}

void cbx_run_kernel_died(int status, uint64_t peak_bytes)
{
    int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    bool oom = is_out_of_memory(signal, peak_bytes);
    bool running = cbx_run.phase != CBX_PHASE_IDLE;
    if (cbx_run.phase == CBX_PHASE_STARTING) {
        report_error("the kernel ended while it started");
    }
    kill_all(); /* output up to now counts; remaining processes are killed */
    if (running) {
        finish(reason_of_end(oom, signal), WIFEXITED(status) ? WEXITSTATUS(status) : -1, signal);
    }
}

void cbx_run_protocol_broken(void)
{
    bool running = cbx_run.phase != CBX_PHASE_IDLE;
    kill_all();
    if (running) {
        finish(CBX_DONE_PROTOCOL, -1, SIGKILL);
    }
}

void cbx_run_reset(void)
{
    uint32_t done = 0;
    bool running = cbx_run.phase != CBX_PHASE_IDLE;
    kill_all();
    if (running) {
        finish(CBX_DONE_KILLED, -1, SIGKILL);
    }
    cbx_kernel_start();
    cbx_reply(CBX_FRAME_ANSWER, &done, sizeof(done), NULL, 0);
}

/* --- deadlines -------------------------------------------------------------------------------- */

/* At the deadline the program is interrupted; after the grace period it is killed. */
static void deadline_passed(void)
{
    if (cbx_run.phase == CBX_PHASE_RUNNING && cbx_input_is_awaited()) {
        cbx_run.done.flags |= CBX_DONE_INPUT_AWAITED;
    }
    if (cbx_run.phase == CBX_PHASE_RUNNING && cbx_count_processes() < CROWD) {
        stop_run(CBX_DONE_TIMEOUT, GRACE_MS);
    } else if (cbx_run.phase == CBX_PHASE_SETTLING) {
        settle();
    } else {
        uint32_t reason =
            cbx_run.phase == CBX_PHASE_STOPPING ? cbx_run.stop_reason : CBX_DONE_TIMEOUT;
        kill_all();
        finish(reason != 0 ? reason : CBX_DONE_KILLED, -1, SIGKILL);
    }
}

static void check_cpu(void)
{
    if (cbx_run.phase == CBX_PHASE_RUNNING &&
        cbx_cpu_ms() - cbx_run.began_cpu_ms >= cbx_run.request.limits.cpu_ms) {
        stop_run(CBX_DONE_CPU, GRACE_MS);
    }
}

/* Signals the kernel and its process group, as a terminal does. */
static void signal_kernel(int number)
{
    if (cbx_kernel.pid > 0 && kill(-cbx_kernel.pid, number) < 0) {
        kill(cbx_kernel.pid, number);
    }
}

int64_t cbx_run_time_left(int64_t now)
{
    int64_t left = INT64_MAX;
    if (cbx_run.deadline_ms != 0) {
        left = cbx_run.deadline_ms - now;
    }
    if (cbx_run.phase == CBX_PHASE_STOPPING && cbx_run.signal_ms != 0 &&
        cbx_run.signal_ms - now < left) {
        left = cbx_run.signal_ms - now;
    }
    if (cbx_run.phase == CBX_PHASE_STOPPING && cbx_run.input_ms != 0 &&
        cbx_run.input_ms - now < left) {
        left = cbx_run.input_ms - now;
    }
    if (cbx_run.phase == CBX_PHASE_RUNNING && left > CPU_TICK_MS) {
        left = CPU_TICK_MS;
    }
    return left;
}

bool cbx_run_check_deadlines(int64_t now)
{
    check_cpu();
    if (cbx_run.phase == CBX_PHASE_STOPPING && cbx_run.signal_ms != 0 && now >= cbx_run.signal_ms) {
        cbx_run.signal_ms = 0;
        signal_kernel(SIGINT);
        cbx_run.input_ms = now + INPUT_MS;
    }
    if (cbx_run.phase == CBX_PHASE_STOPPING && cbx_run.input_ms != 0 && now >= cbx_run.input_ms) {
        cbx_run.input_ms = 0;
        /* a read that no signal ends returns; a read that the signal ends is unaffected */
        cbx_input_stop();
    }
    if (cbx_run.deadline_ms != 0 && now >= cbx_run.deadline_ms) {
        deadline_passed();
        return true;
    }
    return false;
}
