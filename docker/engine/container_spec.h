/* SPDX-License-Identifier: MIT
 * A container of the gateway, as every engine reads it. The role gives the hardening, which is
 * the same for all containers of the role; the other fields differ from container to container.
 * An engine renders a spec in its own format (docker/docker_body.c). */
#ifndef CBX_DOCKER_ENGINE_CONTAINER_SPEC_H
#define CBX_DOCKER_ENGINE_CONTAINER_SPEC_H

#include "policies/base/auto.h"
#include "policies/base/str.h"
#include "policies/limits.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Labels of every container that the gateway creates. */
#define CBX_LABEL_OWNED    "codebox.sandbox"
#define CBX_LABEL_INSTANCE "codebox.instance"
#define CBX_LABEL_KERNEL   "codebox.kernel"
#define CBX_LABEL_CREATED  "codebox.created" /* seconds since 1970 */
/* seconds in which no reaper removes the container; absent = 0 */
#define CBX_LABEL_LEASE     "codebox.lease"
#define CBX_LABEL_ISOLATION "codebox.isolation" /* one of cbx_isolation_names */
/* "1" for a role with a network, which a network policy of a cluster selects; absent = none */
#define CBX_LABEL_NETWORK "codebox.network"

enum cbx_container_role {
    CBX_ROLE_SANDBOX = 1,
    CBX_ROLE_PROXY,     /* has a network; the programs of one sandbox use it */
    CBX_ROLE_INSTALLER, /* has a network; a layer of packages is made from its files */
};

/* The hardening that a role adds to what all containers have: no capability, no new privileges,
 * private namespaces, no log, cbx_container_ulimits, and the paths below. */
struct cbx_role_traits {
    const char *hostname, *folder; /* `folder` is where the first process starts */
    unsigned user;                 /* user and group */
    bool network;
    bool read_only;   /* the root */
    bool own_seccomp; /* the gateway's profile; else the engine's, which allows netlink */
    bool removed;     /* the engine removes the container when the first process ends */
    bool reattached;  /* standard input stays open when the host that is attached to it ends */
    const char *const *capabilities, *const *variables; /* end with NULL */
};
const struct cbx_role_traits *cbx_role_traits(enum cbx_container_role role);

/* Paths of every container, ending with NULL: those which read as empty, and those which cannot
 * be written. */
extern const char *const cbx_container_masked_paths[], *const cbx_container_readonly_paths[];

enum {
    CBX_CONTAINER_SHM_BYTES = 16 * 1024 * 1024,
    /* Added to the badness of the processes when the host runs out of memory: they are killed
     * before the gateway and the engine. The supervisor sets its kernel's to 1000, so the
     * supervisor itself survives to report it. No process of a sandbox can go below this value. */
    CBX_CONTAINER_OOM_SCORE = 500,
};

/* A file system in memory: nosuid, nodev, noexec. */
struct cbx_container_tmpfs {
    const char *path;
    int64_t bytes, inodes;
    unsigned mode;
    bool owned; /* by the user 65532; else by root */
};

/* A folder of the host: the engine mounts the folder of the descriptor, independently of later
 * changes of its path. */
struct cbx_container_mount {
    int fd; /* O_PATH, on a folder; a descriptor of the calling process */
    const char *container;
    bool writable;
};

/* The first process of a sandbox; an engine reaches it by its attached streams. */
#define CBX_SUPERVISOR_PROGRAM "/codebox/supervisor"

enum { CBX_COMMAND_WORDS = 12, CBX_SPEC_TMPFS = 2, CBX_SPEC_VARIABLES = 8 };

/* Texts are borrowed, except the variables. Zeroed memory has no role, and is refused. */
struct cbx_container_spec {
    enum cbx_container_role role;
    const char *kernel;                         /* "python", ...: a label */
    const char *image;                          /* id */
    const char *instance;                       /* the gateway that owns the container: a label */
    const char *command[CBX_COMMAND_WORDS + 1]; /* program and arguments; ends with NULL */
    struct cbx_limits limits;
    struct cbx_container_tmpfs tmpfs[CBX_SPEC_TMPFS];
    size_t tmpfs_count;
    char *variables[CBX_SPEC_VARIABLES]; /* "NAME=value", in addition to the role's */
    size_t variable_count;
    const char *runtime;  /* NULL = the engine's default */
    const char *apparmor; /* profile loaded by the host; NULL = the engine's default */
    const char *network;  /* of a role with a network: its name; NULL = the engine's default */
    int64_t lease_s;      /* of CBX_LABEL_LEASE; 0 = no label */
    const struct cbx_container_mount *mounts;
    size_t mount_count;
};
void cbx_container_spec_done(struct cbx_container_spec *spec);
CBX_DEFINE_AUTO_DONE(container_spec)

/* Adds a variable. At most CBX_SPEC_VARIABLES; the callers' number is fixed. */
void cbx_container_spec_set(struct cbx_container_spec *spec, const char *name,
                            struct cbx_str value);

/* True if these limits require gVisor. Unset isolation counts as gVisor. */
bool cbx_container_uses_gvisor(const struct cbx_limits *limits);

/* Returns the maximum number of processes. Under gVisor its own threads count too. */
int64_t cbx_container_pids(const struct cbx_container_spec *spec);

struct cbx_container_ulimit {
    const char *name;
    int64_t value; /* soft and hard */
};
enum { CBX_CONTAINER_ULIMITS = 4 };
void cbx_container_ulimits(const struct cbx_container_spec *spec,
                           struct cbx_container_ulimit out[static CBX_CONTAINER_ULIMITS]);

/* Returns the value of CBX_LABEL_ISOLATION. */
const char *cbx_container_isolation(const struct cbx_container_spec *spec);

/* Returns the seccomp profile as JSON, as container engines read it (owned by the caller); NULL
 * for a role that has the engine's profile. */
char *cbx_container_seccomp(const struct cbx_container_spec *spec);

#endif
