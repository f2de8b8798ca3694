/* SPDX-License-Identifier: MIT
 * `codebox audit verify|tail|acknowledge`. */
#include "gateway/cli/cli.h"
#include "gateway/executor/audit.h"
#include "gateway/ipc/state.h"
#include "policies/base/printable.h"

#include <inttypes.h>
#include <limits.h>
#include <unistd.h>

/* Prints the ranges of records that were never signed. */
static void print_unsigned(const struct cbx_audit_report *report)
{
    enum { SHOWN_MAX = 10 };
    for (size_t i = 0; i < report->unsigned_count && i < SHOWN_MAX; i++) {
        const struct cbx_audit_range *range = &report->unsigned_ranges[i];
        printf("records %" PRIu64 " to %" PRIu64
               " are chained but were never signed (record %" PRIu64
               " names them): a crash followed the write, or another program wrote them\n",
               range->from, range->to, range->record);
    }
    if (report->unsigned_count > SHOWN_MAX) {
        printf("and %zu more such ranges\n", report->unsigned_count - SHOWN_MAX);
    }
    printf("examine them ('codebox audit tail'); 'codebox audit acknowledge --reason TEXT' records "
           "what explains them\n");
}

static int verify(const struct cbx_options *options)
{
    static struct cbx_audit_report report;
    struct cbx_err err = { 0 };
    uint8_t key[CBX_AUDIT_PUBLIC_BYTES];
    const uint8_t *pinned = options->public_key != NULL ? key : NULL;
    if ((pinned != NULL && cbx_audit_public_key(options->public_key, key, &err) != 0) ||
        cbx_audit_verify_pinned(options->state_dir, pinned, &report, &err) != 0) {
        return cbx_cli_fail(&err);
    }
    if (report.line != 0) {
        printf("%s/" CBX_AUDIT_FILE ":%" PRIu64 ": %s\n%" PRIu64
               " records before it are in order\n",
               options->state_dir, report.line, report.problem, report.records);
        return 1;
    }
    printf("%" PRIu64 " records, all in order, none missing; the last is of %s, hash %s\n",
           report.records, report.records > 0 ? report.last_time : "never", report.last_hash);
    if (report.public_key[0] != '\0') {
        printf("signed with the %s %s\n",
               pinned != NULL ? "given key" : "key of this state directory,", report.public_key);
    }
    if (report.unsigned_count > 0) {
        print_unsigned(&report);
        return 1;
    }
    return 0;
}

static int acknowledge(const struct cbx_options *options)
{
    static struct cbx_audit_report report;
    struct cbx_err err = { 0 };
    if (options->reason == NULL) {
        fprintf(stderr,
                "codebox: audit acknowledge needs --reason TEXT: what explains the records\n");
        return 2;
    }
    if (cbx_audit_verify(options->state_dir, &report, &err) != 0) {
        return cbx_cli_fail(&err);
    }
    if (report.line == 0 && report.unsigned_count == 0) {
        printf("there is nothing to acknowledge\n");
        return 0;
    }
    char principal[32];
    snprintf(principal, sizeof(principal), "uid:%u", (unsigned)getuid());
    if (cbx_audit_acknowledge(options->state_dir, &report, cbx_str_of(principal),
                              cbx_str_of(options->reason), &err) != 0) {
        cbx_cli_fail(&err);
        return 1;
    }
    printf("%zu ranges of unsigned records are acknowledged\n", report.unsigned_count);
    return 0;
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text != NULL ? text : "";
}

static void print_decision(const json_t *body)
{
    printf("%-5s %-5s %-10s %-13s %s sha256:%.12s", text_of(body, "verdict"),
           text_of(body, "action"), text_of(body, "language"), text_of(body, "policy"),
           text_of(body, "principal"), text_of(body, "sha256"));
    size_t i;
    const json_t *finding;
    json_array_foreach(json_object_get(body, "findings"), i, finding)
    {
        CBX_AUTO_DONE(buf) symbol;
        cbx_buf_init(&symbol, 4096);
        cbx_printable_add(&symbol, cbx_json_str(json_object_get(finding, "symbol")),
                          CBX_PRINTABLE_LINE);
        printf("%s %s %s (line %lld)", i > 0 ? "," : "", text_of(finding, "rule"), symbol.p,
               (long long)json_integer_value(json_object_get(finding, "line")));
    }
}

/* A run that failed before its program began has neither exit code nor duration. */
static void print_outcome(const json_t *body)
{
    enum cbx_run_status status =
        (enum cbx_run_status)json_integer_value(json_object_get(body, "status"));
    json_int_t exit_code = json_integer_value(json_object_get(body, "exit_code"));
    json_int_t signal = json_integer_value(json_object_get(body, "signal"));
    fputs(cbx_run_status_name(status), stdout);
    if (status != CBX_RUN_FAILED) {
        if (signal > 0) {
            printf(" by signal %lld", (long long)signal);
        } else if (exit_code >= 0) {
            printf(" exit %lld", (long long)exit_code);
        }
        printf(" in %lld ms", (long long)json_integer_value(json_object_get(body, "duration_ms")));
    }
    printf("%s%s", json_object_get(body, "error") != NULL ? ": " : "", text_of(body, "error"));
}

/* A text that a caller chose, safe to show on a terminal. */
static void print_text(const json_t *body, const char *key)
{
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, 16 * 1024);
    cbx_printable_add(&text, cbx_json_str(json_object_get(body, key)), CBX_PRINTABLE_LINE);
    fwrite(text.p, 1, text.len, stdout);
}

static void print_who(const json_t *body)
{
    fputs("session ", stdout);
    print_text(body, "session");
    fputs(" by ", stdout);
    print_text(body, "principal");
}

static void print_upload(const json_t *body)
{
    print_text(body, "path");
    printf(" %lld bytes sha256:%.12s ",
           (long long)json_integer_value(json_object_get(body, "size")), text_of(body, "sha256"));
    print_who(body);
}

static void print_deletion(const json_t *body)
{
    print_text(body, "path");
    fputs(" ", stdout);
    print_who(body);
}

static void print_blocked(const json_t *body)
{
    print_text(body, "capability");
    fputs(" by rule ", stdout);
    print_text(body, "rule");
    fputs(": ", stdout);
    print_text(body, "what");
    printf(" (%lld)", (long long)json_integer_value(json_object_get(body, "count")));
    if (text_of(body, "session")[0] != '\0') {
        fputs(" in session ", stdout);
        print_text(body, "session");
    }
    fputs(" by ", stdout);
    print_text(body, "principal");
}

/* "client NAME VERSION accepted": what the client was told to do by a person, or did by itself, is not known. "principal NAME
 * accepted": over REST. */
static void print_approval(const json_t *body)
{
    const json_t *by = json_object_get(body, "approved_by"), *rule;
    size_t i;
    bool principal = text_of(by, "principal")[0] != '\0';
    fputs(principal ? "principal " : "client ", stdout);
    print_text(by, principal ? "principal" : "client");
    fputs(text_of(by, "version")[0] != '\0' ? " " : "", stdout);
    print_text(by, "version");
    fputs(" accepted", stdout);
    json_array_foreach(json_object_get(body, "rules"), i, rule)
    {
        printf("%s%s", i > 0 ? ", " : " ", json_string_value(rule));
    }
    fputs(" (", stdout);
    print_text(body, "how");
    fputs(") for decision ", stdout);
    print_text(body, "decision");
    fputs(", shown as ", stdout);
    print_text(body, "asked");
}

static void print_recovered(const json_t *body)
{
    json_int_t from = json_integer_value(json_object_get(body, "unsigned_from"));
    json_int_t torn = json_integer_value(json_object_get(body, "torn_bytes"));
    if (from > 0) {
        printf("records %lld to %lld were never signed", (long long)from,
               (long long)json_integer_value(json_object_get(body, "unsigned_to")));
    }
    if (torn > 0) {
        printf("%s%lld bytes of an incomplete record were removed", from > 0 ? "; " : "",
               (long long)torn);
    }
}

static void print_acknowledged(const json_t *body)
{
    printf("%zu ranges by ", json_array_size(json_object_get(body, "recovered")));
    print_text(body, "principal");
    fputs(": ", stdout);
    print_text(body, "reason");
}

/* Record types and how their bodies are shown. */
static const struct {
    const char *type;
    void (*print)(const json_t *body);
} record_types[] = {
    { "decision", print_decision },   { "analysis-failed", print_decision },
    { "outcome", print_outcome },     { "upload", print_upload },
    { "recovered", print_recovered }, { "acknowledged", print_acknowledged },
    { "deletion", print_deletion },   { "reset", print_who },
    { "blocked", print_blocked },     { "approval", print_approval },
};

static void print_record(struct cbx_str line)
{
    struct cbx_err err;
    CBX_AUTO_JSON record = NULL;
    if (cbx_json_parse(line, CBX_AUDIT_LINE_MAX, &record, &err) != 0) {
        printf("(not a record: %s)\n", err.text);
        return;
    }
    const json_t *body = json_object_get(record, "body");
    const char *type = text_of(record, "type");
    printf("%6lld %s %-12s ", (long long)json_integer_value(json_object_get(record, "seq")),
           text_of(record, "time"), type);
    for (size_t i = 0; i < sizeof(record_types) / sizeof(record_types[0]); i++) {
        if (strcmp(type, record_types[i].type) == 0) {
            record_types[i].print(body);
        }
    }
    putchar('\n');
}

/* Keeps the last N lines in a ring: the log is read once, and never as a whole in memory. */
static int tail(const struct cbx_options *options)
{
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s/" CBX_AUDIT_FILE, options->state_dir);
    CBX_AUTO_FILE f = cbx_state_read(options->state_dir, CBX_AUDIT_FILE);
    if (f == NULL) {
        fprintf(stderr, "codebox: no audit log at '%s'\n", path);
        return 2;
    }
    size_t keep = options->lines > 0 ? (size_t)options->lines : 10, count = 0;
    char **ring = calloc(keep, sizeof(*ring));
    CBX_AUTO_MEM char *line = NULL;
    size_t size = 0;
    ssize_t n;
    while (ring != NULL && (n = getline(&line, &size, f)) > 0) {
        free(ring[count % keep]);
        ring[count++ % keep] = strndup(line, (size_t)n - (line[n - 1] == '\n'));
    }
    for (size_t i = count > keep ? count - keep : 0; i < count; i++) {
        print_record(cbx_str_of(ring[i % keep]));
    }
    for (size_t i = 0; ring != NULL && i < keep; i++) {
        free(ring[i]);
    }
    free(ring);
    return 0;
}

int cbx_audit_command(const struct cbx_options *options)
{
    const char *what = options->arguments.count == 1 ? options->arguments.items[0] : "";
    if (options->public_key != NULL && strcmp(what, "verify") != 0) {
        fprintf(stderr, "codebox: --public-key is for 'audit verify' alone\n");
        return 2;
    }
    if (strcmp(what, "verify") == 0) {
        return verify(options);
    }
    if (strcmp(what, "tail") == 0) {
        return tail(options);
    }
    if (strcmp(what, "acknowledge") == 0) {
        return acknowledge(options);
    }
    fprintf(stderr, "codebox: audit takes 'verify', 'tail' or 'acknowledge'%s%s\n",
            what[0] != '\0' ? ", not " : "", what);
    return 2;
}
