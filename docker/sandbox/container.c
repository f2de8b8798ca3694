/* SPDX-License-Identifier: MIT
 * Specifies the container of a sandbox: the parts besides the hardening of its role. */
#include "docker/sandbox/container.h"

#include "docker/inside/confine/harden.h"
#include "policies/base/buf.h"

#include <inttypes.h>

/* Libraries that count processors would start a thread for each of the host's. */
static void limit_threads(struct cbx_container_spec *spec)
{
    static const char *const counters[] = { "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS",
                                            "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS" };
    char count[24];
    snprintf(count, sizeof(count), "%" PRId64, (spec->limits.cpu_milli + 999) / 1000);
    for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++) {
        cbx_container_spec_set(spec, counters[i], cbx_str_of(count));
    }
}

/* For the supervisor, which hardens the sandbox as well as the engine does. Both variables are
 * always set: an image may have variables of these names. */
static void set_hardening(struct cbx_container_spec *spec)
{
    char bytes[24];
    snprintf(bytes, sizeof(bytes), "%" PRId64, spec->limits.disk_bytes);
    cbx_container_spec_set(spec, CBX_HARDEN_FILE_VARIABLE, cbx_str_of(bytes));
    cbx_container_spec_set(spec, CBX_HARDEN_ISOLATION_VARIABLE,
                           cbx_str_of(cbx_container_isolation(spec)));
}

static void add_tmpfs(struct cbx_container_spec *spec)
{
    /* A file takes at least a page: inodes beyond bytes / 4096 would only cost kernel memory. */
    int64_t disk_bytes = spec->limits.disk_bytes;
    int64_t inodes = disk_bytes / 4096 < 256 ? 256 : disk_bytes / 4096;
    spec->tmpfs[0] = (struct cbx_container_tmpfs){ .path = "/workspace",
                                                   .bytes = disk_bytes,
                                                   .inodes = inodes > 100000 ? 100000 : inodes,
                                                   .mode = 0700,
                                                   .owned = true };
    spec->tmpfs[1] = (struct cbx_container_tmpfs){
        .path = "/tmp", .bytes = 16 * 1024 * 1024, .inodes = 4096, .mode = 01777
    };
    spec->tmpfs_count = 2;
}

/* Names the folders for the supervisor (docker/inside/confine/open_places.h). */
static void add_mounts(struct cbx_container_spec *spec, const struct cbx_sandbox_mounts *mounts)
{
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, 64 * 1024);
    for (size_t i = 0; i < mounts->count; i++) {
        cbx_buf_printf(&text, "%s%s:%s", i > 0 ? ":" : "", mounts->items[i].container,
                       mounts->items[i].writable ? "rw" : "ro");
    }
    cbx_container_spec_set(spec, "CODEBOX_MOUNTS", cbx_buf_str(&text));
    spec->mounts = mounts->items;
    spec->mount_count = mounts->count;
}

void cbx_sandbox_spec(const struct cbx_sandbox_config *config, const char *kernel,
                      const struct cbx_limits *limits, const char *image,
                      const struct cbx_sandbox_mounts *mounts, struct cbx_container_spec *out)
{
    bool gvisor = cbx_container_uses_gvisor(limits);
    *out =
        (struct cbx_container_spec){ .role = CBX_ROLE_SANDBOX,
                                     .kernel = kernel,
                                     .image = image,
                                     .instance = config->instance,
                                     .command = { CBX_SUPERVISOR_PROGRAM, kernel },
                                     .limits = *limits,
                                     .runtime = gvisor ? config->gvisor_runtime : config->runtime,
                                     .apparmor = config->apparmor };
    add_tmpfs(out);
    limit_threads(out);
    set_hardening(out);
    if (mounts != NULL && mounts->count > 0) {
        add_mounts(out, mounts);
    }
}
