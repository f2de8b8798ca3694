/* SPDX-License-Identifier: MIT
 * User ids and capabilities by system calls; a library is not needed for so few. */
#include "gateway/ipc/jail/privileges.h"

#include "policies/base/auto.h"

#include <errno.h>
#include <grp.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <pwd.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* 2,080,000,000 is in the range that neither distributions nor systemd nor subordinate ids use
 * (1,879,048,192 to 2,147,483,647). A block with an id that has a name is skipped: another
 * program owns it. */
enum { FIRST_ID = 2080000000, BLOCK_IDS = 7, BLOCKS = 64 };

#define CAP(name) (UINT64_C(1) << CAP_##name)

/* User id and capabilities of each process. The executor opens folders of any user: mounts, the
 * engine's socket, a state directory of the operator. `codebox run` writes to a folder of the
 * caller's choice. The master forks all other processes and sends them signals. */
static const struct {
    unsigned own_id; /* offset of its user id in the block; 0 = the caller's id */
    uint64_t capabilities;
    bool files_of_caller; /* true if the files that it creates belong to the caller */
} roles[] = {
    [CBX_ROLE_MASTER] = { 0,
                          CAP(KILL) | CAP(SETUID) | CAP(SETGID) | CAP(SETPCAP) | CAP(SYS_CHROOT) |
                              CAP(DAC_OVERRIDE),
                          false },
    [CBX_ROLE_FRONT] = { 1, 0, false },
    [CBX_ROLE_ANALYZER] = { 2, 0, false },
    [CBX_ROLE_EXECUTOR] = { 0, CAP(DAC_OVERRIDE), false },
    [CBX_ROLE_CALLER] = { 1, CAP(DAC_OVERRIDE), true },
    [CBX_ROLE_READER] = { 0, CAP(DAC_OVERRIDE), false },
    [CBX_ROLE_SENDER] = { 3, 0, false },
    [CBX_ROLE_KEYS] = { 4, 0, false },
    [CBX_ROLE_REPLICAS] = { 5, 0, false },
    [CBX_ROLE_DATABASE] = { 6, 0, false },
};
#define NEEDED (CAP(KILL) | CAP(SETUID) | CAP(SETGID) | CAP(SYS_CHROOT) | CAP(CHOWN))

struct capabilities {
    struct __user_cap_header_struct header;
    struct __user_cap_data_struct data[2];
};

static uint64_t effective_capabilities(void)
{
    struct capabilities c = { .header = { .version = _LINUX_CAPABILITY_VERSION_3 } };
    if (syscall(SYS_capget, &c.header, c.data) < 0) {
        return 0;
    }
    return c.data[0].effective | (uint64_t)c.data[1].effective << 32;
}

/* True if the user namespace maps all ids of the block. */
static bool is_mapped(const char *map, uint64_t first)
{
    CBX_AUTO_FILE f = fopen(map, "re");
    uint64_t inside, outside, count;
    bool mapped = false;
    while (f != NULL &&
           fscanf(f, "%" SCNu64 " %" SCNu64 " %" SCNu64, &inside, &outside, &count) == 3) {
        mapped = mapped || (first >= inside && first + BLOCK_IDS <= inside + count);
    }
    return mapped;
}

static bool is_free(uid_t first)
{
    for (uid_t id = first; id < first + BLOCK_IDS; id++) {
        if (getpwuid(id) != NULL || getgrgid(id) != NULL) {
            return false;
        }
    }
    return is_mapped("/proc/self/uid_map", first) && is_mapped("/proc/self/gid_map", first);
}

/* Returns the first id of a free block; 0 = none. */
static uid_t choose_block(void)
{
    if (geteuid() != 0 || (effective_capabilities() & NEEDED) != NEEDED) {
        return 0;
    }
    for (uid_t i = 0; i < BLOCKS; i++) {
        if (is_free(FIRST_ID + i * BLOCK_IDS)) {
            return FIRST_ID + i * BLOCK_IDS;
        }
    }
    return 0;
}

static uid_t block(void)
{
    static bool chosen;
    static uid_t first;
    if (!chosen) {
        first = choose_block();
        chosen = true;
    }
    return first;
}

bool cbx_privileges_separate(void)
{
    return block() != 0;
}

uid_t cbx_privileges_user(enum cbx_role role)
{
    return block() != 0 && roles[role].own_id != 0 ? block() + roles[role].own_id : geteuid();
}

static int enter(const char *root, bool becomes_root, struct cbx_err *err)
{
    if (root != NULL && (chdir(root) < 0 || (becomes_root && chroot(".") < 0))) {
        cbx_fail(err, CBX_EIO, "the folder of the front cannot be entered: %s", strerror(errno));
        cbx_err_detail(err, "'%s'", root);
        return CBX_EIO;
    }
    return 0;
}

static int fail_drop(const char *what, struct cbx_err *err)
{
    return cbx_fail(err, CBX_EIO, "%s cannot be dropped: %s", what, strerror(errno));
}

static int drop_bounding(uint64_t kept, struct cbx_err *err)
{
    if ((effective_capabilities() & CAP(SETPCAP)) == 0) {
        return 0; /* an ordinary user: no_new_privs refuses execve of a privileged file */
    }
    for (unsigned c = 0; prctl(PR_CAPBSET_READ, c) >= 0; c++) {
        if ((kept >> c & 1) == 0 && prctl(PR_CAPBSET_DROP, c) < 0) {
            return fail_drop("the bounding set", err);
        }
    }
    /* Without these bits a program that root starts gets the capabilities left in the bounding
     * set. */
    if (prctl(PR_SET_SECUREBITS, SECBIT_NOROOT | SECBIT_NOROOT_LOCKED) < 0) {
        return fail_drop("root's gain by execve", err);
    }
    return 0;
}

static int set_capabilities(uint64_t kept)
{
    const struct __user_cap_data_struct low = { .effective = (uint32_t)kept,
                                                .permitted = (uint32_t)kept };
    const struct __user_cap_data_struct high = { .effective = (uint32_t)(kept >> 32),
                                                 .permitted = (uint32_t)(kept >> 32) };
    struct capabilities c = { .header = { .version = _LINUX_CAPABILITY_VERSION_3 },
                              .data = { low, high } };
    return (int)syscall(SYS_capset, &c.header, c.data);
}

/* Gives the process the caller's ids for file ownership; the ids by which Linux checks signals
 * and tracing stay the process's own. */
static int keep_file_ids(uid_t user, gid_t group, uint64_t kept)
{
    if (set_capabilities(kept | CAP(SETUID) | CAP(SETGID)) < 0) {
        return -1;
    }
    setfsgid(group);
    setfsuid(user);
    /* Both calls return the previous id, also on failure. */
    return setfsgid(group) == (int)group && setfsuid(user) == (int)user ? 0 : -1;
}

static int drop_ids(enum cbx_role role, struct cbx_err *err)
{
    uid_t id = cbx_privileges_user(role), user = geteuid();
    gid_t group = getegid();
    uint64_t kept = roles[role].capabilities & effective_capabilities();
    if (prctl(PR_SET_KEEPCAPS, kept != 0) < 0 || setgroups(0, NULL) < 0 ||
        setresgid(id, id, id) < 0 || setresuid(id, id, id) < 0 ||
        (roles[role].files_of_caller && keep_file_ids(user, group, kept) < 0)) {
        return fail_drop("the user id", err);
    }
    if (kept != 0 && set_capabilities(kept) < 0) {
        return fail_drop("a capability", err);
    }
    return 0;
}

static int drop_capabilities(uint64_t kept, struct cbx_err *err)
{
    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    if (set_capabilities(kept & effective_capabilities()) < 0) {
        return fail_drop("a capability", err);
    }
    return 0;
}

int cbx_privileges_drop(enum cbx_role role, const char *root, struct cbx_err *err)
{
    bool has_own = block() != 0 && roles[role].own_id != 0;
    int failed = enter(root, has_own && !roles[role].files_of_caller, err);
    if (failed) {
        return failed;
    }
    failed = drop_bounding(roles[role].capabilities, err);
    if (failed) {
        return failed;
    }
    if (has_own) {
        failed = drop_ids(role, err);
    }
    if (failed) {
        return failed;
    }
    return drop_capabilities(roles[role].capabilities, err);
}
