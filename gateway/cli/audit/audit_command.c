/* SPDX-License-Identifier: MIT
 * `codebox audit`: its subcommands, and the verification. */
#include "gateway/cli/audit/audit_commands.h"
#include "gateway/cli/audit/audit_compare.h"
#include "gateway/cli/cli.h"
#include "gateway/executor/audit/audit.h"

#include <inttypes.h>
#include <unistd.h>

void cbx_audit_caller(char out[32])
{
    snprintf(out, 32, "uid:%u", (unsigned)getuid());
}

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

/* Reports times that went back. Someone may have set the host's clock, so this is a warning: the
 * chain gives the order of the records. */
static void print_setbacks(const struct cbx_audit_report *report)
{
    for (size_t i = 0; i < report->setback_count && i < CBX_AUDIT_SETBACKS_MAX; i++) {
        const struct cbx_audit_setback *s = &report->setbacks[i];
        printf("warning: the time of record %" PRIu64 " is %" PRId64 ".%03d s before that of the "
               "record before it: %s\n",
               s->record, s->by_ms / 1000, (int)(s->by_ms % 1000),
               s->noted ? "the clock was set back, as the record says"
                        : "the record does not say that the clock was set back");
    }
    if (report->setback_count > CBX_AUDIT_SETBACKS_MAX) {
        printf("warning: and %zu more such records\n",
               report->setback_count - CBX_AUDIT_SETBACKS_MAX);
    }
}

int cbx_audit_print_log(const char *state_dir, bool pinned, const struct cbx_audit_report *report)
{
    if (report->line != 0) {
        printf("%s/%s:%" PRIu64 ": %s\n%" PRIu64 " records before it are in order\n", state_dir,
               report->file, report->line, report->problem, report->records);
        return 1;
    }
    printf("%" PRIu64 " records, all in order, none missing; the last is of %s, hash %s\n",
           report->records, report->records > 0 ? report->last_time : "never", report->last_hash);
    if (report->first > 1) {
        printf("records 1 to %" PRIu64 " were removed, as a record 'pruned' says\n",
               report->first - 1);
    }
    if (report->public_key[0] != '\0') {
        printf("signed with the %s %s\n", pinned ? "given key" : "key of this state directory,",
               report->public_key);
    }
    print_setbacks(report);
    if (report->unsigned_count > 0) {
        print_unsigned(report);
        return 1;
    }
    return 0;
}

static int verify(const struct cbx_options *options)
{
    static struct cbx_audit_report report;
    struct cbx_err err = { 0 };
    uint8_t key[CBX_AUDIT_PUBLIC_BYTES];
    CBX_AUTO(audit_heads) heads = NULL;
    const uint8_t *pinned = options->public_key != NULL ? key : NULL;
    if (options->all) {
        return cbx_audit_verify_all(options);
    }
    if ((pinned != NULL && cbx_audit_public_key(options->public_key, key, &err) != 0) ||
        (options->head != NULL && cbx_audit_compare_read(options->head, &heads, &err) != 0) ||
        cbx_audit_verify_heads(options->state_dir, pinned, heads, &report, &err) != 0) {
        return cbx_cli_fail(&err);
    }
    int status = cbx_audit_print_log(options->state_dir, pinned != NULL, &report);
    if (heads == NULL) {
        return status;
    }
    int compared = cbx_audit_compare_print(heads, "kept heads", options->state_dir, &report);
    return compared > status ? compared : status;
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
    cbx_audit_caller(principal);
    if (cbx_audit_acknowledge(options->state_dir, &report, cbx_str_of(principal),
                              cbx_str_of(options->reason), &err) != 0) {
        cbx_cli_fail(&err);
        return 1;
    }
    printf("%zu ranges of unsigned records are acknowledged\n", report.unsigned_count);
    return 0;
}

/* The subcommands of `audit`, and how many more words each of them takes. */
static const struct {
    const char *name;
    int (*run)(const struct cbx_options *options);
    size_t arguments;
} words[] = {
#define CBX_AUDIT_WORD(name, function, arguments) { name, function, arguments },
#include "gateway/cli/audit/audit_words.def"
#undef CBX_AUDIT_WORD
};

static int fail_usage(const char *found)
{
    fprintf(stderr, "codebox: audit takes one of");
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        fprintf(stderr, "%s '%s%s'", i > 0 ? "," : "", words[i].name,
                words[i].arguments > 0 ? " ID" : "");
    }
    fprintf(stderr, "%s%s\n", found[0] != '\0' ? ", not " : "", found);
    return 2;
}

int cbx_audit_command(const struct cbx_options *options)
{
    const char *what = options->arguments.count > 0 ? options->arguments.items[0] : "";
    if (options->public_key != NULL && strcmp(what, "verify") != 0) {
        fprintf(stderr, "codebox: --public-key is for 'audit verify' alone\n");
        return 2;
    }
    if (options->head != NULL && strcmp(what, "verify") != 0) {
        fprintf(stderr, "codebox: --head is for 'audit verify' alone\n");
        return 2;
    }
    if (options->all && strcmp(what, "verify") != 0) {
        fprintf(stderr, "codebox: --all is for 'audit verify' alone\n");
        return 2;
    }
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcmp(what, words[i].name) == 0) {
            if (options->arguments.count == 1 + words[i].arguments ||
                (options->all && options->arguments.count > 1)) {
                return words[i].run(options);
            }
            return fail_usage(what);
        }
    }
    return fail_usage(what);
}
