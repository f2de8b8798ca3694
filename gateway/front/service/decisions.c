/* SPDX-License-Identifier: MIT
 * The last decisions: pointers in the order of their numbers, each to an entry with the bytes
 * that it owns. */
#include "gateway/front/service/decisions.h"

#include "gateway/front/dialect.h"
#include "gateway/front/service/approvals.h"
#include "policies/base/memory.h"
#include "policies/base/text/printable.h"
#include "policies/base/time/clock.h"

#include <pthread.h>
#include <stdlib.h>

enum state { NEVER_ASKED = 0, WAITING, APPROVED, DENIED, USED, STATES };

struct entry {
    uint64_t audit_seq;
    char id[CBX_ID_CHARS + 1], created_at[32], digest[CBX_SHA256_HEX + 1];
    char principal[CBX_NAME_MAX + 1], session[CBX_NAME_MAX + 1], policy[CBX_NAME_MAX + 1];
    char origin[CBX_NAME_MAX + 1], approver[CBX_NAME_MAX + 1], language[16];
    char credential[CBX_CREDENTIAL_MAX + 1]; /* credential of the approver */
    char voucher[CBX_VOUCHER_CHARS + 1];     /* voucher of its approval */
    enum cbx_action action;
    enum cbx_verdict verdict;
    enum state state;
    int64_t expires_ms;
    bool expiry_taken;
    bool cut;     /* the source is longer */
    bool relaxed; /* judged in mode log-only */
    size_t source_len, finding_count;
    char *source, *findings, *run; /* the latter two JSON; run: NULL until it ended */
    size_t bytes;                  /* size of these three */
};

struct cbx_decisions {
    pthread_mutex_t lock;
    struct entry *items[CBX_DECISIONS_MAX]; /* the oldest first */
    size_t count, bytes;
    int64_t last_us;         /* time of the newest one */
    json_t *counts, *shares; /* entries and bytes by principal */
};

/* --- what is kept ----------------------------------------------------------------------------- */

struct cbx_decisions *cbx_decisions_new(void)
{
    struct cbx_decisions *d = cbx_new(sizeof(*d));
    pthread_mutex_init(&d->lock, NULL);
    d->counts = json_object();
    d->shares = json_object();
    return d;
}

static void count(json_t *of, const char *principal, json_int_t difference)
{
    json_int_t sum = json_integer_value(json_object_get(of, principal)) + difference;
    if (sum == 0) {
        json_object_del(of, principal);
    } else {
        json_object_set_new(of, principal, json_integer(sum));
    }
}

static void count_bytes(struct cbx_decisions *d, const struct entry *e, json_int_t difference)
{
    d->bytes += (size_t)difference; /* wraps around for a negative one */
    count(d->shares, e->principal, difference);
}

static void drop(struct cbx_decisions *d, size_t at)
{
    struct entry *e = d->items[at];
    count_bytes(d, e, -(json_int_t)e->bytes);
    count(d->counts, e->principal, -1);
    d->count--;
    memmove(d->items + at, d->items + at + 1, (d->count - at) * sizeof(d->items[0]));
    free(e->source);
    free(e->findings);
    free(e->run);
    free(e);
}

/* Returns the principal with the largest number in `of`. */
static const char *find_largest(const json_t *of)
{
    const char *name, *largest = "";
    const json_t *value;
    json_int_t most = 0;
    json_object_foreach((json_t *)(uintptr_t)of, name, value)
    {
        if (json_integer_value(value) > most) {
            most = json_integer_value(value);
            largest = name;
        }
    }
    return largest;
}

/* Returns the oldest entry of the principal; entries that wait for approval only if there is no
 * other. */
static size_t find_droppable(const struct cbx_decisions *d, const char *principal, int64_t clock_ms)
{
    size_t oldest = d->count;
    for (size_t i = 0; i < d->count; i++) {
        const struct entry *e = d->items[i];
        if (strcmp(e->principal, principal) != 0) {
            continue;
        }
        if ((e->state != WAITING && e->state != APPROVED) || e->expires_ms <= clock_ms) {
            return i;
        }
        oldest = oldest < d->count ? oldest : i;
    }
    return oldest < d->count ? oldest : 0;
}

/* Drops entries of the principal with the most, so that no principal evicts entries of others. */
static void make_room(struct cbx_decisions *d, int64_t clock_ms)
{
    for (;;) {
        bool full = d->count == CBX_DECISIONS_MAX;
        if (d->count == 0 || (!full && d->bytes <= (size_t)CBX_DECISIONS_BYTES_MAX)) {
            return;
        }
        drop(d, find_droppable(d, find_largest(full ? d->counts : d->shares), clock_ms));
    }
}

void cbx_decisions_free(struct cbx_decisions *decisions)
{
    if (decisions != NULL) {
        while (decisions->count > 0) {
            drop(decisions, decisions->count - 1);
        }
        json_decref(decisions->counts);
        json_decref(decisions->shares);
        pthread_mutex_destroy(&decisions->lock);
        free(decisions);
    }
}

/* With the lock: returns the entry of this id that the reader (NULL = all) may see, or NULL. The
 * newest are queried most. */
static struct entry *find(struct cbx_decisions *d, const char *reader, const char *id)
{
    for (size_t i = d->count; i-- > 0;) {
        struct entry *e = d->items[i];
        if (strcmp(e->id, id) == 0) {
            return reader == NULL || strcmp(reader, e->principal) == 0 ? e : NULL;
        }
    }
    return NULL;
}

/* --- what is added ---------------------------------------------------------------------------- */

/* Returns the items of a list as JSON text, as many as fit. */
static char *dump_list(const json_t *list)
{
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, CBX_DECISION_LIST_BYTES);
    cbx_buf_add_char(&text, '[');
    for (size_t i = 0; i < json_array_size(list); i++) {
        CBX_AUTO_MEM char *item = json_dumps(json_array_get(list, i), JSON_COMPACT);
        size_t len = item != NULL ? strlen(item) : 0;
        if (item == NULL || text.len + len + 2 >= CBX_DECISION_LIST_BYTES) {
            break;
        }
        cbx_buf_add_cstr(&text, i > 0 ? "," : "");
        cbx_buf_add_cstr(&text, item);
    }
    cbx_buf_add_char(&text, ']');
    return cbx_buf_take(&text);
}

static json_t *load(const char *text)
{
    json_t *json = json_loads(text, JSON_ALLOW_NUL, NULL);
    return json != NULL ? json : json_array();
}

static void copy_text(struct cbx_str from, char *to, size_t size)
{
    snprintf(to, size, "%.*s", CBX_STR_ARG(from));
}

static bool is_waiting(const struct cbx_decision_entry *from)
{
    return from->verdict == CBX_ASK && !from->admitted && from->digest[0] != '\0' &&
           from->subject->action == CBX_ACTION_RUN && cbx_str_is(from->subject->origin, "rest");
}

static struct entry *make_entry(const struct cbx_decision_entry *from, int64_t clock_ms)
{
    struct entry *e = cbx_new(sizeof(*e));
    const struct cbx_subject *subject = from->subject;
    struct cbx_str source = cbx_str_cut(from->source, CBX_DECISION_SOURCE_BYTES);
    copy_text(from->id, e->id, sizeof(e->id));
    copy_text(subject->principal, e->principal, sizeof(e->principal));
    copy_text(subject->session, e->session, sizeof(e->session));
    copy_text(subject->origin, e->origin, sizeof(e->origin));
    copy_text(subject->language, e->language, sizeof(e->language));
    copy_text(from->policy, e->policy, sizeof(e->policy));
    e->audit_seq = from->audit_seq;
    e->action = subject->action;
    e->verdict = from->verdict;
    e->relaxed = from->relaxed;
    e->cut = source.len < from->source.len;
    e->source = cbx_str_copy(source);
    e->source_len = source.len;
    e->findings = dump_list(from->findings);
    e->finding_count = json_array_size(from->findings);
    e->bytes = source.len + strlen(e->findings);
    if (is_waiting(from)) {
        e->state = WAITING;
        e->expires_ms = clock_ms + CBX_APPROVAL_MS;
        snprintf(e->digest, sizeof(e->digest), "%s", from->digest);
    }
    return e;
}

/* With the lock: entries are in the order of their times, which are positions in a listing. */
static void set_time(struct cbx_decisions *d, struct entry *e)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    int64_t us = now.tv_sec * INT64_C(1000000) + now.tv_nsec / 1000;
    d->last_us = us > d->last_us ? us : d->last_us + 1;
    cbx_service_time(d->last_us, e->created_at);
}

void cbx_decisions_add(struct cbx_decisions *decisions, const struct cbx_decision_entry *entry,
                       int64_t clock_ms)
{
    struct entry *e = make_entry(entry, clock_ms);
    pthread_mutex_lock(&decisions->lock);
    count_bytes(decisions, e, (json_int_t)e->bytes);
    make_room(decisions, clock_ms);
    count(decisions->counts, e->principal, 1);
    set_time(decisions, e);
    decisions->items[decisions->count++] = e;
    pthread_mutex_unlock(&decisions->lock);
}

void cbx_decisions_record(const struct cbx_flow *flow, const struct cbx_request *request,
                          const struct cbx_outcome *outcome, bool admitted)
{
    const struct cbx_policy *policy = cbx_policies_find(cbx_flow_policies(flow), request->policy);
    const struct cbx_decision_entry entry = {
        .id = cbx_str_of(outcome->id),
        .audit_seq = outcome->audit_seq,
        .verdict = outcome->verdict,
        .subject = &request->subject,
        .policy = policy != NULL ? policy->name : request->policy,
        .source = request->source,
        .findings = json_object_get(outcome->decision, "findings"),
        .digest = outcome->digest,
        .admitted = admitted,
        .relaxed = json_object_get(outcome->decision, "mode") != NULL,
    };
    cbx_decisions_add(flow->decisions, &entry, cbx_clock_ms());
}

void cbx_decisions_end(struct cbx_decisions *decisions, const char *id, const json_t *results)
{
    static const char *const members[] = { "outcome", "duration_ms", "cpu_ms", "message" };
    CBX_AUTO_JSON run = json_object();
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        json_object_set(run, members[i], json_object_get(results, members[i]));
    }
    CBX_AUTO_MEM char *blocked = dump_list(json_object_get(results, "blocked"));
    json_object_set_new(run, "blocked", load(blocked));
    CBX_AUTO_MEM char *text = json_dumps(run, JSON_COMPACT);
    pthread_mutex_lock(&decisions->lock);
    struct entry *e = find(decisions, NULL, id);
    if (e != NULL && e->run == NULL && text != NULL) {
        e->bytes += strlen(text);
        count_bytes(decisions, e, (json_int_t)strlen(text));
        e->run = cbx_steal(&text);
    }
    pthread_mutex_unlock(&decisions->lock);
}

/* --- reading ---------------------------------------------------------------------------------- */

static json_t *describe_approval(const struct entry *e, int64_t clock_ms)
{
    static const char *const names[STATES] = {
        [WAITING] = "waiting", [APPROVED] = "approved", [DENIED] = "denied", [USED] = "used"
    };
    bool open = e->state == WAITING || e->state == APPROVED;
    bool expired = open && e->expires_ms <= clock_ms;
    json_t *json = json_pack("{s:s}", "state", expired ? "expired" : names[e->state]);
    if (e->approver[0] != '\0') {
        json_object_set_new(json, "by", json_string(e->approver));
    }
    if (open && !expired) {
        json_object_set_new(json, "seconds_left", json_integer((e->expires_ms - clock_ms) / 1000));
    }
    return json;
}

static json_t *describe(const struct entry *e, const struct cbx_decisions_filter *parts,
                        int64_t clock_ms)
{
    json_t *json = json_pack(
        "{s:s,s:s,s:I,s:s,s:s,s:s,s:s,s:s,s:s,s:o,s:o,s:I}", "id", e->id, "created_at",
        e->created_at, "audit_seq", (json_int_t)e->audit_seq, "principal", e->principal, "origin",
        e->origin, "action", cbx_action_name(e->action), "language", cbx_dialect_shown(e->language),
        "policy", e->policy, "verdict", cbx_verdict_name(e->verdict), "session_id",
        e->session[0] != '\0' ? json_string(e->session) : json_null(), "findings",
        parts->without_findings ? json_array() : load(e->findings), "finding_count",
        (json_int_t)e->finding_count);
    if (e->relaxed) {
        json_object_set_new(json, "mode", json_string(CBX_MODE_LOG_ONLY));
    }
    if (e->run != NULL) {
        json_object_set_new(json, "run", load(e->run));
    }
    if (e->state != NEVER_ASKED) {
        json_object_set_new(json, "approval", describe_approval(e, clock_ms));
    }
    if (parts->with_code) {
        struct cbx_str source = { .p = e->source, .len = e->source_len };
        json_object_set_new(json, "code", cbx_json_text(source));
        json_object_set_new(json, "code_cut", json_boolean(e->cut));
    }
    return json;
}

json_t *cbx_decisions_get(struct cbx_decisions *decisions, const char *reader, const char *id,
                          int64_t clock_ms)
{
    static const struct cbx_decisions_filter all = { .with_code = true };
    pthread_mutex_lock(&decisions->lock);
    const struct entry *e = find(decisions, reader, id);
    json_t *json = e != NULL ? describe(e, &all, clock_ms) : NULL;
    pthread_mutex_unlock(&decisions->lock);
    return json;
}

static bool is_before(const struct entry *e, const struct cbx_store_position *position)
{
    int order = strcmp(e->created_at, position->created_at);
    return position->created_at[0] == '\0' || order < 0 ||
           (order == 0 && strcmp(e->id, position->key) < 0);
}

static bool passes(const struct entry *e, const struct cbx_decisions_filter *filter)
{
    return (filter->reader == NULL || strcmp(filter->reader, e->principal) == 0) &&
           (filter->verdict.len == 0 || cbx_str_is(filter->verdict, cbx_verdict_name(e->verdict)));
}

json_t *cbx_decisions_page(struct cbx_decisions *decisions,
                           const struct cbx_decisions_filter *filter, int64_t clock_ms)
{
    json_t *list = json_array();
    pthread_mutex_lock(&decisions->lock);
    for (size_t i = decisions->count; i-- > 0 && json_array_size(list) < filter->limit;) {
        const struct entry *e = decisions->items[i];
        if (is_before(e, &filter->before) && passes(e, filter)) {
            json_array_append_new(list, describe(e, filter, clock_ms));
        }
    }
    pthread_mutex_unlock(&decisions->lock);
    return list;
}

#define OF_REST "rest" /* origin of the approval */

/* --- approval --------------------------------------------------------------------------------- */

int cbx_decisions_fail_unknown(struct cbx_err *err)
{
    return cbx_fail(err, CBX_ENOTFOUND,
                    "there is no such decision among the last ones; decisions from before the "
                    "gateway was started are in the audit log alone");
}

/* Returns why a decision cannot be answered, or its approval not be used: NULL if it is in the
 * state `wanted`. */
static const char *why_not(const struct entry *e, enum state wanted, int64_t clock_ms)
{
    static const char *const sentences[STATES] = {
        [NEVER_ASKED] = "the decision does not wait for approval",
        [WAITING] = "nobody has approved the decision yet",
        [APPROVED] = "the decision was approved before",
        [DENIED] = "the approval was denied",
        [USED] = "the approval was used before; it is for one execution",
    };
    return e->state != wanted          ? sentences[e->state]
           : e->expires_ms <= clock_ms ? "the question is too old; send the code again"
                                       : NULL;
}

/* With the lock: finds the decision, which must be in the state `wanted`. */
static int find_in(struct cbx_decisions *decisions, const char *reader, const char *id,
                   enum state wanted, int64_t clock_ms, struct entry **out, struct cbx_err *err)
{
    struct entry *e = find(decisions, reader, id);
    if (e == NULL) {
        return cbx_decisions_fail_unknown(err);
    }
    const char *why = why_not(e, wanted, clock_ms);
    *out = e;
    if (why != NULL) {
        return cbx_fail(err, CBX_ESTATE, "%s", why);
    }
    return 0;
}

int cbx_decisions_digest(struct cbx_decisions *decisions, const char *reader, const char *id,
                         int64_t clock_ms, char out[CBX_SHA256_HEX + 1], struct cbx_err *err)
{
    struct entry *e;
    pthread_mutex_lock(&decisions->lock);
    int failed = find_in(decisions, reader, id, WAITING, clock_ms, &e, err);
    if (!failed) {
        snprintf(out, CBX_SHA256_HEX + 1, "%s", e->digest);
    }
    pthread_mutex_unlock(&decisions->lock);
    return failed;
}

int cbx_decisions_answer(struct cbx_decisions *decisions, const char *reader, const char *id,
                         const struct cbx_decisions_approver *approver, bool approve,
                         int64_t clock_ms, struct cbx_err *err)
{
    struct entry *e;
    pthread_mutex_lock(&decisions->lock);
    int failed = find_in(decisions, reader, id, WAITING, clock_ms, &e, err);
    if (!failed) {
        e->state = approve ? APPROVED : DENIED;
        snprintf(e->approver, sizeof(e->approver), "%s", approver->principal);
        snprintf(e->credential, sizeof(e->credential), "%s", approver->credential);
        snprintf(e->voucher, sizeof(e->voucher), "%s", approver->voucher);
    }
    pthread_mutex_unlock(&decisions->lock);
    return failed;
}

int cbx_decisions_approval(struct cbx_decisions *decisions, const char *principal,
                           struct cbx_str id, int64_t clock_ms, struct cbx_approval *out,
                           struct cbx_err *err)
{
    char text[CBX_ID_CHARS + 1];
    copy_text(id, text, sizeof(text));
    pthread_mutex_lock(&decisions->lock);
    struct entry *e;
    int failed;
    if (strlen(text) == id.len) {
        failed = find_in(decisions, principal, text, APPROVED, clock_ms, &e, err);
    } else {
        failed = cbx_decisions_fail_unknown(err);
    }
    if (!failed) {
        *out = (struct cbx_approval){ .how = OF_REST };
        snprintf(out->digest, sizeof(out->digest), "%s", e->digest);
        snprintf(out->asked, sizeof(out->asked), "%s", e->id);
        snprintf(out->approver, sizeof(out->approver), "%s", e->approver);
        snprintf(out->approver_credential, sizeof(out->approver_credential), "%s", e->credential);
        snprintf(out->voucher, sizeof(out->voucher), "%s", e->voucher);
    }
    pthread_mutex_unlock(&decisions->lock);
    return failed;
}

static bool is_of_rest(const struct cbx_approval *approval)
{
    return strcmp(approval->how, OF_REST) == 0;
}

int cbx_decisions_use(struct cbx_decisions *decisions, const char *principal,
                      const struct cbx_approval *approval, int64_t clock_ms, struct cbx_err *err)
{
    struct entry *e;
    if (!is_of_rest(approval)) {
        return 0;
    }
    pthread_mutex_lock(&decisions->lock);
    int failed = find_in(decisions, principal, approval->asked, APPROVED, clock_ms, &e, err);
    if (!failed) {
        e->state = USED;
    }
    pthread_mutex_unlock(&decisions->lock);
    return failed;
}

void cbx_decisions_give_back(struct cbx_decisions *decisions, const char *principal,
                             const struct cbx_approval *approval)
{
    if (!is_of_rest(approval)) {
        return;
    }
    pthread_mutex_lock(&decisions->lock);
    struct entry *e = find(decisions, principal, approval->asked);
    if (e != NULL && e->state == USED) {
        e->state = APPROVED;
    }
    pthread_mutex_unlock(&decisions->lock);
}

bool cbx_decisions_take_expired(struct cbx_decisions *decisions, int64_t clock_ms,
                                char id[CBX_ID_CHARS + 1], char principal[CBX_NAME_MAX + 1])
{
    bool found = false;
    pthread_mutex_lock(&decisions->lock);
    for (size_t i = 0; i < decisions->count && !found; i++) {
        struct entry *e = decisions->items[i];
        bool open = e->state == WAITING || e->state == APPROVED;
        found = open && !e->expiry_taken && e->expires_ms <= clock_ms;
        if (found) {
            e->expiry_taken = true;
            snprintf(id, CBX_ID_CHARS + 1, "%s", e->id);
            snprintf(principal, CBX_NAME_MAX + 1, "%s", e->principal);
        }
    }
    pthread_mutex_unlock(&decisions->lock);
    return found;
}

bool cbx_decisions_waits(struct cbx_decisions *decisions, const char *id, int64_t clock_ms)
{
    pthread_mutex_lock(&decisions->lock);
    const struct entry *e = find(decisions, NULL, id);
    bool waits = e != NULL && why_not(e, WAITING, clock_ms) == NULL;
    pthread_mutex_unlock(&decisions->lock);
    return waits;
}
