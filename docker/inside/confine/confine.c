/* SPDX-License-Identifier: MIT
 * Landlock. Listing folders is not restricted: the names of an image's files are no secret, and
 * users list folders. */
#include "docker/inside/confine/confine.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Constants of newer ABIs than the headers of Debian 12. */
enum { TRUNCATE = 1 << 14, ABI_TRUNCATE = 3, ABI_REFER = 2, SCOPE_SIGNAL = 1 << 1, ABI_SCOPE = 6 };
struct ruleset {
    uint64_t files, network, scoped;
};

static const uint64_t reads = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_EXECUTE,
                      uses = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE;

/* For folders of the host: programs leave only files and folders there. A program of the host
 * would follow a link, or open a socket or a pipe. */
static const uint64_t special = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_MAKE_SYM |
                                LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |
                                LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_BLOCK;

static int landlock_abi(void)
{
    return (int)syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
}

/* Returns all rights of this version of Landlock, except listing folders. */
static uint64_t all_rights(int abi)
{
    uint64_t rights = LANDLOCK_ACCESS_FS_MAKE_SYM; /* the last right of the first ABI */
    rights = (rights << 1) - 1;
    rights |= abi >= ABI_REFER ? LANDLOCK_ACCESS_FS_REFER : 0;
    rights |= abi >= ABI_TRUNCATE ? (uint64_t)TRUNCATE : 0;
    return rights & ~(uint64_t)LANDLOCK_ACCESS_FS_READ_DIR;
}

static const uint64_t file_rights = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_EXECUTE |
                                    LANDLOCK_ACCESS_FS_WRITE_FILE | TRUNCATE;

static int create(const struct ruleset *attributes)
{
    int abi = landlock_abi();
    size_t size = abi >= ABI_SCOPE ? sizeof(*attributes) : sizeof(attributes->files);
    return abi < 1 ? -1 : (int)syscall(SYS_landlock_create_ruleset, attributes, size, 0);
}

/* A missing path is no error: there is nothing to read. */
static bool allow(int ruleset, const char *path, uint64_t rights)
{
    struct stat status;
    int fd = open(path, O_PATH | O_CLOEXEC);
    if (fd < 0) {
        return true;
    }
    struct landlock_path_beneath_attr rule = { .parent_fd = fd };
    bool allowed = fstat(fd, &status) == 0;
    rule.allowed_access = allowed && S_ISDIR(status.st_mode) ? rights : rights & file_rights;
    allowed = allowed &&
              syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0;
    close(fd);
    return allowed;
}

static uint64_t rights_of(enum cbx_place_rights rights, int abi)
{
    switch (rights) {
    case CBX_PLACE_READ:
        return reads;
    case CBX_PLACE_USE:
        return uses;
    case CBX_PLACE_DATA:
        return LANDLOCK_ACCESS_FS_READ_FILE;
    case CBX_PLACE_CHANGE_DATA:
        return all_rights(abi) & ~special;
    case CBX_PLACE_CHANGE:
        return all_rights(abi);
    }
    return 0;
}

int cbx_confine_new(const struct cbx_place *rows, size_t count)
{
    int abi = landlock_abi();
    struct ruleset attributes = { .files = abi >= 1 ? all_rights(abi) : 0,
                                  .scoped = abi >= ABI_SCOPE ? (uint64_t)SCOPE_SIGNAL : 0 };
    int ruleset = create(&attributes);
    bool complete = ruleset >= 0;
    for (size_t i = 0; complete && i < count; i++) {
        complete = allow(ruleset, rows[i].path, rights_of(rows[i].rights, abi));
    }
    if (!complete && ruleset >= 0) {
        close(ruleset);
    }
    return complete ? ruleset : -1;
}

bool cbx_confine_enter(int ruleset)
{
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           syscall(SYS_landlock_restrict_self, ruleset, 0) == 0;
}

bool cbx_confine_separate(void)
{
    struct ruleset attributes = { .files = LANDLOCK_ACCESS_FS_MAKE_CHAR,
                                  .scoped =
                                      landlock_abi() >= ABI_SCOPE ? (uint64_t)SCOPE_SIGNAL : 0 };
    int ruleset = create(&attributes);
    bool entered = ruleset >= 0 && cbx_confine_enter(ruleset);
    if (ruleset >= 0) {
        close(ruleset);
    }
    return entered;
}
