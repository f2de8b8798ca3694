/* SPDX-License-Identifier: MIT
 * Records of the audit log as lines for a person. */
#include "docker/result.h"
#include "gateway/cli/audit/audit_commands.h"
#include "policies/base/text/printable.h"

#include <string.h>

const char *cbx_audit_text(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text != NULL ? text : "";
}

static void print_value(const json_t *value)
{
    enum { SHOWN_MAX = 4096 };
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, CBX_PRINTABLE_GROWTH * SHOWN_MAX);
    cbx_printable_add(&text, cbx_str_sub(cbx_json_str(value), 0, SHOWN_MAX), CBX_PRINTABLE_LINE);
    fwrite(text.p, 1, text.len, stdout);
}

void cbx_audit_print_text(const json_t *body, const char *key)
{
    print_value(json_object_get(body, key));
}

bool cbx_audit_would_stop(const json_t *body, const json_t *finding)
{
    const char *effect = cbx_audit_text(finding, "effect");
    return json_object_get(body, "mode") != NULL &&
           (strcmp(effect, "deny") == 0 || strcmp(effect, "ask") == 0);
}

/* "ann (token 0123456789ab)"; records of older versions have no credential. */
static void print_principal(const json_t *body)
{
    cbx_audit_print_text(body, "principal");
    if (cbx_audit_text(body, "credential")[0] != '\0') {
        fputs(" (", stdout);
        cbx_audit_print_text(body, "credential");
        putchar(')');
    }
}

static void print_decision(const json_t *body)
{
    printf("%-5s %-5s %-10s ", cbx_audit_text(body, "verdict"), cbx_audit_text(body, "action"),
           cbx_audit_text(body, "language"));
    cbx_audit_print_text(body, "policy");
    if (json_object_get(body, "mode") != NULL) {
        fputs(" (", stdout);
        cbx_audit_print_text(body, "mode");
        putchar(')');
    }
    putchar(' ');
    print_principal(body);
    printf(" sha256:%.12s", cbx_audit_text(body, "sha256"));
    size_t i;
    const json_t *finding;
    json_array_foreach(json_object_get(body, "findings"), i, finding)
    {
        fputs(i > 0 ? ", " : " ", stdout);
        if (cbx_audit_would_stop(body, finding)) {
            fputs("would ", stdout);
            cbx_audit_print_text(finding, "effect");
            putchar(' ');
        }
        cbx_audit_print_text(finding, "rule");
        putchar(' ');
        cbx_audit_print_text(finding, "symbol");
        json_int_t line = json_integer_value(json_object_get(finding, "line"));
        if (line > 0) { /* A finding about a package has no line. */
            printf(" (line %lld)", (long long)line);
        }
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
    fputs(json_object_get(body, "error") != NULL ? ": " : "", stdout);
    cbx_audit_print_text(body, "error");
}

static void print_who(const json_t *body)
{
    fputs("session ", stdout);
    cbx_audit_print_text(body, "session");
    fputs(" by ", stdout);
    print_principal(body);
}

static void print_upload(const json_t *body)
{
    cbx_audit_print_text(body, "path");
    printf(" %lld bytes sha256:%.12s ",
           (long long)json_integer_value(json_object_get(body, "size")),
           cbx_audit_text(body, "sha256"));
    print_who(body);
}

static void print_deletion(const json_t *body)
{
    cbx_audit_print_text(body, "path");
    fputs(" ", stdout);
    print_who(body);
}

static void print_blocked(const json_t *body)
{
    cbx_audit_print_text(body, "capability");
    fputs(" by rule ", stdout);
    cbx_audit_print_text(body, "rule");
    fputs(": ", stdout);
    cbx_audit_print_text(body, "what");
    printf(" (%lld)", (long long)json_integer_value(json_object_get(body, "count")));
    if (cbx_audit_text(body, "session")[0] != '\0') {
        fputs(" in session ", stdout);
        cbx_audit_print_text(body, "session");
    }
    fputs(" by ", stdout);
    print_principal(body);
}

/* "client NAME VERSION accepted": the client does not tell whether a person or the client itself
 * accepted. "principal NAME accepted": over REST. */
static void print_approval(const json_t *body)
{
    const json_t *by = json_object_get(body, "approved_by"), *rule;
    size_t i;
    bool principal = cbx_audit_text(by, "principal")[0] != '\0';
    fputs(principal ? "principal " : "client ", stdout);
    if (principal) {
        print_principal(by);
    } else {
        cbx_audit_print_text(by, "client");
    }
    fputs(cbx_audit_text(by, "version")[0] != '\0' ? " " : "", stdout);
    cbx_audit_print_text(by, "version");
    fputs(" accepted", stdout);
    json_array_foreach(json_object_get(body, "rules"), i, rule)
    {
        fputs(i > 0 ? ", " : " ", stdout);
        print_value(rule);
    }
    fputs(" (", stdout);
    cbx_audit_print_text(body, "how");
    fputs(") for decision ", stdout);
    cbx_audit_print_text(body, "decision");
    fputs(", shown as ", stdout);
    cbx_audit_print_text(body, "asked");
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
    cbx_audit_print_text(body, "principal");
    fputs(": ", stdout);
    cbx_audit_print_text(body, "reason");
}

/* The chain of the remaining file continues from the hash in a record 'pruned'. */
static void print_pruned(const json_t *body)
{
    printf("%zu files with records %lld to %lld by ",
           json_array_size(json_object_get(body, "files")),
           (long long)json_integer_value(json_object_get(body, "first")),
           (long long)json_integer_value(json_object_get(body, "last")));
    cbx_audit_print_text(body, "principal");
    if (json_is_true(json_object_get(body, "accepted_jump"))) {
        fputs(", who accepted a jump of the clock", stdout);
    }
    fputs(": ", stdout);
    cbx_audit_print_text(body, "reason");
}

static void print_key(const json_t *body)
{
    fputs("the signing key ", stdout);
    cbx_audit_print_text(body, "old");
    fputs(" is replaced by ", stdout);
    cbx_audit_print_text(body, "new");
    fputs(" by ", stdout);
    cbx_audit_print_text(body, "principal");
    fputs(": ", stdout);
    cbx_audit_print_text(body, "reason");
}

static void print_network(const json_t *body)
{
    cbx_audit_print_text(body, "outcome");
    putchar(' ');
    cbx_audit_print_text(body, "method");
    putchar(' ');
    cbx_audit_print_text(body, "host");
    printf(":%lld ", (long long)json_integer_value(json_object_get(body, "port")));
    cbx_audit_print_text(body, "reason");
    if (json_object_get(body, "tls_name") != NULL) {
        fputs(" TLS for ", stdout);
        cbx_audit_print_text(body, "tls_name");
    }
    fputs(" ", stdout);
    print_who(body);
}

static void print_token(const json_t *body)
{
    cbx_audit_print_text(body, "operation");
    putchar(' ');
    cbx_audit_print_text(body, "token");
    if (cbx_audit_text(body, "principal")[0] != '\0') {
        fputs(" of ", stdout);
        cbx_audit_print_text(body, "principal");
    }
    fputs(" by ", stdout);
    cbx_audit_print_text(body, "by");
}

/* Prints the subject: a principal, a token, or all. */
static void print_stop(const json_t *body)
{
    bool token = json_object_get(body, "token") != NULL;
    bool principal = json_object_get(body, "principal") != NULL;
    fputs(token ? "what token " : principal ? "what principal " : "all", stdout);
    cbx_audit_print_text(body, token ? "token" : "principal");
    fputs(token || principal ? " began, by " : ", by ", stdout);
    cbx_audit_print_text(body, "by");
}

static void print_download(const json_t *body)
{
    cbx_audit_print_text(body, "path");
    putchar(' ');
    print_who(body);
}

/* Prints a refused call, or a login or logout. */
static void print_access(const json_t *body)
{
    json_int_t omitted = json_integer_value(json_object_get(body, "omitted"));
    if (cbx_audit_text(body, "principal")[0] != '\0') {
        print_who(body);
        putchar(' ');
    }
    if (cbx_audit_text(body, "address")[0] != '\0') {
        fputs("from ", stdout);
        cbx_audit_print_text(body, "address");
    }
    if (cbx_audit_text(body, "reason")[0] != '\0') {
        fputs(": ", stdout);
        cbx_audit_print_text(body, "reason");
    }
    if (omitted > 0) {
        printf(" (%lld like this before it are not recorded)", (long long)omitted);
    }
}

static void print_unapproved(const json_t *body)
{
    fputs("decision ", stdout);
    cbx_audit_print_text(body, "decision");
    putchar(' ');
    print_who(body);
}

static void print_reload(const json_t *body)
{
    size_t i;
    const json_t *policy;
    if (json_object_get(body, "identity") != NULL) {
        fputs("principals and issuers", stdout);
    }
    json_array_foreach(json_object_get(body, "policies"), i, policy)
    {
        bool gone = json_object_get(policy, "new") == NULL,
             fresh = json_object_get(policy, "old") == NULL;
        fputs(i > 0 ? ", " : "", stdout);
        cbx_audit_print_text(policy, "name");
        fputs(gone ? " removed" : fresh ? " added" : "", stdout);
    }
}

static void print_anchor(const json_t *body)
{
    json_int_t before = json_integer_value(json_object_get(body, "went_back_from"));
    fputs("replica ", stdout);
    cbx_audit_print_text(body, "replica");
    printf(" at record %lld", (long long)json_integer_value(json_object_get(body, "seq")));
    if (before > 0) {
        printf(", behind record %lld of before: its log was changed", (long long)before);
    }
    if (json_object_get(body, "instance_before") != NULL) {
        fputs(", of another log than before", stdout);
    }
}

static long long number_of(const json_t *body, const char *key)
{
    return (long long)json_integer_value(json_object_get(body, key));
}

static void print_takeover(const json_t *body)
{
    fputs("from replica ", stdout);
    cbx_audit_print_text(body, "replica");
    printf(", epoch %lld: %lld sessions, %lld runs", number_of(body, "epoch"),
           number_of(body, "sessions"), number_of(body, "runs"));
}

static void print_released(const json_t *body)
{
    fputs("to replica ", stdout);
    cbx_audit_print_text(body, "replica");
    printf(", epoch %lld: the outcomes of %lld runs are in its log", number_of(body, "epoch"),
           number_of(body, "runs"));
}

/* Record types, and the function that prints each. */
static const struct {
    const char *type;
    void (*print)(const json_t *body);
} record_types[] = {
    { "decision", print_decision },
    { "analysis-failed", print_decision },
    { "outcome", print_outcome },
    { "upload", print_upload },
    { "recovered", print_recovered },
    { "acknowledged", print_acknowledged },
    { "deletion", print_deletion },
    { "reset", print_who },
    { "blocked", print_blocked },
    { "approval", print_approval },
    { "pruned", print_pruned },
    { "key", print_key },
    { "network", print_network },
    { "token", print_token },
    { "stop", print_stop },
    { "download", print_download },
    { "login", print_access },
    { "logout", print_access },
    { "forbidden", print_access },
    { "authentication-failed", print_access },
    { "reload", print_reload },
    { "anchor", print_anchor },
    { "takeover", print_takeover },
    { "released", print_released },
    { "approval-denied", print_unapproved },
    { "approval-expired", print_unapproved },
};

void cbx_audit_print_body(const char *type, const json_t *body)
{
    for (size_t i = 0; i < sizeof(record_types) / sizeof(record_types[0]); i++) {
        if (strcmp(type, record_types[i].type) == 0) {
            record_types[i].print(body);
        }
    }
}

void cbx_audit_print_clock(const json_t *record)
{
    json_int_t ms = json_integer_value(json_object_get(record, "clock_back_ms"));
    if (ms > 0) {
        printf(" (the clock was set back by %lld.%03d s)", (long long)(ms / 1000),
               (int)(ms % 1000));
    }
}

void cbx_audit_print_record(const json_t *record)
{
    const char *type = cbx_audit_text(record, "type");
    printf("%6lld ", (long long)json_integer_value(json_object_get(record, "seq")));
    cbx_audit_print_text(record, "time");
    putchar(' ');
    cbx_audit_print_text(record, "type");
    printf("%*s ", (int)(strlen(type) < 12 ? 12 - strlen(type) : 0), "");
    cbx_audit_print_body(type, json_object_get(record, "body"));
    cbx_audit_print_clock(record);
    putchar('\n');
}
