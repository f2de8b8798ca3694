/* SPDX-License-Identifier: MIT
 * `codebox audit tail`: the last records that pass the filters; with --follow also records that
 * are appended later. */
#include "gateway/cli/audit/audit_commands.h"
#include "gateway/cli/cli.h"
#include "policies/base/memory.h"

#include <string.h>
#include <sys/stat.h>
#include <time.h>

/* Prints the last N records. Reads the log once, and never keeps all of it in memory. */
struct ring {
    json_t **records;
    size_t keep, count;
};

static void print_ring(struct ring *ring)
{
    for (size_t i = ring->count > ring->keep ? ring->count - ring->keep : 0; i < ring->count; i++) {
        cbx_audit_print_record(ring->records[i % ring->keep]);
    }
    for (size_t i = 0; i < ring->keep; i++) {
        json_decref(ring->records[i]);
    }
    free(ring->records);
}

static void follow(struct cbx_audit_walk *walk)
{
    enum { POLL_MS = 200 };
    for (;;) {
        json_t *record;
        while ((record = cbx_audit_walk_next(walk, NULL)) != NULL) {
            cbx_audit_print_record(record);
            json_decref(record);
        }
        if (fflush(stdout) != 0) {
            return; /* the reader of stdout has closed the pipe */
        }
        nanosleep(&(struct timespec){ .tv_nsec = POLL_MS * 1000000L }, NULL);
    }
}

int cbx_audit_tail_command(const struct cbx_options *options)
{
    struct cbx_err err = { 0 };
    CBX_AUTO_DONE(audit_walk) walk = { 0 };
    if (cbx_audit_walk_open(options, &walk, &err) != 0) {
        return cbx_cli_fail(&err);
    }
    struct ring ring = { .keep = options->lines > 0 ? (size_t)options->lines : 10 };
    ring.records = cbx_new_array(ring.keep, sizeof(*ring.records));
    json_t *record;
    while ((record = cbx_audit_walk_next(&walk, NULL)) != NULL) {
        json_decref(ring.records[ring.count % ring.keep]);
        ring.records[ring.count++ % ring.keep] = record;
    }
    print_ring(&ring);
    uint64_t line;
    if (cbx_audit_reader_place(walk.reader, &line)[0] == '\0' && !options->follow) {
        fprintf(stderr, "codebox: no audit log in '%s'\n", options->state_dir);
        return 2;
    }
    if (options->follow) {
        follow(&walk);
    }
    return walk.damaged ? 2 : 0;
}
