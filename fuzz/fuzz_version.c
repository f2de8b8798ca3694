/* SPDX-License-Identifier: MIT
 * Versions, specifiers and ranges. One line each: three versions, specifiers, a range. The order is
 * total, normal forms are stable, and the results for minimums agree with the allowed versions. */
#include "policies/versions/version.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
    if (!holds) {
        abort();
    }
}

static struct cbx_str take_line(struct cbx_str *text)
{
    const char *end = text->len > 0 ? memchr(text->p, '\n', text->len) : NULL;
    size_t n = end != NULL ? (size_t)(end - text->p) : text->len;
    struct cbx_str line = cbx_str_sub(*text, 0, n);
    *text = cbx_str_sub(*text, n + 1, text->len);
    return line;
}

/* x[i][k] is the order of i and k. */
static void check_total(int x[3][3])
{
    for (int i = 0; i < 3; i++) {
        check(x[i][i] == 0);
        for (int k = 0; k < 3; k++) {
            check(x[i][k] == -x[k][i]);
            for (int m = 0; m < 3; m++) {
                check(!(x[i][k] <= 0 && x[k][m] <= 0) || x[i][m] <= 0);
            }
        }
    }
}

static void check_normal(const struct cbx_pep440 *v)
{
    char first[256], second[256];
    struct cbx_pep440 again;
    if (cbx_pep440_write(v, first, sizeof(first))) {
        check(cbx_pep440_parse(cbx_str_of(first), &again) && cbx_pep440_order(v, &again) == 0);
        check(cbx_pep440_write(&again, second, sizeof(second)) && strcmp(first, second) == 0);
    }
}

static void check_pep440(const struct cbx_str text[3])
{
    struct cbx_pep440 v[3];
    int x[3][3];
    for (int i = 0; i < 3; i++) {
        if (!cbx_pep440_parse(text[i], &v[i])) {
            return;
        }
        check_normal(&v[i]);
    }
    for (int i = 0; i < 9; i++) {
        x[i / 3][i % 3] = cbx_pep440_order(&v[i / 3], &v[i % 3]);
    }
    check_total(x);
}

static void check_semver(const struct cbx_str text[3])
{
    struct cbx_semver v[3];
    int x[3][3];
    for (int i = 0; i < 3; i++) {
        if (!cbx_semver_parse(text[i], &v[i])) {
            return;
        }
    }
    for (int i = 0; i < 9; i++) {
        x[i / 3][i % 3] = cbx_semver_order(&v[i / 3], &v[i % 3]);
    }
    check_total(x);
}

/* Specifiers that allow the minimum are not below it; malformed ones are. */
static void check_below(enum cbx_match_result result, bool below)
{
    check(result != CBX_MATCH_YES || !below);
    check(result != CBX_MATCH_MALFORMED || below);
}

/* ==V is below exactly the minimums above V, and it allows V. */
static void check_pin(struct cbx_str version, struct cbx_str minimum)
{
    char pin[512];
    bool ok;
    int o = cbx_version_compare(version, minimum, &ok);
    if (!ok || version.len > 400 || memchr(version.p, '+', version.len) != NULL ||
        memchr(minimum.p, '+', minimum.len) != NULL) {
        return;
    }
    int n = snprintf(pin, sizeof(pin), "==%.*s", (int)version.len, version.p);
    struct cbx_str specifier = { .p = pin, .len = (size_t)n };
    check(cbx_version_below(specifier, minimum) == (o < 0));
    check(cbx_pep440_matches(specifier, version) == CBX_MATCH_YES);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cbx_str rest = { .p = (const char *)data, .len = size };
    struct cbx_str text[3] = { take_line(&rest), take_line(&rest), take_line(&rest) };
    struct cbx_str specifiers = take_line(&rest), range = take_line(&rest);
    struct cbx_pep440 python;
    struct cbx_semver node;
    check_pep440(text);
    check_semver(text);
    check_pin(text[0], text[1]);
    cbx_conda_below(specifiers, text[0]);
    bool below = cbx_version_below(specifiers, text[0]), npm_below = cbx_npm_below(range, text[0]);
    if (cbx_pep440_parse(text[0], &python)) {
        check_below(cbx_pep440_matches(specifiers, text[0]), below);
    }
    if (cbx_semver_parse(text[0], &node) && cbx_npm_matches(range, text[0]) == CBX_MATCH_YES) {
        check(!npm_below);
    }
    return 0;
}
