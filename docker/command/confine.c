/* SPDX-License-Identifier: MIT
 * What a compiler may read. A source can name any file in an include, in assembler text, or by the
 * name of a precompiled header, and the compiler follows links. So Linux refuses all files but those
 * of the image and of the folder of the run. */
#include "docker/command/command.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static const uint64_t file_rights = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_EXECUTE,
                      rights = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_EXECUTE |
                               LANDLOCK_ACCESS_FS_READ_DIR;

/* A path that does not exist is no error: nothing can be read there. */
static bool allow(int ruleset, const char *path)
{
    struct stat status;
    int fd = open(path, O_PATH | O_CLOEXEC);
    if (fd < 0) {
        return true;
    }
    struct landlock_path_beneath_attr rule = { .parent_fd = fd };
    bool allowed = fstat(fd, &status) == 0;
    rule.allowed_access = allowed && S_ISDIR(status.st_mode) ? rights : file_rights;
    allowed = allowed &&
              syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0;
    close(fd);
    return allowed;
}

int cbx_command_confinement(void)
{
    static const char *const paths[] = { "/usr", "/lib",      "/lib64",          "/bin",
                                         "/etc", "/dev/null", CBX_COMMAND_FOLDER };
    struct landlock_ruleset_attr attributes = { .handled_access_fs = rights };
    int ruleset = (int)syscall(SYS_landlock_create_ruleset, &attributes, sizeof(attributes), 0);
    bool complete = ruleset >= 0;
    for (size_t i = 0; complete && i < sizeof(paths) / sizeof(paths[0]); i++) {
        complete = allow(ruleset, paths[i]);
    }
    if (!complete && ruleset >= 0) {
        close(ruleset);
    }
    return complete ? ruleset : -1;
}

bool cbx_command_confine(int ruleset)
{
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           syscall(SYS_landlock_restrict_self, ruleset, 0) == 0;
}
