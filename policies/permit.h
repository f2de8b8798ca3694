/* SPDX-License-Identifier: MIT
 * A permit: the proof, as a type, that a decision was checked and that its audit record is on
 * disk. docker/ creates and enters containers only with a permit. Only
 * gateway/executor/audit/audit.c calls cbx_permit_new (`make check-layers` verifies this). */
#ifndef CBX_POLICIES_PERMIT_H
#define CBX_POLICIES_PERMIT_H

#include "policies/guard/guard.h"
#include "policies/ledger.h"
#include "policies/policy.h"

enum {
    CBX_NAME_MAX = 64,
    CBX_FILE_NAME_MAX = 255,            /* bytes of a program's file name */
    CBX_PATH_MAX = 4096,                /* bytes of a path in the workspace */
    CBX_FILES_MAX = 1000,               /* files of code of a session */
    CBX_ARGUMENTS_MAX = 256,            /* arguments of a program, */
    CBX_ARGUMENTS_BYTES_MAX = 64 << 10, /* and their bytes in all, each with its NUL */
    /* bytes of the programs that shell may start, each with its NUL */
    CBX_PROGRAMS_BYTES_MAX = 16 << 10
};

/* The action that a decision is about. */
enum cbx_action {
    CBX_ACTION_CHECK = 0, /* judge only; never gives a permit */
    CBX_ACTION_OPEN,      /* create a session's sandbox */
    CBX_ACTION_RUN,       /* run code, in a session or in a fresh sandbox */
    CBX_ACTION_FILE,      /* put a file into a session's workspace from which code may be loaded */
    CBX_ACTION_RESOLVE,   /* ask a package manager for the packages that an install would bring */
    CBX_ACTION_INSTALL,   /* install exactly these packages, for sandboxes to start with */
};

/* A permit for one action. `python` is a plain file, `ipython` a notebook cell that was
 * rewritten to plain Python already (the kernel transforms nothing), `javascript` Node. */
struct cbx_permit {
    char decision[CBX_ID_CHARS + 1];
    char session[CBX_NAME_MAX + 1]; /* empty = one-shot */
    char principal[CBX_NAME_MAX + 1];
    char language[16]; /* "python", "ipython", "javascript", "shell" */
    char policy[CBX_NAME_MAX + 1];
    enum cbx_action action;
    /* hash of exactly the bytes that may run, or of the file; of no bytes for OPEN */
    struct cbx_sha256 source_sha256;
    struct cbx_sha256 policy_sha256;
    /* ledger of the session at the judgement: it must be the session's present one */
    struct cbx_sha256 ledger;
    struct cbx_sha256 entry; /* hash of the entry that is added (cbx_entry_hash) */
    /* RUN: the SHA-256 of each file that the session's program may load as code. */
    const struct cbx_sha256 *files;
    size_t file_count;
    struct cbx_limits limits; /* already the smaller of policy and request */
    enum cbx_network network;
    uint32_t refused; /* RUN: the guard's refusals, bits of enum cbx_refusal; */
    char refused_by[CBX_REFUSALS][CBX_NAME_MAX + 1]; /* the rule of each refusal */
    bool refusal_ends;                               /* RUN: the first refusal ends the run */
    /* RUN, if starting programs is refused: the programs that may be started nevertheless
     * (shell.allow), each terminated by NUL. */
    struct cbx_str programs;
    /* RUN, if imports are refused: the modules (analyzer/imports.h). */
    struct cbx_str imports;
    /* OPEN and RUN: the SHA-256 of the text of the packages installed for the sandbox; zero =
     * none. RESOLVE, INSTALL: zero, the source is the text to resolve or install. */
    struct cbx_sha256 layer;
    /* digest of the variables that the caller sets, by name and hash; zero = none */
    struct cbx_sha256 environment;
    /* digest of the list of mounts (gateway/ipc/seal/mount_requests.h); zero = none */
    struct cbx_sha256 mounts;
    uint64_t audit_seq; /* number of the record that allows it */
    /* RUN of a file program: its argv. Empty = the language's default name, no arguments. */
    char file_name[CBX_FILE_NAME_MAX + 1]; /* without folders; argv[0], __file__, __filename, $0 */
    char path[CBX_PATH_MAX + 1];           /* FILE: its destination in the workspace */
    struct cbx_str arguments;              /* argv[1] and following, each terminated by NUL */
};

/* Checks that these are a file name and arguments of a program. A name has no '/', no control
 * character and is not "." or ".."; an argument has any bytes except NUL. CBX_EINVAL,
 * CBX_ETOOBIG. */
int cbx_permit_check_arguments(const char *file_name, struct cbx_str arguments,
                               struct cbx_err *err);

/* Returns a copy on the heap, which owns copies of the arguments, the programs, the imports and
 * the files. */
struct cbx_permit *cbx_permit_new(const struct cbx_permit *fields);
void cbx_permit_free(struct cbx_permit *permit);
CBX_DEFINE_AUTO(permit)

#endif
