/* SPDX-License-Identifier: MIT
 * The probe: a program in every sandbox image that attempts what a program in a sandbox must not be
 * able to do. It prints one line for each attempt; the last line is "end". As PID 1 it first takes
 * the supervisor's place: the same defences, and a child makes the attempts. */
#include "docker/inside/probe/probe.h"
#include "docker/inside/probe/probe_attempt.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* PID 1 as the supervisor is: not dumpable, all signals blocked. Ends when the attempts end. */
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

/* Attempts on PID 1 would hit the host's when this is run by hand in the wrong place. */
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
        return 0; /* a copy of it could be run: that is all there is to say */
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
    cbx_probe_processes(); /* last: what it does to PID 1 may end the sandbox */
    puts("end");
    return 0;
}
