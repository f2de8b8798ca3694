/* SPDX-License-Identifier: MIT
 * Walks over the records of the audit log, and `codebox audit export`. */
#include "gateway/cli/audit_commands.h"
#include "gateway/cli/audit_export.h"
#include "gateway/cli/audit_filter.h"
#include "gateway/cli/cli.h"
#include "gateway/executor/audit.h"
#include "gateway/executor/audit_reader.h"

#include <string.h>

int cbx_audit_for_each(const struct cbx_options *options, cbx_audit_each *each, void *context)
{
    struct cbx_err err = { 0 };
    CBX_AUTO(audit_reader) reader = NULL;
    CBX_AUTO_DONE(audit_filter) filter = { 0 };
    if (cbx_audit_filter_init(&filter, options, &err) != 0 ||
        cbx_audit_reader_new(options->state_dir, 0, &reader, &err) != 0) {
        return cbx_cli_fail(&err);
    }
    int status = 0;
    struct cbx_str line;
    while (cbx_audit_reader_next(reader, &line)) {
        CBX_AUTO_JSON record = NULL;
        if (cbx_json_parse(line, CBX_AUDIT_LINE_MAX, &record, &err) != 0) {
            uint64_t number;
            const char *file = cbx_audit_reader_place(reader, &number);
            fprintf(stderr, "codebox: %s:%llu is not a record: %s\n", file,
                    (unsigned long long)number, err.text);
            status = 2;
        } else if (cbx_audit_filter_passes(&filter, record)) {
            each(context, record, line);
        }
    }
    return status;
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
