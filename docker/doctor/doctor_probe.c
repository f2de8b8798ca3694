/* SPDX-License-Identifier: MIT
 * Runs the probe in a sandbox's container and reads its report. */
#include "docker/doctor/attempt.h"
#include "docker/doctor/doctor.h"
#include "policies/base/buf.h"
#include "policies/base/text/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The state of reading the report. */
struct reading {
    const struct cbx_doctor *doctor;
    const struct cbx_probe_sink *sink;
    const char *kernel;
    int held, other;
    bool whole; /* true after the line "end" */
};

/* --- the report ------------------------------------------------------------------------------- */

static void report_guard(const struct reading *r, const char *outcome, const char *what)
{
    bool lacks = strcmp(outcome, "held") != 0 && strcmp(outcome, "partly") != 0;
    const char *advice =
        lacks
            ? "policies that refuse start-process, signal-process or native-code run nothing here: "
              "use Linux 5.13 or newer, and docker/engine/seccomp.json as it is"
        : strcmp(outcome, "partly") == 0
            ? "files outside are refused by fewer means: start Linux with lsm=landlock,..."
            : "";
    cbx_doctor_report(r->doctor,
                      lacks               ? CBX_HEALTH_FAIL
                      : advice[0] != '\0' ? CBX_HEALTH_WARN
                                          : CBX_HEALTH_OK,
                      "guard", advice, "in a %s sandbox: %s", r->kernel, what);
}

/* Reads "name<TAB>outcome<TAB>description". The image may be wrong, so lines are untrusted data. */
static void take_line(struct reading *r, char *line)
{
    char *outcome = strchr(line, '\t'), *what = outcome != NULL ? strchr(outcome + 1, '\t') : NULL;
    if (what == NULL) {
        r->whole |= strcmp(line, "end") == 0;
        return;
    }
    *outcome++ = *what++ = '\0';
    if (strcmp(line, "guard") == 0) {
        report_guard(r, outcome, what);
        return;
    }
    bool held = strcmp(outcome, "held") == 0;
    r->held += held;
    r->other += !held;
    if (r->sink != NULL) {
        r->sink->each(r->sink->context, line, outcome, what);
    }
    if (!held) {
        char name[160];
        snprintf(name, sizeof(name), "probe-%.140s", line);
        bool reached = strcmp(outcome, "unknown") != 0;
        cbx_doctor_report(r->doctor, reached ? CBX_HEALTH_FAIL : CBX_HEALTH_WARN, name,
                          "do not run hostile code on this engine before the reason is known",
                          "in a %s sandbox: %s", r->kernel, what);
    }
}

void cbx_doctor_probe(struct cbx_engine *engine, const struct cbx_sandbox_config *config,
                      const char *kernel, const struct cbx_limits *limits,
                      const struct cbx_doctor *doctor, const struct cbx_probe_sink *sink)
{
    CBX_AUTO_DONE(buf) report;
    cbx_buf_init(&report, CBX_ATTEMPT_BYTES_MAX);
    struct cbx_err err = { 0 };
    struct reading reading = { .doctor = doctor, .sink = sink, .kernel = kernel };
    const struct cbx_attempt probe = { .engine = engine,
                                       .config = config,
                                       .kernel = kernel,
                                       .limits = limits,
                                       .program = "/codebox/probe" };
    int failed = cbx_attempt_run(&probe, &report, &err);
    if (failed) {
        cbx_doctor_report(
            doctor, CBX_HEALTH_FAIL, "probe", failed == CBX_ENOTFOUND ? "codebox image build" : "",
            "in a %s sandbox: %s", kernel, cbx_err_full(&err, (char[CBX_ERR_FULL_BYTES]){ 0 }));
        return;
    }
    char *rest = report.p;
    for (char *line; (line = strsep(&rest, "\n")) != NULL;) {
        take_line(&reading, line);
    }
    if (!reading.whole) {
        cbx_doctor_report(doctor, CBX_HEALTH_FAIL, "probe",
                          "run 'codebox image build'; if the image is current, PID 1 was killed",
                          "in a %s sandbox it ended after %d attempts, before its last line",
                          kernel, reading.held + reading.other);
    } else {
        cbx_doctor_report(doctor, reading.other == 0 ? CBX_HEALTH_OK : CBX_HEALTH_WARN, "probe", "",
                          "in a %s sandbox %d of %d attempts to get out were held", kernel,
                          reading.held, reading.held + reading.other);
    }
}

/* --- gVisor ----------------------------------------------------------------------------------- */

void cbx_doctor_read_gvisor(const char *shown, const char *host_kernel,
                            const struct cbx_doctor *doctor)
{
    char release[64] = "";
    const char *seccomp = strstr(shown, "\nSeccomp:");
    if (sscanf(shown, "Linux version %63s", release) != 1 || seccomp == NULL) {
        cbx_doctor_report(doctor, CBX_HEALTH_FAIL, "gvisor", "run it by hand with the same image",
                          "a sandbox under gVisor does not show its kernel and its filter");
    } else if (strcmp(release, host_kernel) == 0) {
        cbx_doctor_report(doctor, CBX_HEALTH_FAIL, "gvisor",
                          "name the runtime of gVisor with --gvisor-runtime",
                          "the runtime for gVisor gives sandboxes the host's kernel, %s", release);
    } else if (strtol(seccomp + strlen("\nSeccomp:"), NULL, 10) != 2) {
        cbx_doctor_report(
            doctor, CBX_HEALTH_FAIL, "gvisor",
            "add --oci-seccomp to the runtime's arguments (runtimeArgs) in daemon.json",
            "gVisor ignores our seccomp profile");
    } else {
        cbx_doctor_report(doctor, CBX_HEALTH_OK, "gvisor", "",
                          "a sandbox has a kernel of its own (%s) and our seccomp profile",
                          release);
    }
}

void cbx_doctor_no_gvisor(const struct cbx_err *err, const struct cbx_doctor *doctor)
{
    const char *text = cbx_err_full(err, (char[CBX_ERR_FULL_BYTES]){ 0 });
    bool network = strstr(text, "setting up network") != NULL;
    cbx_doctor_report(
        doctor, CBX_HEALTH_FAIL, "gvisor",
        network ? "add --network=none to the runtime's arguments (runtimeArgs) in daemon.json"
                : "name a runtime of gVisor that the engine has with --gvisor-runtime",
        "no sandbox starts under gVisor: %s", text);
}

void cbx_doctor_gvisor(struct cbx_engine *engine, const struct cbx_sandbox_config *config,
                       const char *kernel, const struct cbx_limits *limits,
                       const struct cbx_doctor *doctor)
{
    CBX_AUTO_DONE(buf) shown;
    cbx_buf_init(&shown, CBX_ATTEMPT_BYTES_MAX);
    CBX_AUTO_JSON info = NULL;
    struct cbx_err err = { 0 };
    struct cbx_limits under_gvisor = *limits;
    under_gvisor.isolation = CBX_ISOLATION_GVISOR;
    const struct cbx_attempt look = { .engine = engine,
                                      .config = config,
                                      .kernel = kernel,
                                      .limits = &under_gvisor,
                                      .program = "/bin/cat",
                                      .arguments = { "/proc/version", "/proc/self/status" } };
    int failed = cbx_engine_info(engine, &info, &err);
    if (!failed) {
        failed = cbx_attempt_run(&look, &shown, &err);
    }
    if (failed) {
        cbx_doctor_no_gvisor(&err, doctor);
        return;
    }
    const char *host = json_string_value(json_object_get(info, "KernelVersion"));
    cbx_doctor_read_gvisor(shown.p, host != NULL ? host : "", doctor);
}
