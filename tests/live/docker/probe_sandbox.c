/* SPDX-License-Identifier: MIT
 * The probe in sandboxes: once as their PID 1's child, as `codebox doctor` runs it, and once
 * started by a program that the real supervisor watches. Usage: probe_sandbox KERNEL ...; the
 * runtime is $CODEBOX_RUNTIME. Prints every attempt that was not held; exit status 1 if there is
 * one. */
#include "docker/doctor/doctor.h"
#include "tests/live/docker/open.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct cbx_engine *engine;
static struct cbx_sandbox_config config = { .instance = "probe" };
static struct cbx_limits limits;
static int not_held;

static void take_check(void *context, const struct cbx_check *check)
{
    (void)context;
    not_held += check->health != CBX_HEALTH_OK;
    printf("  %-6s %s: %s\n", check->health == CBX_HEALTH_OK ? "ok" : "FAILED", check->name,
           check->found);
}

static int take_event(void *context, const struct cbx_event *event)
{
    if (event->kind == CBX_EVENT_STDOUT || event->kind == CBX_EVENT_STDERR) {
        cbx_buf_add(context, event->text);
    }
    return 0;
}

static const char *source_for(const char *kernel)
{
    return strcmp(kernel, "python") == 0
               ? "import subprocess\nsubprocess.run(['/codebox/probe'])"
               : "require('child_process').spawnSync('/codebox/probe', {stdio: 'inherit'})";
}

/* Counts the lines with another outcome than "held"; notes whether the last line is there. */
static void read_report(const char *kernel, char *report)
{
    int held = 0;
    bool whole = false;
    for (char *line; (line = strsep(&report, "\n")) != NULL;) {
        whole |= strcmp(line, "end") == 0;
        if (strstr(line, "\theld\t") != NULL) {
            held++;
        } else if (line[0] != '\0' && strcmp(line, "end") != 0) {
            printf("  FAILED %s\n", line);
            not_held++;
        }
    }
    not_held += !whole || held == 0;
    printf("  %-6s started by a %s program: %d attempts held%s\n", whole ? "ok" : "FAILED", kernel,
           held, whole ? "" : ", and the report is cut");
}

static void probe_from_program(const char *kernel)
{
    const char *source = source_for(kernel);
    struct cbx_permit permit = { .session = "probe",
                                 .decision = "d",
                                 .principal = "tester",
                                 .action = CBX_ACTION_RUN,
                                 .limits = limits,
                                 .source_sha256 = cbx_sha256_of(cbx_str_of(source)) };
    snprintf(permit.language, sizeof(permit.language), "%s", kernel);
    CBX_AUTO_DONE(buf) out;
    cbx_buf_init(&out, 2 << 20);
    struct cbx_sink sink = { .event = take_event, .context = &out };
    struct cbx_result result = { 0 };
    struct cbx_err err = { 0 };
    CBX_AUTO(sandbox) sandbox = NULL;
    permit.ledger = cbx_ledger_begin(cbx_str_of(permit.session), &permit.policy_sha256);
    if (open_with(engine, &config, &permit, &sandbox, &err) != 0 ||
        cbx_sandbox_run(sandbox, &permit, cbx_str_of(source),
                        &(struct cbx_run_options){ .sink = &sink }, &result, &err) != 0) {
        printf("  FAILED %s: %s\n", kernel, err.text);
        not_held++;
        return;
    }
    read_report(kernel, out.p);
    cbx_result_done(&result);
}

int main(int argc, char **argv)
{
    struct cbx_err err;
    signal(SIGPIPE, SIG_IGN);
    config.runtime = getenv("CODEBOX_RUNTIME");
    cbx_limits_default(&limits);
    limits.memory_bytes = 256 << 20;
    limits.disk_bytes = 16 << 20;
    if (cbx_engine_new(NULL, &engine, &err) != 0) {
        fprintf(stderr, "skipped: %s\n", err.text);
        return 77;
    }
    struct cbx_doctor doctor = { .take = take_check };
    for (int i = 1; i < argc; i++) {
        cbx_doctor_probe(engine, &config, argv[i], &limits, &doctor, NULL);
        probe_from_program(argv[i]);
    }
    cbx_engine_free(engine);
    return not_held > 0 ? 1 : 0;
}
