/* SPDX-License-Identifier: MIT
 * ^C during `codebox run`. */
#include "gateway/cli/run/run_interrupt.h"

#include "gateway/front/executor_client.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static volatile sig_atomic_t count;

static void count_signal(int number)
{
    enum { MOMENT_MS = 300 };
    static int64_t last_ms = -MOMENT_MS;
    struct timespec now = { 0 };
    (void)number;
    clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t now_ms = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
    if (now_ms - last_ms >= MOMENT_MS) {
        last_ms = now_ms;
        count++;
    }
}

void cbx_run_interrupt_catch(void)
{
    struct sigaction action = { .sa_handler = count_signal, .sa_flags = SA_RESTART };
    sigaction(SIGINT, &action, NULL);
}

void cbx_run_interrupt_note(void *context, enum cbx_progress progress, const char *decision,
                            uint64_t audit_seq)
{
    struct cbx_run_interrupt *interrupt = context;
    (void)progress;
    (void)audit_seq;
    snprintf(interrupt->run, sizeof(interrupt->run), "%s", decision);
}

bool cbx_run_interrupt_check(struct cbx_run_interrupt *interrupt)
{
    int asked = count;
    if (asked == interrupt->handled) {
        return false;
    }
    bool first = interrupt->handled == 0;
    interrupt->handled = asked;
    if (!first || asked > 1 || interrupt->run[0] == '\0') {
        return true;
    }
    struct cbx_interrupt_args args = { .session = cbx_str_of(interrupt->run),
                                       .principal = interrupt->principal };
    fprintf(stderr, "\ncodebox: the program is interrupted; once more ends it at once\n");
    return cbx_call_interrupt(interrupt->flow, &args, CBX_STR(""), NULL, NULL) != 0;
}
