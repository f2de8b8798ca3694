/* SPDX-License-Identifier: MIT
 * Loads the configuration of a running gateway anew. */
#include "gateway/cli/serve/cli_reload.h"

#include "gateway/cli/cli.h"
#include "gateway/cli/serve/cluster_promises.h"
#include "gateway/cli/serve/steps.h"
#include "gateway/cli/settings/cli_variables.h"
#include "gateway/cli/settings/database_options.h"
#include "gateway/cli/settings/identity_options.h"
#include "gateway/cli/settings/replica_options.h"
#include "gateway/cli/settings/tls_options.h"
#include "gateway/executor/sessions/instance_seeds.h"
#include "gateway/front/http/tls.h"
#include "gateway/identity/tokens.h"

#include <limits.h>
#include <string.h>

/* --- what can be loaded again: the functions of reloadables.def ------------------------------- */

struct outcome {
    bool changed;
    unsigned processes; /* processes that get the part */
};

/* A reload cannot switch between HTTP and HTTPS. */
static int load_certificate(const struct cbx_reload_context *c, const struct cbx_options *options,
                            struct cbx_buf *out, struct outcome *outcome, struct cbx_err *err)
{
    if (c->certificate.len == 0 || !cbx_options_tls(options)) {
        cbx_buf_add(out, c->certificate);
        return 0;
    }
    int failed = cbx_options_tls_read(options, out, err);
    outcome->changed = !failed && !cbx_str_equal(c->certificate, cbx_buf_str(out));
    return failed;
}

static int adopt_certificate(struct cbx_reload_context *c, struct cbx_str bytes,
                             struct cbx_err *err)
{
    int failed = 0;
    if (bytes.len > 0) {
        failed = cbx_tls_use(bytes, err);
    }
    c->certificate = failed ? c->certificate : bytes;
    return failed;
}

static struct cbx_str replicas_pem; /* the part in use; empty = none, or another process has it */

struct cbx_str cbx_reload_replicas_pem(void)
{
    return replicas_pem;
}

/* A reload reads the files again. The names of replicas are in identifiers: they stay. */
static int load_replicas(const struct cbx_reload_context *c, const struct cbx_options *options,
                         struct cbx_buf *out, struct outcome *outcome, struct cbx_err *err)
{
    if (replicas_pem.len == 0 || options->peer_certificate == NULL) {
        cbx_buf_add(out, replicas_pem);
        return 0;
    }
    struct cbx_options named = *options;
    named.replica = c->options->replica;
    int failed = cbx_options_replicas_read(&named, out, err);
    outcome->changed = !failed && !cbx_str_equal(replicas_pem, cbx_buf_str(out));
    return failed;
}

static int adopt_replicas(struct cbx_reload_context *c, struct cbx_str bytes, struct cbx_err *err)
{
    (void)c;
    (void)err;
    replicas_pem = bytes;
    return 0;
}

static struct cbx_str database_target; /* as replicas_pem */

struct cbx_str cbx_reload_database(void)
{
    return database_target;
}

/* A reload reads the password and the authorities again, for the database of the start. */
static int load_database(const struct cbx_reload_context *c, const struct cbx_options *options,
                         struct cbx_buf *out, struct outcome *outcome, struct cbx_err *err)
{
    if (database_target.len == 0) {
        return 0;
    }
    struct cbx_options named = *options;
    named.store = c->options->store;
    named.replica = c->options->replica;
    int failed = cbx_options_database_read(&named, out, err);
    outcome->changed = !failed && !cbx_str_equal(database_target, cbx_buf_str(out));
    return failed;
}

static int adopt_database(struct cbx_reload_context *c, struct cbx_str bytes, struct cbx_err *err)
{
    (void)c;
    (void)err;
    database_target = bytes;
    return 0;
}

static struct cbx_str instance_seeds; /* as replicas_pem */

struct cbx_str cbx_reload_instances(void)
{
    return instance_seeds;
}

/* The secret is that of the start: another one would be of other sandboxes. */
static int load_instances(const struct cbx_reload_context *c, const struct cbx_options *options,
                          struct cbx_buf *out, struct outcome *outcome, struct cbx_err *err)
{
    (void)c;
    (void)options;
    (void)outcome;
    (void)err;
    cbx_buf_add(out, instance_seeds);
    return 0;
}

static int adopt_instances(struct cbx_reload_context *c, struct cbx_str bytes, struct cbx_err *err)
{
    (void)c;
    (void)err;
    instance_seeds = bytes;
    return 0;
}

/* The engine is that of the start. The caller logs the last problem. */
static int check_engine(const struct cbx_reload_context *c, const struct cbx_policies *loaded,
                        struct cbx_err *err)
{
    const struct cbx_flow_config config = cbx_options_flow(c->options);
    static struct cbx_problems found;
    int failed = cbx_cluster_promises_check(loaded, &config.executor, &found, err);
    for (size_t i = 0; i + 1 < found.count; i++) {
        cbx_log(CBX_LOG_ERROR, "reload: %s", found.items[i].text);
    }
    return failed;
}

static int load_policies(const struct cbx_reload_context *c, const struct cbx_options *options,
                         struct cbx_buf *out, struct outcome *outcome, struct cbx_err *err)
{
    const struct cbx_flow_config config = cbx_options_flow(options);
    struct cbx_policies loaded = { 0 }; /* freed with the process */
    int failed =
        cbx_policies_load(config.policies, config.policy_count,
                          c->identity != NULL ? CBX_MODES_ALL : CBX_MODES_ENFORCED, &loaded, err);
    if (failed) {
        return failed;
    }
    failed = cbx_variables_grant_again(c->policies, &loaded, err);
    if (failed) {
        return failed;
    }
    failed = cbx_options_check_principals(options, &loaded, err);
    if (failed) {
        return cbx_step_place(NULL, options, err);
    }
    failed = check_engine(c, &loaded, err);
    if (failed) {
        return failed;
    }
    outcome->changed = !cbx_policies_equal(c->policies, &loaded);
    return cbx_policies_write(&loaded, out, err);
}

static int adopt_policies(struct cbx_reload_context *c, struct cbx_str bytes, struct cbx_err *err)
{
    struct cbx_policies loaded;
    int failed = cbx_policies_read(bytes, &loaded, err);
    if (!failed) {
        cbx_policies_done(c->policies);
        *c->policies = loaded;
    }
    return failed;
}

/* A reload cannot switch authentication of callers on or off. */
static int load_identity(const struct cbx_reload_context *c, const struct cbx_options *options,
                         struct cbx_buf *out, struct outcome *outcome, struct cbx_err *err)
{
    struct cbx_identity_config config;
    char folder[PATH_MAX];
    CBX_AUTO_DONE(buf) tokens;
    cbx_buf_init(&tokens, CBX_TOKENS_FILE_MAX);
    int failed = cbx_options_tokens_read(options, &tokens, err);
    if (failed) {
        return cbx_step_place("tokens", options, err);
    }
    cbx_options_identity_config(options, &tokens, folder, &config);
    failed = cbx_identity_load(&config, out, err);
    outcome->changed = !failed && c->identity != NULL &&
                       !cbx_str_equal(cbx_identity_bytes(c->identity), cbx_buf_str(out));
    if (!failed && (c->identity == NULL || !cbx_identity_fetches(cbx_buf_str(out)))) {
        outcome->processes &= ~(unsigned)CBX_RELOAD_KEYS;
    }
    bool configured =
        config.principals != NULL || config.issuers != NULL || config.tokens.p != NULL;
    if (!failed && c->identity == NULL && configured) {
        cbx_log(CBX_LOG_WARNING, "reload: there are principals, issuers or tokens now; callers are "
                                 "authenticated from the next start on");
    }
    return failed;
}

static int adopt_identity(struct cbx_reload_context *c, struct cbx_str bytes, struct cbx_err *err)
{
    if (c->identity != NULL) {
        return cbx_identity_replace(c->identity, bytes, err);
    }
    return 0;
}

static const struct reloadable {
    const char *name;
    unsigned processes;
    int (*load)(const struct cbx_reload_context *c, const struct cbx_options *options,
                struct cbx_buf *out, struct outcome *outcome, struct cbx_err *err);
    int (*adopt)(struct cbx_reload_context *c, struct cbx_str bytes, struct cbx_err *err);
} rows[] = {
#define CBX_RELOADABLE(name, processes, load, adopt) { name, processes, load, adopt },
#include "gateway/cli/serve/reloadables.def"
#undef CBX_RELOADABLE
};
enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

/* --- loading ---------------------------------------------------------------------------------- */

static bool words_equal(const struct cbx_words *a, const struct cbx_words *b)
{
    bool equal = a->count == b->count;
    for (size_t i = 0; equal && i < a->count; i++) {
        equal = strcmp(a->items[i], b->items[i]) == 0;
    }
    return equal;
}

static bool values_equal(const struct cbx_option *row, const void *a, const void *b)
{
    const char *const *x = a, *const *y = b;
    switch (row->type) {
    case CBX_OPTION_LIST:
        return words_equal(a, b);
    case CBX_OPTION_NUMBER:
        return *(const int64_t *)a == *(const int64_t *)b;
    case CBX_OPTION_FLAG:
        return *(const bool *)a == *(const bool *)b;
    default:
        return *x == *y || (*x != NULL && *y != NULL && strcmp(*x, *y) == 0);
    }
}

/* The lists of what a reload can change may differ. */
static void note_others(const struct cbx_options *before, const struct cbx_options *after)
{
    /* HTTPS before and after: the reload may name other files. */
    bool tls = cbx_options_tls(before) && cbx_options_tls(after);
    bool links = before->peer_certificate != NULL && after->peer_certificate != NULL;
    struct cbx_option_table table = cbx_cli_options_table('c');
    for (size_t i = 0; i < table.count; i++) {
        const struct cbx_option *row = &table.rows[i];
        bool loaded = row->offset == offsetof(struct cbx_options, policies) ||
                      row->offset == offsetof(struct cbx_options, tokens_file) ||
                      (tls && (row->offset == offsetof(struct cbx_options, tls_certificate) ||
                               row->offset == offsetof(struct cbx_options, tls_key))) ||
                      (links && (row->offset == offsetof(struct cbx_options, peer_certificate) ||
                                 row->offset == offsetof(struct cbx_options, peer_key) ||
                                 row->offset == offsetof(struct cbx_options, peer_ca)));
        /* The default of the state directory is set after the options are read. */
        bool derived = row->offset == offsetof(struct cbx_options, state_dir) &&
                       before->origins[i].source == after->origins[i].source &&
                       before->origins[i].source == CBX_OPTION_OF_DEFAULT;
        if (cbx_settings_has(row) && !loaded && !derived &&
            !values_equal(row, (const char *)before + row->offset,
                          (const char *)after + row->offset)) {
            cbx_log(CBX_LOG_WARNING, "reload: '%s' changed; it is used from the next start on",
                    row->name);
        }
    }
}

static int read_settings(const struct cbx_reload_context *c, struct cbx_options *out)
{
    static struct cbx_problems problems;
    *out = (struct cbx_options){ .line = c->options->line, .config = c->options->settings_path };
    cbx_arena_init(&out->arena, CBX_OPTIONS_ARENA_MAX);
    cbx_cli_options_settings(out, &problems);
    for (size_t i = 0; i < problems.count; i++) {
        cbx_log(CBX_LOG_ERROR, "reload: %s",
                cbx_err_full(&problems.items[i], (char[CBX_ERR_FULL_BYTES]){ 0 }));
    }
    return problems.count > 0 ? CBX_EINVAL : 0;
}

static int load_one(const struct cbx_reload_context *c, const struct reloadable *row,
                    const struct cbx_options *options, struct cbx_buf *set, bool *changed)
{
    CBX_AUTO_DONE(buf) bytes;
    struct cbx_err err = { 0 };
    cbx_buf_init(&bytes, CBX_RELOAD_BYTES_MAX);
    struct outcome outcome = { .processes = row->processes };
    int failed = row->load(c, options, &bytes, &outcome, &err);
    struct cbx_reload_part part = { .processes = outcome.processes, .bytes = cbx_buf_str(&bytes) };
    *changed = outcome.changed;
    snprintf(part.name, sizeof(part.name), "%s", row->name);
    if (!failed) {
        failed = cbx_reload_add(set, &part, &err);
    }
    explicit_bzero(bytes.p, bytes.len);
    if (failed) {
        cbx_log(CBX_LOG_ERROR, "reload: %s", cbx_err_full(&err, (char[CBX_ERR_FULL_BYTES]){ 0 }));
    }
    return failed;
}

int cbx_reload_load(void *context, struct cbx_buf *set)
{
    const struct cbx_reload_context *c = context;
    static struct cbx_options options;
    bool any = false;
    int failed = read_settings(c, &options);
    for (size_t i = 0; i < ROWS && !failed; i++) {
        bool changed = false;
        failed = load_one(c, &rows[i], &options, set, &changed);
        any = any || changed;
    }
    if (!failed) {
        note_others(c->options, &options);
    }
    if (failed) {
        return failed;
    }
    return any ? 0 : 1;
}

int cbx_reload_adopt(void *context, const struct cbx_reload_part *part, struct cbx_err *err)
{
    struct cbx_reload_context *c = context;
    for (size_t i = 0; i < ROWS; i++) {
        if (strcmp(part->name, rows[i].name) == 0) {
            return rows[i].adopt(c, part->bytes, err);
        }
    }
    return 0;
}
