/* SPDX-License-Identifier: MIT
 * The hardening as data: the engine's "create a container" for a permit. */
#include "docker/contents.h"
#include "docker/engine/docker/docker.h"
#include "docker/kernel_names.h"
#include "docker/sandbox/container.h"
#include "policies/base/text/json.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <sys/stat.h>

static const struct cbx_permit permit = {
    .language = "ipython",
    .session = "s1",
    .decision = "d1",
    .action = CBX_ACTION_RUN,
    .limits = { .wall_ms = 1000,
                .cpu_milli = 1500,
                .memory_bytes = 1 << 28,
                .pids = 32,
                .disk_bytes = 1 << 20,
                .output_bytes = 4096,
                .files_bytes = 4096,
                .source_bytes = 4096,
                .isolation = CBX_ISOLATION_CONTAINER },
};
static const struct cbx_sandbox_config config = { .instance = "unit" };

static json_t *body_with(const struct cbx_sandbox_config *with, const struct cbx_limits *limits,
                         const struct cbx_sandbox_mounts *mounts)
{
    CBX_AUTO_DONE(container_spec) spec;
    cbx_sandbox_spec(with, "python", limits, "sha256:00", mounts, &spec);
    return cbx_docker_body(&spec);
}

/* One row for each line of hardening: a path in the body and its value as JSON. */
static const struct {
    const char *key, *value;
} rows[] = {
    { "AutoRemove", "true" },      { "CapDrop", "[\"ALL\"]" },
    { "ReadonlyRootfs", "true" },  { "NetworkMode", "\"none\"" },
    { "IpcMode", "\"private\"" },  { "CgroupnsMode", "\"private\"" },
    { "PidsLimit", "32" },         { "Memory", "268435456" },
    { "MemorySwap", "268435456" }, { "NanoCpus", "1500000000" },
    { "OomScoreAdj", "500" },      { "LogConfig", "{\"Type\":\"none\"}" },
    { "Privileged", "false" },
};

static void has_every_line_of_the_hardening(void **state)
{
    (void)state;
    CBX_AUTO_JSON body = body_with(&config, &permit.limits, NULL);
    const json_t *host = json_object_get(body, "HostConfig");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        CBX_AUTO_JSON want = json_loads(rows[i].value, JSON_DECODE_ANY, NULL);
        if (!json_equal(json_object_get(host, rows[i].key), want)) {
            fail_msg("HostConfig.%s is not %s", rows[i].key, rows[i].value);
        }
    }
    assert_string_equal(json_string_value(json_object_get(body, "User")), "65532:65532");
    assert_string_equal(json_string_value(json_object_get(body, "Image")), "sha256:00");
}

static void gives_no_access_to_the_host(void **state)
{
    (void)state;
    static const char *const absent[] = { "Binds",       "Mounts",      "Devices", "DeviceRequests",
                                          "CapAdd",      "PidMode",     "UTSMode", "UsernsMode",
                                          "VolumesFrom", "PortBindings" };
    CBX_AUTO_JSON body = body_with(&config, &permit.limits, NULL);
    for (size_t i = 0; i < sizeof(absent) / sizeof(absent[0]); i++) {
        assert_null(json_object_get(json_object_get(body, "HostConfig"), absent[i]));
    }
}

static void sends_a_seccomp_profile_that_denies_by_default(void **state)
{
    (void)state;
    CBX_AUTO_JSON body = body_with(&config, &permit.limits, NULL);
    const json_t *options = json_object_get(json_object_get(body, "HostConfig"), "SecurityOpt");
    assert_string_equal(json_string_value(json_array_get(options, 0)), "no-new-privileges:true");
    struct cbx_str option = cbx_json_str(json_array_get(options, 1));
    assert_true(cbx_str_starts(option, CBX_STR("seccomp={")));
    CBX_AUTO_JSON profile = json_loadb(option.p + 8, option.len - 8, 0, NULL);
    assert_non_null(profile);
    assert_string_equal(json_string_value(json_object_get(profile, "defaultAction")),
                        "SCMP_ACT_ERRNO");
    static const char *const never[] = { "io_uring_setup",
                                         "ptrace",
                                         "process_vm_readv",
                                         "userfaultfd",
                                         "keyctl",
                                         "add_key",
                                         "bpf",
                                         "perf_event_open",
                                         "mount",
                                         "fsopen",
                                         "unshare",
                                         "setns",
                                         "pidfd_getfd",
                                         "kexec_load",
                                         "init_module",
                                         "finit_module",
                                         "open_by_handle_at",
                                         "chroot",
                                         "pivot_root" };
    size_t i;
    json_t *rule;
    json_array_foreach(json_object_get(profile, "syscalls"), i, rule)
    {
        size_t j;
        json_t *name;
        json_array_foreach(json_object_get(rule, "names"), j, name)
        {
            for (size_t k = 0; k < sizeof(never) / sizeof(never[0]); k++) {
                assert_string_not_equal(json_string_value(name), never[k]);
            }
        }
    }
}

static void finds_the_kernel_of_each_language_and_of_no_other(void **state)
{
    (void)state;
    assert_string_equal(cbx_kernel_of("python"), "python");
    assert_string_equal(cbx_kernel_of("ipython"), "python");
    assert_string_equal(cbx_kernel_of("javascript"), "javascript");
    assert_string_equal(cbx_kernel_of("shell"), "bash");
    assert_string_equal(cbx_kernel_of("c"), "c");
    assert_string_equal(cbx_kernel_of("typescript"), "typescript");
    assert_null(cbx_kernel_of("bash"));
    assert_null(cbx_kernel_of("../python"));
    assert_null(cbx_kernel_of(""));
}

static void refuses_a_sandbox_for_a_decision_that_only_checks(void **state)
{
    (void)state;
    struct cbx_permit check = permit;
    const char *kernel;
    struct cbx_err err;
    check.action = CBX_ACTION_CHECK;
    assert_int_equal(cbx_sandbox_permitted(&check, &kernel, &err), CBX_ESEAL);
}

static bool lists(const json_t *list, const char *text)
{
    size_t i;
    const json_t *entry;
    json_array_foreach(list, i, entry)
    {
        if (strcmp(json_string_value(entry), text) == 0) {
            return true;
        }
    }
    return false;
}

/* Our list replaces that of the engine, so it must have every path that an engine hides. */
static void hides_at_least_what_engines_hide(void **state)
{
    (void)state;
    CBX_AUTO_JSON body = body_with(&config, &permit.limits, NULL);
    const json_t *host = json_object_get(body, "HostConfig");
    static const char *const masked[] = {
        "/proc/acpi",       "/proc/asound",      "/proc/interrupts",
        "/proc/kcore",      "/proc/keys",        "/proc/latency_stats",
        "/proc/timer_list", "/proc/timer_stats", "/proc/sched_debug",
        "/proc/scsi",       "/sys/firmware",     "/sys/devices/virtual/powercap",
        "/proc/pressure",
    };
    for (size_t i = 0; i < sizeof(masked) / sizeof(masked[0]); i++) {
        assert_true(lists(json_object_get(host, "MaskedPaths"), masked[i]));
    }
    static const char *const readonly[] = { "/proc/bus",           "/proc/fs",
                                            "/proc/irq",           "/proc/sys",
                                            "/proc/sysrq-trigger", "/sys/fs/cgroup" };
    for (size_t i = 0; i < sizeof(readonly) / sizeof(readonly[0]); i++) {
        assert_true(lists(json_object_get(host, "ReadonlyPaths"), readonly[i]));
    }
}

static const json_t *find_call(const json_t *profile, const char *call)
{
    size_t i;
    json_t *rule;
    json_array_foreach(json_object_get(profile, "syscalls"), i, rule)
    {
        if (lists(json_object_get(rule, "names"), call)) {
            return rule;
        }
    }
    return NULL;
}

static json_t *mounted_body_of(const char *runtime, enum cbx_isolation isolation,
                               const struct cbx_sandbox_mounts *mounts)
{
    struct cbx_limits limits = permit.limits;
    limits.isolation = isolation;
    const struct cbx_sandbox_config with = { .instance = "unit",
                                             .runtime = "crun",
                                             .gvisor_runtime = runtime };
    return body_with(&with, &limits, mounts);
}

static json_t *body_of(const char *runtime, enum cbx_isolation isolation)
{
    return mounted_body_of(runtime, isolation, NULL);
}

static const char *profile_of(const json_t *body)
{
    const json_t *options = json_object_get(json_object_get(body, "HostConfig"), "SecurityOpt");
    return json_string_value(json_array_get(options, 1)) + strlen("seccomp=");
}

static void the_isolation_chooses_the_runtime_its_profile_and_its_label(void **state)
{
    (void)state;
    CBX_AUTO_JSON plain = body_of("runsc", CBX_ISOLATION_CONTAINER);
    CBX_AUTO_JSON gvisor = body_of("runsc", CBX_ISOLATION_GVISOR);
    const json_t *host = json_object_get(plain, "HostConfig");
    assert_string_equal(json_string_value(json_object_get(host, "Runtime")), "crun");
    assert_int_equal(json_integer_value(json_object_get(host, "PidsLimit")), 32);
    host = json_object_get(gvisor, "HostConfig");
    assert_string_equal(json_string_value(json_object_get(host, "Runtime")), "runsc");
    assert_int_equal(json_integer_value(json_object_get(host, "PidsLimit")), 32 + 192);
    const json_t *labels = json_object_get(gvisor, "Labels");
    assert_string_equal(json_string_value(json_object_get(labels, CBX_LABEL_ISOLATION)), "gvisor");
    labels = json_object_get(plain, "Labels");
    assert_string_equal(json_string_value(json_object_get(labels, CBX_LABEL_ISOLATION)),
                        "container");
}

static void under_gvisor_the_profile_differs_in_clone3_alone(void **state)
{
    (void)state;
    CBX_AUTO_JSON plain = body_of("runsc", CBX_ISOLATION_CONTAINER);
    CBX_AUTO_JSON gvisor = body_of("runsc", CBX_ISOLATION_GVISOR);
    CBX_AUTO_JSON before = json_loads(profile_of(plain), 0, NULL);
    CBX_AUTO_JSON after = json_loads(profile_of(gvisor), 0, NULL);
    json_t *rule = (json_t *)(uintptr_t)find_call(after, "clone3");
    assert_string_equal(json_string_value(json_object_get(rule, "action")), "SCMP_ACT_ALLOW");
    assert_string_equal(json_string_value(json_object_get(find_call(before, "clone3"), "action")),
                        "SCMP_ACT_ERRNO");
    json_object_update(rule, (json_t *)(uintptr_t)find_call(before, "clone3"));
    assert_true(json_equal(before, after));
}

/* --- the profile's answers -------------------------------------------------------------------- */

static bool argument_fits(const json_t *arg, const uint64_t args[6])
{
    uint64_t have = args[json_integer_value(json_object_get(arg, "index"))],
             value = (uint64_t)json_integer_value(json_object_get(arg, "value")),
             other = (uint64_t)json_integer_value(json_object_get(arg, "valueTwo"));
    const char *op = json_string_value(json_object_get(arg, "op"));
    if (strcmp(op, "SCMP_CMP_MASKED_EQ") == 0) {
        return (have & value) == other;
    }
    assert_string_equal(op, "SCMP_CMP_EQ");
    return have == value;
}

/* Like libseccomp: a rule applies if all its arguments match, and a call without a rule gets the
 * default. */
static bool allows(const json_t *profile, const char *call, const uint64_t args[6])
{
    size_t i;
    json_t *rule;
    json_array_foreach(json_object_get(profile, "syscalls"), i, rule)
    {
        bool fits = lists(json_object_get(rule, "names"), call);
        size_t k;
        json_t *arg;
        json_array_foreach(json_object_get(rule, "args"), k, arg)
        {
            fits = fits && argument_fits(arg, args);
        }
        if (fits) {
            return strcmp(json_string_value(json_object_get(rule, "action")), "SCMP_ACT_ALLOW") ==
                   0;
        }
    }
    return false;
}

enum { HIGH_BITS = 0x7f000000 }; /* Linux reads 16 bits of a mode: the rest must change nothing */

static void no_call_makes_a_set_user_id_or_set_group_id_file(void **state)
{
    (void)state;
    static const struct {
        const char *call;
        int mode;         /* the argument that has the mode */
        uint64_t args[6]; /* the others */
    } calls[] = {
        { "chmod", 1, { 0 } },
        { "fchmod", 1, { 0 } },
        { "fchmodat", 2, { 0 } },
        { "creat", 1, { 0 } },
        { "open", 2, { [1] = O_WRONLY | O_CREAT } },
        { "open", 2, { [1] = O_RDWR | O_TMPFILE } },
        { "openat", 3, { [2] = O_WRONLY | O_CREAT | O_EXCL } },
        { "openat", 3, { [2] = O_RDWR | O_TMPFILE } },
        { "mknod", 1, { [1] = S_IFIFO } },
        { "mknodat", 2, { [2] = S_IFIFO } },
    };
    CBX_AUTO_JSON body = body_of(NULL, CBX_ISOLATION_CONTAINER);
    CBX_AUTO_JSON profile = json_loads(profile_of(body), 0, NULL);
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        for (unsigned special = 0; special < 8; special++) {
            uint64_t args[6];
            memcpy(args, calls[i].args, sizeof(args));
            args[calls[i].mode] |= HIGH_BITS | special << 9 | 0755;
            bool set_id = (special & 6) != 0;
            if (allows(profile, calls[i].call, args) == set_id) {
                fail_msg("row %zu: %s with the mode %o is %s", i, calls[i].call,
                         special << 9 | 0755, set_id ? "allowed" : "refused");
            }
        }
    }
    static const uint64_t fchmodat2[6] = { [2] = 0755 };
    assert_false(allows(profile, "fchmodat2", fchmodat2)); /* new, and no program needs it */
    assert_false(allows(profile, "setxattr", (uint64_t[6]){ 0 })); /* file capabilities */
}

/* Callers in assembly may leave any value in the register of a mode that Linux does not read. */
static void a_file_that_exists_is_opened_whatever_the_mode_is(void **state)
{
    (void)state;
    CBX_AUTO_JSON body = body_of(NULL, CBX_ISOLATION_CONTAINER);
    CBX_AUTO_JSON profile = json_loads(profile_of(body), 0, NULL);
    assert_true(allows(profile, "open", (uint64_t[6]){ [1] = O_RDONLY, [2] = UINT64_MAX }));
    assert_true(allows(profile, "openat", (uint64_t[6]){ [2] = O_RDWR | O_DIRECTORY, [3] = ~0u }));
}

static json_t *profile_with_mounts(const struct cbx_sandbox_mounts *mounts)
{
    CBX_AUTO_JSON body = mounted_body_of(NULL, CBX_ISOLATION_CONTAINER, mounts);
    return json_loads(profile_of(body), 0, NULL);
}

static void a_sandbox_that_writes_to_a_folder_of_the_host_makes_no_hard_link(void **state)
{
    (void)state;
    const struct cbx_sandbox_mounts reads = { .items = { { .fd = 3, .container = "/data" } },
                                              .count = 1 };
    const struct cbx_sandbox_mounts writes = {
        .items = { { .fd = 3, .container = "/data" },
                   { .fd = 4, .container = "/out", .writable = true } },
        .count = 2
    };
    static const char *const links[] = { "link", "linkat" };
    CBX_AUTO_JSON none = profile_with_mounts(NULL);
    CBX_AUTO_JSON reading = profile_with_mounts(&reads);
    CBX_AUTO_JSON writing = profile_with_mounts(&writes);
    for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
        assert_true(allows(none, links[i], (uint64_t[6]){ 0 }));
        assert_true(allows(reading, links[i], (uint64_t[6]){ 0 }));
        assert_false(allows(writing, links[i], (uint64_t[6]){ 0 }));
    }
    assert_int_equal(json_array_size(json_object_get(writing, "syscalls")),
                     json_array_size(json_object_get(none, "syscalls")) - 1);
    assert_string_equal(json_string_value(json_object_get(writing, "defaultAction")),
                        "SCMP_ACT_ERRNO");
}

/* The engine sets these over variables of the image. */
static void the_supervisor_is_told_the_isolation_whatever_the_image_has(void **state)
{
    (void)state;
    CBX_AUTO_JSON plain = body_of("runsc", CBX_ISOLATION_CONTAINER);
    CBX_AUTO_JSON gvisor = body_of("runsc", CBX_ISOLATION_GVISOR);
    assert_true(lists(json_object_get(plain, "Env"), "CODEBOX_ISOLATION=container"));
    assert_true(lists(json_object_get(gvisor, "Env"), "CODEBOX_ISOLATION=gvisor"));
    assert_true(lists(json_object_get(plain, "Env"), "CODEBOX_FILE_BYTES=1048576"));
}

static void containers_do_not_inherit_the_list_of_their_image(void **state)
{
    (void)state;
    struct cbx_limits limits = { .isolation = CBX_ISOLATION_CONTAINER };
    CBX_AUTO_JSON body = body_with(&config, &limits, NULL);
    assert_string_equal(
        json_string_value(json_object_get(json_object_get(body, "Labels"), CBX_LABEL_CONTENTS)),
        "");
}

static void a_kernel_with_a_small_image_uses_it_when_asked(void **state)
{
    (void)state;
    static const struct {
        const char *prefix, *kernel;
        const char *variant, *name;
    } cases[] = { { NULL, "python", NULL, "codebox-python:latest" },
                  { NULL, "python", CBX_VARIANT_SMALL, "codebox-python-small:latest" },
                  { "other", "python", CBX_VARIANT_SMALL, "other-python-small:latest" },
                  { NULL, "bash", CBX_VARIANT_SMALL, "codebox-bash:latest" } };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char name[CBX_IMAGE_NAME_BYTES];
        cbx_image_name(cases[i].prefix, cases[i].kernel, cases[i].variant, name);
        assert_string_equal(name, cases[i].name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(has_every_line_of_the_hardening),
        cmocka_unit_test(gives_no_access_to_the_host),
        cmocka_unit_test(hides_at_least_what_engines_hide),
        cmocka_unit_test(the_supervisor_is_told_the_isolation_whatever_the_image_has),
        cmocka_unit_test(containers_do_not_inherit_the_list_of_their_image),
        cmocka_unit_test(a_kernel_with_a_small_image_uses_it_when_asked),
        cmocka_unit_test(the_isolation_chooses_the_runtime_its_profile_and_its_label),
        cmocka_unit_test(under_gvisor_the_profile_differs_in_clone3_alone),
        cmocka_unit_test(sends_a_seccomp_profile_that_denies_by_default),
        cmocka_unit_test(no_call_makes_a_set_user_id_or_set_group_id_file),
        cmocka_unit_test(a_file_that_exists_is_opened_whatever_the_mode_is),
        cmocka_unit_test(a_sandbox_that_writes_to_a_folder_of_the_host_makes_no_hard_link),
        cmocka_unit_test(finds_the_kernel_of_each_language_and_of_no_other),
        cmocka_unit_test(refuses_a_sandbox_for_a_decision_that_only_checks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
