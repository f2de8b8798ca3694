/* SPDX-License-Identifier: MIT
 * Principals and issuers from YAML. */
#include "gateway/identity/principals.h"

#include "gateway/identity/key_url.h"
#include "gateway/identity/tokens.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum type { TEXT, PLACE, NUMBER, RIGHTS, POLICIES };
enum section { principal, issuer };

static const struct key {
    enum section section;
    const char *name;
    enum type type;
    size_t offset;
    int64_t lo, hi;
} keys[] = {
#define CBX_PRINCIPAL_KEY(section, key, type, member, lo, hi, meaning)                             \
    { section, key, type, offsetof(struct cbx_##section, member), lo, hi },
#include "gateway/identity/principals.def"
#undef CBX_PRINCIPAL_KEY
};
enum { KEYS = sizeof(keys) / sizeof(keys[0]) };

/* --- values ----------------------------------------------------------------------------------- */

static int fail_at(const struct cbx_yaml *at, struct cbx_err *err, const char *what,
                   const char *allowed)
{
    cbx_fail(err, CBX_EINVAL, "'%.*s' is %s, allowed %s",
             (int)(at->key.len < 64 ? at->key.len : 64), at->key.len > 0 ? at->key.p : "", what,
             allowed);
    err->line = at->line;
    err->column = at->column;
    return CBX_EINVAL;
}

static int read_text(const struct key *key, const struct cbx_yaml *value, void *into,
                     struct cbx_err *err)
{
    char allowed[64];
    snprintf(allowed, sizeof(allowed), "is a text of 1 to %lld bytes", (long long)key->hi);
    if (value->kind != CBX_YAML_SCALAR || value->text.len == 0 ||
        value->text.len > (size_t)key->hi) {
        return fail_at(value, err, value->kind == CBX_YAML_SCALAR ? "of another length" : "no text",
                       allowed);
    }
    snprintf((char *)into + key->offset, (size_t)key->hi + 1, "%.*s", (int)value->text.len,
             value->text.p);
    return 0;
}

static int read_place(const struct key *key, const struct cbx_yaml *value, void *into,
                      struct cbx_err *err)
{
    int failed = read_text(key, value, into, err);
    const char *problem =
        !failed && cbx_key_url_is(value->text) ? cbx_key_url_problem(value->text) : NULL;
    return problem != NULL
               ? fail_at(value, err, problem, "is the path of a file, or https://HOST[:PORT]/PATH")
               : failed;
}

static int read_number(const struct key *key, const struct cbx_yaml *value, void *into,
                       struct cbx_err *err)
{
    char allowed[64];
    int64_t number = 0;
    bool good = value->kind == CBX_YAML_SCALAR && value->text.len > 0 && value->text.len < 12;
    for (size_t i = 0; good && i < value->text.len; i++) {
        char c = value->text.p[i];
        good = c >= '0' && c <= '9';
        number = number * 10 + (c - '0');
    }
    snprintf(allowed, sizeof(allowed), "is a number from %lld to %lld", (long long)key->lo,
             (long long)key->hi);
    if (!good || number < key->lo || number > key->hi) {
        return fail_at(value, err, good ? "out of bounds" : "no number", allowed);
    }
    *(int64_t *)((char *)into + key->offset) = number;
    return 0;
}

static int read_right(const struct cbx_yaml *item, uint32_t *rights, struct cbx_err *err)
{
    char allowed[160] = "are";
    for (int i = 0; i < CBX_RIGHTS; i++) {
        size_t used = strlen(allowed);
        snprintf(allowed + used, sizeof(allowed) - used, "%s %s", i > 0 ? "," : "",
                 cbx_right_name((enum cbx_right)i));
    }
    if (item->kind == CBX_YAML_SCALAR && cbx_right_add(item->text, rights)) {
        return 0;
    }
    fail_at(item, err, "unknown", allowed);
    return cbx_fail(err, CBX_EINVAL, "'rights' has '%.*s', allowed %s",
                    (int)(item->text.len < 32 ? item->text.len : 32),
                    item->text.len > 0 ? item->text.p : "", allowed);
}

static int read_policy(const struct cbx_yaml *item, struct cbx_principal *row, struct cbx_err *err)
{
    if (item->kind != CBX_YAML_SCALAR || item->text.len == 0 || item->text.len > CBX_NAME_MAX ||
        row->policy_count == CBX_CALLER_POLICIES) {
        fail_at(item, err, "no list of policies", "");
        return cbx_fail(err, CBX_EINVAL, "'policies' has at most %d names of policies",
                        CBX_CALLER_POLICIES);
    }
    snprintf(row->policies[row->policy_count++], CBX_NAME_MAX + 1, "%.*s", (int)item->text.len,
             item->text.p);
    return 0;
}

/* Rights and policies are of principals alone. */
static int read_list(const struct key *key, const struct cbx_yaml *value, void *into,
                     struct cbx_err *err)
{
    struct cbx_principal *row = into;
    int failed = 0;
    if (value->kind != CBX_YAML_SEQUENCE || value->count == 0) {
        return fail_at(value, err, "no list", "is a list that is not empty");
    }
    for (const struct cbx_yaml *item = value->first; item != NULL && !failed; item = item->next) {
        failed =
            key->type == RIGHTS ? read_right(item, &row->rights, err) : read_policy(item, row, err);
        if (failed) {
            err->line = item->line;
            err->column = item->column;
        }
    }
    return failed;
}

/* --- rows ------------------------------------------------------------------------------------- */

static const struct key *find_key(enum section section, struct cbx_str name)
{
    for (size_t i = 0; i < KEYS; i++) {
        if (keys[i].section == section && cbx_str_is(name, keys[i].name)) {
            return &keys[i];
        }
    }
    return NULL;
}

static int fail_key(enum section section, const struct cbx_yaml *entry, struct cbx_err *err)
{
    char known[256] = "";
    for (size_t i = 0; i < KEYS; i++) {
        size_t used = strlen(known);
        if (keys[i].section == section) {
            snprintf(known + used, sizeof(known) - used, "%s%s", used > 0 ? ", " : "",
                     keys[i].name);
        }
    }
    cbx_fail(err, CBX_EINVAL, "unknown key '%.*s', there are %s",
             (int)(entry->key.len < 64 ? entry->key.len : 64), entry->key.p, known);
    err->line = entry->key_line;
    err->column = entry->key_column;
    return CBX_EINVAL;
}

static int read_entry(enum section section, const struct cbx_yaml *entry, void *into,
                      struct cbx_err *err)
{
    const struct key *key = find_key(section, entry->key);
    return key == NULL           ? fail_key(section, entry, err)
           : key->type == TEXT   ? read_text(key, entry, into, err)
           : key->type == PLACE  ? read_place(key, entry, into, err)
           : key->type == NUMBER ? read_number(key, entry, into, err)
                                 : read_list(key, entry, into, err);
}

/* One row, whose required texts must be there. */
static int read_row(enum section section, const struct cbx_yaml *node, void *into,
                    struct cbx_err *err)
{
    int failed = 0;
    if (node->kind != CBX_YAML_MAPPING) {
        cbx_fail(err, CBX_EINVAL, "each entry of the list is a mapping with a name");
        failed = CBX_EINVAL;
    }
    for (const struct cbx_yaml *e = failed ? NULL : node->first; e != NULL && !failed;
         e = e->next) {
        failed = read_entry(section, e, into, err);
    }
    for (size_t i = 0; i < KEYS && !failed; i++) {
        bool text = keys[i].type == TEXT || keys[i].type == PLACE;
        if (keys[i].section == section && text && keys[i].lo > 0 &&
            *((char *)into + keys[i].offset) == '\0') {
            failed = cbx_fail(err, CBX_EINVAL, "'%s' is missing", keys[i].name);
        }
    }
    if (failed && err->line == 0) {
        err->line = node->line;
        err->column = node->column;
    }
    return failed;
}

/* A name, or the beginning of names and a '*'. */
static int check_name(const struct cbx_principals *all, const struct cbx_principal *row,
                      struct cbx_err *err)
{
    struct cbx_str name = cbx_str_of(row->name);
    bool many = name.len > 0 && name.p[name.len - 1] == '*';
    for (size_t i = 0; i < all->count; i++) {
        if (strcmp(all->rows[i].name, row->name) == 0) {
            return cbx_fail(err, CBX_EINVAL, "two principals are called '%s'", row->name);
        }
    }
    return many && name.len == 1
               ? 0
               : cbx_principal_check(cbx_str_sub(name, 0, name.len - (many ? 1 : 0)), err);
}

static int add_principal(struct cbx_principals *out, const struct cbx_yaml *node,
                         struct cbx_err *err)
{
    struct cbx_principal row = { 0 };
    int failed = read_row(principal, node, &row, err);
    failed = failed ? failed : check_name(out, &row, err);
    if (failed) {
        return failed;
    }
    if (out->count == CBX_PRINCIPALS_MAX) {
        return cbx_fail(err, CBX_EINVAL, "there are more than %d principals", CBX_PRINCIPALS_MAX);
    }
    row.rights = row.rights != 0 ? row.rights : cbx_rights_standard();
    struct cbx_principal *rows = realloc(out->rows, (out->count + 1) * sizeof(rows[0]));
    if (rows == NULL) {
        abort();
    }
    out->rows = rows;
    out->rows[out->count++] = row;
    return 0;
}

/* What is of fetched keys alone, and its default. */
static int complete_fetching(struct cbx_issuer *row, struct cbx_err *err)
{
    enum { REFRESH_S = 300 };
    if (cbx_key_url_is(cbx_str_of(row->jwks))) {
        row->refresh_s = row->refresh_s > 0 ? row->refresh_s : REFRESH_S;
        return 0;
    }
    return row->ca[0] == '\0' && row->refresh_s == 0
               ? 0
               : cbx_fail(err, CBX_EINVAL,
                          "issuer '%s': '%s' is for keys that are fetched, with 'jwks: "
                          "https://HOST[:PORT]/PATH'",
                          row->name, row->ca[0] != '\0' ? "ca" : "refresh");
}

static int add_issuer(struct cbx_principals *out, const struct cbx_yaml *node, struct cbx_err *err)
{
    enum { LEEWAY_S = 60 };
    struct cbx_issuer row = { .claim = "sub", .leeway_s = LEEWAY_S };
    int failed = read_row(issuer, node, &row, err);
    failed = failed ? failed : cbx_principal_check(cbx_str_of(row.name), err);
    if (!failed && (strchr(row.name, ':') != NULL || strcmp(row.name, "uid") == 0)) {
        /* "a:b" with the claim "c" would be "a" with "b:c", and "uid" are the users of Unix sockets. */
        failed = cbx_fail(err, CBX_EINVAL,
                          "issuer '%s': a name without ':', and not 'uid', is "
                          "needed",
                          row.name);
    }
    failed = failed ? failed : complete_fetching(&row, err);
    for (size_t i = 0; i < out->issuer_count && !failed; i++) {
        if (strcmp(out->issuers[i].name, row.name) == 0 ||
            strcmp(out->issuers[i].issuer, row.issuer) == 0) {
            failed =
                cbx_fail(err, CBX_EINVAL, "two issuers have the name or issuer of '%s'", row.name);
        }
    }
    if (!failed && out->issuer_count == CBX_ISSUERS_MAX) {
        failed = cbx_fail(err, CBX_EINVAL, "there are more than %d issuers", CBX_ISSUERS_MAX);
    }
    if (!failed) {
        out->issuers[out->issuer_count++] = row;
    }
    return failed;
}

int cbx_principals_add(struct cbx_principals *out, const struct cbx_yaml *section,
                       struct cbx_err *err)
{
    bool principals = cbx_str_is(section->key, "principals");
    int failed = 0;
    if (section->kind != CBX_YAML_SEQUENCE) {
        return fail_at(section, err, "no list", "is a list");
    }
    out->given |= principals;
    for (const struct cbx_yaml *node = section->first; node != NULL && !failed; node = node->next) {
        failed = principals ? add_principal(out, node, err) : add_issuer(out, node, err);
        if (failed && err->line == 0) {
            err->line = node->line;
            err->column = node->column;
        }
    }
    return failed;
}

int cbx_principals_check_section(const struct cbx_yaml *section, struct cbx_err *err)
{
    CBX_AUTO_DONE(principals) read = { 0 };
    return cbx_principals_add(&read, section, err);
}

void cbx_principals_done(struct cbx_principals *principals)
{
    free(principals->rows);
    *principals = (struct cbx_principals){ 0 };
}

/* --- finding ---------------------------------------------------------------------------------- */

/* The row of everybody where none is configured. */
static struct cbx_principal standard;

static void fill_standard(void)
{
    standard.rights = cbx_rights_standard();
}

const struct cbx_principal *cbx_principals_find(const struct cbx_principals *all, const char *name)
{
    static pthread_once_t filled = PTHREAD_ONCE_INIT;
    const struct cbx_principal *best = NULL;
    size_t best_len = 0;
    if (!all->given) {
        pthread_once(&filled, fill_standard);
        return &standard;
    }
    for (size_t i = 0; i < all->count; i++) {
        const char *row = all->rows[i].name;
        size_t len = strlen(row) - 1;
        if (strcmp(row, name) == 0) {
            return &all->rows[i];
        }
        if (row[len] == '*' && strncmp(row, name, len) == 0 && (best == NULL || len > best_len)) {
            best = &all->rows[i];
            best_len = len;
        }
    }
    return best;
}

int cbx_principals_check(const struct cbx_principals *all, const struct cbx_policies *policies,
                         struct cbx_err *err)
{
    for (size_t i = 0; i < all->count; i++) {
        for (size_t k = 0; k < all->rows[i].policy_count; k++) {
            const char *name = all->rows[i].policies[k];
            if (cbx_policies_find(policies, cbx_str_of(name)) == NULL) {
                cbx_policies_fail(policies, cbx_str_of(name), err);
                return cbx_wrap(err, "principal '%s'", all->rows[i].name);
            }
        }
    }
    return 0;
}
