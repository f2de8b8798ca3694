/* SPDX-License-Identifier: MIT
 * `codebox audit prune` and `codebox audit keygen`. */
#include "gateway/cli/audit/audit_commands.h"
#include "gateway/cli/cli.h"
#include "gateway/executor/audit/audit.h"
#include "gateway/executor/audit/audit_reader.h"
#include "gateway/ipc/master/state.h"
#include "policies/base/text/hex.h"
#include "policies/base/time/clock.h"

#include <errno.h>
#include <inttypes.h>
#include <unistd.h>

/* Nothing is removed from a log with findings: it may be evidence. */
static int check_whole(const char *state_dir, struct cbx_err *err)
{
    static struct cbx_audit_report report;
    int failed = cbx_audit_verify(state_dir, &report, err);
    if (!failed && report.line != 0) {
        failed = cbx_fail(err, CBX_EAUDIT, "%s:%" PRIu64 ": %s", report.file, report.line,
                          report.problem);
    }
    return failed;
}

int cbx_audit_prune_command(const struct cbx_options *options)
{
    enum { DAY_MS = 86400000 };
    struct cbx_err err = { 0 };
    char principal[32];
    CBX_AUTO(audit) audit = NULL;
    struct cbx_audit_pruned pruned;
    if (options->origins[CBX_OPTION_ROW_keep_days].source == CBX_OPTION_OF_DEFAULT) {
        fprintf(stderr, "codebox: audit prune needs --keep DAYS: 0 removes every closed file\n");
        return 2;
    }
    cbx_audit_caller(principal);
    const struct cbx_audit_prune wanted = {
        .before_ms = cbx_time_ms() - options->keep_days * DAY_MS,
        .principal = cbx_str_of(principal),
        .accepts_jump = options->accept_jump,
        .reason = cbx_str_of(options->reason != NULL ? options->reason : "audit prune")
    };
    if (check_whole(options->state_dir, &err) != 0 ||
        cbx_audit_open(options->state_dir, &audit, &err) != 0 ||
        cbx_audit_prune(audit, &wanted, &pruned, &err) != 0) {
        cbx_cli_fail(&err);
        return 1;
    }
    if (pruned.files == 0) {
        printf("no file is old enough\n");
    } else {
        printf("%zu files with records %" PRIu64 " to %" PRIu64 " are removed\n", pruned.files,
               pruned.first, pruned.last);
    }
    if (pruned.waits) {
        printf("the next file has records that were not forwarded to the syslog server yet; where "
               "none is used any more, remove %s/" CBX_AUDIT_CURSOR_FOLDER "\n",
               options->state_dir);
    }
    return 0;
}

static int print_key(const char *what, const uint8_t key[CBX_AUDIT_PUBLIC_BYTES],
                     const char *state_dir)
{
    char hex[2 * CBX_AUDIT_PUBLIC_BYTES + 1];
    cbx_hex_encode(key, CBX_AUDIT_PUBLIC_BYTES, hex);
    printf("%s %s\nkeep a copy of %s/" CBX_AUDIT_PUB
           " elsewhere: 'codebox audit verify --public-key FILE'\n",
           what, hex, state_dir);
    return 0;
}

int cbx_audit_keygen_command(const struct cbx_options *options)
{
    struct cbx_err err = { 0 };
    char principal[32], path[4200];
    uint8_t key[CBX_AUDIT_PUBLIC_BYTES];
    snprintf(path, sizeof(path), "%s/" CBX_AUDIT_KEY, options->state_dir);
    bool first = access(path, F_OK) < 0 && errno == ENOENT;
    if (first) {
        CBX_AUTO(audit) audit = NULL;
        snprintf(path, sizeof(path), "%s/" CBX_AUDIT_PUB, options->state_dir);
        if (cbx_audit_open(options->state_dir, &audit, &err) != 0 ||
            cbx_audit_public_key(path, key, &err) != 0) {
            return cbx_cli_fail(&err);
        }
        return print_key("the signing key is", key, options->state_dir);
    }
    cbx_audit_caller(principal);
    const char *reason = options->reason != NULL ? options->reason : "audit keygen";
    if (cbx_audit_replace_key(options->state_dir, cbx_str_of(principal), cbx_str_of(reason), key,
                              &err) != 0) {
        cbx_cli_fail(&err);
        return 1;
    }
    return print_key("the signing key is replaced by", key, options->state_dir);
}
