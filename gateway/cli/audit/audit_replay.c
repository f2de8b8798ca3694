/* SPDX-License-Identifier: MIT
 * `codebox audit replay`: decides every decision of the log again, and compares verdict, text and
 * findings. Sessions are followed by their ledgers: each decision names the ledger that it was
 * made against, so the log alone shows what was admitted between two decisions. */
#include "analyzer/analyze.h"
#include "analyzer/past/past.h"
#include "gateway/cli/audit/audit_commands.h"
#include "gateway/cli/cli.h"
#include "gateway/ipc/master/policy_set.h"
#include "gateway/ipc/seal/mount_requests.h"
#include "gateway/ipc/seal/seal.h"
#include "gateway/worker/worker_packages.h"
#include "policies/base/memory.h"
#include "policies/ledger.h"

#include <string.h>

enum reason {
    REPLAYED,
#define CBX_REPLAY_REASON(name, sentence) name,
#include "gateway/cli/audit/replay_reasons.def"
#undef CBX_REPLAY_REASON
    REASONS
};
static const char *const sentences[REASONS] = {
#define CBX_REPLAY_REASON(name, sentence) [name] = sentence,
#include "gateway/cli/audit/replay_reasons.def"
#undef CBX_REPLAY_REASON
};

/* The possible pasts of a session, the newest last. The next decision names the one it was made
 * against. */
enum { STATES_MAX = 6, SESSIONS_MAX = 1000, LOADED_MAX = 64 };
struct state {
    struct cbx_sha256 ledger;
    struct cbx_buf past;
};
struct session {
    char name[CBX_NAME_MAX + 1];
    struct state states[STATES_MAX];
    size_t count;
    uint64_t used;
};

struct replay {
    struct cbx_policies policies;
    struct cbx_policy *loaded[LOADED_MAX]; /* presets that records name, loaded once */
    size_t loaded_count;
    struct session *sessions; /* At SESSIONS_MAX the least recently used session is removed. */
    uint64_t clock;
    struct cbx_arena arena;
    uint64_t decisions, same, differ, left[REASONS];
};

/* --- policies --------------------------------------------------------------------------------- */

static bool has_hash(const struct cbx_policy *policy, struct cbx_str hex)
{
    char text[CBX_SHA256_HEX + 1];
    cbx_sha256_hex(&policy->sha256, text);
    return cbx_str_is(hex, text);
}

static bool is_plain_name(struct cbx_str name)
{
    bool plain = name.len > 0 && name.len <= CBX_NAME_MAX;
    for (size_t i = 0; i < name.len; i++) {
        plain = plain && (name.p[i] == '-' || (name.p[i] >= 'a' && name.p[i] <= 'z') ||
                          (name.p[i] >= '0' && name.p[i] <= '9'));
    }
    return plain;
}

/* Returns one of --policy, else the preset that the record names; NULL if its hash has changed. */
static const struct cbx_policy *find_policy(struct replay *r, const json_t *body)
{
    struct cbx_str hex = cbx_json_str(json_object_get(body, "policy_sha256"));
    struct cbx_str name = cbx_json_str(json_object_get(body, "policy"));
    for (size_t i = 0; i < r->policies.count; i++) {
        if (has_hash(r->policies.items[i], hex)) {
            return r->policies.items[i];
        }
    }
    for (size_t i = 0; i < r->loaded_count; i++) {
        if (cbx_str_equal(r->loaded[i]->name, name)) {
            return has_hash(r->loaded[i], hex) ? r->loaded[i] : NULL;
        }
    }
    struct cbx_policies set;
    const char *names[] = { cbx_json_str(json_object_get(body, "policy")).p };
    if (!is_plain_name(name) || r->loaded_count == LOADED_MAX ||
        cbx_policies_load(names, 1, CBX_MODES_ALL, &set, NULL) != 0) {
        return NULL;
    }
    r->loaded[r->loaded_count++] = cbx_steal(&set.items[0]);
    set.count = 0;
    cbx_policies_done(&set);
    const struct cbx_policy *policy = r->loaded[r->loaded_count - 1];
    return has_hash(policy, hex) ? policy : NULL;
}

/* --- sessions --------------------------------------------------------------------------------- */

static void forget(struct session *session)
{
    for (size_t i = 0; i < session->count; i++) {
        cbx_buf_done(&session->states[i].past);
    }
    *session = (struct session){ 0 };
}

static struct session *find_session(struct replay *r, struct cbx_str name)
{
    struct session *oldest = &r->sessions[0];
    for (size_t i = 0; i < SESSIONS_MAX; i++) {
        struct session *s = &r->sessions[i];
        if (s->name[0] != '\0' && cbx_str_is(name, s->name)) {
            s->used = ++r->clock;
            return s;
        }
        oldest = s->used < oldest->used ? s : oldest;
    }
    forget(oldest);
    snprintf(oldest->name, sizeof(oldest->name), "%.*s", CBX_STR_ARG(name));
    oldest->used = ++r->clock;
    return oldest;
}

static void keep(struct session *session, const struct cbx_past *past)
{
    if (session->count == STATES_MAX) {
        cbx_buf_done(&session->states[0].past);
        memmove(session->states, session->states + 1, (STATES_MAX - 1) * sizeof(struct state));
        session->count--;
    }
    struct state *state = &session->states[session->count++];
    state->ledger = past->ledger;
    cbx_buf_init(&state->past, CBX_PAST_BYTES_MAX);
    cbx_past_write(past, &state->past);
}

/* Returns the past with this ledger. */
static bool recall(const struct session *session, const struct cbx_sha256 *ledger,
                   struct cbx_past *out)
{
    for (size_t i = session->count; i > 0; i--) {
        const struct state *state = &session->states[i - 1];
        if (cbx_sha256_equal(&state->ledger, ledger)) {
            return cbx_past_read(cbx_buf_str(&state->past), out, NULL) == 0;
        }
    }
    return false;
}

/* Handles a recorded reset, which names the session's ledger. */
static void note_reset(struct replay *r, const json_t *body)
{
    const struct cbx_entry reset = { .kind = CBX_ENTRY_RESET };
    struct session *session = find_session(r, cbx_json_str(json_object_get(body, "session")));
    struct cbx_sha256 ledger;
    CBX_AUTO_DONE(past) past = { 0 };
    if (cbx_sha256_from_hex(cbx_json_str(json_object_get(body, "ledger")), &ledger) &&
        recall(session, &ledger, &past)) {
        cbx_past_add(&past, &reset);
        keep(session, &past);
    }
}

/* --- a decision ------------------------------------------------------------------------------- */

struct again {
    const json_t *body;
    const struct cbx_policy *policy;
    enum cbx_action action;
    struct cbx_entry entry;
    struct cbx_str session;
    struct cbx_past past;
    struct cbx_packages_question packages; /* an empty text = the decision is not about packages */
    struct cbx_resolved resolved;
    struct cbx_decision decision;
};

/* Returns the past that the decision was made against. */
static bool read_past(struct replay *r, struct again *a)
{
    struct cbx_sha256 ledger, begin = cbx_ledger_begin(a->session, &a->policy->sha256);
    if (!cbx_sha256_from_hex(cbx_json_str(json_object_get(a->body, "ledger")), &ledger)) {
        return false;
    }
    if (cbx_sha256_equal(&ledger, &begin)) {
        cbx_past_begin(&a->past, &begin);
        return true;
    }
    return a->session.len > 0 && recall(find_session(r, a->session), &ledger, &a->past);
}

/* Joins the lines of the record to the text that was judged. False if the record does not have
 * all lines. */
static bool join_packages(const json_t *body, struct cbx_arena *arena, struct cbx_str *out)
{
    const json_t *lines = json_object_get(body, "packages"), *line;
    CBX_AUTO_DONE(buf) text;
    size_t i;
    cbx_buf_init(&text, CBX_SEAL_MAX_BYTES);
    json_array_foreach(lines, i, line)
    {
        cbx_buf_add(&text, cbx_json_str(line));
        cbx_buf_add_char(&text, '\n');
    }
    *out = cbx_arena_copy(arena, cbx_buf_str(&text));
    return !text.overflow && json_array_size(lines) ==
                                 (size_t)json_integer_value(json_object_get(body, "package_count"));
}

static bool is_hash_of(const json_t *hex, struct cbx_str text)
{
    char own[CBX_SHA256_HEX + 1];
    struct cbx_sha256 hash = cbx_sha256_of(text);
    cbx_sha256_hex(&hash, own);
    return cbx_str_is(cbx_json_str(hex), own);
}

/* Reads the packages that the decision is about. */
static enum reason read_packages(struct replay *r, struct again *a)
{
    bool install = a->action == CBX_ACTION_INSTALL;
    a->packages = (struct cbx_packages_question){
        .action = a->action,
        .language = a->entry.language,
        .text = a->entry.text,
        .principal = cbx_json_str(json_object_get(a->body, "principal")),
        .now = json_integer_value(json_object_get(a->body, "issued_ms")) / 1000
    };
    if (install) {
        return a->entry.text.p != NULL ? REPLAYED : NO_CODE;
    }
    if (!join_packages(a->body, &r->arena, &a->packages.text)) {
        return PACKAGES;
    }
    const json_t *layer = json_object_get(a->body, "layer");
    return layer == NULL || is_hash_of(layer, a->packages.text) ? REPLAYED : OTHER_CODE;
}

/* Reads the program that was judged. */
static enum reason read_program(const struct again *a)
{
    char hex[CBX_SHA256_HEX + 1];
    if (a->entry.text.p == NULL) {
        return NO_CODE;
    }
    struct cbx_sha256 hash = cbx_entry_hash(&a->entry);
    cbx_sha256_hex(&hash, hex);
    return cbx_str_is(cbx_json_str(json_object_get(a->body, "entry")), hex) ? REPLAYED : OTHER_CODE;
}

static bool is_install(const struct again *a)
{
    return a->action == CBX_ACTION_RESOLVE || a->action == CBX_ACTION_INSTALL;
}

static enum reason prepare(struct replay *r, struct again *a)
{
    const json_t *body = a->body;
    bool file;
    a->action = cbx_action_of(cbx_json_str(json_object_get(body, "action")));
    file = a->action == CBX_ACTION_FILE;
    a->session = cbx_json_str(json_object_get(body, "session"));
    a->entry = (struct cbx_entry){ .kind = file ? CBX_ENTRY_FILE : CBX_ENTRY_CELL,
                                   .language = cbx_json_str(json_object_get(body, "language")),
                                   .name = cbx_json_str(json_object_get(body, "path")),
                                   .text = cbx_json_str(json_object_get(body, "code")) };
    enum reason reason = read_packages(r, a);
    reason = reason == REPLAYED && !is_install(a) ? read_program(a) : reason;
    if (reason != REPLAYED) {
        return reason;
    }
    if (!cbx_str_is(cbx_json_str(json_object_get(body, "analyzer")), CBX_ANALYZER_VERSION)) {
        return OTHER_VERSION;
    }
    a->policy = find_policy(r, body);
    return a->policy == NULL ? NO_POLICY : is_install(a) || read_past(r, a) ? REPLAYED : NO_PAST;
}

static enum reason decide(struct replay *r, struct again *a)
{
    struct cbx_strs folders = cbx_mounts_writable(json_object_get(a->body, "mounts"), &r->arena);
    const struct cbx_analysis analysis = {
        .source = a->entry.text,
        .past = a->session.len > 0 ? &a->past : NULL,
        .folders = &folders,
        .language = a->entry.language,
        .path = a->entry.name,
        .principal = cbx_json_str(json_object_get(a->body, "principal")),
        .now = json_integer_value(json_object_get(a->body, "issued_ms")) / 1000
    };
    int failed = cbx_analyze(a->policy, &analysis, &r->arena, &a->decision, NULL);
    if (!failed) {
        failed = cbx_packages_add_to(a->policy, &a->packages, &r->arena, &a->decision, NULL);
    }
    return failed ? FAILED : REPLAYED;
}

static enum reason decide_install(struct replay *r, struct again *a)
{
    if (cbx_packages_answer(a->policy, &a->packages, &r->arena, &a->resolved, &a->decision, NULL) !=
        0) {
        return FAILED;
    }
    return is_hash_of(json_object_get(a->body, "sha256"), a->decision.text) ? REPLAYED : OTHER_CODE;
}

/* Adds the past that the session has if the decision was carried out. */
static void follow(struct replay *r, struct again *a)
{
    bool admits = a->action == CBX_ACTION_RUN || a->action == CBX_ACTION_FILE;
    if (a->session.len == 0) {
        return;
    }
    struct session *session = find_session(r, a->session);
    if (session->count == 0) {
        keep(session, &a->past); /* a past after which the session may have been reset */
    }
    if (!admits || a->decision.verdict == CBX_DENY) {
        return;
    }
    if (a->entry.kind == CBX_ENTRY_FILE) {
        cbx_past_add(&a->past, &a->entry);
    } else {
        cbx_past_add_cell_as(&a->past, &a->entry, a->decision.summary, &r->arena);
    }
    cbx_past_add_written(&a->past, &a->entry, &r->arena);
    keep(session, &a->past);
}

static bool is_same(const struct again *a)
{
    char hex[CBX_SHA256_HEX + 1];
    CBX_AUTO_JSON findings = cbx_seal_findings(&a->decision);
    cbx_sha256_hex(&a->decision.sha256, hex);
    return cbx_str_is(cbx_json_str(json_object_get(a->body, "verdict")),
                      cbx_verdict_name(a->decision.verdict)) &&
           cbx_str_is(cbx_json_str(json_object_get(a->body, "sha256")), hex) &&
           json_equal(findings, json_object_get(a->body, "findings"));
}

static void report_difference(const json_t *record, const struct again *a)
{
    CBX_AUTO_JSON findings = cbx_seal_findings(&a->decision);
    printf("record %lld, decision ", (long long)json_integer_value(json_object_get(record, "seq")));
    cbx_audit_print_text(a->body, "id");
    printf(": was ");
    cbx_audit_print_text(a->body, "verdict");
    printf(" with %zu findings, is %s with %zu\n",
           json_array_size(json_object_get(a->body, "findings")),
           cbx_verdict_name(a->decision.verdict), json_array_size(findings));
}

static void replay_record(void *context, const json_t *record, struct cbx_str line)
{
    (void)line;
    struct replay *r = context;
    const char *type = cbx_audit_text(record, "type");
    struct again again = { .body = json_object_get(record, "body") };
    if (strcmp(type, "reset") == 0) {
        note_reset(r, again.body);
    }
    if (strcmp(type, "decision") != 0) {
        return;
    }
    r->decisions++;
    enum reason reason = prepare(r, &again);
    reason = reason != REPLAYED   ? reason
             : is_install(&again) ? decide_install(r, &again)
                                  : decide(r, &again);
    r->left[reason]++;
    if (reason == REPLAYED) {
        bool same = is_same(&again);
        r->same += same;
        r->differ += !same;
        if (!same) {
            report_difference(record, &again);
        }
        follow(r, &again);
    }
    cbx_past_done(&again.past);
    cbx_resolved_done(&again.resolved);
    cbx_arena_reset(&r->arena);
}

static int print_result(const struct replay *r)
{
    printf("%llu decisions: %llu decided again to the same answer, %llu to another one",
           (unsigned long long)r->decisions, (unsigned long long)r->same,
           (unsigned long long)r->differ);
    printf(", %llu not replayable\n", (unsigned long long)(r->decisions - r->left[REPLAYED]));
    for (int i = REPLAYED + 1; i < REASONS; i++) {
        if (r->left[i] > 0) {
            printf("  %llu: %s\n", (unsigned long long)r->left[i], sentences[i]);
        }
    }
    return r->differ > 0 ? 1 : 0;
}

int cbx_audit_replay_command(const struct cbx_options *options)
{
    struct cbx_err err = { 0 };
    struct replay r = { .clock = 0 };
    if (options->policies.count > 0 &&
        cbx_policies_load(options->policies.items, options->policies.count, CBX_MODES_ALL,
                          &r.policies, &err) != 0) {
        return cbx_cli_fail(&err);
    }
    r.sessions = cbx_new_array(SESSIONS_MAX, sizeof(*r.sessions));
    cbx_arena_init(&r.arena, CBX_ANALYSIS_ARENA_MAX);
    int failed = cbx_audit_for_each(options, replay_record, &r);
    for (size_t i = 0; i < SESSIONS_MAX; i++) {
        forget(&r.sessions[i]);
    }
    free(r.sessions);
    for (size_t i = 0; i < r.loaded_count; i++) {
        cbx_policy_free(r.loaded[i]);
    }
    cbx_policies_done(&r.policies);
    cbx_arena_done(&r.arena);
    int status = print_result(&r);
    if (failed) {
        return failed;
    }
    return status;
}
