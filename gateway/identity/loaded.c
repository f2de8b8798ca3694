/* SPDX-License-Identifier: MIT
 * Loads the configuration of callers. */
#include "gateway/identity/loaded.h"

#include "gateway/identity/identity.h"
#include "gateway/identity/key_files.h"
#include "policies/base/memory.h"

#include <stdlib.h>
#include <string.h>

/* The head of the form of cbx_identity_load. Principals, grants, conditions and issuers follow
 * it, after each issuer the length and the text of its file (keys, or the authorities of its URL),
 * and at the end the text of the shared tokens. The same program writes and reads it. */
struct head {
    uint64_t principals, grants, conditions, issuers;
    uint64_t fetched; /* issuers with a URL */
    uint64_t given;
    uint64_t shares_tokens; /* 1 = also if the text is empty */
};

/* Identifies the source of a row's keys. A row with a change in one of these values has another
 * source, whose keys are fetched anew. */
static struct cbx_sha256 source_of(const struct cbx_issuer *issuer, struct cbx_str authorities)
{
    CBX_AUTO_DONE(buf) names;
    cbx_buf_init(&names, sizeof(issuer->name) + sizeof(issuer->jwks));
    cbx_buf_add_bytes(&names, issuer->name, strlen(issuer->name) + 1);
    cbx_buf_add_bytes(&names, issuer->jwks, strlen(issuer->jwks) + 1);
    return cbx_sha256_of2(cbx_buf_str(&names), authorities);
}

static int write_row(struct cbx_issuer *issuer, const char *folder, struct cbx_buf *out,
                     struct cbx_err *err)
{
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, CBX_KEY_FILE_BYTES_MAX);
    int failed = cbx_key_files_read(issuer, folder, &text, err);
    if (failed) {
        return failed;
    }
    if (issuer->refresh_s > 0) {
        issuer->source = source_of(issuer, cbx_buf_str(&text));
    }
    uint64_t len = text.len;
    cbx_buf_add_bytes(out, issuer, sizeof(*issuer));
    cbx_buf_add_bytes(out, &len, sizeof(len));
    cbx_buf_add(out, cbx_buf_str(&text));
    return 0;
}

/* An error has the place of the row that names the file; its text has the place in the file. */
static int place_at(const struct cbx_yaml *row, struct cbx_err *err)
{
    err->line = row->line;
    err->column = row->column;
    err->excerpt[0] = '\0';
    return err->code;
}

static int read_sections(const struct cbx_identity_config *config, struct cbx_principals *out,
                         struct cbx_err *err)
{
    int failed = 0;
    if (config->principals != NULL) {
        failed = cbx_principals_add(out, config->principals, err);
    }
    if (failed || config->issuers == NULL) {
        return failed;
    }
    return cbx_principals_add(out, config->issuers, err);
}

int cbx_identity_load(const struct cbx_identity_config *config, struct cbx_buf *out,
                      struct cbx_err *err)
{
    CBX_AUTO_DONE(principals) p = { 0 };
    CBX_AUTO(tokens) tokens = NULL;
    int failed = read_sections(config, &p, err);
    if (failed) {
        return failed;
    }
    failed = cbx_tokens_read(config->tokens, &tokens, err);
    if (failed) {
        return failed;
    }
    struct head head = { .principals = p.count,
                         .grants = p.grant_count,
                         .conditions = p.condition_count,
                         .issuers = p.issuer_count,
                         .given = p.given,
                         .shares_tokens = config->tokens.p != NULL };
    for (size_t i = 0; i < p.issuer_count; i++) {
        head.fetched += p.issuers[i].refresh_s > 0;
    }
    cbx_buf_add_bytes(out, &head, sizeof(head));
    cbx_buf_add_bytes(out, p.rows, p.count * sizeof(p.rows[0]));
    cbx_buf_add_bytes(out, p.grants, p.grant_count * sizeof(p.grants[0]));
    cbx_buf_add_bytes(out, p.conditions, p.condition_count * sizeof(p.conditions[0]));
    const struct cbx_yaml *node = config->issuers != NULL ? config->issuers->first : NULL;
    for (size_t i = 0; i < p.issuer_count; i++, node = node->next) {
        failed = write_row(&p.issuers[i], config->folder, out, err);
        if (failed) {
            return place_at(node, err);
        }
    }
    cbx_buf_add(out, config->tokens);
    if (out->overflow) {
        return cbx_fail(err, CBX_ETOOBIG, "principals, keys and tokens are too large");
    }
    return 0;
}

static bool take(struct cbx_str *rest, void *into, size_t bytes)
{
    if (rest->len < bytes) {
        return false;
    }
    if (bytes > 0) {
        memcpy(into, rest->p, bytes);
    }
    *rest = cbx_str_sub(*rest, bytes, rest->len);
    return true;
}

bool cbx_identity_fetches(struct cbx_str bytes)
{
    struct head head;
    return take(&bytes, &head, sizeof(head)) && head.fetched > 0;
}

void cbx_loaded_free(struct cbx_loaded *loaded)
{
    for (size_t i = 0; i < CBX_ISSUERS_MAX; i++) {
        cbx_jwks_free(loaded->keys[i]);
    }
    cbx_principals_done(&loaded->principals);
    cbx_granted_free(loaded->granted);
    cbx_tokens_free(loaded->tokens);
    cbx_buf_done(&loaded->bytes);
    free(loaded);
}

/* Reads `count` rows of this size into new memory; false if there are fewer. */
static bool take_array(struct cbx_str *rest, uint64_t count, size_t bytes, void **out)
{
    *out = cbx_new_array(count + 1, bytes);
    return take(rest, *out, count * bytes);
}

static bool take_rows(struct cbx_str *rest, struct cbx_principals *p, bool *shares_tokens)
{
    struct head head;
    void *rows = NULL, *grants = NULL, *conditions = NULL;
    if (!take(rest, &head, sizeof(head)) || head.principals > CBX_PRINCIPALS_MAX ||
        head.grants > CBX_GRANTS_MAX || head.conditions > CBX_CONDITIONS_MAX ||
        head.issuers > CBX_ISSUERS_MAX) {
        return false;
    }
    bool good = take_array(rest, head.principals, sizeof(p->rows[0]), &rows) &&
                take_array(rest, head.grants, sizeof(p->grants[0]), &grants) &&
                take_array(rest, head.conditions, sizeof(p->conditions[0]), &conditions);
    p->rows = rows;
    p->count = head.principals;
    p->grants = grants;
    p->grant_count = head.grants;
    p->conditions = conditions;
    p->condition_count = head.conditions;
    p->issuer_count = head.issuers;
    p->given = head.given != 0;
    *shares_tokens = head.shares_tokens != 0;
    return good;
}

static bool take_issuer(struct cbx_str *rest, struct cbx_loaded *loaded, size_t i)
{
    struct cbx_issuer *issuer = &loaded->principals.issuers[i];
    uint64_t len;
    if (!take(rest, issuer, sizeof(*issuer)) || !take(rest, &len, sizeof(len)) || len > rest->len) {
        return false;
    }
    struct cbx_str text = cbx_str_sub(*rest, 0, len);
    *rest = cbx_str_sub(*rest, len, rest->len);
    if (issuer->refresh_s > 0) {
        loaded->authorities[i] = text;
        return true;
    }
    return cbx_jwks_read(text, &loaded->keys[i], NULL) == 0;
}

int cbx_loaded_read(struct cbx_str bytes, struct cbx_loaded **out, struct cbx_err *err)
{
    struct cbx_loaded *loaded = cbx_new(sizeof(*loaded));
    loaded->granted = cbx_granted_new();
    cbx_buf_init(&loaded->bytes, bytes.len + 1);
    cbx_buf_add(&loaded->bytes, bytes);
    struct cbx_str rest = cbx_buf_str(&loaded->bytes);
    bool shares_tokens = false;
    bool good = take_rows(&rest, &loaded->principals, &shares_tokens);
    for (size_t i = 0; good && i < loaded->principals.issuer_count; i++) {
        good = take_issuer(&rest, loaded, i);
    }
    if (good && shares_tokens) {
        good = cbx_tokens_read(rest, &loaded->tokens, NULL) == 0;
    } else {
        good = good && rest.len == 0;
    }
    if (!good) {
        cbx_loaded_free(loaded);
        return cbx_fail(err, CBX_EPROTO, "principals, keys and tokens are damaged");
    }
    *out = loaded;
    return 0;
}
