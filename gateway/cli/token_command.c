/* SPDX-License-Identifier: MIT
 * `codebox token create|list|revoke`. */
#include "gateway/cli/cli.h"
#include "gateway/executor/audit/audit.h"
#include "gateway/identity/tokens.h"
#include "policies/base/text/printable.h"
#include "policies/base/time/clock.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

static void date_of(int64_t ms, char out[32])
{
    time_t seconds = ms / 1000;
    struct tm utc;
    gmtime_r(&seconds, &utc);
    strftime(out, 32, "%Y-%m-%d %H:%M", &utc);
}

/* The audit log records who made or revoked a token. */
static int record(const struct cbx_options *options, const char *operation, const char *id,
                  const char *principal, struct cbx_err *err)
{
    CBX_AUTO(audit) audit = NULL;
    char by[32];
    snprintf(by, sizeof(by), "uid:%u", (unsigned)getuid());
    CBX_AUTO_JSON body = json_pack("{s:s,s:s,s:s,s:s}", "operation", operation, "token", id,
                                   "principal", principal, "by", by);
    int failed = cbx_audit_open(options->state_dir, &audit, err);
    if (failed) {
        return failed;
    }
    failed = cbx_audit_append(audit, "token", body, NULL, err);
    if (failed) {
        return failed;
    }
    cbx_audit_flush(audit);
    return 0;
}

static int create_token(const struct cbx_options *options)
{
    enum { DAY_MS = 86400000 };
    struct cbx_err err = { 0 };
    struct cbx_token token = { 0 };
    char id[CBX_TOKEN_ID_CHARS + 1], text[CBX_TOKEN_CHARS + 1];
    if (options->principal == NULL) {
        fprintf(stderr, "codebox: token create needs --principal NAME: in whose name its bearer "
                        "acts\n");
        return 2;
    }
    struct cbx_str principal = cbx_str_of(options->principal);
    const char *note = options->note != NULL ? options->note : "";
    if (strlen(note) >= sizeof(token.note) || cbx_principal_check(principal, &err) != 0) {
        cbx_fail(&err, CBX_EINVAL, "%s",
                 err.text[0] != '\0' ? err.text : "--note has more than 128 bytes");
        return cbx_cli_fail(&err);
    }
    snprintf(token.principal, sizeof(token.principal), "%s", options->principal);
    snprintf(token.note, sizeof(token.note), "%s", note);
    token.expires_ms = options->days > 0 ? cbx_time_ms() + options->days * DAY_MS : 0;
    if (cbx_tokens_create(options->state_dir, &token, id, text, &err) != 0) {
        return cbx_cli_fail(&err);
    }
    if (record(options, "create", id, token.principal, &err) != 0) {
        cbx_tokens_revoke(options->state_dir, cbx_str_of(id), NULL);
        return cbx_cli_fail(&err);
    }
    printf("%s\n", text);
    fprintf(stderr,
            "This is token %s of principal '%s'%s. It is shown now and never again: keep it as a "
            "password.\n"
            "Clients send it as: Authorization: Bearer TOKEN\n",
            id, token.principal, token.expires_ms > 0 ? ", which expires" : "");
    return 0;
}

static const char *state_of(const struct cbx_token *token, int64_t now_ms)
{
    return token->revoked_ms > 0                                  ? "revoked"
           : token->expires_ms > 0 && token->expires_ms <= now_ms ? "expired"
                                                                  : "valid";
}

static int list_tokens(const struct cbx_options *options)
{
    CBX_AUTO(tokens) tokens = NULL;
    struct cbx_err err = { 0 };
    struct cbx_token token;
    if (cbx_tokens_open(options->state_dir, false, &tokens, &err) != 0) {
        return cbx_cli_fail(&err);
    }
    if (tokens == NULL || cbx_tokens_count(tokens) == 0) {
        printf("there are no tokens; 'codebox token create --principal NAME' makes one\n");
        return 0;
    }
    printf("%-13s %-8s %-17s %-17s %-24s %s\n", "ID", "STATE", "CREATED", "EXPIRES", "PRINCIPAL",
           "NOTE");
    for (size_t i = 0; cbx_tokens_at(tokens, i, &token); i++) {
        char created[32], expires[32] = "never";
        CBX_AUTO_DONE(buf) note;
        cbx_buf_init(&note, 1024);
        cbx_printable_add(&note, cbx_str_of(token.note), CBX_PRINTABLE_LINE);
        date_of(token.created_ms, created);
        if (token.expires_ms > 0) {
            date_of(token.expires_ms, expires);
        }
        printf("%-13s %-8s %-17s %-17s %-24s %s\n", token.id, state_of(&token, cbx_time_ms()),
               created, expires, token.principal, note.len > 0 ? note.p : "");
    }
    return 0;
}

static int revoke_token(const struct cbx_options *options)
{
    struct cbx_err err = { 0 };
    if (options->arguments.count != 2) {
        fprintf(stderr, "codebox: token revoke needs the ID of a token; 'codebox token list' has "
                        "them\n");
        return 2;
    }
    const char *id = options->arguments.items[1];
    if (cbx_tokens_revoke(options->state_dir, cbx_str_of(id), &err) != 0) {
        return cbx_cli_fail(&err);
    }
    if (record(options, "revoke", id, "", &err) != 0) {
        cbx_cli_fail(&err);
        return 1;
    }
    printf("token %s is revoked; a running gateway refuses it from now on, and ends what was begun "
           "with it\n",
           id);
    return 0;
}

int cbx_token_command(const struct cbx_options *options)
{
    static const struct {
        const char *name;
        int (*run)(const struct cbx_options *);
    } actions[] = { { "create", create_token },
                    { "list", list_tokens },
                    { "revoke", revoke_token } };
    const char *word = options->arguments.count > 0 ? options->arguments.items[0] : "";
    for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++) {
        if (strcmp(word, actions[i].name) == 0) {
            return actions[i].run(options);
        }
    }
    fprintf(stderr, "codebox: token takes create, list or revoke, not '%s'\n", word);
    return 2;
}
