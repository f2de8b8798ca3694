/* SPDX-License-Identifier: MIT
 * What installers are given and what they write: the first byte chooses between requirements, a set, and lines of a manager's failure. */
#include "docker/packages/package_failures.h"
#include "docker/packages/package_layers.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What was accepted is no option and leaves no folder, wherever it stands. */
static void check_lines(struct cbx_str text)
{
    static const char *const never[] = { "\n-", "\n/", "\n ", "\t", "\r", "\\", "'", "$" };
    for (size_t i = 0; i < sizeof(never) / sizeof(never[0]); i++) {
        if (memmem(text.p, text.len, never[i], strlen(never[i])) != NULL) {
            abort();
        }
    }
    if (text.p[0] == '-' || text.p[0] == '/' || memchr(text.p, '\0', text.len) != NULL ||
        memmem(text.p, text.len, "/../", 4) != NULL) {
        abort();
    }
}

static void fail_with(struct cbx_str text)
{
    struct cbx_failure failure = { 0 };
    struct cbx_err err = { 0 };
    while (text.len > 0) {
        const char *end = memchr(text.p, '\n', text.len);
        size_t len = end != NULL ? (size_t)(end - text.p) : text.len;
        cbx_failure_take(&failure, cbx_str_sub(text, 0, len));
        text = cbx_str_sub(text, len + 1, text.len);
    }
    if (cbx_failure_fail(&failure, &err) >= 0 || err.text[0] == '\0') {
        abort();
    }
    for (const char *p = err.text; *p != '\0'; p++) {
        if (*p < ' ' || *p > '~') {
            abort();
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2) {
        return 0;
    }
    struct cbx_str text = { .p = (const char *)data + 1, .len = size - 1 };
    enum cbx_manager manager = data[0] & 1 ? CBX_MANAGER_NPM : CBX_MANAGER_PIP;
    struct cbx_err err;
    size_t count;
    switch (data[0] >> 1 & 3) {
    case 0:
        if (cbx_requirements_check(manager, text, &err) == 0) {
            check_lines(text);
        }
        break;
    case 1:
        if (cbx_package_set_check(manager, text, &count, &err) == 0) {
            check_lines(text);
        }
        break;
    default:
        fail_with(text);
    }
    return 0;
}
