/* SPDX-License-Identifier: MIT
 * Runs one attempt of the probe in a child, and prints its outcome. */
#include "docker/inside/probe/probe_attempt.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

void cbx_attempt_report(const char *name, enum cbx_outcome outcome, const char *format, ...)
{
    static const char *const words[] = { "reached", "unknown", "held" };
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    for (char *c = text; *c != '\0'; c++) {
        *c = *c >= ' ' && *c < 0x7f ? *c : '?'; /* file names may have any byte */
    }
    printf("%s\t%s\t%s\n", name, words[outcome], text);
    fflush(stdout);
}

int cbx_attempt_run(long (*attempt)(void *), void *context)
{
    pid_t pid = fork();
    if (pid == 0) {
        struct rlimit none = { 0, 0 };
        setrlimit(RLIMIT_CORE, &none);
        errno = 0;
        _exit(attempt(context) >= 0 ? 0 : errno != 0 ? errno : EINVAL);
    }
    int status = 0;
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return pid < 0 ? errno : WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

bool cbx_is_refused(int result)
{
    return result == EPERM || result == EACCES || result == ENOSYS || result == -SIGSYS;
}

const char *cbx_result_text(int result)
{
    static char text[64];
    if (result < 0) {
        snprintf(text, sizeof(text), "killed by SIG%s", sigabbrev_np(-result));
    } else if (result == 0) {
        snprintf(text, sizeof(text), "it worked");
    } else {
        const char *name = strerrorname_np(result);
        snprintf(text, sizeof(text), "%s", name != NULL ? name : "an unknown error");
    }
    return text;
}

void cbx_attempt_must_fail(const char *name, long (*attempt)(void *), void *context)
{
    int result = cbx_attempt_run(attempt, context);
    cbx_attempt_report_if(cbx_is_refused(result), name, "%s", cbx_result_text(result));
}
