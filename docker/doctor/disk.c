/* SPDX-License-Identifier: MIT
 * The file system of the engine's data. */
#include "docker/doctor/disk.h"

#include "docker/doctor/attempt.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>

/* False if this host does not have it. Only its numbers are read, so a descriptor without access
 * rights is enough. */
static bool look_here(struct cbx_engine *engine, struct cbx_disk *out)
{
    CBX_AUTO_JSON info = NULL;
    struct statfs status;
    if (strncmp(cbx_engine_host(engine), "unix://", 7) != 0 ||
        cbx_engine_info(engine, &info, NULL) != 0) {
        return false;
    }
    const char *root = json_string_value(json_object_get(info, "DockerRootDir"));
    CBX_AUTO_FD fd = root != NULL ? open(root, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
    if (fd < 0 || fstatfs(fd, &status) < 0) {
        return false;
    }
    *out = (struct cbx_disk){ .total = (int64_t)status.f_blocks * (int64_t)status.f_bsize,
                              .available = (int64_t)status.f_bavail * (int64_t)status.f_bsize };
    return true;
}

/* Reads a number of bytes after blanks; false if there is none. */
static bool read_bytes(const char **at, int64_t *out)
{
    char *end;
    *at += strspn(*at, " ");
    if (**at < '0' || **at > '9') {
        return false;
    }
    errno = 0;
    *out = strtoll(*at, &end, 10);
    *at = end;
    return errno == 0;
}

int cbx_disk_read(const char *text, struct cbx_disk *out, struct cbx_err *err)
{
    struct cbx_disk disk = { .by_container = true };
    const char *at = strchr(text, '\n');
    at = at != NULL ? at + 1 : "";
    if (!read_bytes(&at, &disk.total) || !read_bytes(&at, &disk.available) ||
        strcmp(at, "\n") != 0 || disk.total == 0 || disk.available > disk.total) {
        return cbx_fail(err, CBX_EPROTO, "df in a container printed no sizes");
    }
    *out = disk;
    return 0;
}

int cbx_disk_look(struct cbx_engine *engine, const struct cbx_sandbox_config *config,
                  const char *kernel, struct cbx_disk *out, struct cbx_err *err)
{
    if (look_here(engine, out)) {
        return 0;
    }
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, CBX_ATTEMPT_BYTES_MAX);
    struct cbx_limits limits;
    cbx_limits_default(&limits);
    limits.isolation = CBX_ISOLATION_CONTAINER; /* gVisor's root is its own */
    const struct cbx_attempt df = {
        .engine = engine,
        .config = config,
        .kernel = kernel,
        .limits = &limits,
        .program = "/usr/bin/df",
        .arguments = { "--block-size=1", "--output=size,avail", "/" },
    };
    int failed = cbx_attempt_run(&df, &text, err);
    if (failed) {
        return failed;
    }
    return cbx_disk_read(text.p, out, err);
}
