/* SPDX-License-Identifier: MIT
 * Grants. */
#include "gateway/identity/claim_grants.h"

#include "policies/base/memory.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(CBX_GRANTS_MAX <= 64, "a grant is a bit of a mask");

/* --- claims ----------------------------------------------------------------------------------- */

int cbx_claim_grants_require(const struct cbx_principals *all, size_t issuer, const json_t *claims,
                             struct cbx_err *err)
{
    for (size_t i = 0; i < all->condition_count; i++) {
        const struct cbx_condition *condition = &all->conditions[i];
        if (condition->issuer == (int)issuer && condition->grant < 0 &&
            !cbx_condition_holds(condition, claims)) {
            return cbx_fail(
                err, CBX_EINVAL,
                "issuer '%s': its claim '%s' is absent, or not as required-claims has it",
                all->issuers[issuer].name, condition->claim);
        }
    }
    return 0;
}

/* A grant without conditions, which the configuration cannot have, would apply to every token. */
static bool is_matched(const struct cbx_principals *all, size_t grant, const json_t *claims)
{
    size_t held = 0;
    for (size_t i = 0; i < all->condition_count; i++) {
        if (all->conditions[i].grant != (int)grant) {
            continue;
        }
        if (!cbx_condition_holds(&all->conditions[i], claims)) {
            return false;
        }
        held++;
    }
    return held > 0;
}

uint64_t cbx_claim_grants_match(const struct cbx_principals *all, size_t issuer,
                                const json_t *claims)
{
    uint64_t grants = 0;
    for (size_t i = 0; i < all->grant_count; i++) {
        if (all->grants[i].issuer == (int)issuer && is_matched(all, i, claims)) {
            grants |= UINT64_C(1) << i;
        }
    }
    return grants;
}

/* --- credentials ------------------------------------------------------------------------------ */

static const struct cbx_str prefix = CBX_STR("issuer ");

int cbx_claim_grants_write(const struct cbx_principals *all, size_t issuer, uint64_t grants,
                           char *out, struct cbx_err *err)
{
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, CBX_CREDENTIAL_MAX + 1);
    cbx_buf_printf(&text, "issuer %s", all->issuers[issuer].name);
    size_t bare = text.len;
    for (size_t i = 0; i < all->grant_count; i++) {
        if ((grants >> i & 1) != 0) {
            cbx_buf_printf(&text, "%s%s", text.len > bare ? ", " : " (", all->grants[i].gives.name);
        }
    }
    if (text.len > bare) {
        cbx_buf_add_char(&text, ')');
    }
    if (text.overflow || text.len > CBX_CREDENTIAL_MAX) {
        return cbx_fail(err, CBX_ETOOBIG,
                        "issuer '%s': the token has so many grants that their names have more than "
                        "%d bytes",
                        all->issuers[issuer].name, CBX_CREDENTIAL_MAX);
    }
    snprintf(out, CBX_CREDENTIAL_MAX + 1, "%s", text.p);
    return 0;
}

static uint64_t find_grant(const struct cbx_principals *all, size_t issuer, struct cbx_str name)
{
    for (size_t i = 0; i < all->grant_count; i++) {
        if (all->grants[i].issuer == (int)issuer && cbx_str_is(name, all->grants[i].gives.name)) {
            return UINT64_C(1) << i;
        }
    }
    return 0;
}

/* Reads "ops, analysts)". */
static uint64_t read_names(const struct cbx_principals *all, size_t issuer, struct cbx_str text)
{
    uint64_t grants = 0;
    size_t from = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.p[i] == ',' || text.p[i] == ')') {
            grants |= find_grant(all, issuer, cbx_str_sub(text, from, i));
            from = i + 2;
        }
    }
    return grants;
}

int cbx_claim_grants_read(const struct cbx_principals *all, struct cbx_str credential,
                          uint64_t *grants)
{
    *grants = 0;
    if (!cbx_str_starts(credential, prefix)) {
        return -1;
    }
    struct cbx_str rest = cbx_str_sub(credential, prefix.len, credential.len);
    const char *open = rest.len > 0 ? memmem(rest.p, rest.len, " (", 2) : NULL;
    size_t end = open != NULL ? (size_t)(open - rest.p) : rest.len;
    struct cbx_str name = cbx_str_sub(rest, 0, end);
    for (size_t i = 0; i < all->issuer_count; i++) {
        if (cbx_str_is(name, all->issuers[i].name)) {
            if (open != NULL) {
                *grants = read_names(all, i, cbx_str_sub(rest, end + 2, rest.len));
            }
            return (int)i;
        }
    }
    return -1;
}

/* --- rows ------------------------------------------------------------------------------------- */

struct granted_row {
    const struct cbx_principal *base;
    uint64_t grants;
    struct cbx_principal row;
    struct granted_row *next;
};

struct cbx_granted {
    pthread_mutex_t lock;
    struct granted_row *first;
    size_t count;
};

struct cbx_granted *cbx_granted_new(void)
{
    struct cbx_granted *granted = cbx_new(sizeof(*granted));
    pthread_mutex_init(&granted->lock, NULL);
    return granted;
}

void cbx_granted_free(struct cbx_granted *granted)
{
    if (granted == NULL) {
        return;
    }
    for (struct granted_row *row = granted->first, *next; row != NULL; row = next) {
        next = row->next;
        free(row);
    }
    pthread_mutex_destroy(&granted->lock);
    free(granted);
}

static bool has_policy(const struct cbx_principal *row, const char *name)
{
    for (size_t i = 0; i < row->policy_count; i++) {
        if (strcmp(row->policies[i], name) == 0) {
            return true;
        }
    }
    return false;
}

static int add_policies(const struct cbx_principal *from, struct cbx_principal *row,
                        struct cbx_err *err)
{
    for (size_t i = 0; i < from->policy_count; i++) {
        if (has_policy(row, from->policies[i])) {
            continue;
        }
        if (row->policy_count == CBX_CALLER_POLICIES) {
            return cbx_fail(err, CBX_ETOOBIG, "its grants have more than %d policies together",
                            CBX_CALLER_POLICIES);
        }
        memcpy(row->policies[row->policy_count++], from->policies[i], sizeof(from->policies[i]));
    }
    return 0;
}

static int add_grants(const struct cbx_principals *all, const struct cbx_principal *base,
                      uint64_t grants, struct cbx_principal *row, struct cbx_err *err)
{
    bool allows_all = base != NULL && base->rights != 0 && base->policy_count == 0;
    for (size_t i = 0; i < all->grant_count; i++) {
        if ((grants >> i & 1) == 0) {
            continue;
        }
        const struct cbx_principal *gives = &all->grants[i].gives;
        row->rights |= gives->rights;
        int failed = 0;
        if (!allows_all) {
            failed = add_policies(gives, row, err);
        }
        if (failed) {
            return failed;
        }
    }
    return 0;
}

static struct granted_row *find_row(const struct cbx_granted *granted,
                                    const struct cbx_principal *base, uint64_t grants)
{
    struct granted_row *row = granted->first;
    while (row != NULL && (row->base != base || row->grants != grants)) {
        row = row->next;
    }
    return row;
}

static int make_row(struct cbx_granted *granted, const struct cbx_principals *all,
                    const struct cbx_principal *base, uint64_t grants, struct granted_row **out,
                    struct cbx_err *err)
{
    struct cbx_principal row = { 0 };
    if (base != NULL) {
        row = *base;
    }
    if (granted->count == CBX_GRANTED_MAX) {
        return cbx_fail(err, CBX_EBUSY, "%d different sets of rights are in use", CBX_GRANTED_MAX);
    }
    int failed = add_grants(all, base, grants, &row, err);
    if (failed) {
        return failed;
    }
    struct granted_row *made = cbx_new(sizeof(*made));
    *made =
        (struct granted_row){ .base = base, .grants = grants, .row = row, .next = granted->first };
    granted->first = made;
    granted->count++;
    *out = made;
    return 0;
}

int cbx_granted_row(struct cbx_granted *granted, const struct cbx_principals *all,
                    const struct cbx_principal *base, uint64_t grants,
                    const struct cbx_principal **out, struct cbx_err *err)
{
    if (grants == 0) {
        *out = base;
        return 0;
    }
    int failed = 0;
    pthread_mutex_lock(&granted->lock);
    struct granted_row *row = find_row(granted, base, grants);
    if (row == NULL) {
        failed = make_row(granted, all, base, grants, &row, err);
    }
    pthread_mutex_unlock(&granted->lock);
    if (!failed) {
        *out = &row->row;
    }
    return failed;
}
