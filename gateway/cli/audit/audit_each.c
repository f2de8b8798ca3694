/* SPDX-License-Identifier: MIT
 * Walks over the records of the audit log, and `codebox audit export`. */
#include "gateway/cli/audit/audit_commands.h"
#include "gateway/cli/audit/audit_export.h"
#include "gateway/cli/cli.h"
#include "gateway/executor/audit/audit.h"

#include <string.h>

int cbx_audit_walk_open(const struct cbx_options *options, struct cbx_audit_walk *out,
                        struct cbx_err *err)
{
    *out = (struct cbx_audit_walk){ 0 };
    int failed = cbx_audit_filter_init(&out->filter, options, err);
    if (failed) {
        return failed;
    }
    return cbx_audit_reader_new(options->state_dir, 0, &out->reader, err);
}

void cbx_audit_walk_done(struct cbx_audit_walk *walk)
{
    cbx_audit_reader_free(walk->reader);
    cbx_audit_filter_done(&walk->filter);
    *walk = (struct cbx_audit_walk){ 0 };
}

json_t *cbx_audit_walk_next(struct cbx_audit_walk *walk, struct cbx_str *line)
{
    struct cbx_str text;
    while (cbx_audit_reader_next(walk->reader, &text)) {
        struct cbx_err err = { 0 };
        json_t *record = NULL;
        if (cbx_json_parse(text, CBX_AUDIT_LINE_MAX, &record, &err) != 0) {
            uint64_t number;
            const char *file = cbx_audit_reader_place(walk->reader, &number);
            fprintf(stderr, "codebox: %s:%llu is not a record: %s\n", file,
                    (unsigned long long)number, err.text);
            walk->damaged = true;
        } else if (cbx_audit_filter_passes(&walk->filter, record)) {
            if (line != NULL) {
                *line = text;
            }
            return record;
        }
        json_decref(record);
    }
    return NULL;
}

int cbx_audit_for_each(const struct cbx_options *options, cbx_audit_each *each, void *context)
{
    struct cbx_err err = { 0 };
    CBX_AUTO_DONE(audit_walk) walk = { 0 };
    if (cbx_audit_walk_open(options, &walk, &err) != 0) {
        return cbx_cli_fail(&err);
    }
    struct cbx_str line;
    json_t *record;
    while ((record = cbx_audit_walk_next(&walk, &line)) != NULL) {
        each(context, record, line);
        json_decref(record);
    }
    return walk.damaged ? 2 : 0;
}

static void export_one(void *context, const json_t *record, struct cbx_str line)
{
    const char *format = context;
    if (strcmp(format, "jsonl") == 0) {
        fwrite(line.p, 1, line.len, stdout);
        putchar('\n');
        return;
    }
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, 8 * CBX_AUDIT_LINE_MAX);
    cbx_audit_export(format, record, &text);
    fwrite(text.p, 1, text.len, stdout);
}

int cbx_audit_export_command(const struct cbx_options *options)
{
    const char *format = options->export_format != NULL ? options->export_format : "jsonl";
    int status = cbx_audit_for_each(options, export_one, (void *)(uintptr_t)format);
    if (fflush(stdout) != 0) {
        fprintf(stderr, "codebox: standard output cannot be written\n");
        return 2;
    }
    return status;
}
