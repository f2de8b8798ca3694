/* SPDX-License-Identifier: MIT
 * One installer container: its spec, its job, its output. It runs docker/inside/installer. */
#include "docker/egress/addresses.h"
#include "docker/packages/package_failures.h"
#include "docker/packages/packages_internal.h"
#include "policies/base/memory.h"
#include "policies/base/text/json.h"
#include "policies/base/time/clock.h"

#include <inttypes.h>
#include <stdlib.h>

enum {
    ANSWER_TIMEOUT_MS = 15000,
    POLL_MS = 200,
    READ_BYTES = 64 * 1024,
    EXIT_TIMEOUT_S = 30,
    LINE_BYTES = 4096,
    PROGRESS_LINES = 10000,
    PIDS = 128,
    CPU_MILLI = 1000,
    SCRATCH_INODES = 100000,
    MAKE_LAYER_S = 1200, /* time for the commit and build after an install */
};
static const int64_t mib = 1024 * 1024;

static const char *const commands[CBX_MANAGERS][4] = {
    [CBX_MANAGER_PIP] = { "/usr/bin/python3", "-I", "/codebox/installer/install.py" },
    [CBX_MANAGER_NPM] = { "/codebox/node", "--no-warnings", "/codebox/installer/install.js" },
};

static int64_t or_default(uint64_t value, int64_t otherwise)
{
    return value != 0 ? (int64_t)value : otherwise;
}

static int64_t timeout_ms_of(const struct cbx_packages_config *config)
{
    return or_default(config->timeout_ms, CBX_PACKAGES_TIMEOUT_MS);
}

static int64_t download_bytes_of(const struct cbx_packages_config *config)
{
    return or_default(config->download_bytes, 512 * mib);
}

int64_t cbx_packages_unpacked_bytes(const struct cbx_packages_config *config)
{
    return or_default(config->unpacked_bytes, 1024 * mib);
}

int64_t cbx_packages_files(const struct cbx_packages_config *config)
{
    return or_default(config->files, 100000);
}

/* --- the container ---------------------------------------------------------------------------- */

void cbx_installer_spec(const struct cbx_packages_config *config,
                        const struct cbx_installer_run *run, struct cbx_container_spec *out)
{
    /* gVisor can reach the index too, but files written in it may not be in the container's file
     * system. Downloads are in memory, like /tmp of a sandbox, so the limit of memory includes
     * them. */
    *out = (struct cbx_container_spec){
        .role = CBX_ROLE_INSTALLER,
        .kernel = run->kernel,
        .image = run->images->installer,
        .instance = config->sandbox->instance,
        .limits = { .memory_bytes = 1024 * mib + download_bytes_of(config),
                    .pids = PIDS,
                    .cpu_milli = CPU_MILLI,
                    .disk_bytes = cbx_packages_unpacked_bytes(config),
                    .isolation = CBX_ISOLATION_CONTAINER },
        .tmpfs = { { .path = "/tmp",
                     .bytes = download_bytes_of(config) + 64 * mib,
                     .inodes = SCRATCH_INODES,
                     .mode = 01777 } },
        .tmpfs_count = 1,
        .runtime = config->sandbox->runtime,
        .apparmor = config->sandbox->apparmor,
        .network = config->network,
        .lease_s = timeout_ms_of(config) / 1000 + MAKE_LAYER_S,
    };
    const char *const *command = commands[run->images->manager];
    for (size_t i = 0; command[i] != NULL; i++) {
        out->command[i] = command[i];
    }
}

/* --- its output ------------------------------------------------------------------------------- */

struct reader {
    const struct cbx_packages_progress *progress;
    struct cbx_buf *out;
    size_t out_start;
    /* incomplete line of standard error; the excess of a longer line is dropped */
    char line[LINE_BYTES];
    size_t line_len, lines;
    struct cbx_failure failure;
};

static void take_line(struct reader *r)
{
    struct cbx_str line = { .p = r->line, .len = r->line_len };
    r->line_len = 0;
    if (!cbx_str_starts(line, CBX_STR("progress "))) {
        cbx_failure_take(&r->failure, line);
        return;
    }
    if (r->progress == NULL || r->progress->line == NULL || ++r->lines > PROGRESS_LINES) {
        return;
    }
    line = cbx_str_sub(line, 9, 9 + CBX_PROGRESS_BYTES_MAX);
    char clean[CBX_PROGRESS_BYTES_MAX];
    for (size_t i = 0; i < line.len; i++) {
        clean[i] = line.p[i] >= ' ' && line.p[i] <= '~' ? line.p[i] : '?';
    }
    r->progress->line(r->progress->context, (struct cbx_str){ .p = clean, .len = line.len });
}

static int take_output(struct reader *r, const struct cbx_attach_bytes *got, struct cbx_err *err)
{
    struct cbx_str part = got->bytes;
    if (got->channel == CBX_CHANNEL_STDOUT) {
        if (r->out->len - r->out_start + part.len > CBX_REPORT_BYTES_MAX ||
            cbx_buf_add(r->out, part) != 0) {
            return cbx_fail(err, CBX_ETOOBIG, "the report has more than %d bytes",
                            CBX_REPORT_BYTES_MAX);
        }
        return 0;
    }
    for (size_t i = 0; i < part.len; i++) {
        if (part.p[i] == '\n') {
            take_line(r);
        } else if (r->line_len < LINE_BYTES) {
            r->line[r->line_len++] = part.p[i];
        }
    }
    return 0;
}

static bool is_cancelled(const struct cbx_packages_progress *progress)
{
    return progress != NULL && progress->cancelled != NULL &&
           progress->cancelled(progress->context);
}

/* Receives what the container writes next; the result has no bytes at the end of its streams.
 * CBX_ETIMEDOUT if nothing arrived for a while, and the engine replies to pings. */
static int receive(struct cbx_engine *engine, struct cbx_attach *attach, char *to, int wait_ms,
                   int64_t *heard_ms, struct cbx_attach_bytes *out, struct cbx_err *err)
{
    struct cbx_err inner = { 0 };
    int received = cbx_attach_receive(attach, to, READ_BYTES, wait_ms, out, &inner);
    if (received == CBX_ETIMEDOUT) {
        if (cbx_engine_check(engine, heard_ms, err) != 0) {
            return CBX_EENGINE;
        }
        return CBX_ETIMEDOUT;
    }
    if (received) {
        return cbx_fail(err, CBX_EENGINE, "the connection to the installer is gone");
    }
    *heard_ms = cbx_clock_ms();
    return 0;
}

/* Reads until the container closes its streams. */
static int follow(struct cbx_engine *engine, struct cbx_attach *attach, int64_t deadline,
                  struct reader *r, struct cbx_err *err)
{
    CBX_AUTO_MEM char *bytes = cbx_renew(NULL, 1, READ_BYTES);
    int64_t heard_ms = cbx_clock_ms();
    for (;;) {
        int64_t left = deadline - cbx_clock_ms();
        if (is_cancelled(r->progress)) {
            return cbx_fail(err, CBX_ESTATE, "the installation was cancelled");
        }
        if (left <= 0) {
            return cbx_fail(err, CBX_ETIMEDOUT,
                            "the packages could not be resolved or installed in time");
        }
        struct cbx_attach_bytes got = { 0 };
        int failed = receive(engine, attach, bytes, left < POLL_MS ? (int)left : POLL_MS, &heard_ms,
                             &got, err);
        if (failed == CBX_ETIMEDOUT) {
            continue;
        }
        if (failed || got.bytes.len == 0) {
            return failed;
        }
        failed = take_output(r, &got, err);
        if (failed) {
            return failed;
        }
    }
}

/* --- a run ------------------------------------------------------------------------------------ */

static const char *index_of(const struct cbx_packages_config *config,
                            const struct cbx_installer_run *run)
{
    return run->index != NULL ? run->index : config->index[run->images->manager];
}

/* Lists ranges of addresses as pairs of numbers. */
static int list_unreachable(const struct cbx_packages_config *config, json_t *out,
                            struct cbx_err *err)
{
    struct cbx_addresses ranges[CBX_ADDRESSES_RANGES_MAX];
    size_t count = 0;
    int failed = cbx_addresses_unreachable(config->reach != NULL ? &config->reach->allowed : NULL,
                                           config->reach != NULL ? &config->reach->denied : NULL,
                                           ranges, &count, err);
    for (size_t i = 0; !failed && i < count; i++) {
        json_array_append_new(
            out, json_pack("[I,I]", (json_int_t)ranges[i].first, (json_int_t)ranges[i].last));
    }
    return failed;
}

static int send_job(struct cbx_attach *attach, const struct cbx_packages_config *config,
                    const struct cbx_installer_run *run, struct cbx_err *err)
{
    int64_t answer_ms = or_default(config->answer_timeout_ms, ANSWER_TIMEOUT_MS);
    const char *index = index_of(config, run);
    json_object_set_new(run->job, "index", index != NULL ? json_string(index) : json_null());
    json_object_set_new(run->job, "ca",
                        config->ca_bundle != NULL ? json_string(config->ca_bundle) : json_null());
    json_object_set_new(run->job, "providers",
                        config->providers != NULL
                            ? json_incref((json_t *)(uintptr_t)config->providers)
                            : json_object());
    json_t *unreachable = json_array();
    json_object_set_new(run->job, "unreachable", unreachable);
    int failed = list_unreachable(config, unreachable, err);
    if (failed) {
        return failed;
    }
    json_object_set_new(run->job, "answer_timeout_s", json_integer((answer_ms + 999) / 1000));
    json_object_set_new(run->job, "download_bytes", json_integer(download_bytes_of(config)));
    json_object_set_new(run->job, "unpacked_bytes",
                        json_integer(cbx_packages_unpacked_bytes(config)));
    json_object_set_new(run->job, "files", json_integer(cbx_packages_files(config)));
    CBX_AUTO_DONE(buf) line;
    cbx_buf_init(&line, (size_t)2 * CBX_PACKAGE_SET_BYTES_MAX + 2 * CBX_CA_BUNDLE_BYTES_MAX);
    cbx_json_write(&line, run->job);
    cbx_buf_add_char(&line, '\n');
    if (line.overflow) {
        return cbx_fail(err, CBX_ETOOBIG, "the job of an installer is too long");
    }
    failed = cbx_attach_send(attach, line.p, line.len, err);
    if (failed) {
        return cbx_fail(err, CBX_EENGINE, "the installer does not take its job");
    }
    return 0;
}

/* Determines why it ended. */
static int judge_end(struct cbx_engine *engine, const char *container, struct cbx_attach *attach,
                     const struct reader *r, struct cbx_err *err)
{
    struct cbx_container_state state = { .exit_code = -1 };
    int failed = cbx_engine_container_ended(engine, container, attach, EXIT_TIMEOUT_S, &state, err);
    if (failed) {
        if (failed == CBX_ENOTFOUND) {
            return cbx_fail(err, CBX_EENGINE, "the installer was removed");
        }
        return failed;
    }
    if (state.oom_killed) {
        return cbx_fail(err, CBX_ETOOBIG, "the packages need more memory than an installer has");
    }
    if (state.exit_code == 0) {
        return 0;
    }
    return cbx_failure_fail(&r->failure, err);
}

static int run_container(struct cbx_engine *engine, const struct cbx_packages_config *config,
                         const struct cbx_installer_run *run, const struct cbx_container_spec *spec,
                         char container[CBX_CONTAINER_ID_CHARS + 1], struct cbx_buf *out,
                         struct cbx_err *err)
{
    int64_t deadline = cbx_clock_ms() + timeout_ms_of(config);
    CBX_AUTO(attach) attach = NULL;
    CBX_AUTO_MEM struct reader *r = cbx_new(sizeof(*r));
    r->progress = run->progress;
    r->out = out;
    r->out_start = out->len;
    int failed = cbx_engine_container_begin(engine, spec, container, &attach, err);
    if (failed) {
        return failed;
    }
    failed = send_job(attach, config, run, err);
    if (failed) {
        return failed;
    }
    failed = follow(engine, attach, deadline, r, err);
    if (failed) {
        return failed;
    }
    return judge_end(engine, container, attach, r, err);
}

int cbx_installer_run(struct cbx_engine *engine, const struct cbx_packages_config *config,
                      const struct cbx_installer_run *run, struct cbx_buf *out,
                      char container[CBX_CONTAINER_ID_CHARS + 1], struct cbx_err *err)
{
    if (config->ca_bundle != NULL && strlen(config->ca_bundle) > CBX_CA_BUNDLE_BYTES_MAX) {
        return cbx_fail(err, CBX_ETOOBIG,
                        "the bundle of certificates is too long, allowed are %d bytes",
                        CBX_CA_BUNDLE_BYTES_MAX);
    }
    const char *index = index_of(config, run);
    if (index != NULL && !cbx_package_is_url(cbx_str_of(index))) {
        return cbx_fail(err, CBX_EINVAL, "the index is no http or https URL");
    }
    char id[CBX_CONTAINER_ID_CHARS + 1];
    CBX_AUTO_DONE(container_spec) spec;
    cbx_installer_spec(config, run, &spec);
    int failed = run_container(engine, config, run, &spec, id, out, err);
    if (id[0] != '\0' && (failed || container == NULL)) {
        cbx_engine_container_remove(engine, id, NULL); /* else the reaper does */
    } else if (!failed) {
        memcpy(container, id, sizeof(id));
    }
    return failed;
}
