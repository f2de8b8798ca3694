/* SPDX-License-Identifier: MIT
 * Judges an engine's report about itself. */
#include "docker/doctor/doctor.h"

#include "docker/doctor/doctor_cluster.h"

#include "docker/doctor/escapes.h"
#include "policies/base/buf.h"
#include "policies/base/text/json.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void make_printable(char *text)
{
    for (; *text != '\0'; text++) {
        *text = *text >= ' ' && *text < 0x7f ? *text : '?';
    }
}

void cbx_doctor_report(const struct cbx_doctor *doctor, enum cbx_health health, const char *name,
                       const char *advice, const char *found, ...)
{
    char text[1024];
    va_list args;
    va_start(args, found);
    vsnprintf(text, sizeof(text), found, args);
    va_end(args);
    make_printable(text);
    struct cbx_check check = { .health = health, .name = name, .found = text, .advice = advice };
    doctor->take(doctor->context, &check);
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text != NULL ? text : "";
}

/* --- versions --------------------------------------------------------------------------------- */

/* Finds the version of a component: "containerd", "runc", "OCI Runtime (crun)". It starts at the
 * first digit: Podman reports "crun version 1.8.1\ncommit: ...". */
static bool find_version(const json_t *version, const char *component, char *out, size_t size)
{
    size_t i;
    const json_t *entry;
    out[0] = '\0';
    json_array_foreach(json_object_get(version, "Components"), i, entry)
    {
        const char *text = text_of(entry, "Version");
        if (strstr(text_of(entry, "Name"), component) != NULL) {
            text += strcspn(text, "0123456789");
            snprintf(out, size, "%.*s", (int)strcspn(text, " \n"), text);
            /* Only the commit shows that a runtime is from a package. */
            const char *commit = text_of(json_object_get(entry, "Details"), "GitCommit");
            if (strncmp(commit, out, strcspn(out, "+~-")) == 0 && cbx_release_is_packaged(commit)) {
                snprintf(out, size, "%.60s", commit);
            }
        }
    }
    return out[0] != '\0';
}

static void report_escape(const struct cbx_doctor *doctor, const struct cbx_escape *escape,
                          const char *version)
{
    char advice[160];
    snprintf(advice, sizeof(advice), "install %s %s or newer", escape->component, escape->fixed);
    cbx_doctor_report(doctor, escape->reachable ? CBX_HEALTH_FAIL : CBX_HEALTH_WARN, escape->id,
                      advice, "%s %s: %s", escape->component, version, escape->what);
}

/* Reports a packaged version: its number proves neither "ok" nor "failing". */
static void report_packaged(const struct cbx_doctor *doctor, const char *component,
                            const char *version, const char *ids)
{
    cbx_doctor_report(
        doctor, CBX_HEALTH_WARN, component,
        "packages contain fixes under old numbers, so the number proves nothing: check "
        "whether the packager lists these as fixed",
        "%s; by its number it has%s", version, ids);
}

static void check_version(const struct cbx_doctor *doctor, const char *component,
                          const char *version)
{
    CBX_AUTO_DONE(buf) ids;
    cbx_buf_init(&ids, 4096);
    const struct cbx_escape *escape;
    for (size_t i = 0; (escape = cbx_escape_at(i)) != NULL; i++) {
        if (strcmp(escape->component, component) != 0 || !cbx_escape_applies(escape, version)) {
            continue;
        }
        cbx_buf_printf(&ids, " %s", escape->id);
        if (!cbx_release_is_packaged(version)) {
            report_escape(doctor, escape, version);
        }
    }
    if (ids.len == 0) {
        cbx_doctor_report(doctor, CBX_HEALTH_OK, component, "", "%s; none of the known escapes",
                          version);
    } else if (cbx_release_is_packaged(version)) {
        report_packaged(doctor, component, version, ids.p);
    }
}

static void check_runtime(const struct cbx_doctor *doctor, const json_t *version,
                          const json_t *info, const struct cbx_sandbox_config *config)
{
    const char *used = config->runtime != NULL ? config->runtime : text_of(info, "DefaultRuntime");
    const json_t *runtimes = json_object_get(info, "Runtimes");
    char number[128];
    if (json_object_size(runtimes) > 0 && json_object_get(runtimes, used) == NULL) {
        cbx_doctor_report(
            doctor, CBX_HEALTH_FAIL, "runtime",
            "name a runtime that the engine has, or add it to the engine's configuration",
            "the engine has no runtime '%s'", used);
    } else if (find_version(version, used, number, sizeof(number))) {
        check_version(doctor, used, number);
    } else {
        cbx_doctor_report(doctor, CBX_HEALTH_WARN, "runtime",
                          "run the program with --version and compare it with its advisories",
                          "the engine does not report the version of runtime '%s'", used);
    }
}

static void check_versions(struct cbx_engine *engine, const struct cbx_doctor *doctor,
                           const json_t *version, const json_t *info,
                           const struct cbx_sandbox_config *config)
{
    char number[128];
    bool podman = find_version(version, "Podman Engine", number, sizeof(number));
    cbx_doctor_report(doctor, CBX_HEALTH_OK, "engine", "", "%s %s at %s, API %s",
                      podman ? "Podman" : "Docker", cbx_engine_version(engine),
                      cbx_engine_host(engine), cbx_engine_api(engine));
    if (!podman) {
        check_version(doctor, "engine", cbx_engine_version(engine));
        if (find_version(version, "containerd", number, sizeof(number))) {
            check_version(doctor, "containerd", number);
        }
    }
    check_runtime(doctor, version, info, config);
    const char *kernel = text_of(info, "KernelVersion");
    check_version(doctor, "kernel", kernel[0] != '\0' ? kernel : text_of(version, "KernelVersion"));
}

/* --- capabilities of the engine --------------------------------------------------------------- */

static void check_limits(const struct cbx_doctor *doctor, const json_t *info)
{
    static const struct {
        const char *key, *what;
        bool needed;
    } rows[] = {
        { "MemoryLimit", "memory", true },
        { "PidsLimit", "processes", true },
        { "CpuCfsQuota", "cpu", true },
        { "SwapLimit", "swap", false },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const json_t *value = json_object_get(info, rows[i].key);
        char name[32];
        snprintf(name, sizeof(name), "limit-%s", rows[i].what);
        if (!json_is_true(value)) {
            cbx_doctor_report(doctor, rows[i].needed ? CBX_HEALTH_FAIL : CBX_HEALTH_WARN, name,
                              "enable the controller of the kernel's cgroups",
                              "the engine cannot limit %s", rows[i].what);
        }
    }
    const char *version = text_of(info, "CgroupVersion");
    cbx_doctor_report(doctor, CBX_HEALTH_OK, "cgroups", "", "version %s, driver %s",
                      version[0] != '\0' ? version : "unknown", text_of(info, "CgroupDriver"));
}

/* Finds "name=seccomp,profile=default". */
static bool has_security(const json_t *info, const char *option)
{
    size_t i;
    const json_t *entry;
    json_array_foreach(json_object_get(info, "SecurityOptions"), i, entry)
    {
        const char *text = json_string_value(entry);
        text = text != NULL && strncmp(text, "name=", 5) == 0 ? text + 5 : text;
        if (text != NULL && strncmp(text, option, strlen(option)) == 0) {
            return true;
        }
    }
    return false;
}

static void check_security(const struct cbx_doctor *doctor, const json_t *info,
                           const struct cbx_sandbox_config *config)
{
    if (has_security(info, "seccomp")) {
        cbx_doctor_report(doctor, CBX_HEALTH_OK, "seccomp", "", "the engine has it");
    } else {
        cbx_doctor_report(doctor, CBX_HEALTH_FAIL, "seccomp",
                          "use an engine and a kernel that are built with it",
                          "the engine does not filter system calls");
    }
    bool mapped = has_security(info, "userns") || has_security(info, "rootless");
    if (mapped) {
        cbx_doctor_report(doctor, CBX_HEALTH_OK, "user-namespace", "",
                          "users of a sandbox are mapped to other users of the host");
    } else {
        cbx_doctor_report(doctor, CBX_HEALTH_WARN, "user-namespace",
                          "start the engine with userns-remap or rootless: a program that "
                          "escapes then has no rights on the host",
                          "user 65532 of a sandbox is user 65532 of the host");
    }
    bool labels = has_security(info, "apparmor") || has_security(info, "selinux");
    if (!labels && config->apparmor != NULL) {
        cbx_doctor_report(doctor, CBX_HEALTH_FAIL, "apparmor",
                          "enable AppArmor in the host's kernel, or leave --apparmor out",
                          "profile '%s' is asked for, and the engine has no AppArmor",
                          config->apparmor);
    } else if (labels) {
        cbx_doctor_report(doctor, CBX_HEALTH_OK, "apparmor", "", "the engine has it or SELinux");
    } else {
        char advice[1024] = "a host with AppArmor or SELinux has one more layer";
        if (doctor->apparmor_file != NULL) {
            snprintf(
                advice, sizeof(advice),
                "a host with AppArmor or SELinux has one more layer; '%.900s' is a profile for "
                "AppArmor",
                doctor->apparmor_file);
        }
        cbx_doctor_report(doctor, CBX_HEALTH_WARN, "apparmor", advice,
                          "the host has neither AppArmor nor SELinux");
    }
}

void cbx_doctor_engine(struct cbx_engine *engine, const struct cbx_sandbox_config *config,
                       const struct cbx_doctor *doctor)
{
    CBX_AUTO_JSON version = NULL;
    CBX_AUTO_JSON info = NULL;
    struct cbx_err err = { 0 };
    if (cbx_engine_version_info(engine, &version, &err) != 0 ||
        cbx_engine_info(engine, &info, &err) != 0) {
        cbx_doctor_report(doctor, CBX_HEALTH_FAIL, "engine", "read the engine's log", "%s",
                          cbx_err_full(&err, (char[CBX_ERR_FULL_BYTES]){ 0 }));
        return;
    }
    if (cbx_engine_abilities(engine)->cluster) {
        cbx_doctor_cluster(cbx_engine_version(engine), info, doctor);
        return;
    }
    check_versions(engine, doctor, version, info, config);
    check_limits(doctor, info);
    check_security(doctor, info, config);
}
