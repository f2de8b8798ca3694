/* SPDX-License-Identifier: MIT
 * Signals and the timer. The handler runs on a stack of its own, because the program's stack may
 * have overflowed, and writes a text that was prepared before. */
#include "analyzer/lint/watch.h"

#include "policies/base/text/printable.h"

#include <signal.h>
#include <sys/time.h>

enum { STACK_BYTES = 64 * 1024, PATH_SHOWN_BYTES = 4096, REASON_BYTES = 128 };

static const int signals[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGALRM };
enum { SIGNALS = sizeof(signals) / sizeof(signals[0]) };

static struct {
    char stack[STACK_BYTES];
    char head[PATH_SHOWN_BYTES * CBX_PRINTABLE_GROWTH + 32];
    size_t head_bytes;
    char reasons[SIGNALS][REASON_BYTES];
} watch;

static void write_to_stderr(const char *p, size_t len)
{
    ssize_t n = write(STDERR_FILENO, p, len);
    (void)n; /* a failed write has no other receiver */
}

static void handle(int number)
{
    write_to_stderr(watch.head, watch.head_bytes);
    for (size_t i = 0; i < SIGNALS; i++) {
        if (signals[i] == number) {
            write_to_stderr(watch.reasons[i], strlen(watch.reasons[i]));
        }
    }
    _exit(2);
}

static void set_handler(void (*handler)(int))
{
    for (size_t i = 0; i < SIGNALS; i++) {
        struct sigaction action = { .sa_handler = handler, .sa_flags = SA_ONSTACK };
        sigfillset(&action.sa_mask);
        sigaction(signals[i], &action, NULL);
    }
}

void cbx_lint_watch_here(struct cbx_str path)
{
    CBX_AUTO_DONE(buf) head;
    cbx_buf_init(&head, sizeof(watch.head));
    cbx_buf_add_cstr(&head, "codebox-lint: ");
    cbx_printable_add(&head, cbx_str_sub(path, 0, PATH_SHOWN_BYTES), CBX_PRINTABLE_LINE);
    cbx_buf_add_cstr(&head, ": ");
    watch.head_bytes = head.len < sizeof(watch.head) ? head.len : sizeof(watch.head);
    memcpy(watch.head, head.p, watch.head_bytes);
    for (size_t i = 0; i < SIGNALS; i++) {
        cbx_lint_watch_name(signals[i], watch.reasons[i], REASON_BYTES - 1);
        size_t len = strlen(watch.reasons[i]);
        watch.reasons[i][len] = '\n';
        watch.reasons[i][len + 1] = '\0';
    }
    sigaltstack(&(stack_t){ .ss_sp = watch.stack, .ss_size = sizeof(watch.stack) }, NULL);
    set_handler(handle);
}

void cbx_lint_watch_done(void)
{
    cbx_lint_watch_timer(0);
    set_handler(SIG_DFL);
}

void cbx_lint_watch_timer(unsigned ms)
{
    struct itimerval timer = { .it_value = { .tv_sec = ms / 1000,
                                             .tv_usec = (suseconds_t)(ms % 1000) * 1000 } };
    setitimer(ITIMER_REAL, &timer, NULL);
}

void cbx_lint_watch_name(int number, char *out, size_t size)
{
    if (number == SIGALRM) {
        snprintf(out, size, "not judged: the analyzer did not end in time");
        return;
    }
    snprintf(out, size, "not judged: the analyzer was ended by signal %d (%s)", number,
             sigdescr_np(number) != NULL ? sigdescr_np(number) : "unknown");
}
