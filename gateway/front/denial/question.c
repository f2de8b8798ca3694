/* SPDX-License-Identifier: MIT
 * The question as text. */
#include "gateway/front/denial/question.h"

#include "gateway/front/denial/denial.h"
#include "gateway/front/denial/hosts.h"
#include "policies/base/text/printable.h"

enum {
    PLACES_BYTES = 1400,
    RULES_BYTES = 300,
    NAME_BYTES = 100,
    LINE_BYTES = 160,  /* bytes of a source line */
    LAST_BYTES = 96,   /* bytes for the number of omitted lines */
    SHOWN_BYTES = 1024 /* bytes of a source line with its number, if all of it is escaped */
};

static void add_rules(const json_t *findings, struct cbx_buf *out)
{
    CBX_AUTO_JSON seen = json_object();
    size_t i, start = out->len, omitted = 0;
    const json_t *finding;
    json_array_foreach(findings, i, finding)
    {
        struct cbx_str rule = cbx_json_str(json_object_get(finding, "rule"));
        bool asks = cbx_str_is(cbx_json_str(json_object_get(finding, "effect")), "ask");
        if (!asks || rule.len == 0 || json_object_get(seen, rule.p) != NULL) {
            continue;
        }
        json_object_set_new(seen, rule.p, json_true());
        if (out->len - start + NAME_BYTES > RULES_BYTES) {
            omitted++;
            continue;
        }
        cbx_buf_add_cstr(out, out->len > start ? ", " : "");
        cbx_printable_add(out, cbx_str_cut(rule, NAME_BYTES), CBX_PRINTABLE_LINE);
    }
    if (omitted > 0) {
        cbx_buf_printf(out, " and %zu more", omitted);
    }
}

/* --- the source ------------------------------------------------------------------------------- */

/* Takes the next line, which ends at "\n", "\r\n" or "\r", from the front of *rest. False at the
 * end. */
static bool take_line(struct cbx_str *rest, struct cbx_str *line)
{
    size_t to = 0;
    if (rest->len == 0) {
        return false;
    }
    while (to < rest->len && rest->p[to] != '\n' && rest->p[to] != '\r') {
        to++;
    }
    *line = cbx_str_sub(*rest, 0, to);
    size_t next = to < rest->len ? to + 1 : to;
    next += to < rest->len && rest->p[to] == '\r' && next < rest->len && rest->p[next] == '\n';
    *rest = cbx_str_sub(*rest, next, rest->len);
    return true;
}

static size_t count_lines(struct cbx_str source)
{
    size_t lines = 0;
    for (struct cbx_str line; take_line(&source, &line);) {
        lines++;
    }
    return lines;
}

/* Writes "   12 | ...": tabs stay. */
static void add_line(size_t number, struct cbx_str line, struct cbx_buf *out)
{
    struct cbx_str shown = cbx_str_cut(line, LINE_BYTES);
    cbx_buf_printf(out, "%5zu | ", number);
    cbx_printable_add(out, shown, CBX_PRINTABLE_LINES);
    if (shown.len < line.len) {
        cbx_buf_printf(out, " [... %zu more bytes of this line]", line.len - shown.len);
    }
    cbx_buf_add_char(out, '\n');
}

static void add_source(struct cbx_str source, size_t max_bytes, struct cbx_buf *out)
{
    size_t lines = count_lines(source), shown = 0, start = out->len;
    for (struct cbx_str line; take_line(&source, &line); shown++) {
        CBX_AUTO_DONE(buf) one;
        cbx_buf_init(&one, SHOWN_BYTES);
        add_line(shown + 1, line, &one);
        if (one.overflow || out->len - start + one.len + LAST_BYTES > max_bytes) {
            break;
        }
        cbx_buf_add(out, cbx_buf_str(&one));
    }
    if (shown < lines) {
        cbx_buf_printf(out, "%zu MORE LINES ARE NOT SHOWN\n", lines - shown);
    } else {
        cbx_buf_add_cstr(out, "All lines are shown.\n");
    }
}

/* --- the whole -------------------------------------------------------------------------------- */

static void add_head(const struct cbx_question *q, struct cbx_buf *out)
{
    cbx_buf_add_cstr(out, "Run this program once? The policy ");
    cbx_printable_add(out, cbx_str_cut(q->policy, NAME_BYTES), CBX_PRINTABLE_LINE);
    cbx_buf_add_cstr(out, " asks first. Accept runs it in the sandbox; decline or cancel runs "
                          "nothing.\nLanguage: ");
    cbx_printable_add(out, cbx_str_cut(cbx_str_of(q->language), NAME_BYTES), CBX_PRINTABLE_LINE);
    cbx_buf_add_cstr(out, ". Session: ");
    cbx_printable_add(out, cbx_str_cut(cbx_str_of(q->session), NAME_BYTES), CBX_PRINTABLE_LINE);
    cbx_buf_add_cstr(out, q->session[0] == '\0' ? "none, a fresh sandbox"
                                                : ", with its variables and files");
    cbx_buf_add_cstr(out, ". Network: ");
    if (q->outcome->hosts != NULL) {
        cbx_hosts_add(q->outcome->hosts, out);
    }
    cbx_buf_add_cstr(out, q->outcome->hosts != NULL ? "." : "none.");
    if (q->outcome->limits.wall_ms > 0) {
        cbx_buf_printf(out, " Time: at most %lld s.",
                       (long long)(q->outcome->limits.wall_ms + 999) / 1000);
    }
    cbx_buf_add_cstr(out, "\nRules that ask: ");
    add_rules(json_object_get(q->outcome->decision, "findings"), out);
    cbx_buf_add_cstr(out, "\n\n");
}

/* A notebook cell is rewritten before it runs; the audit log has the hash of the rewritten code. */
static void add_hash(const struct cbx_question *q, struct cbx_buf *out)
{
    char hex[CBX_SHA256_HEX + 1];
    struct cbx_sha256 hash = cbx_sha256_of(q->source);
    struct cbx_str runs = cbx_json_str(json_object_get(q->outcome->decision, "sha256"));
    cbx_sha256_hex(&hash, hex);
    cbx_buf_printf(out, "\nThe program: %zu lines, %zu bytes, SHA-256 %s", count_lines(q->source),
                   q->source.len, hex);
    if (!cbx_str_is(runs, hex)) {
        cbx_buf_add_cstr(out, ", rewritten to SHA-256 ");
        cbx_printable_add(out, cbx_str_cut(runs, CBX_SHA256_HEX), CBX_PRINTABLE_LINE);
    }
    cbx_buf_add_cstr(out, "\n");
}

void cbx_question_add(const struct cbx_question *question, struct cbx_buf *out)
{
    size_t start = out->len;
    const struct cbx_denial places = { .decision = question->outcome->decision,
                                       .ask = true,
                                       .source = question->source,
                                       .shown_to_approve = true };
    add_head(question, out);
    cbx_denial_add_places(&places, PLACES_BYTES, out);
    add_hash(question, out);
    size_t used = out->len - start;
    add_source(question->source, CBX_QUESTION_BYTES_MAX - used, out);
}
