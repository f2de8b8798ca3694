/* SPDX-License-Identifier: MIT
 * The frame protocol between host, supervisor and kernel: one byte type, 32 bits length, payload.
 * Numbers are little endian, as on every supported machine. Shared with the supervisor, so it needs
 * only the C library.
 *
 * A host may die in the middle of a frame, and the next host continues on the same stream. So a
 * host begins with the sandbox's key, 32 random bytes that no program can know. At every
 * occurrence of the key in the stream, an incomplete frame before it is void and a new host's
 * frames follow. The supervisor marks its reply the same way, with the key and the host's nonce:
 * bytes before the mark were sent to an earlier host.
 *
 * A gateway that takes a sandbox over from another one attaches with a higher epoch. From then on
 * hosts with a lower epoch are refused, so a gateway that was believed dead cannot act. */
#ifndef CBX_DOCKER_INSIDE_WIRE_FRAME_H
#define CBX_DOCKER_INSIDE_WIRE_FRAME_H

#include <stddef.h>
#include <stdint.h>

enum {
    CBX_FRAME_HEAD_BYTES = 5,
    CBX_FRAME_KEY_BYTES = 32,
    CBX_FRAME_NONCE_BYTES = 16,
    CBX_FRAME_ATTACH_BYTES = CBX_FRAME_NONCE_BYTES + 4 + 8,
    CBX_FRAME_MARK_BYTES = CBX_FRAME_KEY_BYTES + CBX_FRAME_NONCE_BYTES,
    CBX_FRAME_ID_BYTES = 32, /* bytes of a run's id: terminated text */
    CBX_FRAME_TAG_MAX = 96 * 1024,
    CBX_FRAME_ARGUMENTS_MAX = 64 * 1024 + 256, /* bytes with the file name, each with its NUL */
    CBX_FRAME_HASH_BYTES = 32,
    CBX_FRAME_ACCEPT_MAX = 4096,    /* files that one run adds to the loadable ones */
    CBX_FRAME_ACCEPTED_MAX = 65536, /* loadable files of one sandbox */
    /* bytes of the programs that may be started, each with its NUL */
    CBX_FRAME_PROGRAMS_MAX = 16 * 1024,
    CBX_FRAME_IMPORTS_MAX = 64 * 1024, /* bytes of the modules that may not be imported */
    CBX_FRAME_RUN_MAX = 16 * 1024 * 1024 + 128 + CBX_FRAME_PROGRAMS_MAX + CBX_FRAME_IMPORTS_MAX +
                        CBX_FRAME_ARGUMENTS_MAX + CBX_FRAME_ACCEPT_MAX * CBX_FRAME_HASH_BYTES,
    CBX_FRAME_DATA_MAX = 64 * 1024 * 1024 + 8192,
    CBX_FRAME_ERROR_MAX = 256 * 1024,
    CBX_FRAME_LATE_MAX = 64 * 1024, /* bytes of late output between two runs */
    CBX_FRAME_INPUT_MAX = 64 * 1024,
    CBX_FRAME_FEED_MAX = 64 * 1024,
    /* maximum number of a run's input bytes that are queued */
    CBX_FRAME_FEED_WINDOW = 256 * 1024,
    CBX_FRAME_PATH_MAX = 4096,
    CBX_FRAME_VARIABLES_MAX = 512 * 1024,
    CBX_FRAME_BLOCKED_MAX = 256,    /* bytes of the description of a refusal */
    CBX_FRAME_PART_MAX = 32 * 1024, /* bytes of a connection in one frame */
    CBX_FRAME_WINDOW = 128 * 1024,  /* maximum number of a connection's bytes in transit */
    CBX_FRAME_EVENT_MAX = 16 * 1024,
    /* port of the proxy, at 127.0.0.1 in a sandbox and in a proxy's container */
    CBX_FRAME_PROXY_PORT = 3128,
    CBX_FRAME_CONTROL_FD = 3, /* the kernel's end of the channel for frames, */
    /* and of the channel for listeners (docker/inside/confine/filter.h) */
    CBX_FRAME_GUARD_FD = 4,
};

/* The limits of a run, which the supervisor enforces: the rows of scope RUN. Each is at least 1, so
 * that zeroed memory never means "no limit". */
struct cbx_frame_limits {
#define CBX_RUN_LIMIT(member) uint64_t member;
#include "policies/limits.def"
#undef CBX_RUN_LIMIT
};

/* The thousands are raised when the frames change. The rest is the number of limits: an added
 * limit gives a new version, so images without it are detected. */
enum { CBX_FRAME_VERSION = 14000 + sizeof(struct cbx_frame_limits) / sizeof(uint64_t) };

/* The head of RUN. The hashes, the programs, the imports, the arguments and the source follow.
 * The kernel receives the new hashes in an ACCEPT, then a RUN: the first
 * CBX_FRAME_KERNEL_HEAD_BYTES of the head, the imports, the arguments and the source. */
struct cbx_frame_run {
    char language[16];   /* terminated: "python", "ipython", "javascript", ... */
    uint8_t interactive; /* 1 = the client answers ASK */
    /* 1 = the only run of this sandbox: the program ends like its interpreter, with its exit
     * handlers */
    uint8_t one_shot;
    uint16_t refused; /* refusals of the guard: bits of policies/guard/guard.def */
    /* Bytes of the arguments: the name of the program's file, then each argument, all terminated
     * by NUL. 0 = no file name and no arguments. */
    uint32_t arguments_bytes;
    /* Bytes of the modules that the guard refuses to import: for each a mark, its name and a NUL
     * (analyzer/imports.h). */
    uint32_t imports_bytes;
    /* 1 = the run has a standard input (FEED); else the input is at its end at once */
    uint8_t input;
    uint8_t reserved[3];
    struct cbx_frame_limits limits;
    /* Bytes of the names of programs that may be started although the guard refuses starting
     * programs, each terminated by NUL. */
    uint32_t programs_bytes;
    /* Number of SHA-256 values of files that were judged as part of the session's program, at
     * most CBX_FRAME_ACCEPT_MAX. From this run on the kernel loads files with these bytes as
     * code. */
    uint16_t accept_count;
    uint8_t refusal_ends; /* 1 = the first refusal ends the run */
    uint8_t network;      /* 1 = connections to the proxy are forwarded, from this run on */
    char id[CBX_FRAME_ID_BYTES];
};
enum { CBX_FRAME_KERNEL_HEAD_BYTES = 32 };
_Static_assert(offsetof(struct cbx_frame_run, limits) == CBX_FRAME_KERNEL_HEAD_BYTES,
               "the kernels read the head at fixed offsets");

/* The supervisor's reply to a host that attaches. */
enum { CBX_HELLO_IDLE = 0, CBX_HELLO_RUNNING, CBX_HELLO_ENDED, CBX_HELLO_FENCED };
struct cbx_frame_hello {
    uint32_t version;
    /* IDLE: no run is stored; RUNNING; ENDED: a result waits for its ACK; FENCED: the epoch was
     * too low, the connection is closed */
    uint32_t run;
    char id[CBX_FRAME_ID_BYTES]; /* id of that run */
};

/* One file or folder of a LIST; its name follows. */
struct cbx_frame_entry {
    uint64_t size_bytes;
    int64_t modified_s;
    uint16_t name_len;
    uint8_t is_folder, spare[5];
};

/* The mount of one folder: the results of fstat(2), and bits of f_flag of statvfs(3). A folder
 * that cannot be opened, or has no mount, has inode 0. */
struct cbx_frame_mount {
    uint64_t device, inode, flags;
};

/* A refusal of the guard; a text follows: the program, the family of addresses. */
struct cbx_frame_blocked {
    uint32_t refusal; /* number of the row of policies/guard/guard.def */
    uint32_t count;   /* number of such refusals so far */
};

/* The same, of a kernel that refuses something itself; a text follows. The secret is that of its
 * SECRET frame: a program can send frames to the supervisor, but does not know it. */
struct cbx_frame_refused {
    uint64_t secret;
    uint32_t refusal;
    uint32_t reserved;
};

/* A connection of a program to the proxy. The supervisor numbers connections. Either side may
 * send CBX_FRAME_WINDOW bytes, and then as many as the other side adds (GRANT); more bytes close
 * the connection. Frames with a number that is not open are ignored. */
struct cbx_frame_grant {
    uint32_t connection, bytes;
};
enum {
    CBX_CLOSE_END = 0, /* this side sends no more bytes */
    CBX_CLOSE_ALL,     /* the connection is closed at once, in both directions */
};
struct cbx_frame_close {
    uint32_t connection, how;
};

/* The end of a run. */
enum cbx_frame_status {
    CBX_DONE_ENDED = 1,
    CBX_DONE_TIMEOUT,
    CBX_DONE_OOM,
    CBX_DONE_KILLED,
    CBX_DONE_PROTOCOL,
    CBX_DONE_CPU,
    CBX_DONE_REFUSED, /* the guard refused an action, and the policy ends runs then */
};
enum { CBX_DONE_OUTPUT_CUT = 1 << 0, CBX_DONE_FILES_CUT = 1 << 1, CBX_DONE_LOST = 1 << 2 };
/* About the standard input: the host lost the rest of it; the time limit ended the run after the
 * program had read all input, and more could come. */
enum { CBX_DONE_INPUT_CUT = 1 << 3, CBX_DONE_INPUT_AWAITED = 1 << 4 };
struct cbx_frame_done {
    uint32_t status;   /* enum cbx_frame_status */
    int32_t exit_code; /* -1 = none */
    int32_t signal;    /* 0 = none */
    uint32_t flags;
    uint64_t duration_ms, stdout_bytes, stderr_bytes, cpu_ms;
};

enum cbx_frame_type {
#define CBX_FRAME(id, byte, directions, max, meaning) CBX_FRAME_##id = byte,
#include "docker/inside/wire/frame.def"
#undef CBX_FRAME
};

/* Returns the largest payload of a type in this direction ('h', 's', 'k', 'c'); -1 if it is not
 * allowed. */
static inline int64_t cbx_frame_limit(uint8_t type, char direction)
{
    static const struct {
        uint8_t type;
        const char *directions;
        int64_t max;
    } frames[] = {
#define CBX_FRAME(id, byte, directions, max, meaning) { byte, directions, (int64_t)(max) },
#include "docker/inside/wire/frame.def"
#undef CBX_FRAME
    };
    for (size_t i = 0; i < sizeof(frames) / sizeof(frames[0]); i++) {
        for (const char *d = frames[i].directions; frames[i].type == type && *d != '\0'; d++) {
            if (*d == direction) {
                return frames[i].max;
            }
        }
    }
    return -1;
}

#endif
