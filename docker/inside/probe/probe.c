/* SPDX-License-Identifier: MIT
 * The probe: a program in every sandbox image that attempts actions which a sandbox must refuse.
 * It prints one line for each attempt; the last line is "end". As PID 1 it first takes the
 * supervisor's place: the same defences, and a child makes the attempts. */
#include "docker/inside/probe/probe.h"

#include "docker/inside/confine/harden.h"
#include "docker/inside/probe/probe_attempt.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Acts as PID 1 like the supervisor: not dumpable, all signals blocked. Ends when the attempts
 * end. */
static int stand_as_pid1(pid_t child)
{
    int status = 1;
    for (pid_t pid = 0; pid != child;) {
        pid = waitpid(-1, &status, 0);
        if (pid < 0 && errno != EINTR) {
            return 1;
        }
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/* Outside a sandbox, for example if run by hand, attempts on PID 1 would reach the host's. */
static bool is_in_sandbox(void)
{
    char comm[32] = "";
    FILE *f = fopen("/proc/1/comm", "re");
    if (f != NULL) {
        (void)!fgets(comm, sizeof(comm), f);
        fclose(f);
    }
    return strcmp(comm, "supervisor\n") == 0 || strcmp(comm, "probe\n") == 0;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "copy") == 0) {
        return 0; /* a copy of the program could be executed: this is the complete test */
    }
    if (!is_in_sandbox()) {
        fputs("codebox-probe: tries to break out of a sandbox; PID 1 here is not one's\n", stderr);
        return 2;
    }
    if (getpid() == 1) {
        sigset_t all;
        sigfillset(&all);
        sigprocmask(SIG_BLOCK, &all, NULL);
        prctl(PR_SET_DUMPABLE, 0);
        /* "engine": what the engine alone holds, without the supervisor's own hardening. */
        bool engine_alone = argc > 1 && strcmp(argv[1], "engine") == 0;
        if (!engine_alone && !cbx_harden()) {
            return 1;
        }
        pid_t child = fork();
        if (child != 0) {
            return child < 0 ? 1 : stand_as_pid1(child);
        }
        sigprocmask(SIG_UNBLOCK, &all, NULL);
        prctl(PR_SET_DUMPABLE, 1);
    }
    signal(SIGPIPE, SIG_DFL);
    cbx_probe_guard();
    cbx_probe_identity();
    cbx_probe_calls();
    cbx_probe_sockets();
    cbx_probe_files();
    cbx_probe_mounts();
    cbx_probe_processes(); /* last: its attempts on PID 1 may end the sandbox */
    puts("end");
    return 0;
}
