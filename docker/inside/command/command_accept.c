/* SPDX-License-Identifier: MIT
 * The files of the workspace that may be compiled or sourced: those whose bytes the host
 * accepted. */
#define OPENSSL_API_COMPAT 0x10101000L /* SHA-256 only, without the providers of libcrypto */
#include "docker/inside/command/command.h"
#include "docker/inside/confine/hash_set.h"
#include "docker/inside/shell_loader/shell_loader.h"

#include <fcntl.h>
#include <openssl/sha.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_BYTES_MAX = 16 * 1024 * 1024 }; /* maximum size of a source */
_Static_assert(SHA256_DIGEST_LENGTH == CBX_FRAME_HASH_BYTES, "hashes are compared as they are");

static struct cbx_hash_set accepted;

/* The memory of the shell; NULL = none. The shell reads a hash once the count includes it. */
static struct cbx_shell_accepted *shared;
static uint32_t shared_max;

static void share(void)
{
    while (shared != NULL && shared->count < accepted.count && shared->count < shared_max) {
        memcpy(shared->hashes[shared->count], accepted.hashes[shared->count], CBX_FRAME_HASH_BYTES);
        __atomic_store_n(&shared->count, shared->count + 1, __ATOMIC_RELEASE);
    }
}

void cbx_command_share_accepted(struct cbx_shell_accepted *with, size_t size)
{
    shared = with;
    shared_max =
        (uint32_t)((size - offsetof(struct cbx_shell_accepted, hashes)) / CBX_FRAME_HASH_BYTES);
    share();
}

void cbx_command_accept(const uint8_t *hashes, size_t len)
{
    cbx_hash_set_add(&accepted, hashes, len / CBX_FRAME_HASH_BYTES);
    share();
}

bool cbx_command_has_accepted(void)
{
    return accepted.count > 0;
}

static bool is_accepted(const char *bytes, size_t len)
{
    uint8_t hash[CBX_FRAME_HASH_BYTES];
    SHA256_CTX context;
    SHA256_Init(&context);
    SHA256_Update(&context, bytes, len);
    SHA256_Final(hash, &context);
    return len == 0 || cbx_hash_set_has(&accepted, hash);
}

char *cbx_command_read_accepted(const char *path, size_t *len)
{
    struct stat status;
    char *bytes = NULL;
    /* No call here waits for another process, as opening a named pipe would. */
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    *len = 0;
    if (fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
        status.st_size <= FILE_BYTES_MAX) {
        bytes = malloc((size_t)status.st_size + 1);
    }
    for (ssize_t n = 1; bytes != NULL && n > 0 && *len < (size_t)status.st_size;) {
        n = read(fd, bytes + *len, (size_t)status.st_size - *len);
        *len += n > 0 ? (size_t)n : 0;
    }
    if (fd >= 0) {
        close(fd);
    }
    if (bytes != NULL && !is_accepted(bytes, *len)) {
        free(bytes);
        return NULL;
    }
    return bytes;
}
