/* SPDX-License-Identifier: MIT
 * The owner of a container. */
#include "gateway/executor/sessions/instance.h"

#include "docker/sandbox/sandbox.h"
#include "gateway/ipc/master/state.h"
#include "policies/base/hash.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Opens the state directory and its folder of instances; the caller owns *out. */
static int open_state(const char *state_dir, int *out, struct cbx_err *err)
{
    int failed = cbx_state_open(state_dir, out, err);
    if (!failed && mkdirat(*out, "instances", 0700) < 0 && errno != EEXIST) {
        failed = cbx_fail(err, CBX_EIO, "'%s/instances': %s", state_dir, strerror(errno));
    }
    return failed;
}

int cbx_instance_seed(const char *state_dir, uint8_t out[CBX_INSTANCE_SEED_BYTES],
                      struct cbx_err *err)
{
    static const char name[] = "instance", fresh[] = "instance.new";
    CBX_AUTO_FD dir = -1;
    int failed = open_state(state_dir, &dir, err);
    if (failed) {
        return failed;
    }
    CBX_AUTO_FD fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd >= 0 && read(fd, out, CBX_INSTANCE_SEED_BYTES) == CBX_INSTANCE_SEED_BYTES) {
        return 0;
    }
    /* The file is complete or missing. */
    unlinkat(dir, fresh, 0);
    cbx_random(out, CBX_INSTANCE_SEED_BYTES);
    CBX_AUTO_FD to = openat(dir, fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (to < 0 || write(to, out, CBX_INSTANCE_SEED_BYTES) != CBX_INSTANCE_SEED_BYTES ||
        fsync(to) < 0 || renameat(dir, fresh, dir, name) < 0) {
        return cbx_fail(err, CBX_EIO, "'%s/%s': %s", state_dir, name, strerror(errno));
    }
    return 0;
}

static void derive(const char *purpose, const uint8_t *seed, struct cbx_sha256 *out)
{
    struct cbx_str bytes = { .p = (const char *)seed, .len = CBX_INSTANCE_SEED_BYTES };
    *out = cbx_sha256_of2(cbx_str_of(purpose), bytes);
}

void cbx_instance_name_of(const uint8_t seed[CBX_INSTANCE_SEED_BYTES], char out[33])
{
    struct cbx_sha256 name;
    char hex[CBX_SHA256_HEX + 1];
    derive("name", seed, &name);
    cbx_sha256_hex(&name, hex);
    memcpy(out, hex, 32);
    out[32] = '\0';
}

void cbx_instance_identify(const uint8_t seed[CBX_INSTANCE_SEED_BYTES], char name[33],
                           uint8_t secret[CBX_SANDBOX_SECRET_BYTES])
{
    struct cbx_sha256 derived;
    derive("secret", seed, &derived);
    memcpy(secret, derived.bytes, CBX_SANDBOX_SECRET_BYTES);
    explicit_bzero(&derived, sizeof(derived));
    cbx_instance_name_of(seed, name);
}

bool cbx_instance_name(const char *state_dir, char out[33])
{
    uint8_t seed[CBX_INSTANCE_SEED_BYTES];
    CBX_AUTO_FILE f = cbx_state_read(state_dir, "instance");
    if (f == NULL || fread(seed, 1, sizeof(seed), f) != sizeof(seed)) {
        return false;
    }
    cbx_instance_name_of(seed, out);
    return true;
}

/* The previous gateway may still be stopping. */
static bool take_lock(int fd)
{
    enum { TRIES = 150, STEP_MS = 100 };
    struct timespec step = { .tv_nsec = STEP_MS * 1000000L };
    for (int i = 0; i < TRIES; i++) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
            return true;
        }
        if (errno != EWOULDBLOCK) {
            return false;
        }
        nanosleep(&step, NULL);
    }
    errno = EWOULDBLOCK;
    return false;
}

int cbx_instance_make(const char *state_dir, const uint8_t seed[CBX_INSTANCE_SEED_BYTES],
                      struct cbx_instance *out, struct cbx_err *err)
{
    struct cbx_instance made = { .fd = -1 };
    cbx_instance_identify(seed, made.name, made.secret);
    CBX_AUTO_FD dir = -1;
    int failed = open_state(state_dir, &dir, err);
    if (failed) {
        return failed;
    }
    snprintf(made.path, sizeof(made.path), "%s/instances/%s", state_dir, made.name);
    made.fd = openat(dir, made.path + strlen(state_dir) + 1,
                     O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (made.fd < 0 || !take_lock(made.fd)) {
        failed = cbx_fail(err, errno == EWOULDBLOCK ? CBX_EBUSY : CBX_EIO, "'%s': %s", made.path,
                          strerror(errno));
        if (made.fd >= 0) {
            close(made.fd);
        }
        return failed;
    }
    cbx_instance_touch(&made);
    *out = made;
    return 0;
}

void cbx_instance_touch(const struct cbx_instance *instance)
{
    futimens(instance->fd, NULL);
}

void cbx_instance_done(struct cbx_instance *instance, bool forget)
{
    if (instance->name[0] != '\0') {
        if (forget) {
            unlink(instance->path);
        }
        close(instance->fd);
        instance->name[0] = '\0';
    }
}

/* True if the file was not updated for longer than a sandbox of the instance can live without a
 * gateway. */
static bool is_given_up(int fd)
{
    enum { AFTER_S = CBX_SANDBOX_LEASE_MS / 1000 + 30 };
    struct stat status;
    return fstat(fd, &status) == 0 && status.st_mtim.tv_sec + AFTER_S < time(NULL) &&
           flock(fd, LOCK_EX | LOCK_NB) == 0;
}

static bool is_name(const char *name)
{
    return strlen(name) == 32 && strspn(name, "0123456789abcdef") == 32;
}

size_t cbx_instance_reap(const char *state_dir, struct cbx_engine *engine)
{
    char folder[4096];
    snprintf(folder, sizeof(folder), "%s/instances", state_dir);
    DIR *dir = opendir(folder);
    size_t total = 0;
    for (struct dirent *entry; dir != NULL && (entry = readdir(dir)) != NULL;) {
        if (!is_name(entry->d_name)) {
            continue;
        }
        CBX_AUTO_FD fd = openat(dirfd(dir), entry->d_name, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
        size_t removed = 0;
        struct cbx_reap reap = { .instance = entry->d_name };
        if (fd >= 0 && is_given_up(fd) && cbx_sandbox_reap(engine, &reap, &removed, NULL) == 0) {
            unlinkat(dirfd(dir), entry->d_name, 0);
            total += removed;
        }
    }
    if (dir != NULL) {
        closedir(dir);
    }
    return total;
}
