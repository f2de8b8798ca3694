/* SPDX-License-Identifier: MIT
 * The list of runs that began. */
#include "gateway/front/store/store_internal.h"
#include "policies/base/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A run that began is never submitted again, so its beginning must survive a crash of every
 * process. The store appends a line to a file, which costs a tenth of a transaction; the lines
 * are merged into the rows when the store is opened and when the file is large. */
enum { BEGUN_LINE_BYTES = 37 + 21, BEGUN_MAX_BYTES = 256 * 1024 };

/* Marks the run of one line. A torn or malformed line is left out. */
static int merge_line(struct cbx_store *store, const char *line, struct cbx_err *err)
{
    char id[40], seq[24], end;
    if (sscanf(line, "%36[0-9a-f-] %20[0-9]%c", id, seq, &end) != 3 || end != '\n') {
        return 0;
    }
    const char *const values[] = { seq, id, store->replica };
    return cbx_database_execute(store->database, CBX_SQL_set_begun, values, 3, NULL, err);
}

int cbx_store_merge_begun(struct cbx_store *store, struct cbx_err *err)
{
    CBX_AUTO_FILE lines = fdopen(dup(store->begun_fd), "r");
    if (lines == NULL) {
        return cbx_fail(err, CBX_EIO, "the list of begun runs: %s", strerror(errno));
    }
    CBX_AUTO_MEM char *line = NULL;
    size_t size = 0;
    int failed = cbx_database_begin(store->database, err);
    rewind(lines);
    while (!failed && getline(&line, &size, lines) > 0) {
        failed = merge_line(store, line, err);
    }
    if (!failed) {
        failed = cbx_database_commit(store->database, err);
    }
    if (failed) {
        cbx_database_rollback(store->database);
        return failed;
    }
    store->begun_bytes = 0;
    if (ftruncate(store->begun_fd, 0) != 0) {
        return cbx_fail(err, CBX_EIO, "the list of begun runs: %s", strerror(errno));
    }
    return 0;
}

/* Call it with the lock held. A partly written line is removed. */
static int append_begun(struct cbx_store *store, const char *line, size_t len, struct cbx_err *err)
{
    ssize_t n = write(store->begun_fd, line, len);
    if (n == (ssize_t)len) {
        store->begun_bytes += n;
        if (store->begun_bytes > BEGUN_MAX_BYTES) {
            return cbx_store_merge_begun(store, err);
        }
        return 0;
    }
    int failed = cbx_fail(err, CBX_EIO, "the list of begun runs: %s", strerror(errno));
    if (n > 0 && ftruncate(store->begun_fd, store->begun_bytes) < 0) {
        cbx_log(CBX_LOG_ERROR, "the list of begun runs: %s", strerror(errno));
    }
    return failed;
}

int cbx_store_begin_execution(struct cbx_store *store, const char *id, uint64_t audit_seq,
                              struct cbx_err *err)
{
    char line[BEGUN_LINE_BYTES + 2];
    int len = snprintf(line, sizeof(line), "%.36s %llu\n", id, (unsigned long long)audit_seq);
    pthread_mutex_lock(&store->lock);
    /* other replicas, which may take the row over or count it, do not read the file */
    bool writes_row = store->begun_fd < 0 || store->claimed || store->shares_use;
    bool writes_file = store->begun_fd >= 0 && !store->claimed;
    int failed = CBX_EIO;
    if (writes_row) {
        failed = merge_line(store, line, err);
    }
    if (failed && writes_file) { /* a run that began must be known as such after a restart */
        failed = append_begun(store, line, (size_t)len, err);
    }
    pthread_mutex_unlock(&store->lock);
    return failed;
}
