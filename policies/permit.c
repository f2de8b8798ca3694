/* SPDX-License-Identifier: MIT
 * Permits. */
#include "policies/permit.h"

#include "policies/base/memory.h"

#include <stdlib.h>

static int check_file_name(const char *name, struct cbx_err *err)
{
    size_t len = strnlen(name, CBX_FILE_NAME_MAX + 1);
    bool plain = len <= CBX_FILE_NAME_MAX && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
    for (size_t i = 0; i < len; i++) {
        plain = plain && name[i] != '/' && (unsigned char)name[i] >= 0x20 && name[i] != 0x7f;
    }
    if (!plain) {
        return cbx_fail(err, CBX_EINVAL,
                        "'%.64s' is no file name; allowed are up to %d bytes without '/' and "
                        "control characters",
                        name, CBX_FILE_NAME_MAX);
    }
    return 0;
}

int cbx_permit_check_arguments(const char *file_name, struct cbx_str arguments, struct cbx_err *err)
{
    size_t count = 0;
    if (arguments.len > CBX_ARGUMENTS_BYTES_MAX) {
        return cbx_fail(err, CBX_ETOOBIG, "the arguments have %zu bytes, allowed are %d",
                        arguments.len, CBX_ARGUMENTS_BYTES_MAX);
    }
    for (size_t i = 0; i < arguments.len; i++) {
        count += arguments.p[i] == '\0';
    }
    if (count > CBX_ARGUMENTS_MAX) {
        return cbx_fail(err, CBX_ETOOBIG, "there are %zu arguments, allowed are %d", count,
                        CBX_ARGUMENTS_MAX);
    }
    if (arguments.len > 0 && arguments.p[arguments.len - 1] != '\0') {
        return cbx_fail(err, CBX_EINVAL, "the last argument is not terminated by NUL");
    }
    return check_file_name(file_name, err);
}

static struct cbx_str copy(struct cbx_str from)
{
    return (struct cbx_str){ .p = cbx_str_copy(from), .len = from.len };
}

struct cbx_permit *cbx_permit_new(const struct cbx_permit *fields)
{
    struct cbx_permit *permit = cbx_renew(NULL, 1, sizeof(*permit));
    *permit = *fields;
    permit->arguments = copy(fields->arguments);
    permit->programs = copy(fields->programs);
    permit->imports = copy(fields->imports);
    struct cbx_sha256 *files = cbx_new_array(fields->file_count + 1, sizeof(*files));
    if (fields->file_count > 0) {
        memcpy(files, fields->files, fields->file_count * sizeof(*files));
    }
    permit->files = files;
    return permit;
}

void cbx_permit_free(struct cbx_permit *permit)
{
    if (permit != NULL) {
        free((void *)(uintptr_t)permit->arguments.p);
        free((void *)(uintptr_t)permit->programs.p);
        free((void *)(uintptr_t)permit->imports.p);
        free((void *)(uintptr_t)permit->files);
    }
    free(permit);
}
