/* SPDX-License-Identifier: MIT
 * Runs the probe in a sandbox's container and reads its report. */
#include "docker/container.h"
#include "docker/doctor.h"
#include "policies/base/buf.h"
#include "policies/base/clock.h"
#include "policies/base/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { REPORT_MAX = 1024 * 1024, CHUNK = 65536, PROBE_TIMEOUT_MS = 60000, POLL_MS = 1000 };

/* The state of reading the report. */
struct reading {
    const struct cbx_doctor *doctor;
    const struct cbx_probe_sink *sink;
    const char *kernel;
    int held, other;
    bool whole; /* the line "end" was there */
};

/* --- the container ---------------------------------------------------------------------------- */

/* Removes the headers of the engine's stream. stderr is included, for messages of a program that
 * dies. */
static bool demultiplex(struct cbx_buf *raw, struct cbx_buf *out)
{
    while (raw->len >= 8) {
        const unsigned char *h = (const unsigned char *)raw->p;
        size_t len = (size_t)h[4] << 24 | (size_t)h[5] << 16 | (size_t)h[6] << 8 | h[7];
        if (h[0] > 2 || len > REPORT_MAX) {
            return false;
        }
        if (raw->len < 8 + len) {
            break;
        }
        if (cbx_buf_add_bytes(out, raw->p + 8, len) != 0) {
            return false;
        }
        cbx_buf_consume(raw, 8 + len);
    }
    return true;
}

/* The next bytes, while the engine answers pings. */
static int receive(struct cbx_engine *engine, struct cbx_attach *attach, char *to, size_t *received,
                   struct cbx_err *err)
{
    int64_t began = cbx_clock_ms(), heard_ms = began;
    for (;;) {
        int failed = cbx_attach_receive(attach, to, CHUNK, POLL_MS, received, err);
        if (failed != CBX_ETIMEDOUT || cbx_clock_ms() - began >= PROBE_TIMEOUT_MS) {
            return failed;
        }
        failed = cbx_engine_check(engine, &heard_ms, err);
        if (failed) {
            return failed;
        }
    }
}

static int read_report(struct cbx_engine *engine, struct cbx_attach *attach, struct cbx_buf *out,
                       struct cbx_err *err)
{
    CBX_AUTO_DONE(buf) raw;
    cbx_buf_init(&raw, 2 * REPORT_MAX);
    for (size_t n = 1; n > 0;) {
        char *to = cbx_buf_reserve(&raw, CHUNK);
        int failed = to == NULL ? cbx_fail(err, CBX_EPROTO, "the report of the probe is too large")
                                : receive(engine, attach, to, &n, err);
        if (failed) {
            return failed;
        }
        raw.len += n;
        if (!demultiplex(&raw, out)) {
            return cbx_fail(err, CBX_EPROTO, "the report of the probe is damaged");
        }
    }
    return 0;
}

/* A container that is configured as a sandbox, except for the program. No permit: no code of a caller
 * runs in it. */
struct attempt {
    struct cbx_engine *engine;
    const struct cbx_sandbox_config *config;
    const char *kernel;
    const struct cbx_limits *limits;
    const char *program, *arguments[2];
};

static json_t *make_body(const struct attempt *a, const char *image_id)
{
    json_t *body = cbx_container_body(a->config, a->kernel, a->limits, image_id);
    json_t *arguments = json_array();
    for (size_t i = 0; i < 2 && a->arguments[i] != NULL; i++) {
        json_array_append_new(arguments, json_string(a->arguments[i]));
    }
    json_object_set_new(body, "Entrypoint", json_pack("[s]", a->program));
    json_object_set_new(body, "Cmd", arguments);
    return body;
}

static int run_container(struct cbx_engine *engine, const char *id, struct cbx_buf *report,
                         struct cbx_err *err)
{
    CBX_AUTO(attach) attach = NULL;
    int failed = cbx_engine_container_attach(engine, id, &attach, err);
    if (failed) {
        return failed;
    }
    failed = cbx_engine_container_start(engine, id, err);
    if (failed) {
        return failed;
    }
    return read_report(engine, attach, report, err);
}

static int run_attempt(const struct attempt *a, struct cbx_buf *report, struct cbx_err *err)
{
    const struct cbx_sandbox_config *config = a->config;
    struct cbx_engine *engine = a->engine;
    char image[CBX_IMAGE_NAME_BYTES], image_id[CBX_IMAGE_ID_CHARS + 1],
        id[CBX_CONTAINER_ID_CHARS + 1];
    cbx_image_name(config->image_prefix, a->kernel, config->variant, image);
    int failed = cbx_engine_image_id(engine, image, image_id, err);
    if (failed) {
        return failed;
    }
    CBX_AUTO_JSON body = make_body(a, image_id);
    failed = cbx_engine_container_create(engine, body, id, err);
    if (failed) {
        return failed;
    }
    failed = run_container(engine, id, report, err);
    cbx_engine_container_remove(engine, id, NULL);
    return failed;
}

/* --- the report ------------------------------------------------------------------------------- */

static void report_guard(const struct reading *r, const char *outcome, const char *what)
{
    bool lacks = strcmp(outcome, "held") != 0 && strcmp(outcome, "partly") != 0;
    const char *advice =
        lacks
            ? "policies that refuse start-process, signal-process or native-code run nothing here: "
              "use Linux 5.13 or newer, and docker/seccomp.json as it is"
        : strcmp(outcome, "partly") == 0
            ? "files outside are refused by fewer means: start Linux with lsm=landlock,..."
            : "";
    cbx_doctor_report(r->doctor,
                      lacks               ? CBX_HEALTH_FAIL
                      : advice[0] != '\0' ? CBX_HEALTH_WARN
                                          : CBX_HEALTH_OK,
                      "guard", advice, "in a %s sandbox: %s", r->kernel, what);
}

/* "name<TAB>outcome<TAB>what". The image may be wrong, so lines are untrusted data. */
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
    cbx_buf_init(&report, REPORT_MAX);
    struct cbx_err err = { 0 };
    struct reading reading = { .doctor = doctor, .sink = sink, .kernel = kernel };
    const struct attempt probe = { .engine = engine,
                                   .config = config,
                                   .kernel = kernel,
                                   .limits = limits,
                                   .program = "/codebox/probe" };
    int failed = run_attempt(&probe, &report, &err);
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
    cbx_buf_init(&shown, REPORT_MAX);
    CBX_AUTO_JSON info = NULL;
    struct cbx_err err = { 0 };
    struct cbx_limits under_gvisor = *limits;
    under_gvisor.isolation = CBX_ISOLATION_GVISOR;
    const struct attempt look = { .engine = engine,
                                  .config = config,
                                  .kernel = kernel,
                                  .limits = &under_gvisor,
                                  .program = "/bin/cat",
                                  .arguments = { "/proc/version", "/proc/self/status" } };
    int failed = cbx_engine_info(engine, &info, &err);
    failed = failed ? failed : run_attempt(&look, &shown, &err);
    if (failed) {
        cbx_doctor_no_gvisor(&err, doctor);
        return;
    }
    const char *host = json_string_value(json_object_get(info, "KernelVersion"));
    cbx_doctor_read_gvisor(shown.p, host != NULL ? host : "", doctor);
}
