/* SPDX-License-Identifier: MIT
 * Names of the files of the audit log. */
#include "gateway/executor/audit/audit_files.h"

#include "gateway/executor/audit/audit.h"
#include "policies/base/memory.h"
#include "policies/base/sort.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#define PREFIX "audit-"
#define SUFFIX ".jsonl"
enum { DIGITS = 20 };

void cbx_audit_file_name(uint64_t first, char out[CBX_AUDIT_NAME_BYTES])
{
    if (first == 0) {
        snprintf(out, CBX_AUDIT_NAME_BYTES, CBX_AUDIT_FILE);
    } else {
        snprintf(out, CBX_AUDIT_NAME_BYTES, PREFIX "%020" PRIu64 SUFFIX, first);
    }
}

/* Returns the number in a name; 0 if it is not the name of a closed file. */
static uint64_t number_of(const char *name)
{
    char digits[DIGITS + 1], again[CBX_AUDIT_NAME_BYTES];
    if (strlen(name) != strlen(PREFIX) + DIGITS + strlen(SUFFIX)) {
        return 0;
    }
    memcpy(digits, name + strlen(PREFIX), DIGITS);
    digits[DIGITS] = '\0';
    uint64_t number = strtoull(digits, NULL, 10);
    cbx_audit_file_name(number, again);
    return number > 0 && strcmp(again, name) == 0 ? number : 0;
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Returns true if the array has room. */
static bool add(struct cbx_audit_files *files, uint64_t first)
{
    if (files->count >= CBX_AUDIT_FILES_MAX) {
        return false;
    }
    files->first = cbx_grow(files->first, files->count, sizeof(*files->first));
    files->first[files->count++] = first;
    return true;
}

static void note(struct cbx_audit_files *files, const char *name, bool *full)
{
    struct cbx_str text = cbx_str_of(name);
    if (!cbx_str_starts(text, CBX_STR(PREFIX)) || !cbx_str_ends(text, CBX_STR(SUFFIX))) {
        return;
    }
    uint64_t first = number_of(name);
    if (first == 0) {
        snprintf(files->stray, sizeof(files->stray), "%s", name);
    } else {
        *full = !add(files, first) || *full;
    }
}

int cbx_audit_files_list(int dir, struct cbx_audit_files *out, struct cbx_err *err)
{
    *out = (struct cbx_audit_files){ 0 };
    int copy = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *entries = copy >= 0 ? fdopendir(copy) : NULL;
    if (entries == NULL) {
        int failed = cbx_fail(err, CBX_EAUDIT, "the files of the audit log cannot be listed: %s",
                              strerror(errno));
        cbx_fd_auto(&copy);
        return failed;
    }
    bool full = false;
    for (const struct dirent *entry; (entry = readdir(entries)) != NULL;) {
        note(out, entry->d_name, &full);
    }
    closedir(entries);
    if (full) {
        return cbx_fail(err, CBX_ETOOBIG, "the audit log has more than %d files",
                        CBX_AUDIT_FILES_MAX);
    }
    cbx_sort_heap(out->first, out->count, sizeof(*out->first), compare);
    return 0;
}

void cbx_audit_files_done(struct cbx_audit_files *files)
{
    free(files->first);
    *files = (struct cbx_audit_files){ 0 };
}

FILE *cbx_audit_file_open(int dir, uint64_t first)
{
    char name[CBX_AUDIT_NAME_BYTES];
    struct stat status;
    cbx_audit_file_name(first, name);
    CBX_AUTO_FD fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &status) < 0) {
        return NULL;
    }
    if (!S_ISREG(status.st_mode)) {
        errno = EINVAL;
        return NULL;
    }
    FILE *file = fdopen(fd, "r");
    fd = file != NULL ? -1 : fd;
    return file;
}
