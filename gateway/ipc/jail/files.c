/* SPDX-License-Identifier: MIT
 * Landlock by system calls: the C library has no functions for it. */
#include "gateway/ipc/jail/files.h"

#include "policies/base/auto.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The structure of Landlock ABI version 6 and the rights of all versions: the Linux headers of
 * the build host may be older than the running Linux. */
struct ruleset {
    uint64_t files, net, scoped;
};

enum {
    EXECUTE = 1 << 0,
    WRITE_FILE = 1 << 1,
    READ_FILE = 1 << 2,
    READ_DIR = 1 << 3,
    REMOVE_FILE = 1 << 5,
    MAKE_DIR = 1 << 7,
    MAKE_REG = 1 << 8,
    TRUNCATE = 1 << 14,
    NET_BIND = 1 << 0,
    NET_CONNECT = 1 << 1,
    SCOPE_ABSTRACT_SOCKETS = 1 << 0,
    SCOPE_SIGNALS = 1 << 1,
};

/* The rights and scopes that each ABI version adds. Linux rejects a rule with a right of a later
 * version, so a rule names only rights of the host's version. */
static const struct {
    int version;
    uint64_t files, net, scoped;
} versions[] = {
    { 1, (1 << 13) - 1, 0, 0 },                          /* open, make, remove, execute */
    { 2, 1 << 13, 0, 0 },                                /* link and rename between folders */
    { 3, TRUNCATE, 0, 0 },                               /* truncate */
    { 4, 0, NET_BIND | NET_CONNECT, 0 },                 /* TCP */
    { 5, 1 << 15, 0, 0 },                                /* ioctl of devices */
    { 6, 0, 0, SCOPE_ABSTRACT_SOCKETS | SCOPE_SIGNALS }, /* other processes */
};

int cbx_files_landlock(void)
{
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    return version > 0 ? (int)version : 0;
}

static struct ruleset refusals_of(int version)
{
    struct ruleset all = { 0 };
    for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
        if (versions[i].version <= version) {
            all.files |= versions[i].files;
            all.net |= versions[i].net;
            all.scoped |= versions[i].scoped;
        }
    }
    return all;
}

static int fail_landlock(const char *what, struct cbx_err *err)
{
    return cbx_fail(err, CBX_EIO, "landlock: %s: %s", what, strerror(errno));
}

static int add_grant(int ruleset, const struct ruleset *all, const struct cbx_grant *grant,
                     struct cbx_err *err)
{
    const uint64_t writing = WRITE_FILE | REMOVE_FILE | MAKE_DIR | MAKE_REG | TRUNCATE;
    uint64_t rights = READ_FILE;
    if (!grant->file) {
        rights = READ_DIR;
        rights |= grant->writes ? writing : 0;
        rights |= grant->reads ? READ_FILE : 0;
    }
    CBX_AUTO_FD fd =
        open(grant->path, O_PATH | (grant->file ? O_NOFOLLOW : O_DIRECTORY) | O_CLOEXEC);
    if (fd < 0 && grant->file && errno == ENOENT) {
        return 0;
    }
    struct landlock_path_beneath_attr rule = { .allowed_access = rights & all->files,
                                               .parent_fd = fd };
    if (fd < 0 ||
        syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) < 0) {
        fail_landlock(grant->file ? "a file cannot be granted" : "a folder cannot be granted", err);
        cbx_err_detail(err, "'%s'", grant->path);
        return CBX_EIO;
    }
    return 0;
}

int cbx_files_confine(const struct cbx_grant *grants, size_t count, bool connects,
                      struct cbx_err *err)
{
    int version = cbx_files_landlock();
    if (version == 0) {
        return 0;
    }
    struct ruleset all = refusals_of(version);
    all.net &= ~(connects ? (uint64_t)NET_CONNECT : 0);
    /* An older Linux accepts the larger structure if the additional bytes are zero. */
    CBX_AUTO_FD ruleset = (int)syscall(SYS_landlock_create_ruleset, &all, sizeof(all), 0);
    if (ruleset < 0) {
        return fail_landlock("no rules can be made", err);
    }
    for (size_t i = 0; i < count; i++) {
        int failed = add_grant(ruleset, &all, &grants[i], err);
        if (failed) {
            return failed;
        }
    }
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
        syscall(SYS_landlock_restrict_self, ruleset, 0) < 0) {
        return fail_landlock("the rules cannot be set", err);
    }
    return 0;
}

/* Files of these folders are replaced by renaming: a grant of the files themselves would not
 * last. */
int cbx_files_confine_to_network(struct cbx_err *err)
{
    static const char *const folders[] = { "/etc", "/run/systemd/resolve" };
    enum { FOLDERS = sizeof(folders) / sizeof(folders[0]) };
    struct cbx_grant grants[FOLDERS];
    size_t count = 0;
    for (size_t i = 0; i < FOLDERS; i++) {
        if (access(folders[i], F_OK) == 0) {
            grants[count++] = (struct cbx_grant){ .path = folders[i], .reads = true };
        }
    }
    return cbx_files_confine(grants, count, true, err);
}
