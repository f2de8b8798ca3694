/* SPDX-License-Identifier: MIT
 * Permitted actions without an outcome. */
#include "gateway/executor/audit/outcomes.h"

#include "gateway/executor/audit/audit_reader.h"
#include "gateway/ipc/master/state.h"
#include "gateway/ipc/seal/subject.h"
#include "gateway/ipc/wire/relay.h"
#include "policies/base/log.h"
#include "policies/base/memory.h"
#include "policies/base/time/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <string.h>

enum { OPEN_MAX = 65536, SEQ_DIGITS = 20 };

enum state {
    ADMITTING, /* its decision may be recorded, or not */
    OPEN,      /* this executor carries it out */
    TAKEN,     /* its outcome is being recorded */
    WAITING,   /* writing `body` to the log failed */
    ASKED,     /* read from the log: permitted if its approval follows */
    LEFT,      /* read from the log: an earlier executor permitted it */
};

struct item {
    char decision[CBX_NAME_MAX + 1];
    uint64_t seq; /* number of the decision's record; 0 = not known yet */
    enum state state;
    json_t *body; /* outcome to record if no other outcome comes; NULL = none */
};

struct cbx_outcomes {
    pthread_mutex_t lock;
    struct item *items; /* in no order */
    size_t count;
    struct cbx_audit_reader *reader; /* used by one thread at a time: cbx_outcomes_read */
    bool full;                       /* true after the full table was logged */
    bool persistent;
    int64_t saved_ms; /* time of the last save, monotonic */
};

struct cbx_outcomes *cbx_outcomes_new(void)
{
    struct cbx_outcomes *outcomes = cbx_new(sizeof(*outcomes));
    pthread_mutex_init(&outcomes->lock, NULL);
    return outcomes;
}

void cbx_outcomes_free(struct cbx_outcomes *outcomes)
{
    if (outcomes == NULL) {
        return;
    }
    for (size_t i = 0; i < outcomes->count; i++) {
        json_decref(outcomes->items[i].body);
    }
    cbx_audit_reader_free(outcomes->reader);
    pthread_mutex_destroy(&outcomes->lock);
    free(outcomes->items);
    free(outcomes);
}

json_t *cbx_outcome_json(const struct cbx_result *result, const char *decision, const char *action,
                         const json_t *claims)
{
    json_t *body = cbx_result_json(result);
    json_object_set_new(body, "decision", json_string(decision));
    json_object_set_new(body, "action", json_string(action));
    json_object_del(body, "evalue");
    json_object_del(body, "traceback");
    json_object_del(body, "type");
    cbx_claim_copy(claims, body);
    return body;
}

/* --- the table, with the lock held ------------------------------------------------------------ */

/* Searches from the end: most searches are for actions added last. */
static struct item *find(struct cbx_outcomes *o, struct cbx_str decision)
{
    for (size_t i = o->count; i > 0; i--) {
        if (cbx_str_is(decision, o->items[i - 1].decision)) {
            return &o->items[i - 1];
        }
    }
    return NULL;
}

static void add(struct cbx_outcomes *o, struct item item)
{
    o->items = cbx_grow(o->items, o->count, sizeof(*o->items));
    o->items[o->count++] = item;
}

static void drop(struct cbx_outcomes *o, struct item *item)
{
    json_decref(item->body);
    *item = o->items[--o->count];
}

/* --- what executors before this one left ------------------------------------------------------ */

static json_t *describe_loss(const json_t *body)
{
    const struct cbx_result result = { .status = CBX_RUN_LOST, .exit_code = -1 };
    json_t *outcome = cbx_outcome_json(&result, json_string_value(json_object_get(body, "id")),
                                       json_string_value(json_object_get(body, "action")), body);
    json_object_set_new(outcome, "error",
                        json_string("outcome unknown: the executor ended before it was recorded"));
    json_object_set_new(outcome, CBX_OUTCOMES_PRESUMED, json_true());
    return outcome;
}

static json_t *describe_taken_loss(const char *decision, const char *replica)
{
    const struct cbx_result result = { .status = CBX_RUN_LOST, .exit_code = -1 };
    char text[200];
    json_t *outcome = cbx_outcome_json(&result, decision, "run", NULL);
    snprintf(text, sizeof(text),
             "outcome unknown: replica '%.63s', which decided this, ended, and no sandbox has its "
             "result",
             replica);
    json_object_set_new(outcome, "error", json_string(text));
    json_object_set_new(outcome, CBX_OUTCOMES_PRESUMED, json_true());
    return outcome;
}

/* Earlier versions recorded no instance: their actions belong to the persistent executor. */
static bool is_of(const struct cbx_outcomes *o, const json_t *body, const char *instance)
{
    const json_t *own = json_object_get(body, CBX_OUTCOMES_INSTANCE);
    return own != NULL ? cbx_str_is(cbx_json_str(own), instance) : o->persistent;
}

static void read_decision(struct cbx_outcomes *o, const json_t *body, uint64_t seq,
                          const char *instance)
{
    struct cbx_str id = cbx_json_str(json_object_get(body, "id")),
                   action = cbx_json_str(json_object_get(body, "action")),
                   verdict = cbx_json_str(json_object_get(body, "verdict"));
    bool asks = cbx_str_is(verdict, "ask");
    if ((!asks && !cbx_str_is(verdict, "allow")) || action.len == 0 ||
        cbx_str_is(action, cbx_action_name(CBX_ACTION_CHECK)) || id.len == 0 ||
        id.len > CBX_NAME_MAX || !is_of(o, body, instance) || find(o, id) != NULL) {
        return;
    }
    if (o->count >= OPEN_MAX) {
        if (!o->full) {
            cbx_log(CBX_LOG_WARNING,
                    "more than %d permitted actions of the audit log have no outcome: the others "
                    "get none",
                    OPEN_MAX);
        }
        o->full = true;
        return;
    }
    struct item item = { .seq = seq, .state = asks ? ASKED : LEFT, .body = describe_loss(body) };
    snprintf(item.decision, sizeof(item.decision), "%.*s", CBX_STR_ARG(id));
    add(o, item);
}

static void read_other(struct cbx_outcomes *o, const json_t *body, bool outcome)
{
    struct item *item = find(o, cbx_json_str(json_object_get(body, "decision")));
    if (item != NULL && outcome && (item->state == LEFT || item->state == ASKED)) {
        drop(o, item);
    } else if (item != NULL && !outcome && item->state == ASKED) {
        item->state = LEFT;
    }
}

static void take_over_all(struct cbx_outcomes *o, const json_t *body, uint64_t seq)
{
    const char *replica = json_string_value(json_object_get(body, "replica"));
    size_t i;
    const json_t *entry;
    json_array_foreach(json_object_get(body, CBX_OUTCOMES_DECISIONS), i, entry)
    {
        struct cbx_str id = cbx_json_str(entry);
        if (id.len == 0 || id.len > CBX_NAME_MAX || find(o, id) != NULL || o->count >= OPEN_MAX) {
            continue;
        }
        struct item item = { .seq = seq, .state = LEFT };
        snprintf(item.decision, sizeof(item.decision), "%.*s", CBX_STR_ARG(id));
        item.body = describe_taken_loss(item.decision, replica != NULL ? replica : "");
        add(o, item);
    }
}

static void release_all(struct cbx_outcomes *o, const json_t *body)
{
    size_t i;
    const json_t *entry;
    json_array_foreach(json_object_get(body, CBX_OUTCOMES_DECISIONS), i, entry)
    {
        struct item *item = find(o, cbx_json_str(entry));
        if (item != NULL && (item->state == LEFT || item->state == ASKED)) {
            drop(o, item);
        }
    }
}

/* Only records of these types are parsed. The members after a body have no text from other
 * sources. */
static bool ends_in_type(struct cbx_str line, const char *type)
{
    char text[64];
    struct cbx_str tail = cbx_str_sub(line, line.len > 64 ? line.len - 64 : 0, line.len);
    snprintf(text, sizeof(text), "\"type\":\"%s\"", type);
    return memmem(tail.p, tail.len, text, strlen(text)) != NULL;
}

static void read_line(struct cbx_outcomes *o, struct cbx_str line, uint64_t seq,
                      const char *instance)
{
    bool decision = ends_in_type(line, "decision"), outcome = ends_in_type(line, "outcome");
    bool taken = ends_in_type(line, CBX_OUTCOMES_TAKEOVER);
    bool released = ends_in_type(line, CBX_OUTCOMES_RELEASED);
    CBX_AUTO_JSON record = NULL;
    if ((!decision && !outcome && !taken && !released && !ends_in_type(line, "approval")) ||
        cbx_json_parse(line, CBX_AUDIT_LINE_MAX, &record, NULL) != 0) {
        return;
    }
    const json_t *body = json_object_get(record, "body");
    pthread_mutex_lock(&o->lock);
    if (decision) {
        read_decision(o, body, seq, instance);
    } else if (taken) {
        take_over_all(o, body, seq);
    } else if (released) {
        release_all(o, body);
    } else {
        read_other(o, body, outcome);
    }
    pthread_mutex_unlock(&o->lock);
}

/* Reads to the end of the log; returns the number of the last record. */
static uint64_t read_on(struct cbx_outcomes *o, uint64_t after, const char *instance)
{
    struct cbx_str line;
    uint64_t last = 0;
    while (cbx_audit_reader_next(o->reader, &line)) {
        last = cbx_audit_line_seq(line);
        if (last > after) {
            read_line(o, line, last, instance);
        }
    }
    return last;
}

static uint64_t read_file(const char *state_dir)
{
    char text[SEQ_DIGITS + 1] = "";
    CBX_AUTO_FILE f = cbx_state_read(state_dir, CBX_OUTCOMES_FILE);
    return f != NULL && fread(text, 1, SEQ_DIGITS, f) == SEQ_DIGITS ? strtoull(text, NULL, 10) : 0;
}

/* Drops decisions that asked and were not approved. The record of an approval is in the same
 * batch. */
static void drop_asked(struct cbx_outcomes *o)
{
    pthread_mutex_lock(&o->lock);
    for (size_t i = o->count; i > 0; i--) {
        if (o->items[i - 1].state == ASKED) {
            drop(o, &o->items[i - 1]);
        }
    }
    pthread_mutex_unlock(&o->lock);
}

int cbx_outcomes_read(struct cbx_outcomes *o, const char *state_dir, const char *instance,
                      bool persistent, struct cbx_err *err)
{
    uint64_t after = o->reader == NULL && persistent ? read_file(state_dir) : 0;
    o->persistent = persistent;
    int failed = 0;
    if (o->reader == NULL) {
        failed = cbx_audit_reader_new(state_dir, after, &o->reader, err);
    }
    if (failed) {
        return failed;
    }
    uint64_t last = read_on(o, after, instance);
    if (after > last) { /* the file is of another log */
        cbx_audit_reader_free(cbx_steal(&o->reader));
        failed = cbx_audit_reader_new(state_dir, 0, &o->reader, err);
        if (failed) {
            return failed;
        }
        read_on(o, 0, instance);
    }
    drop_asked(o);
    return 0;
}

/* --- one action of this executor -------------------------------------------------------------- */

void cbx_outcomes_begin(struct cbx_outcomes *o, const char *decision)
{
    struct item item = { .state = ADMITTING };
    snprintf(item.decision, sizeof(item.decision), "%s", decision);
    pthread_mutex_lock(&o->lock);
    add(o, item);
    pthread_mutex_unlock(&o->lock);
}

void cbx_outcomes_permit(struct cbx_outcomes *o, const char *decision, uint64_t seq)
{
    pthread_mutex_lock(&o->lock);
    struct item *item = find(o, cbx_str_of(decision));
    if (item != NULL) {
        item->state = OPEN;
        item->seq = seq;
    }
    pthread_mutex_unlock(&o->lock);
}

/* Removes an action. */
static void end(struct cbx_outcomes *o, const char *decision)
{
    pthread_mutex_lock(&o->lock);
    struct item *item = find(o, cbx_str_of(decision));
    if (item != NULL) {
        drop(o, item);
    }
    pthread_mutex_unlock(&o->lock);
}

void cbx_outcomes_cancel(struct cbx_outcomes *o, const char *decision)
{
    end(o, decision);
}

bool cbx_outcomes_take(struct cbx_outcomes *o, const char *decision)
{
    pthread_mutex_lock(&o->lock);
    struct item *item = find(o, cbx_str_of(decision));
    bool takes = item != NULL && (item->state == OPEN || item->state == LEFT);
    if (takes) {
        item->state = TAKEN;
    }
    pthread_mutex_unlock(&o->lock);
    return takes;
}

void cbx_outcomes_settle(struct cbx_outcomes *o, const char *decision)
{
    end(o, decision);
}

void cbx_outcomes_defer(struct cbx_outcomes *o, const char *decision, json_t *body)
{
    pthread_mutex_lock(&o->lock);
    struct item *item = find(o, cbx_str_of(decision));
    if (item != NULL) {
        json_decref(item->body);
        item->body = json_incref(body);
        item->state = WAITING;
    }
    pthread_mutex_unlock(&o->lock);
}

void cbx_outcomes_leave(struct cbx_outcomes *o, const char *decision, json_t *body)
{
    pthread_mutex_lock(&o->lock);
    struct item *item = find(o, cbx_str_of(decision));
    if (item != NULL) {
        json_decref(item->body);
        item->body = json_incref(body);
        item->state = LEFT;
    }
    pthread_mutex_unlock(&o->lock);
}

void cbx_outcomes_take_over(struct cbx_outcomes *o, const json_t *body, uint64_t seq)
{
    pthread_mutex_lock(&o->lock);
    take_over_all(o, body, seq);
    pthread_mutex_unlock(&o->lock);
}

void cbx_outcomes_release(struct cbx_outcomes *o, const json_t *body)
{
    pthread_mutex_lock(&o->lock);
    release_all(o, body);
    pthread_mutex_unlock(&o->lock);
}

/* --- from time to time ------------------------------------------------------------------------ */

/* Takes an action in the state WAITING; the body is borrowed from the item, which no other
 * thread removes. */
static bool take_waiting(struct cbx_outcomes *o, char decision[CBX_NAME_MAX + 1], json_t **body)
{
    bool found = false;
    pthread_mutex_lock(&o->lock);
    for (size_t i = 0; i < o->count && !found; i++) {
        struct item *item = &o->items[i];
        found = item->state == WAITING;
        if (found) {
            item->state = TAKEN;
            memcpy(decision, item->decision, sizeof(item->decision));
            *body = json_incref(item->body);
        }
    }
    pthread_mutex_unlock(&o->lock);
    return found;
}

size_t cbx_outcomes_waiting(struct cbx_outcomes *o)
{
    size_t count = 0;
    pthread_mutex_lock(&o->lock);
    for (size_t i = 0; i < o->count; i++) {
        count += o->items[i].state == WAITING;
    }
    pthread_mutex_unlock(&o->lock);
    return count;
}

size_t cbx_outcomes_retry(struct cbx_outcomes *o, struct cbx_audit *audit)
{
    char decision[CBX_NAME_MAX + 1];
    json_t *body;
    bool takes = true;
    size_t written = 0;
    while (takes && take_waiting(o, decision, &body)) {
        takes = cbx_audit_append(audit, "outcome", body, NULL, NULL) == 0;
        if (takes) {
            cbx_outcomes_settle(o, decision);
            written++;
        } else {
            cbx_outcomes_defer(o, decision, body);
        }
        json_decref(body);
    }
    if (written > 0) {
        cbx_log(CBX_LOG_INFO, "%zu outcomes that were missing are recorded", written);
    }
    return cbx_outcomes_waiting(o);
}

/* Moves the next action in the state LEFT without a running sandbox to WAITING. */
static bool lose_next(struct cbx_outcomes *o, size_t *at, cbx_outcomes_lives *lives, void *context)
{
    char decision[CBX_NAME_MAX + 1];
    pthread_mutex_lock(&o->lock);
    while (*at < o->count && o->items[*at].state != LEFT) {
        ++*at;
    }
    bool found = *at < o->count;
    if (found) {
        memcpy(decision, o->items[*at].decision, sizeof(decision));
        ++*at;
    }
    pthread_mutex_unlock(&o->lock);
    if (!found || lives(context, decision)) {
        return found;
    }
    pthread_mutex_lock(&o->lock);
    struct item *item = find(o, cbx_str_of(decision));
    if (item != NULL && item->state == LEFT) { /* else its outcome came meanwhile */
        item->state = WAITING;
    }
    pthread_mutex_unlock(&o->lock);
    return true;
}

size_t cbx_outcomes_sweep(struct cbx_outcomes *o, struct cbx_audit *audit,
                          cbx_outcomes_lives *lives, void *context)
{
    size_t before = cbx_outcomes_waiting(o), at = 0;
    while (lose_next(o, &at, lives, context)) {
    }
    size_t lost = cbx_outcomes_waiting(o) - before;
    if (lost > 0) {
        cbx_log(CBX_LOG_WARNING,
                "%zu actions that an executor before this one began have no known outcome, which "
                "is recorded",
                lost);
        cbx_outcomes_retry(o, audit);
    }
    return lost;
}

bool cbx_outcomes_is_due(struct cbx_outcomes *o)
{
    enum { SAVE_MS = 60000 };
    pthread_mutex_lock(&o->lock);
    int64_t now = cbx_clock_ms();
    bool due = now - o->saved_ms >= SAVE_MS;
    o->saved_ms = due ? now : o->saved_ms;
    pthread_mutex_unlock(&o->lock);
    return due;
}

void cbx_outcomes_save(struct cbx_outcomes *o, const struct cbx_audit *audit, const char *state_dir)
{
    static const char fresh[] = CBX_OUTCOMES_FILE ".new";
    /* before the table is read: actions permitted later have higher numbers */
    uint64_t seq = cbx_audit_last_seq(audit);
    bool known = seq > 0;
    char text[SEQ_DIGITS + 2];
    pthread_mutex_lock(&o->lock);
    for (size_t i = 0; i < o->count; i++) {
        known = known && o->items[i].seq > 0;
        seq = o->items[i].seq <= seq ? o->items[i].seq - 1 : seq;
    }
    pthread_mutex_unlock(&o->lock);
    CBX_AUTO_FD dir = known && !o->full ? open(state_dir, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
    if (dir < 0) {
        return;
    }
    snprintf(text, sizeof(text), "%020" PRIu64 "\n", seq);
    unlinkat(dir, fresh, 0);
    CBX_AUTO_FD fd = openat(dir, fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, text, SEQ_DIGITS + 1) != SEQ_DIGITS + 1 ||
        renameat(dir, fresh, dir, CBX_OUTCOMES_FILE) < 0) {
        unlinkat(dir, fresh, 0);
    }
}
