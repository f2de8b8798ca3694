/* SPDX-License-Identifier: MIT
 * The hardening of containers as data. */
#include "docker/engine/container_spec.h"

#include "policies/base/memory.h"
#include "policies/base/text/json.h"

#include <stdlib.h>
#include <string.h>

/* The gateway's seccomp profile, compiled in and sent with every container. */
__asm__(".pushsection .rodata\n"
        "cbx_seccomp_begin: .incbin \"docker/engine/seccomp.json\"\n"
        "cbx_seccomp_end: .byte 0\n"
        ".popsection\n");
extern const char cbx_seccomp_begin[] __attribute__((visibility("hidden")));
extern const char cbx_seccomp_end[] __attribute__((visibility("hidden")));

/* --- roles ------------------------------------------------------------------------------------ */

static const char *const none[] = { NULL };

/* The capabilities with which the relay restricts its routes and changes its user. */
static const char *const relay_capabilities[] = { "NET_ADMIN", "SETUID", "SETGID", NULL };

/* Fixed; no container has a variable of the host's environment. */
static const char *const sandbox_variables[] = {
    "PATH=/usr/local/bin:/usr/bin:/bin",
    "HOME=/workspace",
    "LANG=C.UTF-8",
    "TZ=UTC",
    "PYTHONDONTWRITEBYTECODE=1",
    "PYTHONHASHSEED=random",
    "MPLBACKEND=module://matplotlib_inline.backend_inline",
    "MPLCONFIGDIR=/tmp/matplotlib",
    "GST_REGISTRY_FORK=no", /* GStreamer, of OpenCV: plugins are listed without another process */
    /* not a file in MPLCONFIGDIR, which programs can write */
    "MATPLOTLIBRC=/etc/matplotlibrc",
    "IPYTHONDIR=/codebox/ipython",
    "XDG_CACHE_HOME=/tmp/cache",
    "NO_COLOR=1",
    NULL,
};
static const char *const installer_variables[] = {
    "PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/tmp", "LANG=C.UTF-8", "TZ=UTC", "NO_COLOR=1", NULL,
};

static const struct cbx_role_traits traits[] = {
    [CBX_ROLE_SANDBOX] = { .hostname = "sandbox",
                           .folder = "/workspace",
                           .user = 65532,
                           .read_only = true,
                           .own_seccomp = true,
                           .removed = true,
                           .reattached = true, /* the next gateway may attach again */
                           .capabilities = none,
                           .variables = sandbox_variables },
    /* Its user is root until the relay has restricted its routes. */
    [CBX_ROLE_PROXY] = { .hostname = "proxy",
                         .folder = "/",
                         .network = true,
                         .read_only = true,
                         .removed = true,
                         .capabilities = relay_capabilities,
                         .variables = none },
    /* The image makes the root unwritable, except for /packages, from which a layer is made. */
    [CBX_ROLE_INSTALLER] = { .hostname = "installer",
                             .folder = "/packages",
                             .user = 65532,
                             .network = true,
                             .own_seccomp = true,
                             .capabilities = none,
                             .variables = installer_variables },
};

const struct cbx_role_traits *cbx_role_traits(enum cbx_container_role role)
{
    return &traits[role];
}

/* --- what all roles have ---------------------------------------------------------------------- */

/* This list replaces the engine's, so it includes the paths that engines mask, and pressure: any
 * process may open a pressure file for writing and register a PSI trigger in the host kernel. */
const char *const cbx_container_masked_paths[] = {
    "/proc/acpi",    "/proc/asound",        "/proc/interrupts",     "/proc/kcore",
    "/proc/keys",    "/proc/latency_stats", "/proc/pressure",       "/proc/sched_debug",
    "/proc/scsi",    "/proc/timer_list",    "/proc/timer_stats",    "/sys/devices/virtual/powercap",
    "/sys/firmware", "/sys/fs/selinux",     "/sys/kernel/security", NULL,
};

/* The engine's list, and the folder of the cgroups: crun leaves it writable on version 1. */
const char *const cbx_container_readonly_paths[] = {
    "/proc/bus",           "/proc/fs", "/proc/irq", "/proc/sys", "/sys/fs/cgroup",
    "/proc/sysrq-trigger", NULL,
};

void cbx_container_ulimits(const struct cbx_container_spec *spec,
                           struct cbx_container_ulimit out[static CBX_CONTAINER_ULIMITS])
{
    const struct cbx_container_ulimit all[CBX_CONTAINER_ULIMITS] = {
        { "core", 0 },
        { "nofile", 1024 },
        { "fsize", spec->limits.disk_bytes },
        { "memlock", 65536 },
    };
    memcpy(out, all, sizeof(all));
}

bool cbx_container_uses_gvisor(const struct cbx_limits *limits)
{
    return limits->isolation != CBX_ISOLATION_CONTAINER;
}

int64_t cbx_container_pids(const struct cbx_container_spec *spec)
{
    /* gVisor's kernel has threads of its own, one or more for each processor of the host. A
     * sandbox that exhausts them ends. */
    enum { SENTRY_PIDS = 192 };
    return spec->limits.pids + (cbx_container_uses_gvisor(&spec->limits) ? SENTRY_PIDS : 0);
}

const char *cbx_container_isolation(const struct cbx_container_spec *spec)
{
    bool gvisor = cbx_container_uses_gvisor(&spec->limits);
    enum cbx_isolation isolation = gvisor ? CBX_ISOLATION_GVISOR : CBX_ISOLATION_CONTAINER;
    return cbx_isolation_names[isolation - CBX_ISOLATION_GVISOR];
}

/* --- the seccomp profile ---------------------------------------------------------------------- */

static bool rule_is_for(const json_t *rule, const char *call)
{
    return cbx_str_is(cbx_json_str(json_array_get(json_object_get(rule, "names"), 0)), call);
}

/* gVisor answers a refused call with EPERM for any profile, so libc does not fall back from
 * clone3 to clone, and Node aborts. There clone3 only reaches gVisor's kernel, which is the
 * sandbox's. */
static void allow_clone3(json_t *rules)
{
    size_t i;
    json_t *rule;
    json_array_foreach(rules, i, rule)
    {
        if (rule_is_for(rule, "clone3")) {
            json_object_set_new(rule, "action", json_string("SCMP_ACT_ALLOW"));
            json_object_del(rule, "errnoRet");
        }
    }
}

/* Removes link(2) and linkat(2): a second name would keep a file of the host after its owner
 * removed the first. Programs get EPERM, as on a file system without hard links. The restriction
 * is for the whole sandbox, since the filter cannot see paths, and Landlock cannot distinguish a
 * link in one folder from a new file. */
static void refuse_links(json_t *rules)
{
    for (size_t i = json_array_size(rules); i-- > 0;) {
        if (rule_is_for(json_array_get(rules, i), "link")) {
            json_array_remove(rules, i);
        }
    }
}

static bool writes_to_host(const struct cbx_container_spec *spec)
{
    for (size_t i = 0; i < spec->mount_count; i++) {
        if (spec->mounts[i].writable) {
            return true;
        }
    }
    return false;
}

char *cbx_container_seccomp(const struct cbx_container_spec *spec)
{
    bool gvisor = cbx_container_uses_gvisor(&spec->limits), writes = writes_to_host(spec);
    if (!traits[spec->role].own_seccomp) {
        return NULL;
    }
    if (!gvisor && !writes) {
        return cbx_str_copy(cbx_str_of(cbx_seccomp_begin));
    }
    CBX_AUTO_JSON profile = json_loads(cbx_seccomp_begin, 0, NULL);
    json_t *rules = json_object_get(profile, "syscalls");
    if (gvisor) {
        allow_clone3(rules);
    }
    if (writes) {
        refuse_links(rules);
    }
    return json_dumps(profile, JSON_COMPACT);
}

/* --- variables -------------------------------------------------------------------------------- */

void cbx_container_spec_set(struct cbx_container_spec *spec, const char *name, struct cbx_str value)
{
    if (spec->variable_count == CBX_SPEC_VARIABLES) {
        abort();
    }
    size_t len = strlen(name);
    char *text = cbx_renew(NULL, 1, len + 1 + value.len + 1);
    memcpy(text, name, len);
    text[len] = '=';
    memcpy(text + len + 1, value.p, value.len);
    text[len + 1 + value.len] = '\0';
    spec->variables[spec->variable_count++] = text;
}

void cbx_container_spec_done(struct cbx_container_spec *spec)
{
    for (size_t i = 0; i < spec->variable_count; i++) {
        free(spec->variables[i]);
    }
    spec->variable_count = 0;
}
