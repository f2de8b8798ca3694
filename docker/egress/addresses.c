/* SPDX-License-Identifier: MIT
 * Ranges of addresses: their notation, and the union of the ranges that are never reached. */
#include "docker/egress/addresses.h"

#include "policies/base/sort.h"

#include <string.h>

static const struct row {
    struct cbx_addresses range;
    bool may_allow;
} rows[] = {
#define CBX_ADDRESSES(a, b, c, d, prefix, allow, meaning)                                          \
    { { (uint32_t)a << 24 | b << 16 | c << 8 | d,                                                  \
        ((uint32_t)a << 24 | b << 16 | c << 8 | d) | (uint32_t)(0xffffffffull >> (prefix)) },      \
      allow },
#include "docker/egress/addresses.def"
#undef CBX_ADDRESSES
};

struct ranges {
    struct cbx_addresses items[CBX_ADDRESSES_RANGES_MAX];
    size_t count;
};

/* Takes a decimal number up to `max` without leading zeros. */
static bool take_number(struct cbx_str *text, uint32_t max, uint32_t *out)
{
    uint32_t value = 0;
    size_t i = 0;
    for (; i < text->len && i < 3 && text->p[i] >= '0' && text->p[i] <= '9'; i++) {
        value = value * 10 + (uint32_t)(text->p[i] - '0');
    }
    if (i == 0 || value > max || (i > 1 && text->p[0] == '0')) {
        return false;
    }
    *text = cbx_str_sub(*text, i, text->len);
    *out = value;
    return true;
}

static bool take_char(struct cbx_str *text, char c)
{
    bool found = text->len > 0 && text->p[0] == c;
    *text = cbx_str_sub(*text, found, text->len);
    return found;
}

int cbx_addresses_parse(struct cbx_str cidr, struct cbx_addresses *out, struct cbx_err *err)
{
    struct cbx_str rest = cidr;
    uint32_t address = 0, part = 0, prefix = 32;
    bool good = true;
    for (int i = 0; i < 4 && good; i++) {
        good = (i == 0 || take_char(&rest, '.')) && take_number(&rest, 255, &part);
        address = address << 8 | part;
    }
    if (good && take_char(&rest, '/')) {
        good = take_number(&rest, 32, &prefix);
    }
    uint32_t behind = prefix < 32 ? 0xffffffffu >> prefix : 0;
    if (!good || rest.len > 0) {
        return cbx_fail(err, CBX_EINVAL,
                        "'%.*s' is no range of addresses, allowed is A.B.C.D/PREFIX",
                        CBX_STR_SHOWN(cidr));
    }
    if ((address & behind) != 0) {
        return cbx_fail(err, CBX_EINVAL, "the range '%.*s' has bits behind its prefix",
                        CBX_STR_SHOWN(cidr));
    }
    *out = (struct cbx_addresses){ .first = address, .last = address | behind };
    return 0;
}

static bool add_range(struct ranges *ranges, uint32_t first, uint32_t last)
{
    if (ranges->count == CBX_ADDRESSES_RANGES_MAX) {
        return false;
    }
    ranges->items[ranges->count++] = (struct cbx_addresses){ first, last };
    return true;
}

/* Returns the row whose part `range` an operator can allow, or NULL. */
static const struct row *row_of(struct cbx_addresses range)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].may_allow && range.first >= rows[i].range.first &&
            range.last <= rows[i].range.last) {
            return &rows[i];
        }
    }
    return NULL;
}

static int compare_ranges(const void *a, const void *b)
{
    const struct cbx_addresses *x = a, *y = b;
    return x->first < y->first ? -1 : x->first > y->first;
}

/* Sorts and merges adjacent ranges: Squid ignores ranges that lie in others. */
static void straighten(struct ranges *ranges)
{
    size_t count = 0;
    cbx_sort_heap(ranges->items, ranges->count, sizeof(ranges->items[0]), compare_ranges);
    for (size_t i = 0; i < ranges->count; i++) {
        struct cbx_addresses *last = count > 0 ? &ranges->items[count - 1] : NULL;
        const struct cbx_addresses *next = &ranges->items[i];
        if (last != NULL && (uint64_t)next->first <= (uint64_t)last->last + 1) {
            last->last = next->last > last->last ? next->last : last->last;
        } else {
            ranges->items[count++] = *next;
        }
    }
    ranges->count = count;
}

int cbx_addresses_may_allow(struct cbx_str cidr, struct cbx_err *err)
{
    struct cbx_addresses range;
    int failed = cbx_addresses_parse(cidr, &range, err);
    if (failed || row_of(range) != NULL) {
        return failed;
    }
    return cbx_fail(err, CBX_EINVAL,
                    "the range '%.*s' cannot be allowed, only parts of 10.0.0.0/8, "
                    "100.64.0.0/10, 172.16.0.0/12, 192.168.0.0/16 and 198.18.0.0/15",
                    CBX_STR_SHOWN(cidr));
}

static int read_ranges(const struct cbx_strs *cidrs, bool allow, struct ranges *out,
                       struct cbx_err *err)
{
    size_t count = cidrs != NULL ? cidrs->count : 0;
    if (count > CBX_ADDRESSES_CIDRS_MAX) {
        return cbx_fail(err, CBX_ETOOBIG, "%zu ranges of addresses, allowed are %d", count,
                        CBX_ADDRESSES_CIDRS_MAX);
    }
    for (size_t i = 0; i < count; i++) {
        struct cbx_addresses range;
        int failed = 0;
        if (allow) {
            failed = cbx_addresses_may_allow(cidrs->items[i], err);
        }
        if (failed) {
            return failed;
        }
        failed = cbx_addresses_parse(cidrs->items[i], &range, err);
        if (failed) {
            return failed;
        }
        add_range(out, range.first, range.last);
    }
    return 0;
}

/* A dst ACL matches a name if any one of its addresses matches. An ACL of allowed ranges would
 * therefore let a name pass that has a denied private address besides the allowed one, so there
 * is only one ACL, of all denied ranges. */
static int deny_ranges(const struct cbx_strs *allow, const struct cbx_strs *deny,
                       struct ranges *out, struct cbx_err *err)
{
    struct ranges allowed = { .count = 0 };
    out->count = 0;
    int failed = read_ranges(deny, false, out, err);
    if (failed) {
        return failed;
    }
    failed = read_ranges(allow, true, &allowed, err);
    if (failed) {
        return failed;
    }
    straighten(&allowed);
    bool fits = true;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        uint64_t from = rows[i].range.first;
        for (size_t k = 0; k < allowed.count && rows[i].may_allow; k++) {
            struct cbx_addresses hole = allowed.items[k];
            if (hole.first > rows[i].range.last || hole.last < from) {
                continue;
            }
            fits &= hole.first <= from || add_range(out, (uint32_t)from, hole.first - 1);
            from = (uint64_t)hole.last + 1;
        }
        fits &= from > rows[i].range.last || add_range(out, (uint32_t)from, rows[i].range.last);
    }
    straighten(out);
    if (!fits) {
        return cbx_fail(err, CBX_ETOOBIG, "too many ranges of addresses");
    }
    return 0;
}

int cbx_addresses_unreachable(const struct cbx_strs *allow, const struct cbx_strs *deny,
                              struct cbx_addresses out[CBX_ADDRESSES_RANGES_MAX], size_t *count,
                              struct cbx_err *err)
{
    struct ranges denied;
    int failed = deny_ranges(allow, deny, &denied, err);
    if (!failed) {
        memcpy(out, denied.items, denied.count * sizeof(denied.items[0]));
        *count = denied.count;
    }
    return failed;
}
