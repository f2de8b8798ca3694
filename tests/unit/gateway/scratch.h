/* SPDX-License-Identifier: MIT
 * A directory of a test's own, removed afterwards; and waiting with a deadline. */
#ifndef CBX_TESTS_UNIT_GATEWAY_SCRATCH_H
#define CBX_TESTS_UNIT_GATEWAY_SCRATCH_H

#include "policies/base/buf.h"
#include "tests/unit/unit.h"

#include <fts.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct scratch {
    char path[64];
};

static inline void scratch_make(struct scratch *s)
{
    snprintf(s->path, sizeof(s->path), "/tmp/codebox-test-XXXXXX");
    assert_non_null(mkdtemp(s->path));
}

static inline void scratch_remove(struct scratch *s)
{
    char *const roots[] = { s->path, NULL };
    FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    for (FTSENT *e; fts != NULL && (e = fts_read(fts)) != NULL;) {
        if (e->fts_info != FTS_D) {
            remove(e->fts_accpath);
        }
    }
    if (fts != NULL) {
        fts_close(fts);
    }
}

/* The file's bytes; `out` is initialised here. */
static inline void scratch_read(const struct scratch *s, const char *name, struct cbx_buf *out)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/%s", s->path, name);
    cbx_buf_init(out, 64 * 1024 * 1024);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    char part[65536];
    for (size_t n; (n = fread(part, 1, sizeof(part), f)) > 0;) {
        cbx_buf_add_bytes(out, part, n);
    }
    fclose(f);
}

static inline void scratch_write(const struct scratch *s, const char *name, struct cbx_str bytes)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/%s", s->path, name);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes.p, 1, bytes.len, f), bytes.len);
    fclose(f);
}

/* The wait status of a child that ends within ten seconds; -1 when it does not (it is killed then). */
static inline int wait_for_end(pid_t pid)
{
    struct timespec step = { .tv_nsec = 5000000 };
    for (int i = 0; i < 2000; i++) {
        int status;
        if (waitpid(pid, &status, WNOHANG) == pid) {
            return status;
        }
        nanosleep(&step, NULL);
    }
    kill(pid, 9);
    waitpid(pid, NULL, 0);
    return -1;
}

#endif
