/* SPDX-License-Identifier: MIT
 * `codebox audit show ID`: all records about one decision, for a person. ID is the number of a
 * record, or an id in it: of a decision, a run, a session. */
#include "docker/result.h"
#include "gateway/cli/audit/audit_commands.h"
#include "gateway/cli/cli.h"
#include "gateway/executor/audit/audit.h"
#include "gateway/executor/audit/audit_reader.h"
#include "policies/base/text/printable.h"

#include <string.h>

static const char *const id_members[] = { "id", "decision", "run", "asked" };

/* Members of a decision with a line of their own. Other members, except code, are printed behind
 * "also". */
static const struct {
    const char *label, *member;
} rows[] = {
#define CBX_SHOWN(label, member) { label, member },
#include "gateway/cli/audit/audit_shown.def"
#undef CBX_SHOWN
};

static bool is_named(const json_t *record, const char *id)
{
    const json_t *body = json_object_get(record, "body");
    char seq[24];
    snprintf(seq, sizeof(seq), "%lld",
             (long long)json_integer_value(json_object_get(record, "seq")));
    bool named = strcmp(seq, id) == 0;
    for (size_t i = 0; i < sizeof(id_members) / sizeof(id_members[0]); i++) {
        named = named || strcmp(cbx_audit_text(body, id_members[i]), id) == 0;
    }
    return named;
}

/* Returns the records with this id, in order (new reference). At most RECORDS_MAX. */
static json_t *find(const char *state_dir, const char *id, struct cbx_err *err)
{
    enum { RECORDS_MAX = 10000 };
    CBX_AUTO(audit_reader) reader = NULL;
    if (cbx_audit_reader_new(state_dir, 0, &reader, err) != 0) {
        return NULL;
    }
    json_t *found = json_array();
    struct cbx_str line;
    while (cbx_audit_reader_next(reader, &line) && json_array_size(found) < RECORDS_MAX) {
        CBX_AUTO_JSON record = NULL;
        /* Most lines need no parsing: numbers and ids stand in them unescaped. */
        if (memmem(line.p, line.len, id, strlen(id)) != NULL &&
            cbx_json_parse(line, CBX_AUDIT_LINE_MAX, &record, NULL) == 0 && is_named(record, id)) {
            json_array_append(found, record);
        }
    }
    return found;
}

/* Returns the decision that a record is, or is about. */
static const char *decision_of(const json_t *record)
{
    const json_t *body = json_object_get(record, "body");
    const char *decision = cbx_audit_text(body, "decision");
    return decision[0] != '\0' ? decision : cbx_audit_text(body, "id");
}

/* --- printing --------------------------------------------------------------------------------- */

static void print_value(const json_t *value)
{
    CBX_AUTO_DONE(buf) json;
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&json, CBX_AUDIT_LINE_MAX);
    cbx_buf_init(&text, CBX_PRINTABLE_GROWTH * CBX_AUDIT_LINE_MAX);
    if (!json_is_string(value)) {
        cbx_json_write(&json, value);
    }
    cbx_printable_add(&text, json_is_string(value) ? cbx_json_str(value) : cbx_buf_str(&json),
                      CBX_PRINTABLE_LINE);
    fwrite(text.p, 1, text.len, stdout);
}

static bool is_empty(const json_t *value)
{
    return value == NULL || json_is_null(value) ||
           (json_is_string(value) && json_string_length(value) == 0) ||
           (json_is_array(value) && json_array_size(value) == 0) ||
           (json_is_object(value) && json_object_size(value) == 0);
}

static void print_row(const char *label, const json_t *value)
{
    if (!is_empty(value)) {
        printf("  %-14s ", label);
        print_value(value);
        putchar('\n');
    }
}

/* In mode log-only these are the effects that the findings would have had. */
static void print_findings(const json_t *body)
{
    const json_t *findings = json_object_get(body, "findings");
    size_t i;
    const json_t *finding;
    json_array_foreach(findings, i, finding)
    {
        printf("  line %lld, column %lld: ",
               (long long)json_integer_value(json_object_get(finding, "line")),
               (long long)json_integer_value(json_object_get(finding, "column")));
        fputs(cbx_audit_would_stop(body, finding) ? "would " : "", stdout);
        cbx_audit_print_text(finding, "effect");
        fputs(" by rule ", stdout);
        cbx_audit_print_text(finding, "rule");
        putchar(' ');
        cbx_audit_print_text(finding, "symbol");
        if (json_object_get(finding, "exception") != NULL) {
            fputs(", excepted: ", stdout);
            cbx_audit_print_text(finding, "exception");
        }
        putchar('\n');
    }
}

/* Prints a bar before each line, so that no line of the code looks like a line of this program. */
static void print_code(const json_t *code)
{
    struct cbx_str left = cbx_json_str(code);
    if (code == NULL) {
        printf("  the code is not in the log, its hash alone (serve --audit-code full)\n");
        return;
    }
    printf("  code\n");
    while (left.len > 0) {
        const char *end = memchr(left.p, '\n', left.len);
        size_t len = end != NULL ? (size_t)(end - left.p) : left.len;
        CBX_AUTO_DONE(buf) text;
        cbx_buf_init(&text, CBX_PRINTABLE_GROWTH * CBX_AUDIT_LINE_MAX);
        cbx_printable_add(&text, cbx_str_sub(left, 0, len), CBX_PRINTABLE_LINES);
        printf("    | %s\n", text.p);
        left = cbx_str_sub(left, len + (end != NULL), left.len);
    }
}

static bool is_shown(const char *member)
{
    bool shown = strcmp(member, "findings") == 0 || strcmp(member, "code") == 0;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        shown = shown || strcmp(member, rows[i].member) == 0;
    }
    return shown;
}

static void print_decision(json_t *body)
{
    const char *member;
    json_t *value;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        print_row(rows[i].label, json_object_get(body, rows[i].member));
    }
    json_object_foreach(body, member, value)
    {
        if (!is_shown(member)) {
            print_row(member, value);
        }
    }
    print_findings(body);
    print_code(json_object_get(body, "code"));
}

static void print_record(const json_t *record)
{
    json_t *body = json_object_get(record, "body");
    const char *type = cbx_audit_text(record, "type");
    cbx_audit_print_text(record, "type");
    printf(", record %lld of ", (long long)json_integer_value(json_object_get(record, "seq")));
    cbx_audit_print_text(record, "time");
    cbx_audit_print_clock(record);
    putchar('\n');
    if (strcmp(type, "decision") == 0 || strcmp(type, "analysis-failed") == 0) {
        print_decision(body);
        return;
    }
    fputs("  ", stdout);
    cbx_audit_print_body(type, body);
    putchar('\n');
    const char *member;
    json_t *value;
    json_object_foreach(body, member, value)
    {
        print_row(member, value);
    }
}

int cbx_audit_show_command(const struct cbx_options *options)
{
    const char *id = options->arguments.items[1];
    struct cbx_err err = { 0 };
    CBX_AUTO_JSON found = NULL;
    if (id[0] != '\0') {
        found = find(options->state_dir, id, &err);
    } else {
        found = json_array();
    }
    if (found == NULL) {
        return cbx_cli_fail(&err);
    }
    if (json_array_size(found) == 0) {
        fprintf(stderr, "codebox: the audit log in '%s' has no record, decision or run '%s'\n",
                options->state_dir, id);
        return 1;
    }
    const char *decision = decision_of(json_array_get(found, 0));
    CBX_AUTO_JSON all = NULL;
    if (decision[0] != '\0') {
        all = find(options->state_dir, decision, &err);
    }
    size_t i;
    const json_t *record;
    json_array_foreach(all != NULL ? all : found, i, record)
    {
        print_record(record);
    }
    return 0;
}
