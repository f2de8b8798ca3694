/* SPDX-License-Identifier: MIT
 * Variables as records in a memory file. */
#include "gateway/ipc/master/variables.h"

#include "policies/base/auto.h"
#include "policies/base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { FILE_BYTES_MAX = 16 << 20 };

/* Header of a variable; name, file and value follow. */
struct head {
    uint32_t name, file, value, secret;
};

int cbx_variables_new(void)
{
    enum { ABOVE_STDERR = 3 };
    CBX_AUTO_FD fd = memfd_create("variables", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    return fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, ABOVE_STDERR);
}

static struct iovec part_of(struct cbx_str text)
{
    return (struct iovec){ .iov_base = (void *)(uintptr_t)text.p, .iov_len = text.len };
}

/* One writev call without a copy: no other memory has the values. */
int cbx_variables_add(int fd, const struct cbx_variable *v, struct cbx_err *err)
{
    struct head head = { .name = (uint32_t)v->name.len,
                         .file = (uint32_t)v->file.len,
                         .value = (uint32_t)v->value.len,
                         .secret = v->secret };
    struct iovec parts[] = { { .iov_base = &head, .iov_len = sizeof(head) },
                             part_of(v->name),
                             part_of(v->file),
                             part_of(v->value) };
    size_t total = sizeof(head) + v->name.len + v->file.len + v->value.len;
    if (writev(fd, parts, sizeof(parts) / sizeof(parts[0])) != (ssize_t)total) {
        return cbx_fail(err, CBX_EIO, "memory for the variables: %s", strerror(errno));
    }
    return 0;
}

int cbx_variables_seal(int fd, struct cbx_err *err)
{
    if (fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
        return cbx_fail(err, CBX_EIO, "memory for the variables: %s", strerror(errno));
    }
    return 0;
}

static struct cbx_str take(const struct cbx_variables *all, size_t *at, size_t len, bool *good)
{
    *good = *good && len <= all->len - *at;
    struct cbx_str part = { .p = all->bytes + *at, .len = *good ? len : 0 };
    *at += part.len;
    return part;
}

static bool read_records(struct cbx_variables *all)
{
    bool good = true;
    for (size_t at = 0; good && at < all->len;) {
        struct head head = { 0 };
        struct cbx_str bytes = take(all, &at, sizeof(head), &good);
        if (!good) {
            break;
        }
        memcpy(&head, bytes.p, sizeof(head));
        struct cbx_variable *v = &all->items[all->count++];
        v->name = take(all, &at, head.name, &good);
        v->file = take(all, &at, head.file, &good);
        v->value = take(all, &at, head.value, &good);
        v->secret = head.secret != 0;
    }
    return good;
}

int cbx_variables_read(int fd, struct cbx_variables *out, struct cbx_err *err)
{
    struct stat status;
    struct cbx_variables all = { 0 };
    if (fd <= 0) {
        *out = all;
        return 0;
    }
    if (fstat(fd, &status) < 0 || status.st_size > FILE_BYTES_MAX) {
        return cbx_fail(err, CBX_EIO, "the variables cannot be read");
    }
    all.len = (size_t)status.st_size;
    all.bytes = cbx_new(all.len + 1);
    all.items = cbx_new_array(all.len / sizeof(struct head) + 1, sizeof(*all.items));
    if (pread(fd, all.bytes, all.len, 0) != (ssize_t)all.len || !read_records(&all)) {
        cbx_variables_done(&all);
        return cbx_fail(err, CBX_EIO, "the variables cannot be read");
    }
    *out = all;
    return 0;
}

void cbx_variables_done(struct cbx_variables *variables)
{
    if (variables->bytes != NULL) {
        explicit_bzero(variables->bytes, variables->len);
    }
    free(variables->bytes);
    free(variables->items);
    *variables = (struct cbx_variables){ 0 };
}

const struct cbx_variable *cbx_variables_find(const struct cbx_variables *variables,
                                              struct cbx_str name, struct cbx_str file)
{
    for (size_t i = 0; i < variables->count; i++) {
        const struct cbx_variable *v = &variables->items[i];
        if (cbx_str_equal(v->name, name) && cbx_str_equal(v->file, file)) {
            return v;
        }
    }
    return NULL;
}
