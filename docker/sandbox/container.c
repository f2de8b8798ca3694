/* SPDX-License-Identifier: MIT
 * A permit as the body of "create a container". README.md explains each line. */
#include "docker/sandbox/container.h"

#include "docker/contents.h"
#include "policies/language.h"

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* The gateway's seccomp profile, compiled in and sent with every container. */
__asm__(".pushsection .rodata\n"
        "cbx_seccomp_begin: .incbin \"docker/sandbox/seccomp.json\"\n"
        "cbx_seccomp_end: .byte 0\n"
        ".popsection\n");
extern const char cbx_seccomp_begin[] __attribute__((visibility("hidden")));
extern const char cbx_seccomp_end[] __attribute__((visibility("hidden")));

/* Fixed; it has no variable of the host's environment. Libraries that count processors would
 * start a thread for each of the host's. */
static json_t *make_environment(const struct cbx_limits *limits)
{
    static const char *const fixed[] = {
        "PATH=/usr/local/bin:/usr/bin:/bin",
        "HOME=/workspace",
        "LANG=C.UTF-8",
        "TZ=UTC",
        "PYTHONDONTWRITEBYTECODE=1",
        "PYTHONHASHSEED=random",
        "MPLBACKEND=module://matplotlib_inline.backend_inline",
        "MPLCONFIGDIR=/tmp/matplotlib",
        /* not a file in MPLCONFIGDIR, which programs can write */
        "MATPLOTLIBRC=/etc/matplotlibrc",
        "IPYTHONDIR=/codebox/ipython",
        "XDG_CACHE_HOME=/tmp/cache",
        "NO_COLOR=1",
    };
    json_t *environment = json_array();
    for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++) {
        json_array_append_new(environment, json_string(fixed[i]));
    }
    static const char *const counters[] = { "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS",
                                            "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS" };
    for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++) {
        json_array_append_new(environment, json_sprintf("%s=%" PRId64, counters[i],
                                                        (limits->cpu_milli + 999) / 1000));
    }
    return environment;
}

static json_t *make_tmpfs(const struct cbx_limits *limits)
{
    /* A file takes at least a page: inodes beyond bytes / 4096 would only cost kernel memory. */
    int64_t inodes = limits->disk_bytes / 4096 < 256 ? 256 : limits->disk_bytes / 4096;
    inodes = inodes > 100000 ? 100000 : inodes;
    return json_pack("{s:o,s:s}", "/workspace",
                     json_sprintf("rw,nosuid,nodev,noexec,size=%" PRId64 ",nr_inodes=%" PRId64
                                  ",mode=0700,uid=65532,gid=65532",
                                  limits->disk_bytes, inodes),
                     "/tmp", "rw,nosuid,nodev,noexec,size=16777216,nr_inodes=4096,mode=1777");
}

static json_t *make_ulimit(const char *name, int64_t value)
{
    return json_pack("{s:s,s:I,s:I}", "Name", name, "Soft", (json_int_t)value, "Hard",
                     (json_int_t)value);
}

bool cbx_container_uses_gvisor(const struct cbx_limits *limits)
{
    return limits->isolation != CBX_ISOLATION_CONTAINER;
}

/* gVisor answers a refused call with EPERM for any profile, so libc does not fall back from
 * clone3 to clone, and Node aborts. There clone3 only reaches gVisor's kernel, which is the
 * sandbox's. */
static char *make_gvisor_profile(void)
{
    CBX_AUTO_JSON profile = json_loads(cbx_seccomp_begin, 0, NULL);
    size_t i;
    json_t *rule;
    json_array_foreach(json_object_get(profile, "syscalls"), i, rule)
    {
        const json_t *name = json_array_get(json_object_get(rule, "names"), 0);
        if (cbx_str_is(cbx_json_str(name), "clone3")) {
            json_object_set_new(rule, "action", json_string("SCMP_ACT_ALLOW"));
            json_object_del(rule, "errnoRet");
        }
    }
    return json_dumps(profile, JSON_COMPACT);
}

static json_t *make_security_options(const struct cbx_sandbox_config *config, bool gvisor)
{
    json_t *options = json_array();
    json_array_append_new(options, json_string("no-new-privileges:true"));
    char *profile = gvisor ? make_gvisor_profile() : NULL;
    json_array_append_new(options,
                          json_sprintf("seccomp=%s", gvisor ? profile : cbx_seccomp_begin));
    free(profile);
    if (config->apparmor != NULL) {
        json_array_append_new(options, json_sprintf("apparmor=%s", config->apparmor));
    }
    return options;
}

static json_t *make_list(const char *const items[], size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        json_array_append_new(list, json_string(items[i]));
    }
    return list;
}

/* This list replaces the engine's, so it includes the paths that engines mask, and pressure: any
 * process may open a pressure file for writing and register a PSI trigger in the host kernel. */
static json_t *make_masked_paths(void)
{
    static const char *const paths[] = {
        "/proc/acpi",       "/proc/asound",      "/proc/interrupts",
        "/proc/kcore",      "/proc/keys",        "/proc/latency_stats",
        "/proc/pressure",   "/proc/sched_debug", "/proc/scsi",
        "/proc/timer_list", "/proc/timer_stats", "/sys/devices/virtual/powercap",
        "/sys/firmware",    "/sys/fs/selinux",   "/sys/kernel/security",
    };
    return make_list(paths, sizeof(paths) / sizeof(paths[0]));
}

/* The engine's list, and the folder of the cgroups: crun leaves it writable on version 1. */
static json_t *make_readonly_paths(void)
{
    static const char *const paths[] = { "/proc/bus", "/proc/fs",       "/proc/irq",
                                         "/proc/sys", "/sys/fs/cgroup", "/proc/sysrq-trigger" };
    return make_list(paths, sizeof(paths) / sizeof(paths[0]));
}

/* Added to the badness of a sandbox's processes when the host runs out of memory: they are
 * killed before the gateway and the engine. The supervisor sets its kernel's to 1000, so the
 * supervisor itself survives to report it. No process of the sandbox can go below this value. */
enum { OOM_SCORE_ADJ = 500 };

/* gVisor's own threads count too: its kernel's, and one or more for each processor of the host.
 * A sandbox that exhausts them ends. */
enum { SENTRY_PIDS = 192 };

static json_t *make_host_config(const struct cbx_sandbox_config *config,
                                const struct cbx_limits *limits)
{
    bool gvisor = cbx_container_uses_gvisor(limits);
    const char *runtime = gvisor ? config->gvisor_runtime : config->runtime;
    json_t *h = json_object();
    json_object_set_new(h, "AutoRemove", json_true());
    json_object_set_new(h, "CapDrop", json_pack("[s]", "ALL"));
    json_object_set_new(h, "SecurityOpt", make_security_options(config, gvisor));
    json_object_set_new(h, "MaskedPaths", make_masked_paths());
    json_object_set_new(h, "ReadonlyPaths", make_readonly_paths());
    json_object_set_new(h, "ReadonlyRootfs", json_true());
    json_object_set_new(h, "Tmpfs", make_tmpfs(limits));
    json_object_set_new(h, "NetworkMode", json_string("none"));
    json_object_set_new(h, "IpcMode", json_string("private"));
    json_object_set_new(h, "CgroupnsMode", json_string("private"));
    json_object_set_new(h, "ShmSize", json_integer(16 * 1024 * 1024));
    json_object_set_new(h, "PidsLimit", json_integer(limits->pids + (gvisor ? SENTRY_PIDS : 0)));
    json_object_set_new(h, "Memory", json_integer(limits->memory_bytes));
    json_object_set_new(h, "MemorySwap", json_integer(limits->memory_bytes));
    json_object_set_new(h, "OomScoreAdj", json_integer(OOM_SCORE_ADJ));
    json_object_set_new(h, "NanoCpus", json_integer(limits->cpu_milli * 1000000));
    json_t *ulimits = json_array();
    json_array_append_new(ulimits, make_ulimit("core", 0));
    json_array_append_new(ulimits, make_ulimit("nofile", 1024));
    json_array_append_new(ulimits, make_ulimit("fsize", limits->disk_bytes));
    json_array_append_new(ulimits, make_ulimit("memlock", 65536));
    json_object_set_new(h, "Ulimits", ulimits);
    json_object_set_new(h, "LogConfig", json_pack("{s:s}", "Type", "none"));
    json_object_set_new(h, "Privileged", json_false());
    if (runtime != NULL) {
        json_object_set_new(h, "Runtime", json_string(runtime));
    }
    return h;
}

/* The label of the image's contents is emptied, because containers inherit it: listings of
 * containers would include it. Labels do not name the owner: a sandbox may be created before it
 * has an owner, and labels are visible to all users who can list containers. The audit log and
 * the tag name the owner. */
static json_t *make_labels(const struct cbx_sandbox_config *config, const char *kernel,
                           const struct cbx_limits *limits)
{
    enum cbx_isolation isolation =
        cbx_container_uses_gvisor(limits) ? CBX_ISOLATION_GVISOR : CBX_ISOLATION_CONTAINER;
    char created[24];
    snprintf(created, sizeof(created), "%lld", (long long)time(NULL));
    return json_pack("{s:s,s:s,s:s,s:s,s:s,s:s}", CBX_LABEL_CONTENTS, "", CBX_LABEL_OWNED, "1",
                     CBX_LABEL_INSTANCE, config->instance, "codebox.kernel", kernel,
                     CBX_LABEL_CREATED, created, CBX_LABEL_ISOLATION,
                     cbx_isolation_names[isolation - CBX_ISOLATION_GVISOR]);
}

/* Makes an entry of HostConfig.Mounts. It is a volume, which the engine itself mounts and
 * removes with the container, because the engine's bind mounts take a path, which other users
 * may change, and no flags. The path here leads to the folder of the descriptor. A bind mount
 * without its submounts: `bind`, and not `rbind`. The engine copies nothing of the image into
 * it. */
static json_t *make_mount(const struct cbx_sandbox_mount *mount)
{
    char device[64];
    snprintf(device, sizeof(device), "/proc/%d/fd/%d", (int)getpid(), mount->fd);
    const char *options =
        mount->writable ? "bind,nosuid,nodev,noexec" : "bind,ro,nosuid,nodev,noexec";
    json_t *driver = json_pack("{s:s,s:{s:s,s:s,s:s}}", "Name", "local", "Options", "type", "none",
                               "o", options, "device", device);
    return json_pack("{s:s,s:s,s:{s:b,s:o}}", "Type", "volume", "Target", mount->container,
                     "VolumeOptions", "NoCopy", 1, "DriverConfig", driver);
}

/* Removes link(2) and linkat(2) from the container's seccomp profile: a second name would keep a
 * file of the host after its owner removed the first. Programs get EPERM, as on a file system
 * without hard links. The restriction is for the whole sandbox, since the filter cannot see
 * paths, and Landlock cannot distinguish a link in one folder from a new file. */
static void refuse_links(json_t *host_config)
{
    static const char prefix[] = "seccomp=";
    json_t *options = json_object_get(host_config, "SecurityOpt");
    for (size_t i = 0; i < json_array_size(options); i++) {
        const char *option = json_string_value(json_array_get(options, i));
        if (strncmp(option, prefix, sizeof(prefix) - 1) != 0) {
            continue;
        }
        CBX_AUTO_JSON profile = json_loads(option + sizeof(prefix) - 1, 0, NULL);
        json_t *rules = json_object_get(profile, "syscalls");
        for (size_t k = json_array_size(rules); k-- > 0;) {
            const json_t *names = json_object_get(json_array_get(rules, k), "names");
            if (cbx_str_is(cbx_json_str(json_array_get(names, 0)), "link")) {
                json_array_remove(rules, k);
            }
        }
        char *text = json_dumps(profile, JSON_COMPACT);
        json_array_set_new(options, i, json_sprintf("%s%s", prefix, text));
        free(text);
    }
}

void cbx_container_add_mounts(json_t *body, const struct cbx_sandbox_mounts *mounts)
{
    bool writes = false;
    if (mounts == NULL || mounts->count == 0) {
        return;
    }
    CBX_AUTO_DONE(buf) text; /* for the supervisor (docker/inside/confine/open_places.h) */
    cbx_buf_init(&text, 64 * 1024);
    cbx_buf_add_cstr(&text, "CODEBOX_MOUNTS=");
    json_t *list = json_array();
    for (size_t i = 0; i < mounts->count; i++) {
        const struct cbx_sandbox_mount *mount = &mounts->items[i];
        cbx_buf_printf(&text, "%s%s:%s", i > 0 ? ":" : "", mount->container,
                       mount->writable ? "rw" : "ro");
        json_array_append_new(list, make_mount(mount));
        writes = writes || mount->writable;
    }
    json_array_append_new(json_object_get(body, "Env"), cbx_json_text(cbx_buf_str(&text)));
    json_object_set_new(json_object_get(body, "HostConfig"), "Mounts", list);
    if (writes) {
        refuse_links(json_object_get(body, "HostConfig"));
    }
}

json_t *cbx_container_body(const struct cbx_sandbox_config *config, const char *kernel,
                           const struct cbx_limits *limits, const char *image_id)
{
    json_t *body = json_object();
    json_object_set_new(body, "Image", json_string(image_id));
    json_object_set_new(body, "Entrypoint", json_pack("[s]", "/codebox/supervisor"));
    json_object_set_new(body, "Cmd", json_pack("[s]", kernel));
    json_object_set_new(body, "User", json_string("65532:65532"));
    json_object_set_new(body, "WorkingDir", json_string("/workspace"));
    json_object_set_new(body, "Hostname", json_string("sandbox"));
    json_object_set_new(body, "Env", make_environment(limits));
    json_object_set_new(body, "Labels", make_labels(config, kernel, limits));
    json_object_set_new(body, "AttachStdin", json_true());
    json_object_set_new(body, "AttachStdout", json_true());
    json_object_set_new(body, "AttachStderr", json_true());
    json_object_set_new(body, "OpenStdin", json_true());
    json_object_set_new(body, "StdinOnce", json_false()); /* the next gateway may attach again */
    json_object_set_new(body, "Tty", json_false());
    json_object_set_new(body, "NetworkDisabled", json_true());
    json_object_set_new(body, "StopTimeout", json_integer(0));
    json_object_set_new(body, "HostConfig", make_host_config(config, limits));
    return body;
}
