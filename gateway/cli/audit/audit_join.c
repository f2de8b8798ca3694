/* SPDX-License-Identifier: MIT
 * The events of all logs in one array, sorted by decision. */
#include "gateway/cli/audit/audit_join.h"

#include "gateway/cli/cli.h"
#include "gateway/executor/audit/audit.h"
#include "gateway/executor/audit/audit_reader.h"
#include "gateway/executor/audit/outcomes.h"
#include "policies/base/memory.h"
#include "policies/base/sort.h"

#include <stdlib.h>
#include <string.h>

enum kind { ALLOWED, ASKED, APPROVED, OUTCOME, PRESUMED, KINDS };

struct event {
    char decision[CBX_ID_CHARS + 1];
    uint8_t kind, folder;
};

struct events {
    struct event *items;
    size_t count;
};

static void add(struct events *events, struct cbx_str decision, enum kind kind, size_t folder)
{
    if (decision.len != CBX_ID_CHARS) {
        return;
    }
    events->items = cbx_grow(events->items, events->count, sizeof(*events->items));
    struct event *event = &events->items[events->count++];
    *event = (struct event){ .kind = (uint8_t)kind, .folder = (uint8_t)folder };
    memcpy(event->decision, decision.p, decision.len);
}

/* --- reading ---------------------------------------------------------------------------------- */

/* Checks have no outcome. */
static void add_decision(struct events *events, const json_t *body, size_t folder)
{
    struct cbx_str verdict = cbx_json_str(json_object_get(body, "verdict"));
    struct cbx_str action = cbx_json_str(json_object_get(body, "action"));
    struct cbx_str id = cbx_json_str(json_object_get(body, "id"));
    if (action.len == 0 || cbx_str_is(action, cbx_action_name(CBX_ACTION_CHECK))) {
        return;
    }
    if (cbx_str_is(verdict, "allow")) {
        add(events, id, ALLOWED, folder);
    } else if (cbx_str_is(verdict, "ask")) {
        add(events, id, ASKED, folder);
    }
}

static void add_outcome(struct events *events, const json_t *body, size_t folder)
{
    bool presumed = json_is_true(json_object_get(body, CBX_OUTCOMES_PRESUMED));
    add(events, cbx_json_str(json_object_get(body, "decision")), presumed ? PRESUMED : OUTCOME,
        folder);
}

static void add_approval(struct events *events, const json_t *body, size_t folder)
{
    add(events, cbx_json_str(json_object_get(body, "decision")), APPROVED, folder);
}

static const struct {
    const char *type;
    void (*add)(struct events *events, const json_t *body, size_t folder);
} types[] = {
    { "decision", add_decision },
    { "outcome", add_outcome },
    { "approval", add_approval },
};

static void add_line(struct events *events, struct cbx_str line, size_t folder)
{
    CBX_AUTO_JSON record = NULL;
    if (cbx_json_parse(line, CBX_AUDIT_LINE_MAX, &record, NULL) != 0) {
        return; /* the verification has named it */
    }
    struct cbx_str type = cbx_json_str(json_object_get(record, "type"));
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        if (cbx_str_is(type, types[i].type)) {
            types[i].add(events, json_object_get(record, "body"), folder);
        }
    }
}

static int read_folder(struct events *events, const char *path, size_t folder, struct cbx_err *err)
{
    CBX_AUTO(audit_reader) reader = NULL;
    struct cbx_str line;
    int failed = cbx_audit_reader_new(path, 0, &reader, err);
    if (failed) {
        return failed;
    }
    while (cbx_audit_reader_next(reader, &line)) {
        add_line(events, line, folder);
    }
    return 0;
}

/* --- joining ---------------------------------------------------------------------------------- */

/* The events of one decision. */
struct group {
    size_t counts[KINDS];
    uint8_t decided, ended; /* folders; the last ones */
};

static int compare(const void *a, const void *b)
{
    const struct event *x = a, *y = b;
    int order = strcmp(x->decision, y->decision);
    return order != 0 ? order : x->kind - y->kind;
}

/* Returns the number of the group's events. */
static size_t read_group(const struct events *events, size_t at, struct group *out)
{
    const char *decision = events->items[at].decision;
    size_t n = 0;
    *out = (struct group){ { 0 }, 0, 0 };
    while (at + n < events->count && strcmp(events->items[at + n].decision, decision) == 0) {
        const struct event *event = &events->items[at + n++];
        out->counts[event->kind]++;
        if (event->kind >= OUTCOME) {
            out->ended = event->folder;
        } else {
            out->decided = event->folder;
        }
    }
    return n;
}

static bool is_permitted(const struct group *g)
{
    return g->counts[ALLOWED] > 0 || (g->counts[ASKED] > 0 && g->counts[APPROVED] > 0);
}

/* Prints what is wrong with a decision; false if nothing is. */
static bool print_finding(const struct group *g, const char *decision, const char *const *folders)
{
    size_t outcomes = g->counts[OUTCOME];
    if (outcomes > 1) {
        printf("decision %s has %zu outcomes, allowed is one: the last one is in %s\n", decision,
               outcomes, folders[g->ended]);
        return true;
    }
    if (is_permitted(g) && outcomes + g->counts[PRESUMED] == 0) {
        printf("decision %s in %s has no outcome in any of these logs: it still runs, its replica "
               "ended and was neither started again nor taken over, or a log is missing\n",
               decision, folders[g->decided]);
        return true;
    }
    return false;
}

static int join(const struct events *events, const char *const *folders)
{
    enum { SHOWN_MAX = 10 };
    size_t permitted = 0, elsewhere = 0, findings = 0;
    struct group group;
    for (size_t at = 0, n = 0; at < events->count; at += n) {
        n = read_group(events, at, &group);
        bool has_outcome = group.counts[OUTCOME] + group.counts[PRESUMED] > 0;
        permitted += is_permitted(&group);
        elsewhere += is_permitted(&group) && has_outcome && group.decided != group.ended;
        if (findings < SHOWN_MAX) {
            findings += print_finding(&group, events->items[at].decision, folders);
        }
    }
    if (findings == SHOWN_MAX) {
        printf("there may be more such decisions\n");
    }
    if (findings > 0) {
        return 1;
    }
    printf("each of %zu permitted actions has one outcome, %zu of them in the log of another "
           "replica\n",
           permitted, elsewhere);
    return 0;
}

int cbx_audit_join_print(const char *const *folders, size_t count)
{
    struct events events = { NULL, 0 };
    struct cbx_err err = { 0 };
    int failed = 0, status = 0;
    for (size_t i = 0; i < count && !failed; i++) {
        failed = read_folder(&events, folders[i], i, &err);
    }
    if (failed) {
        status = cbx_cli_fail(&err);
    } else {
        if (events.count > 0) {
            cbx_sort_heap(events.items, events.count, sizeof(*events.items), compare);
        }
        status = join(&events, folders);
    }
    free(events.items);
    return status;
}
