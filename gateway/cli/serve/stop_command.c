/* SPDX-License-Identifier: MIT
 * `codebox stop`: ends running and waiting work of callers, in a running gateway and in one that
 * is started later. */
#include "gateway/cli/cli.h"
#include "gateway/cli/settings/identity_options.h"
#include "gateway/executor/audit/audit.h"
#include "gateway/identity/tokens.h"

#include <string.h>
#include <unistd.h>

static int record(const struct cbx_options *options, struct cbx_err *err)
{
    CBX_AUTO(audit) audit = NULL;
    char by[32];
    snprintf(by, sizeof(by), "uid:%u", (unsigned)getuid());
    CBX_AUTO_JSON body = json_pack("{s:s}", "by", by);
    if (options->principal != NULL) {
        json_object_set_new(body, "principal", json_string(options->principal));
    }
    if (options->token != NULL) {
        json_object_set_new(body, "token", json_string(options->token));
    }
    int failed = cbx_audit_open(options->state_dir, &audit, err);
    if (failed) {
        return failed;
    }
    failed = cbx_audit_append(audit, "stop", body, NULL, err);
    if (failed) {
        return failed;
    }
    cbx_audit_flush(audit);
    return 0;
}

/* Reads the tokens that the gateway shares with others; *out stays NULL without --tokens. */
static int read_shared(const struct cbx_options *options, struct cbx_tokens **out,
                       struct cbx_err *err)
{
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, CBX_TOKENS_FILE_MAX);
    int failed = cbx_options_tokens_read(options, &text, err);
    if (failed || options->tokens_file == NULL) {
        return failed;
    }
    return cbx_tokens_read(cbx_buf_str(&text), out, err);
}

int cbx_stop_command(const struct cbx_options *options)
{
    struct cbx_err err = { 0 };
    struct cbx_stop stop = { 0 };
    CBX_AUTO(tokens) shared = NULL;
    int scopes = (options->principal != NULL) + (options->token != NULL) + options->all;
    if (scopes != 1 || options->arguments.count > 0) {
        fprintf(stderr, "codebox: stop takes one of --principal NAME, --token ID and --all\n");
        return 2;
    }
    if (options->principal != NULL &&
        cbx_principal_check(cbx_str_of(options->principal), &err) != 0) {
        return cbx_cli_fail(&err);
    }
    if (options->token != NULL && strlen(options->token) != CBX_TOKEN_ID_CHARS) {
        fprintf(stderr,
                "codebox: the ID of a token has %d characters; 'codebox token list' has them\n",
                CBX_TOKEN_ID_CHARS);
        return 2;
    }
    snprintf(stop.principal, sizeof(stop.principal), "%s",
             options->principal != NULL ? options->principal : "");
    snprintf(stop.id, sizeof(stop.id), "%s", options->token != NULL ? options->token : "");
    int failed = read_shared(options, &shared, &err);
    if (failed) {
        return cbx_cli_fail(&err);
    }
    failed = cbx_tokens_stop(options->state_dir, &stop, shared, &err);
    if (failed) {
        return cbx_cli_fail(&err);
    }
    /* The record comes after it: a log that cannot be written must not keep work running. */
    if (record(options, &err) != 0) {
        cbx_cli_fail(&err);
        return 1;
    }
    if (options->token != NULL) {
        printf("token %s", options->token);
    } else if (options->principal != NULL) {
        printf("principal %s", options->principal);
    } else {
        printf("all");
    }
    printf(": what was begun until now ends. A running gateway cancels it within a second; "
           "requests that "
           "come later are served, unless the token is revoked or the principal removed\n");
    return 0;
}
