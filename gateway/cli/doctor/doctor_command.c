/* SPDX-License-Identifier: MIT
 * `codebox doctor`: a checklist of what the gateway depends on. Each row has the result and a
 * remedy. Changes nothing; its containers run the project's own probe and are removed. */
#include "docker/doctor/disk.h"
#include "docker/doctor/doctor.h"
#include "docker/egress/proxy_config.h"
#include "docker/kernel_names.h"
#include "docker/packages/package_layers.h"
#include "gateway/cli/cli.h"
#include "gateway/cli/doctor/doctor_processes.h"
#include "gateway/cli/image/image_own.h"
#include "gateway/cli/settings/cli_variables.h"
#include "gateway/cli/settings/tls_options.h"
#include "gateway/executor/audit/audit.h"
#include "gateway/executor/audit/audit_reader.h"
#include "gateway/executor/heads/audit_heads.h"
#include "gateway/executor/heads/audit_keeper.h"
#include "gateway/executor/packages/executor_layers.h"
#include "gateway/executor/sessions/instance.h"
#include "gateway/front/http/tls.h"
#include "gateway/ipc/master/reload.h"
#include "gateway/ipc/master/state.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

/* The rows of the checklist so far. */
struct list {
    json_t *checks; /* NULL: each row is printed at once */
    int counts[3];  /* by enum cbx_health */
};

static const char *const words[] = { "failing", "warning", "ok" };

static void take_check(void *context, const struct cbx_check *check)
{
    struct list *list = context;
    list->counts[check->health]++;
    if (list->checks != NULL) {
        json_array_append_new(list->checks, json_pack("{s:s,s:s,s:s,s:s}", "name", check->name,
                                                      "health", words[check->health], "found",
                                                      check->found, "advice", check->advice));
        return;
    }
    printf("%-8s %-18s %s\n", words[check->health], check->name, check->found);
    if (check->advice[0] != '\0') {
        printf("%28s%s\n", "-> ", check->advice);
    }
    fflush(stdout);
}

/* --- this machine ----------------------------------------------------------------------------- */

static void report_variable(void *context, const struct cbx_variable_state *state)
{
    const struct cbx_doctor *doctor = context;
    if (state->problem[0] != '\0') {
        cbx_doctor_report(doctor, CBX_HEALTH_WARN, "variable",
                          "programs do not have it, or the gateway does not start", "'%.*s': %s",
                          CBX_STR_ARG(state->name), state->problem);
    }
}

static void check_policies(const struct cbx_options *options, const struct cbx_doctor *doctor,
                           struct cbx_limits *limits)
{
    struct cbx_flow_config flow = cbx_options_flow(options);
    for (size_t i = 0; i < flow.policy_count; i++) {
        CBX_AUTO(policy) policy = NULL;
        struct cbx_err err = { 0 };
        if (cbx_policy_load(flow.policies[i], &policy, &err) != 0) {
            cbx_doctor_report(doctor, CBX_HEALTH_FAIL, "policy",
                              "'codebox policy check FILE' shows the line", "'%s': %s",
                              flow.policies[i], err.text);
            continue;
        }
        CBX_AUTO_DONE(buf) text;
        cbx_buf_init(&text, 1024);
        cbx_limits_describe(&policy->limits, ", ", &text);
        cbx_doctor_report(doctor, CBX_HEALTH_OK, "policy", "", "'%s': %s", flow.policies[i],
                          text.p);
        cbx_variables_check(policy, report_variable, (void *)(uintptr_t)doctor);
        if (limits->wall_ms == 0) {
            *limits = policy->limits; /* of the first policy, which is the default */
        }
    }
}

static void check_state(const char *path, const struct cbx_doctor *doctor)
{
    struct stat status;
    if (stat(path, &status) < 0) {
        if (errno == ENOENT) {
            cbx_doctor_report(doctor, CBX_HEALTH_OK, "state", "",
                              "'%s': not there yet; the first run makes it", path);
        } else {
            cbx_doctor_report(doctor, CBX_HEALTH_FAIL, "state", "choose another with --state DIR",
                              "'%s': %s", path, strerror(errno));
        }
        return;
    }
    struct cbx_err err = { 0 };
    bool ours = (status.st_mode & 077) == 0 && status.st_uid == geteuid();
    if (cbx_state_make(path, &err) != 0) {
        cbx_doctor_report(doctor, CBX_HEALTH_FAIL, "state", "no gateway starts on it", "%s: %s",
                          err.text, err.detail);
        return;
    }
    cbx_doctor_report(doctor, ours ? CBX_HEALTH_OK : CBX_HEALTH_WARN, "state",
                      ours ? "" : "chown it to the gateway's user and chmod 700",
                      "'%s': mode %03o, user %u", path, (unsigned)status.st_mode & 0777,
                      (unsigned)status.st_uid);
    struct statvfs disk;
    if (statvfs(path, &disk) == 0) {
        unsigned long long mib = (unsigned long long)disk.f_bavail * disk.f_frsize >> 20;
        enum cbx_health health = CBX_HEALTH_OK;
        const char *advice = "";
        if (mib < 1024) {
            health = mib >= 64 ? CBX_HEALTH_WARN : CBX_HEALTH_FAIL;
            advice = "free some: when the audit log is full, nothing runs";
        }
        cbx_doctor_report(doctor, health, "disk", advice, "%llu MiB free for the audit log", mib);
    }
}

/* Checks that the gateway can serve with this certificate, and until when it is valid. */
static void check_tls(const struct cbx_options *options, const struct cbx_doctor *doctor)
{
    CBX_AUTO_DONE(buf) bytes = { 0 };
    struct cbx_err err = { 0 };
    char date[CBX_TLS_DATE_BYTES];
    int64_t days = 0;
    if (!cbx_options_tls(options)) {
        return;
    }
    cbx_buf_init(&bytes, CBX_RELOAD_BYTES_MAX);
    if (cbx_options_tls_read(options, &bytes, &err) != 0 ||
        cbx_tls_use(cbx_buf_str(&bytes), &err) != 0 || !cbx_options_tls_expiry(date, &days)) {
        cbx_doctor_report(doctor, CBX_HEALTH_FAIL, "tls", "no gateway starts with it", "%s",
                          cbx_err_full(&err, (char[CBX_ERR_FULL_BYTES]){ 0 }));
    } else {
        bool soon = days < CBX_TLS_SOON_DAYS;
        cbx_doctor_report(doctor, soon ? CBX_HEALTH_WARN : CBX_HEALTH_OK, "tls",
                          soon ? "replace the files, then send SIGHUP to the gateway" : "",
                          "the certificate expires on %s, in %lld days", date, (long long)days);
    }
    explicit_bzero(bytes.p, bytes.len);
}

/* Reports how many records the syslog server has not received; prints nothing if none was ever
 * sent. */
static void check_syslog(const char *state_dir, uint64_t last, const struct cbx_doctor *doctor)
{
    char text[32] = "";
    CBX_AUTO_FILE f = cbx_state_read(state_dir, CBX_AUDIT_CURSOR);
    if (f == NULL || fread(text, 1, 20, f) != 20) {
        return;
    }
    uint64_t sent = strtoull(text, NULL, 10);
    if (last > sent) {
        cbx_doctor_report(doctor, CBX_HEALTH_WARN, "syslog",
                          "look into the gateway's log; without 'serve --syslog' none is sent",
                          "%" PRIu64 " records are not forwarded yet", last - sent);
    } else {
        cbx_doctor_report(doctor, CBX_HEALTH_OK, "syslog", "", "0 records are not forwarded yet");
    }
}

/* Checks that heads can be kept, and that kept heads belong to the log. Heads that were sent to
 * a syslog daemon are stored by the daemon, so they are not compared. */
static void check_heads(const struct cbx_options *options, struct cbx_audit_heads *heads,
                        const struct cbx_audit_report *report, const struct cbx_doctor *doctor)
{
    static struct cbx_audit_heads_report found;
    struct cbx_err err = { 0 };
    char instance[33] = "";
    const char *place = options->audit_heads;
    if (place == NULL) {
        return;
    }
    if (cbx_audit_keeper_check(place, &err) != 0) {
        cbx_doctor_report(doctor, CBX_HEALTH_FAIL, "audit heads", "no gateway starts with it", "%s",
                          cbx_err_full(&err, (char[CBX_ERR_FULL_BYTES]){ 0 }));
        return;
    }
    if (heads == NULL) {
        cbx_doctor_report(doctor, CBX_HEALTH_OK, "audit heads", "", "'%s' can be used", place);
        return;
    }
    /* without the instance's name the keys show to which log the heads belong */
    (void)cbx_instance_name(options->state_dir, instance);
    if (cbx_audit_heads_judge(heads, instance, report, &found, &err) != 0) {
        cbx_doctor_report(doctor, CBX_HEALTH_WARN, "audit heads",
                          "none of this log is kept there yet, or others are", "%s", err.text);
    } else if (found.finding_count > 0) {
        cbx_doctor_report(doctor, CBX_HEALTH_FAIL, "audit heads",
                          "keep a copy of the log and find out who changed it", "%s",
                          found.findings[0]);
    } else {
        cbx_doctor_report(doctor, CBX_HEALTH_OK, "audit heads", "", "%zu kept heads match the log",
                          found.matched);
    }
}

/* Reads the heads of the folder; NULL if there are none, or they are not in a folder. Call it
 * before the log is read, because the log may grow. */
static struct cbx_audit_heads *read_heads(const char *place)
{
    CBX_AUTO(audit_heads) heads = cbx_audit_heads_new();
    return place != NULL && cbx_audit_heads_read(heads, place, NULL) == 0 ? cbx_steal(&heads)
                                                                          : NULL;
}

static void check_audit(const struct cbx_options *options, const struct cbx_doctor *doctor)
{
    char path[PATH_MAX];
    const char *state_dir = options->state_dir;
    snprintf(path, sizeof(path), "%s/" CBX_AUDIT_FILE, state_dir);
    static struct cbx_audit_report report = { .first = 1 };
    CBX_AUTO(audit_heads) heads = read_heads(options->audit_heads);
    struct cbx_err err = { 0 };
    if (access(path, F_OK) < 0 && errno == ENOENT) {
        cbx_doctor_report(doctor, CBX_HEALTH_OK, "audit", "", "no log yet");
    } else if (cbx_audit_verify_heads(state_dir, NULL, heads, &report, &err) != 0) {
        cbx_doctor_report(doctor, CBX_HEALTH_FAIL, "audit", "run this as the gateway's user", "%s",
                          err.text);
    } else if (report.line != 0) {
        cbx_doctor_report(doctor, CBX_HEALTH_FAIL, "audit",
                          "keep a copy of the log and find out who changed it",
                          "%s:%" PRIu64 ": %s", report.file, report.line, report.problem);
    } else if (report.unsigned_count > 0) {
        cbx_doctor_report(doctor, CBX_HEALTH_WARN, "audit",
                          "'codebox audit verify' lists them, 'codebox audit acknowledge' records "
                          "what explains them",
                          "%" PRIu64 " records, unbroken, but %zu ranges of them were never signed",
                          report.records, report.unsigned_count);
    } else {
        cbx_doctor_report(doctor, CBX_HEALTH_OK, "audit", "", "%" PRIu64 " records, unbroken",
                          report.records);
        check_syslog(state_dir, report.first + report.records - 1, doctor);
    }
    check_heads(options, heads, &report, doctor);
}

/* Finds the AppArmor profile, in the tree of the script that builds the images; false if it is
 * missing. `out` has room for PATH_MAX bytes. */
static bool find_apparmor_file(char *out)
{
    char script[PATH_MAX], supervisor[PATH_MAX], path[PATH_MAX + 64];
    if (!cbx_image_script(script, supervisor)) {
        return false;
    }
    snprintf(path, sizeof(path), "%s/../apparmor/codebox-sandbox", dirname(script));
    return realpath(path, out) != NULL;
}

/* --- images ----------------------------------------------------------------------------------- */

/* Asks the build script for the fingerprint that a current image has as its label; false if
 * there is no script, or it cannot run. */
static bool ask_fingerprint(const char *image, char *out, size_t size)
{
    char script[PATH_MAX], supervisor[PATH_MAX];
    int ends[2];
    if (!cbx_image_script(script, supervisor) || pipe(ends) < 0) {
        return false;
    }
    pid_t pid = fork();
    if (pid == 0) {
        setenv("CODEBOX_SUPERVISOR", supervisor, 1);
        dup2(ends[1], STDOUT_FILENO);
        /* A script that cannot run is one finding; its messages must not stand between other
         * findings. */
        int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
        dup2(nowhere, STDERR_FILENO);
        closefrom(3);
        execl(script, script, "--fingerprint", image, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    size_t len = 0;
    for (ssize_t n = 1; pid > 0 && n > 0 && len + 1 < size; len += n > 0 ? (size_t)n : 0) {
        n = read(ends[0], out + len, size - 1 - len);
    }
    close(ends[0]);
    out[len] = '\0';
    out[strcspn(out, "\n")] = '\0';
    int status = 1;
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return status == 0 && out[0] != '\0';
}

/* Returns true if the image exists, current or not. */
static bool check_image(struct cbx_engine *engine, const char *kernel, const char *variant,
                        const struct cbx_doctor *doctor)
{
    char name[CBX_IMAGE_NAME_BYTES], built[CBX_IMAGE_NAME_BYTES], label[128], want[128];
    const char *build =
        variant != NULL ? "codebox image build --images small" : "codebox image build";
    struct cbx_err err = { 0 };
    cbx_image_name(NULL, kernel, variant, name);
    if (cbx_engine_image_label(engine, name, "codebox.fingerprint", label, sizeof(label), &err) !=
        0) {
        cbx_doctor_report(doctor, CBX_HEALTH_FAIL, "image", build, "%s: %s", name,
                          err.code == CBX_ENOTFOUND
                              ? "missing"
                              : cbx_err_full(&err, (char[CBX_ERR_FULL_BYTES]){ 0 }));
        return false;
    }
    cbx_image_variant(kernel, variant, built);
    bool known = ask_fingerprint(built, want, sizeof(want));
    if (known && strcmp(want, label) == 0) {
        cbx_doctor_report(doctor, CBX_HEALTH_OK, "image", "", "%s: current", name);
    } else {
        cbx_doctor_report(doctor, CBX_HEALTH_WARN, "image", build, "%s: %s", name,
                          known ? "not made from these sources"
                                : "there; whether it is current is not known");
    }
    return true;
}

/* Without this image sandboxes run, but no package can be installed for them. */
static void check_installer(struct cbx_engine *engine, const char *kernel, const char *variant,
                            const struct cbx_doctor *doctor)
{
    char name[CBX_IMAGE_NAME_BYTES], image[CBX_IMAGE_NAME_BYTES], id[CBX_IMAGE_ID_CHARS + 1],
        base[CBX_IMAGE_ID_CHARS + 1];
    const char *build =
                   variant != NULL ? "codebox image build --images small" : "codebox image build",
               *made_from;
    if (!cbx_installer_image(NULL, kernel, variant, name, &made_from) ||
        strcmp(made_from, kernel) != 0) {
        return;
    }
    cbx_image_name(NULL, kernel, variant, image);
    bool there =
        cbx_engine_image_label(engine, name, CBX_LABEL_BASE, base, sizeof(base), NULL) == 0;
    if (there && cbx_engine_image_id(engine, image, id, NULL) == 0 && strcmp(id, base) == 0) {
        cbx_doctor_report(doctor, CBX_HEALTH_OK, "image", "", "%s: installs packages", name);
    } else {
        cbx_doctor_report(doctor, CBX_HEALTH_WARN, "image", build, "%s: %s", name,
                          there ? "made for another image, so no package can be installed"
                                : "missing, so no package can be installed");
    }
}

/* Without this image sandboxes run, but not under a policy that grants hosts. */
static void check_proxy(struct cbx_engine *engine, const struct cbx_doctor *doctor)
{
    char name[CBX_IMAGE_NAME_BYTES], label[128], want[128];
    cbx_image_name(NULL, CBX_PROXY_IMAGE, NULL, name);
    bool there = cbx_engine_image_label(engine, name, "codebox.fingerprint", label, sizeof(label),
                                        NULL) == 0;
    bool known = there && ask_fingerprint(CBX_PROXY_IMAGE, want, sizeof(want));
    const char *state = "there; whether it is current is not known";
    if (known && strcmp(want, label) == 0) {
        cbx_doctor_report(doctor, CBX_HEALTH_OK, "image", "", "%s: current", name);
        return;
    }
    if (known) {
        state = "not made from these sources";
    } else if (!there) {
        state = "missing, so no program reaches a host that its policy grants";
    }
    cbx_doctor_report(doctor, CBX_HEALTH_WARN, "image", "codebox image build", "%s: %s", name,
                      state);
}

/* Reports the file system on which layers of packages are stored. */
static void check_disk(struct cbx_engine *engine, const struct cbx_sandbox_config *config,
                       const char *kernel, const struct cbx_doctor *doctor)
{
    enum { MIB_SHIFT = 20 };
    struct cbx_disk disk;
    struct cbx_err err = { 0 };
    if (cbx_disk_look(engine, config, kernel, &disk, &err) != 0) {
        cbx_doctor_report(
            doctor, CBX_HEALTH_WARN, "engine disk",
            "set --layers-max-size to what the disk has room for",
            "the free space of the engine's disk is not known: all layers of packages may have %d "
            "GiB, and installs do not look at it: %s",
            CBX_LAYERS_UNKNOWN_GIB, cbx_err_full(&err, (char[CBX_ERR_FULL_BYTES]){ 0 }));
        return;
    }
    cbx_doctor_report(
        doctor, CBX_HEALTH_OK, "engine disk", "", "the engine's disk has %lld MiB free of %lld, %s",
        (long long)(disk.available >> MIB_SHIFT), (long long)(disk.total >> MIB_SHIFT),
        disk.by_container ? "as a container sees it" : "as this host sees it");
}

static void check_engine(const struct cbx_options *options, const struct cbx_limits *limits,
                         const struct cbx_doctor *doctor)
{
    CBX_AUTO(engine) engine = NULL;
    struct cbx_err err = { 0 };
    if (cbx_engine_new(options->docker_host, &engine, &err) != 0) {
        cbx_doctor_report(doctor, CBX_HEALTH_FAIL, "engine",
                          "start an engine (Debian: apt-get install docker.io), or name one with "
                          "--docker-host",
                          "%s", cbx_err_full(&err, (char[CBX_ERR_FULL_BYTES]){ 0 }));
        return;
    }
    struct cbx_sandbox_config config = { .instance = "doctor",
                                         .runtime = options->runtime,
                                         .gvisor_runtime = options->gvisor_runtime,
                                         .apparmor = options->apparmor,
                                         .variant = cbx_options_variant(options) };
    cbx_doctor_engine(engine, &config, doctor);
    struct cbx_limits in_container = *limits;
    in_container.isolation = CBX_ISOLATION_CONTAINER;
    bool gvisor = options->gvisor_runtime != NULL;
    const char *kernel;
    bool cluster = cbx_engine_abilities(engine)->cluster; /* no proxy, and no disk of its own */
    bool installs = !cluster || cbx_engine_abilities(engine)->makes_layers;
    if (!cluster) {
        check_proxy(engine, doctor);
        check_disk(engine, &config, cbx_kernel_at(0), doctor);
    }
    for (size_t i = 0; (kernel = cbx_kernel_at(i)) != NULL; i++) {
        if (check_image(engine, kernel, config.variant, doctor)) {
            if (installs) {
                check_installer(engine, kernel, config.variant, doctor);
            }
            cbx_doctor_probe(engine, &config, kernel, &in_container, doctor, NULL);
            if (gvisor) { /* any image will do: the runtime's arguments are the same for all */
                cbx_doctor_gvisor(engine, &config, kernel, limits, doctor);
                gvisor = false;
            }
        }
    }
    cbx_image_own_probe(engine, &config, NULL, &in_container, doctor);
}

static int print_summary(struct list *list)
{
    const int *counts = list->counts;
    if (list->checks == NULL) {
        printf("\n%d ok, %d warnings, %d failing\n", counts[CBX_HEALTH_OK], counts[CBX_HEALTH_WARN],
               counts[CBX_HEALTH_FAIL]);
    } else {
        CBX_AUTO_JSON all =
            json_pack("{s:O,s:i,s:i,s:i}", "checks", list->checks, "ok", counts[CBX_HEALTH_OK],
                      "warning", counts[CBX_HEALTH_WARN], "failing", counts[CBX_HEALTH_FAIL]);
        json_dumpf(all, stdout, JSON_INDENT(2));
        putchar('\n');
    }
    json_decref(list->checks);
    return counts[CBX_HEALTH_FAIL] > 0 ? 1 : 0;
}

int cbx_doctor_command(const struct cbx_options *options)
{
    const char *format = options->format != NULL ? options->format : "text";
    if (options->arguments.count > 0 ||
        (strcmp(format, "text") != 0 && strcmp(format, "json") != 0)) {
        fprintf(stderr, "codebox: doctor takes options only, and --format text or json\n");
        return 2;
    }
    struct list list = { .checks = strcmp(format, "json") == 0 ? json_array() : NULL };
    char apparmor_file[PATH_MAX];
    struct cbx_doctor doctor = { .take = take_check,
                                 .context = &list,
                                 .apparmor_file =
                                     find_apparmor_file(apparmor_file) ? apparmor_file : NULL };
    struct cbx_limits limits = { 0 };
    check_policies(options, &doctor, &limits);
    check_state(options->state_dir, &doctor);
    check_audit(options, &doctor);
    check_tls(options, &doctor);
    cbx_doctor_processes(&doctor, options->docker_host);
    if (limits.wall_ms > 0) {
        check_engine(options, &limits, &doctor);
    }
    return print_summary(&list);
}
