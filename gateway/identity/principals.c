/* SPDX-License-Identifier: MIT
 * Reads principals and issuers from YAML. */
#include "gateway/identity/principals.h"

#include "gateway/identity/key_url.h"
#include "gateway/identity/tokens.h"
#include "policies/base/memory.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum type { TEXT, PLACE, NUMBER, RIGHTS, POLICIES, CLAIMS, GRANTS };
enum section { principal, issuer, claim_grant };

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

/* The row that is being read. */
struct reader {
    struct cbx_principals *all;
    enum section section;
    void *row;         /* struct of the section's row */
    int issuer, grant; /* indices of the issuer and of the grant; grant -1: the row is no grant */
};

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

static int read_text(const struct reader *r, const struct key *key, const struct cbx_yaml *value,
                     struct cbx_err *err)
{
    char allowed[64];
    snprintf(allowed, sizeof(allowed), "is a text of 1 to %lld bytes", (long long)key->hi);
    if (value->kind != CBX_YAML_SCALAR || value->text.len == 0 ||
        value->text.len > (size_t)key->hi) {
        return fail_at(value, err, value->kind == CBX_YAML_SCALAR ? "of another length" : "no text",
                       allowed);
    }
    snprintf((char *)r->row + key->offset, (size_t)key->hi + 1, "%.*s", (int)value->text.len,
             value->text.p);
    return 0;
}

static int read_place(const struct reader *r, const struct key *key, const struct cbx_yaml *value,
                      struct cbx_err *err)
{
    int failed = read_text(r, key, value, err);
    const char *problem =
        !failed && cbx_key_url_is(value->text) ? cbx_key_url_problem(value->text) : NULL;
    if (problem != NULL) {
        return fail_at(value, err, problem, "is the path of a file, or https://HOST[:PORT]/PATH");
    }
    return failed;
}

static int read_number(const struct reader *r, const struct key *key, const struct cbx_yaml *value,
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
    *(int64_t *)((char *)r->row + key->offset) = number;
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

/* Keys of a principal, and of a grant, which begins with a principal. */
_Static_assert(offsetof(struct cbx_claim_grant, gives) == 0, "a grant is read as a principal");

static int read_list(const struct reader *r, const struct key *key, const struct cbx_yaml *value,
                     struct cbx_err *err)
{
    struct cbx_principal *row = r->row;
    bool may_be_empty = key->type == RIGHTS && r->section == principal;
    if (value->kind != CBX_YAML_SEQUENCE || (value->count == 0 && !may_be_empty)) {
        return fail_at(value, err, "no list",
                       may_be_empty ? "is a list" : "is a list that is not empty");
    }
    row->names_rights |= key->type == RIGHTS;
    for (const struct cbx_yaml *item = value->first; item != NULL; item = item->next) {
        int failed;
        if (key->type == RIGHTS) {
            failed = read_right(item, &row->rights, err);
        } else {
            failed = read_policy(item, row, err);
        }
        if (failed) {
            err->line = item->line;
            err->column = item->column;
            return failed;
        }
    }
    return 0;
}

/* Grows an array of rows by a zeroed one. */
static void *add_zeroed(void *rows, size_t count, size_t bytes)
{
    char *grown = cbx_grow(rows, count, bytes);
    memset(grown + count * bytes, 0, bytes);
    return grown;
}

static int read_claims(const struct reader *r, const struct key *key, const struct cbx_yaml *value,
                       struct cbx_err *err)
{
    struct cbx_principals *all = r->all;
    (void)key;
    if (value->kind != CBX_YAML_MAPPING || value->count == 0) {
        return fail_at(value, err, "no mapping", "is {CLAIM: VALUE} or {CLAIM: [VALUE, ...]}");
    }
    for (const struct cbx_yaml *entry = value->first; entry != NULL; entry = entry->next) {
        if (all->condition_count == CBX_CONDITIONS_MAX) {
            cbx_fail(err, CBX_EINVAL, "there are more than %d conditions on claims",
                     CBX_CONDITIONS_MAX);
            err->line = entry->key_line;
            err->column = entry->key_column;
            return CBX_EINVAL;
        }
        all->conditions =
            add_zeroed(all->conditions, all->condition_count, sizeof(all->conditions[0]));
        struct cbx_condition *condition = &all->conditions[all->condition_count++];
        condition->issuer = r->issuer;
        condition->grant = r->grant;
        int failed = cbx_condition_read(entry, condition, err);
        if (failed) {
            return failed;
        }
    }
    return 0;
}

static int add_grant(const struct reader *r, const struct cbx_yaml *node, struct cbx_err *err);

static int read_grants(const struct reader *r, const struct key *key, const struct cbx_yaml *value,
                       struct cbx_err *err)
{
    (void)key;
    if (value->kind != CBX_YAML_SEQUENCE) {
        return fail_at(value, err, "no list", "is a list");
    }
    for (const struct cbx_yaml *node = value->first; node != NULL; node = node->next) {
        int failed = add_grant(r, node, err);
        if (failed) {
            return failed;
        }
    }
    return 0;
}

static int (*const readers[])(const struct reader *r, const struct key *key,
                              const struct cbx_yaml *value, struct cbx_err *err) = {
    [TEXT] = read_text,     [PLACE] = read_place,   [NUMBER] = read_number, [RIGHTS] = read_list,
    [POLICIES] = read_list, [CLAIMS] = read_claims, [GRANTS] = read_grants,
};

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

static int read_entry(const struct reader *r, const struct cbx_yaml *entry, struct cbx_err *err)
{
    const struct key *key = find_key(r->section, entry->key);
    if (key == NULL) {
        return fail_key(r->section, entry, err);
    }
    return readers[key->type](r, key, entry, err);
}

/* NULL if the mapping has none. */
static const struct cbx_yaml *find_entry(const struct cbx_yaml *node, const char *name)
{
    const struct cbx_yaml *entry = node->first;
    while (entry != NULL && !cbx_str_is(entry->key, name)) {
        entry = entry->next;
    }
    return entry;
}

static int check_required(enum section section, const struct cbx_yaml *node, struct cbx_err *err)
{
    for (size_t i = 0; i < KEYS; i++) {
        if (keys[i].section == section && keys[i].type != NUMBER && keys[i].lo > 0 &&
            find_entry(node, keys[i].name) == NULL) {
            return cbx_fail(err, CBX_EINVAL, "'%s' is missing", keys[i].name);
        }
    }
    return 0;
}

/* Reads one row, whose required keys must be present. */
static int read_row(const struct reader *r, const struct cbx_yaml *node, struct cbx_err *err)
{
    int failed = 0;
    if (node->kind != CBX_YAML_MAPPING) {
        return cbx_fail(err, CBX_EINVAL, "each entry of the list is a mapping with a name");
    }
    for (const struct cbx_yaml *e = node->first; e != NULL && !failed; e = e->next) {
        failed = read_entry(r, e, err);
    }
    if (failed) {
        return failed;
    }
    return check_required(r->section, node, err);
}

/* Errors without a place of their own get the row's. */
static int place_at(const struct cbx_yaml *node, int failed, struct cbx_err *err)
{
    if (failed && err->line == 0) {
        err->line = node->line;
        err->column = node->column;
    }
    return failed;
}

/* Reads a name, or the beginning of names and a '*'. */
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
    if (!many || name.len != 1) {
        return cbx_principal_check(cbx_str_sub(name, 0, name.len - (many ? 1 : 0)), err);
    }
    return 0;
}

static void complete_rights(struct cbx_principal *row)
{
    row->rights = row->names_rights ? row->rights : cbx_rights_standard();
}

static int add_principal(struct cbx_principals *out, const struct cbx_yaml *node,
                         struct cbx_err *err)
{
    struct cbx_principal row = { 0 };
    const struct reader r = { .all = out, .section = principal, .row = &row, .grant = -1 };
    int failed = read_row(&r, node, err);
    if (failed) {
        return failed;
    }
    failed = check_name(out, &row, err);
    if (failed) {
        return failed;
    }
    if (out->count == CBX_PRINCIPALS_MAX) {
        return cbx_fail(err, CBX_EINVAL, "there are more than %d principals", CBX_PRINCIPALS_MAX);
    }
    complete_rights(&row);
    out->rows = add_zeroed(out->rows, out->count, sizeof(out->rows[0]));
    out->rows[out->count++] = row;
    return 0;
}

/* Checks for letters, digits, '-', '_' and '.': credentials are lists of these names. */
static int check_grant_name(const struct cbx_principals *all, const struct cbx_claim_grant *row,
                            struct cbx_err *err)
{
    for (const char *p = row->gives.name; *p != '\0'; p++) {
        char low = (char)(*p | 32);
        if (!((low >= 'a' && low <= 'z') || (*p >= '0' && *p <= '9') ||
              strchr("-_.", *p) != NULL)) {
            return cbx_fail(err, CBX_EINVAL,
                            "grant '%s': allowed are letters, digits, '-', '_' and '.'",
                            row->gives.name);
        }
    }
    for (size_t i = 0; i < all->grant_count; i++) {
        if (all->grants[i].issuer == row->issuer &&
            strcmp(all->grants[i].gives.name, row->gives.name) == 0) {
            return cbx_fail(err, CBX_EINVAL, "two grants of the issuer are called '%s'",
                            row->gives.name);
        }
    }
    return 0;
}

static int add_grant(const struct reader *of, const struct cbx_yaml *node, struct cbx_err *err)
{
    struct cbx_principals *all = of->all;
    struct cbx_claim_grant row = { .issuer = of->issuer };
    const struct reader r = { .all = all,
                              .section = claim_grant,
                              .row = &row,
                              .issuer = of->issuer,
                              .grant = (int)all->grant_count };
    int failed = read_row(&r, node, err);
    if (failed) {
        return place_at(node, failed, err);
    }
    failed = check_grant_name(all, &row, err);
    if (failed) {
        return place_at(node, failed, err);
    }
    if (all->grant_count == CBX_GRANTS_MAX) {
        cbx_fail(err, CBX_EINVAL, "there are more than %d grants", CBX_GRANTS_MAX);
        return place_at(node, CBX_EINVAL, err);
    }
    complete_rights(&row.gives);
    all->grants = add_zeroed(all->grants, all->grant_count, sizeof(all->grants[0]));
    all->grants[all->grant_count++] = row;
    return 0;
}

/* Sets the defaults of rows with fetched keys, and refuses their settings in other rows. */
static int complete_fetching(struct cbx_issuer *row, struct cbx_err *err)
{
    enum { REFRESH_S = 300 };
    if (cbx_key_url_is(cbx_str_of(row->jwks))) {
        row->refresh_s = row->refresh_s > 0 ? row->refresh_s : REFRESH_S;
        return 0;
    }
    if (row->ca[0] != '\0' || row->refresh_s != 0) {
        return cbx_fail(err, CBX_EINVAL,
                        "issuer '%s': '%s' is for keys that are fetched, with 'jwks: "
                        "https://HOST[:PORT]/PATH'",
                        row->name, row->ca[0] != '\0' ? "ca" : "refresh");
    }
    return 0;
}

static int check_issuer_name(const struct cbx_principals *all, const struct cbx_issuer *row,
                             struct cbx_err *err)
{
    int failed = cbx_principal_check(cbx_str_of(row->name), err);
    if (failed) {
        return failed;
    }
    if (strchr(row->name, ':') != NULL || strcmp(row->name, "uid") == 0) {
        /* "a:b" with the claim "c" would equal "a" with "b:c", and "uid" is reserved for users
         * of Unix sockets. */
        return cbx_fail(err, CBX_EINVAL,
                        "issuer '%s': a name without ':', and not 'uid', is needed", row->name);
    }
    for (size_t i = 0; i < all->issuer_count; i++) {
        if (strcmp(all->issuers[i].name, row->name) == 0 ||
            strcmp(all->issuers[i].issuer, row->issuer) == 0) {
            return cbx_fail(err, CBX_EINVAL, "two issuers have the name or issuer of '%s'",
                            row->name);
        }
    }
    return 0;
}

static int add_issuer(struct cbx_principals *out, const struct cbx_yaml *node, struct cbx_err *err)
{
    enum { LEEWAY_S = 60 };
    struct cbx_issuer row = { .claim = "sub", .leeway_s = LEEWAY_S };
    const struct reader r = {
        .all = out, .section = issuer, .row = &row, .issuer = (int)out->issuer_count, .grant = -1
    };
    int failed = read_row(&r, node, err);
    if (failed) {
        return failed;
    }
    failed = check_issuer_name(out, &row, err);
    if (failed) {
        return failed;
    }
    failed = complete_fetching(&row, err);
    if (failed) {
        return failed;
    }
    if (out->issuer_count == CBX_ISSUERS_MAX) {
        return cbx_fail(err, CBX_EINVAL, "there are more than %d issuers", CBX_ISSUERS_MAX);
    }
    out->issuers[out->issuer_count++] = row;
    return 0;
}

int cbx_principals_add(struct cbx_principals *out, const struct cbx_yaml *section,
                       struct cbx_err *err)
{
    bool principals = cbx_str_is(section->key, "principals");
    if (section->kind != CBX_YAML_SEQUENCE) {
        return fail_at(section, err, "no list", "is a list");
    }
    out->given |= principals;
    for (const struct cbx_yaml *node = section->first; node != NULL; node = node->next) {
        int failed;
        if (principals) {
            failed = add_principal(out, node, err);
        } else {
            failed = add_issuer(out, node, err);
        }
        if (failed) {
            return place_at(node, failed, err);
        }
    }
    return 0;
}

int cbx_principals_check_section(const struct cbx_yaml *section, struct cbx_err *err)
{
    CBX_AUTO_DONE(principals) read = { 0 };
    return cbx_principals_add(&read, section, err);
}

void cbx_principals_done(struct cbx_principals *principals)
{
    free(principals->rows);
    free(principals->grants);
    free(principals->conditions);
    *principals = (struct cbx_principals){ 0 };
}

/* --- finding ---------------------------------------------------------------------------------- */

/* The row of every principal if none is configured. */
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

static int check_policies(const struct cbx_yaml *row, const char *what,
                          const struct cbx_policies *policies, struct cbx_err *err)
{
    const struct cbx_yaml *list = find_entry(row, "policies"), *name = find_entry(row, "name");
    for (const struct cbx_yaml *item = list != NULL ? list->first : NULL; item != NULL;
         item = item->next) {
        if (cbx_policies_find(policies, item->text) == NULL) {
            cbx_policies_fail(policies, item->text, err);
            err->line = item->line;
            err->column = item->column;
            return cbx_wrap(err, "%s '%.*s'", what, CBX_STR_SHOWN(name->text));
        }
    }
    return 0;
}

static int check_grants(const struct cbx_yaml *row, const struct cbx_policies *policies,
                        struct cbx_err *err)
{
    const struct cbx_yaml *list = find_entry(row, "grants");
    for (const struct cbx_yaml *node = list != NULL ? list->first : NULL; node != NULL;
         node = node->next) {
        int failed = check_policies(node, "grant", policies, err);
        if (failed) {
            return failed;
        }
    }
    return 0;
}

int cbx_principals_check_policies(const struct cbx_yaml *section,
                                  const struct cbx_policies *policies, struct cbx_err *err)
{
    bool principals = cbx_str_is(section->key, "principals");
    for (const struct cbx_yaml *row = section->first; row != NULL; row = row->next) {
        int failed;
        if (principals) {
            failed = check_policies(row, "principal", policies, err);
        } else {
            failed = check_grants(row, policies, err);
        }
        if (failed) {
            return failed;
        }
    }
    return 0;
}
