/* SPDX-License-Identifier: MIT
 * Starts the processes of a gateway. */
#include "gateway/cli/serve/start.h"

#include "docker/kernel_names.h"
#include "gateway/cli/serve/cli_reload.h"
#include "gateway/cli/serve/cluster_promises.h"
#include "gateway/cli/serve/steps.h"
#include "gateway/cli/settings/cli_variables.h"
#include "gateway/cli/settings/database_options.h"
#include "gateway/cli/settings/identity_options.h"
#include "gateway/cli/settings/network_options.h"
#include "gateway/cli/settings/replica_options.h"
#include "gateway/cli/settings/tls_options.h"
#include "gateway/database/database_process.h"
#include "gateway/executor/heads/audit_keeper.h"
#include "gateway/executor/sessions/instance_seeds.h"
#include "gateway/forwarder/forwarder.h"
#include "gateway/ipc/jail/jail.h"
#include "gateway/ipc/master/master.h"
#include "gateway/ipc/seal/mount_requests.h"
#include "gateway/ipc/wire/descriptors.h"
#include "gateway/keys/fetcher.h"
#include "gateway/replicas/replica_process.h"
#include "gateway/worker/worker.h"
#include "policies/packages.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The configuration of the forked processes. The master borrows it for its whole life. */
struct setup {
    struct cbx_flow_config config;
    struct cbx_policies policies;
    struct cbx_forwarder_config forwarder;
    struct cbx_problems *problems; /* of cbx_flow_check, which makes nothing; NULL in a start */
    bool has_database;             /* results are stored in a database of a server */
};

static void run_zygote(int control, int secrets_fd, const void *context)
{
    const struct setup *setup = context;
    cbx_zygote_main(control, secrets_fd, &setup->policies);
}

static void run_executor(const struct cbx_executor_channels *channels, const void *context)
{
    const struct setup *setup = context;
    struct cbx_executor_config config = setup->config.executor;
    config.instances = cbx_reload_instances();
    config.replica = setup->config.options != NULL ? setup->config.options->replica : NULL;
    cbx_executor_main(channels, &config);
}

static void run_reader(int channel, const void *context)
{
    const struct setup *setup = context;
    cbx_forwarder_read(channel, &setup->forwarder);
}

static void run_sender(int channel, const void *context)
{
    const struct setup *setup = context;
    cbx_forwarder_send(channel, &setup->forwarder);
}

static void run_keys(const int channels[], const void *context)
{
    const struct setup *setup = context;
    struct cbx_key_source sources[CBX_KEY_SOURCES_MAX];
    size_t count = cbx_identity_sources(setup->config.identity, sources);
    cbx_keys_main(channels, sources, count);
}

static void run_replicas(int channel, const void *context)
{
    const struct setup *setup = context;
    cbx_replicas_main(channel,
                      &(struct cbx_replicas_config){ .replicas = setup->config.replicas,
                                                     .listening = setup->config.replicas_fd,
                                                     .pem = cbx_reload_replicas_pem() });
}

static void run_database(int channel, const void *context)
{
    (void)context;
    cbx_database_main(channel, cbx_reload_database());
}

/* The profiles of the pool that exist before the first request. */
static void add_profiles(struct setup *setup)
{
    const struct cbx_policy *policy = setup->policies.items[0];
    struct cbx_executor_config *executor = &setup->config.executor;
    if (executor->pool.min == 0) {
        return;
    }
    for (size_t i = 0; i < setup->config.prewarm_count; i++) {
        executor->profiles[executor->profile_count++] =
            (struct cbx_profile){ .kernel = setup->config.prewarm[i], .limits = policy->limits };
    }
}

/* Runs before the front reads a byte of a client. */
static int confine_front(const struct cbx_flow_config *config, struct cbx_err *err)
{
    json_object_seed(0); /* OpenSSL reads /dev/urandom */
    struct cbx_grant grant = config->front_folder;
    bool granted = grant.path != NULL;
    /* the working directory of such a front is the folder already */
    grant.path = config->front_role == CBX_ROLE_FRONT ? "." : grant.path;
    int failed = cbx_files_confine(&grant, granted, false, err);
    if (failed) {
        return failed;
    }
    return cbx_jail_front(err);
}

/* Reads the certificates for installers, which stay for the life of the process. */
static int read_package_ca(void *context, struct cbx_err *err)
{
    static char text[CBX_CA_BUNDLE_BYTES_MAX + 1];
    struct setup *setup = context;
    const char *path = setup->config.package_ca_file;
    if (path == NULL) {
        return 0;
    }
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return cbx_fail(err, CBX_EINVAL, "--package-ca: '%s' cannot be opened: %s", path,
                        strerror(errno));
    }
    size_t len = fread(text, 1, sizeof(text), file);
    fclose(file);
    if (len > CBX_CA_BUNDLE_BYTES_MAX || memchr(text, '\0', len) != NULL ||
        strstr(text, "-----BEGIN CERTIFICATE-----") == NULL) {
        return cbx_fail(
            err, CBX_EINVAL,
            "--package-ca: '%s' has no certificates, allowed is a PEM file of at most %d bytes",
            path, CBX_CA_BUNDLE_BYTES_MAX);
    }
    setup->config.executor.package_ca = text;
    return 0;
}

static int read_ranges(void *context, struct cbx_err *err)
{
    struct setup *setup = context;
    return cbx_network_ranges(setup->config.egress_ranges, setup->config.egress_range_count,
                              &setup->config.executor.network, err);
}

/* For a check: loads each policy separately, so that every policy that fails to load is
 * reported. The last failure is *err. */
static int report_policies(const struct setup *setup, enum cbx_modes modes, struct cbx_err *err)
{
    const struct cbx_flow_config *config = &setup->config;
    bool any = false;
    for (size_t i = 0; i < config->policy_count; i++) {
        struct cbx_policies loaded = { 0 };
        struct cbx_err own = { 0 };
        if (cbx_policies_load(&config->policies[i], 1, modes, &loaded, &own) != 0) {
            cbx_wrap(&own, "policy '%s'", config->policies[i]);
            if (any) {
                cbx_step_place("policy", config->options, err);
                cbx_problems_add(setup->problems, err);
            }
            *err = own;
            any = true;
        }
        cbx_policies_done(&loaded);
    }
    return err->code;
}

static int load_policies(void *context, struct cbx_err *err)
{
    struct setup *setup = context;
    const struct cbx_flow_config *config = &setup->config;
    enum cbx_modes modes = config->identity != NULL ? CBX_MODES_ALL : CBX_MODES_ENFORCED;
    int failed =
        cbx_policies_load(config->policies, config->policy_count, modes, &setup->policies, err);
    if (failed && setup->problems != NULL) {
        return report_policies(setup, modes, err);
    }
    return failed;
}

/* The caller reports the last problem. */
static int check_engine(void *context, struct cbx_err *err)
{
    const struct setup *setup = context;
    static struct cbx_problems found;
    found.count = 0;
    int failed = cbx_cluster_promises_check(&setup->policies, &setup->config.executor, &found, err);
    for (size_t i = 0; i + 1 < found.count; i++) {
        if (setup->problems != NULL) {
            cbx_step_place("engine", setup->config.options, &found.items[i]);
            cbx_problems_add(setup->problems, &found.items[i]);
        } else {
            cbx_log(CBX_LOG_ERROR, "%s", found.items[i].text);
        }
    }
    return failed;
}

/* Loads the policies that principals and grants name. */
static int check_principals(void *context, struct cbx_err *err)
{
    const struct setup *setup = context;
    const struct cbx_options *options = setup->config.options;
    if (options != NULL && setup->policies.count > 0) {
        return cbx_options_check_principals(options, &setup->policies, err);
    }
    return 0;
}

static int prepare_forwarder(void *context, struct cbx_err *err)
{
    struct setup *setup = context;
    const struct cbx_flow_config *config = &setup->config;
    if (config->syslog == NULL) {
        return 0;
    }
    int failed =
        cbx_forwarder_read_options(config->syslog, config->syslog_ca, &setup->forwarder, err);
    if (failed || setup->problems != NULL) {
        return failed;
    }
    return cbx_forwarder_prepare(config->executor.state_dir, &setup->forwarder, err);
}

/* An unusable place is reported now. The state directory of `mcp` is made by its first call: its
 * executor opens the file. */
static int check_heads(void *context, struct cbx_err *err)
{
    const struct setup *setup = context;
    const struct cbx_executor_config *executor = &setup->config.executor;
    if (executor->audit_heads == NULL) {
        return 0;
    }
    if (setup->problems != NULL || !executor->persistent) {
        return cbx_audit_keeper_check(executor->audit_heads, err);
    }
    uint8_t seed[CBX_INSTANCE_SEED_BYTES];
    char name[33];
    CBX_AUTO(audit_keeper) keeper = NULL;
    int failed = cbx_instance_seed(executor->state_dir, seed, err);
    if (failed) {
        return failed;
    }
    cbx_instance_name_of(seed, name);
    return cbx_audit_keeper_new(executor->audit_heads, name, CBX_AUDIT_KEEP_MS, &keeper, err);
}

/* A mistake in the option is reported now, not in the reply to a call. */
static int check_mounts(void *context, struct cbx_err *err)
{
    const struct setup *setup = context;
    const json_t *mounts = setup->config.mounts;
    if (setup->policies.count == 0) {
        return 0; /* of a check: policies did not load */
    }
    const struct cbx_policy *policy = setup->policies.items[0];
    int failed = cbx_mounts_check(policy, mounts, err);
    if (failed) {
        char why[CBX_ERR_DETAIL_BYTES];
        snprintf(why, sizeof(why), "%.200s%s", err->detail, err->detail[0] != '\0' ? "; " : "");
        cbx_wrap(err, "--mount");
        cbx_err_detail(
            err,
            "%spolicy '%.*s' decides; a policy that extends it can have 'mounts: {allow: "
            "[{host: DIR, mode: ro}], container: [DIR]}'; 'codebox policy check-mount "
            "HOST:CONTAINER:MODE' tries it",
            why, CBX_STR_SHOWN(policy->name));
        return failed;
    }
    for (size_t i = 0; i < json_array_size(mounts) && !failed; i++) {
        struct cbx_mount_request request;
        struct stat status;
        failed = cbx_mount_parse(cbx_json_str(json_array_get(mounts, i)), &request, err);
        if (!failed && (stat(request.host, &status) < 0 || !S_ISDIR(status.st_mode))) {
            failed = cbx_fail(err, CBX_EINVAL, "--mount: '%.200s' is no folder of this host",
                              request.host);
        }
    }
    return failed;
}

/* Makes a secret a part that one process gets first, and cleanses the buffer. An absent or empty
 * one is none. */
static int pass_secret(const char *name, enum cbx_reload_process process, struct cbx_buf *secret,
                       struct cbx_buf *out, struct cbx_err *err)
{
    struct cbx_reload_part part = { .processes = process };
    if (secret == NULL || secret->len == 0) {
        return 0;
    }
    snprintf(part.name, sizeof(part.name), "%s", name);
    part.bytes = cbx_buf_str(secret);
    int failed = cbx_reload_add(out, &part, err);
    explicit_bzero(secret->p, secret->len);
    cbx_buf_reset(secret);
    return failed;
}

static int collect_variables(void *context, struct cbx_err *err)
{
    struct setup *setup = context;
    const struct cbx_flow_config *config = &setup->config;
    return cbx_variables_collect(&setup->policies, config->pass_env, config->pass_env_count,
                                 &setup->config.executor.variables_fd, err);
}

/* Reads and checks what the processes need, before they exist. */
static const struct cbx_step steps[] = {
    { "package-ca", read_package_ca }, { "egress-range", read_ranges },
    { "policy", load_policies },       { "engine", check_engine },
    { NULL, check_principals },        { "syslog", prepare_forwarder },
    { "audit-heads", check_heads },    { "mount", check_mounts },
    { "pass-env", collect_variables },
};
enum { STEPS = sizeof(steps) / sizeof(steps[0]) };

/* On failure nothing remains allocated. */
static int prepare(const struct cbx_flow_config *config, struct setup *setup, struct cbx_err *err)
{
    struct cbx_executor_config *executor = &setup->config.executor;
    int failed = cbx_steps_run(steps, STEPS, setup, config->options, NULL, err);
    if (failed) {
        cbx_policies_done(&setup->policies);
        return failed;
    }
    setup->policies.keep_code = config->keep_code;
    executor->audit_forwarded = config->syslog != NULL;
    executor->policies = &setup->policies;
    executor->identity = config->identity;
    add_profiles(setup);
    return 0;
}

void cbx_flow_check(const struct cbx_flow_config *config, struct cbx_problems *problems)
{
    struct setup setup = { .config = *config, .problems = problems };
    struct cbx_err err;
    cbx_steps_run(steps, STEPS, &setup, config->options, problems, &err);
    if (setup.config.executor.variables_fd > 0) {
        close(setup.config.executor.variables_fd);
    }
    cbx_policies_done(&setup.policies);
}

/* Moves the secrets of the configuration into the set of parts for the first processes. */
static int pass_secrets(const struct cbx_flow_config *config, struct cbx_buf *first,
                        struct cbx_err *err)
{
    enum { FIRST_BYTES = 1024 * 1024 };
    const struct {
        const char *name;
        enum cbx_reload_process process;
        struct cbx_buf *secret;
    } secrets[] = {
        { CBX_TLS_PART, CBX_RELOAD_FRONT, config->certificate },
        { CBX_REPLICAS_PART, CBX_RELOAD_REPLICAS, config->replicas_pem },
        { CBX_DATABASE_PART, CBX_RELOAD_DATABASE, config->database },
        { CBX_INSTANCES_PART, CBX_RELOAD_EXECUTOR, config->instances },
    };
    cbx_buf_reserve(first, FIRST_BYTES); /* growth would leave copies of secrets behind */
    for (size_t i = 0; i < sizeof(secrets) / sizeof(secrets[0]); i++) {
        int failed =
            pass_secret(secrets[i].name, secrets[i].process, secrets[i].secret, first, err);
        if (failed) {
            return failed;
        }
    }
    return 0;
}

/* The processes that this configuration needs; borrows all of it. */
static struct cbx_master_config describe_processes(const struct setup *setup,
                                                   struct cbx_reload_context *reloads,
                                                   struct cbx_buf *first)
{
    const struct cbx_flow_config *config = &setup->config;
    struct cbx_key_source sources[CBX_KEY_SOURCES_MAX];
    struct cbx_master_config master = {
        .reload = { .first = first,
                    .load = config->options != NULL ? cbx_reload_load : NULL,
                    .adopt = cbx_reload_adopt,
                    .context = reloads },
        .zygote = run_zygote,
        .executor = run_executor,
        .fetches = cbx_identity_sources(config->identity, sources) > 0,
        .context = setup,
        .respawn_front = config->executor.persistent,
        .front_fds = { config->front_fd, config->socket_fd },
        .identity_fd = cbx_identity_fd(config->identity),
        .executor_fd = config->executor.variables_fd,
        .front_role = config->front_role,
        .front_root = config->front_role == CBX_ROLE_FRONT ? config->front_folder.path : NULL
    };
    if (config->syslog != NULL) {
        master.reader = run_reader;
        master.sender = run_sender;
    }
    if (config->identity != NULL) {
        master.keys = run_keys;
    }
    if (config->replicas != NULL) {
        master.helpers[CBX_HELPER_LINKS].run = run_replicas;
        master.helpers[CBX_HELPER_LINKS].fd = config->replicas_fd;
    }
    if (setup->has_database) {
        master.helpers[CBX_HELPER_DATABASE].run = run_database;
    }
    return master;
}

/* The flow of a front over its channels. */
static struct cbx_flow make_flow(const struct setup *setup,
                                 const struct cbx_master_sockets *sockets)
{
    enum { ANALYSIS_TIMEOUT_MS = 15000 };
    const struct cbx_flow_config *config = &setup->config;
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    int workers = config->workers > 0 ? config->workers : (int)(processors > 0 ? processors : 1);
    int timeout_ms =
        config->analysis_timeout_ms > 0 ? config->analysis_timeout_ms : ANALYSIS_TIMEOUT_MS;
    return (struct cbx_flow){
        .policies = setup->policies,
        .executor = sockets->executor,
        .reload = sockets->reload,
        .keys = sockets->keys,
        .replicas = sockets->helpers[CBX_HELPER_LINKS],
        .database = sockets->helpers[CBX_HELPER_DATABASE],
        .small_images = config->executor.variant != NULL &&
                        strcmp(config->executor.variant, CBX_VARIANT_SMALL) == 0,
        .mounts = config->mounts,
        .identity = config->identity,
        .judge = cbx_judge_new(sockets->zygote, workers, timeout_ms),
    };
}

int cbx_flow_start(const struct cbx_flow_config *config, struct cbx_flow *out, struct cbx_err *err)
{
    static struct setup setup;
    static struct cbx_reload_context reloads;
    setup = (struct setup){ .config = *config,
                            .has_database = config->database != NULL && config->database->len > 0 };
    struct cbx_master_sockets sockets;
    CBX_AUTO_DONE(buf) first;
    cbx_buf_init(&first, CBX_RELOAD_BYTES_MAX);
    cbx_descriptors_raise();
    int failed = pass_secrets(config, &first, err);
    if (failed) {
        return failed;
    }
    failed = prepare(config, &setup, err);
    if (failed) {
        return failed;
    }
    reloads = (struct cbx_reload_context){ .options = config->options,
                                           .policies = &setup.policies,
                                           .identity = config->identity };
    const struct cbx_master_config master = describe_processes(&setup, &reloads, &first);
    failed = cbx_master_fork(&master, &sockets, err);
    if (!failed) {
        failed = confine_front(config, err);
    }
    if (failed) {
        cbx_policies_done(&setup.policies);
        return failed;
    }
    *out = make_flow(&setup, &sockets);
    return 0;
}
