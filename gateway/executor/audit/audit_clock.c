/* SPDX-License-Identifier: MIT
 * Checks that the clock can be used to compute the age of records. An attacker who sets the
 * clock ahead would have old files removed by an ordinary call. */
#include "gateway/executor/audit/audit_files.h"
#include "gateway/executor/audit/audit_internal.h"

#include <inttypes.h>

/* State of the walk through the current file. */
struct clock_walk {
    struct cbx_chain chain; /* position, with the time of the last record */
    struct cbx_buf scratch;
    char *line;
    size_t size;
    /* number of a record with a large time difference to its predecessor; 0 = none */
    uint64_t jump;
    int64_t jump_ms;
};

static bool is_far(int64_t ms)
{
    return ms > CBX_AUDIT_CLOCK_JUMP_MS || ms < -CBX_AUDIT_CLOCK_TOLERANCE_MS;
}

static bool accepts_jump(struct cbx_str line)
{
    CBX_AUTO_JSON record = NULL;
    cbx_json_parse(line, CBX_AUDIT_LINE_MAX, &record, NULL);
    return json_is_true(json_object_get(json_object_get(record, "body"), "accepted_jump"));
}

static void take_record(struct clock_walk *w, struct cbx_str line,
                        const struct cbx_chain_line *record)
{
    int64_t before = w->chain.time_ms, now = 0;
    if (cbx_chain_time(record->time, &now)) {
        w->chain.time_ms = now;
    }
    if (before > 0 && now > 0 && is_far(now - before)) {
        w->jump = w->chain.seq;
        w->jump_ms = now - before;
    }
    if (cbx_str_is(record->type, "pruned") && accepts_jump(line)) {
        w->jump = 0;
    }
}

static void read_current(struct cbx_audit *audit, struct clock_walk *w)
{
    ssize_t n;
    struct cbx_chain_line record;
    CBX_AUTO_FILE f = cbx_audit_file_open(audit->dir, 0);
    while (f != NULL && (n = getline(&w->line, &w->size, f)) > 0 && w->line[n - 1] == '\n') {
        struct cbx_str line = { .p = w->line, .len = (size_t)n - 1 };
        if (!cbx_chain_follow(&w->chain, line, &w->scratch, &record)) {
            return; /* `verify` reports the error */
        }
        take_record(w, line, &record);
    }
}

/* Writes a duration in whole days, else hours, else seconds. */
static void format_span(int64_t ms, char out[40])
{
    static const struct {
        int64_t ms;
        const char *name;
    } units[] = { { 86400000, "days" }, { 3600000, "hours" }, { 1000, "seconds" } };
    size_t i = 0;
    int64_t size = ms < 0 ? -ms : ms;
    while (i < 2 && size < 2 * units[i].ms) {
        i++;
    }
    snprintf(out, 40, "%" PRId64 " %s", size / units[i].ms, units[i].name);
}

static int fail_jump(const char *what, int64_t ms, const char *from, struct cbx_err *err)
{
    char span[40];
    format_span(ms, span);
    return cbx_fail(err, CBX_ESTATE,
                    "%s is %s %s %s: the clock may be wrong, so no file is removed by its age; if "
                    "it is right: 'codebox audit prune --keep DAYS --accept-jump'",
                    what, span, ms < 0 ? "behind" : "ahead of", from);
}

int cbx_audit_check_clock(struct cbx_audit *audit, int64_t now_ms, struct cbx_err *err)
{
    struct clock_walk w = { 0 };
    int failed = cbx_audit_closed_position(audit, &w.chain, err);
    if (failed) {
        return failed;
    }
    cbx_buf_init(&w.scratch, CBX_AUDIT_LINE_MAX);
    read_current(audit, &w);
    free(w.line);
    cbx_buf_done(&w.scratch);
    if (w.chain.time_ms > 0 && is_far(now_ms - w.chain.time_ms)) {
        return fail_jump("the clock", now_ms - w.chain.time_ms, "the newest record", err);
    }
    if (w.jump > 0) {
        char record[64];
        snprintf(record, sizeof(record), "the time of record %" PRIu64, w.jump);
        return fail_jump(record, w.jump_ms, "that of the record before it", err);
    }
    return 0;
}
