/* SPDX-License-Identifier: MIT
 * Opening the store: its lock and its database. */
#include "gateway/front/store/store_internal.h"

#include "policies/base/log.h"
#include "policies/base/memory.h"
#include "policies/base/text/json.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Opens a file beside the database. */
static int open_file(struct cbx_store *store, const char *folder, const char *name, int flags,
                     int *out, struct cbx_err *err)
{
    *out = openat(store->dir, name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
    if (*out < 0) {
        return cbx_fail(err, CBX_EIO, "'%s/%s': %s", folder, name, strerror(errno));
    }
    return 0;
}

static int take_lock(struct cbx_store *store, const char *folder, struct cbx_err *err)
{
    int failed = open_file(store, folder, "codebox.lock", 0, &store->lock_fd, err);
    if (failed) {
        return failed;
    }
    enum { TRIES = 30, STEP_MS = 100 }; /* a front whose master was killed is ending */
    struct timespec step = { .tv_nsec = STEP_MS * 1000000L };
    int taken;
    for (int i = 0; (taken = flock(store->lock_fd, LOCK_EX | LOCK_NB)) < 0 && i < TRIES; i++) {
        nanosleep(&step, NULL);
    }
    if (taken < 0) {
        return cbx_fail(err, CBX_EBUSY,
                        "another gateway serves from the same state directory; stop it, or give "
                        "this one its own with --state");
    }
    return 0;
}

static int open_begun(struct cbx_store *store, const char *folder, struct cbx_err *err)
{
    int failed = open_file(store, folder, "codebox.begun", O_APPEND, &store->begun_fd, err);
    if (failed) {
        return failed;
    }
    return cbx_store_merge_begun(store, err);
}

/* With the lock: asks a server, which may be away, or back, since the last write. */
static void ask_server(struct cbx_store *store)
{
    CBX_AUTO(rows) rows = NULL;
    struct cbx_err err;
    int failed = cbx_database_query(store->database, CBX_SQL_ask, NULL, 0, &rows, &err);
    cbx_store_note(store, failed);
}

int cbx_store_check(struct cbx_store *store, struct cbx_err *err)
{
    pthread_mutex_lock(&store->lock);
    if (store->shared) {
        ask_server(store);
    }
    int failed = 0;
    if (store->shared && store->failure[0] != '\0') {
        failed = cbx_fail(err, CBX_EIO, "the database: %s", store->failure);
    } else if (store->failure[0] != '\0') {
        failed = cbx_fail(err, CBX_EIO, "the last result was not stored: %s", store->failure);
    }
    pthread_mutex_unlock(&store->lock);
    if (failed) {
        return failed;
    }
    return cbx_store_check_space(store, CBX_EIO, err);
}

static struct cbx_store *make_store(const struct cbx_store_limits *limits)
{
    struct cbx_store *store = cbx_new(sizeof(*store));
    store->limits = limits != NULL ? *limits : (struct cbx_store_limits){ 0 };
#define CBX_STORE_LIMIT(name, standard, meaning)                                                   \
    store->limits.name = store->limits.name > 0 ? store->limits.name : (standard);
#include "gateway/front/store/store_limits.def"
#undef CBX_STORE_LIMIT
    store->replica = cbx_str_copy(CBX_STR(""));
    store->dir = store->lock_fd = store->begun_fd = -1;
    store->session_bytes = json_object();
    store->principal_bytes = json_object();
    pthread_mutex_init(&store->lock, NULL);
    return store;
}

static int open_state(struct cbx_store *store, const char *folder, struct cbx_err *err)
{
    store->dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (store->dir < 0) {
        return cbx_fail(err, CBX_EIO, "'%s': %s", folder, strerror(errno));
    }
    return 0;
}

/* One gateway at a time uses the folder. */
static int open_locked(struct cbx_store *store, const char *folder, struct cbx_err *err)
{
    int failed = open_state(store, folder, err);
    if (failed) {
        return failed;
    }
    return take_lock(store, folder, err);
}

static int open_folder(struct cbx_store *store, const char *folder, struct cbx_err *err)
{
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s/codebox.db", folder);
    int failed = open_locked(store, folder, err);
    if (failed) {
        return failed;
    }
    failed = cbx_database_open_sqlite(path, &store->database, err);
    if (failed) {
        return failed;
    }
    return open_begun(store, folder, err);
}

/* Counts the rows, and drops those above the limits. */
static int finish_opening(struct cbx_store *store, struct cbx_err *err)
{
    int failed = cbx_store_count_all(store, err);
    if (!failed) {
        cbx_store_limit_all_counts(store);
    }
    return failed;
}

int cbx_store_open(const char *folder, const struct cbx_store_limits *limits,
                   struct cbx_store **out, struct cbx_err *err)
{
    CBX_AUTO(store) store = make_store(limits);
    int failed;
    if (folder != NULL) {
        failed = open_folder(store, folder, err);
    } else {
        failed = cbx_database_open_sqlite(":memory:", &store->database, err);
    }
    if (failed) {
        return failed;
    }
    failed = finish_opening(store, err);
    if (failed) {
        return failed;
    }
    *out = cbx_steal(&store);
    return 0;
}

int cbx_store_open_shared(struct cbx_database *database, const char *replica, const char *folder,
                          const struct cbx_store_limits *limits, struct cbx_store **out,
                          struct cbx_err *err)
{
    CBX_AUTO(store) store = make_store(limits);
    store->database = database;
    store->shared = true;
    free(store->replica);
    store->replica = cbx_str_copy(cbx_str_of(replica));
    int failed = 0;
    if (folder != NULL) {
        failed = open_locked(store, folder, err);
    }
    if (!failed && folder != NULL) {
        failed = open_begun(store, folder, err);
    }
    if (!failed) {
        failed = finish_opening(store, err);
    }
    if (failed) {
        return failed;
    }
    *out = cbx_steal(&store);
    return 0;
}

bool cbx_store_is_shared(const struct cbx_store *store)
{
    return store->shared;
}

int cbx_store_try(const char *folder, bool *busy, struct cbx_err *err)
{
    CBX_AUTO(store) store = make_store(NULL);
    struct stat status;
    *busy = false;
    store->dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (store->dir < 0) {
        if (errno != ENOENT) {
            return cbx_fail(err, CBX_EIO, "'%s': %s", folder, strerror(errno));
        }
        return 0;
    }
    store->lock_fd = openat(store->dir, "codebox.lock", O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (store->lock_fd >= 0 && flock(store->lock_fd, LOCK_SH | LOCK_NB) < 0) {
        *busy = true;
        return 0;
    }
    CBX_AUTO_FD fd = openat(store->dir, "codebox.db", O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0 && errno == ENOENT) {
        return 0;
    }
    if (fd < 0 || fstat(fd, &status) < 0) {
        return cbx_fail(err, CBX_EIO, "'%s/codebox.db': %s", folder, strerror(errno));
    }
    if (!S_ISREG(status.st_mode)) {
        return cbx_fail(err, CBX_EIO, "'%s/codebox.db' is not a regular file", folder);
    }
    return cbx_database_try_sqlite(fd, err);
}

void cbx_store_free(struct cbx_store *store)
{
    if (store != NULL) {
        cbx_database_free(store->database);
        cbx_fd_auto(&store->begun_fd);
        cbx_fd_auto(&store->lock_fd);
        cbx_fd_auto(&store->dir);
        free(store->replica);
        json_decref(store->session_bytes);
        json_decref(store->principal_bytes);
        pthread_mutex_destroy(&store->lock);
        free(store);
    }
}
