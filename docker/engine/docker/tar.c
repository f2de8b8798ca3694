/* SPDX-License-Identifier: MIT
 * A tar archive of few small files. */
#include "docker/engine/docker/tar.h"

#include <assert.h>
#include <stdio.h>

enum { BLOCK = 512 };

struct header {
    char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], checksum[8], kind, link[100];
    char magic[6], version[2], user[32], group[32], major[8], minor[8], prefix[155], unused[12];
};
_Static_assert(sizeof(struct header) == BLOCK, "a header is a block");

static void add_zeros(struct cbx_buf *tar, size_t count)
{
    static const char zeros[2 * BLOCK];
    cbx_buf_add_bytes(tar, zeros, count);
}

void cbx_tar_add(struct cbx_buf *tar, const char *name, struct cbx_str bytes)
{
    struct header h = { .kind = '0' };
    assert(strlen(name) < sizeof(h.name));
    memcpy(h.name, name, strlen(name));
    snprintf(h.mode, sizeof(h.mode), "%07o", 0644);
    snprintf(h.uid, sizeof(h.uid), "%07o", 0);
    snprintf(h.gid, sizeof(h.gid), "%07o", 0);
    snprintf(h.size, sizeof(h.size), "%011zo", bytes.len);
    snprintf(h.mtime, sizeof(h.mtime), "%011o", 0);
    memcpy(h.magic, "ustar", 6);
    memcpy(h.version, "00", 2);
    memset(h.checksum, ' ', sizeof(h.checksum)); /* counts as blanks in its own sum */
    unsigned sum = 0;
    for (size_t i = 0; i < sizeof(h); i++) {
        sum += ((const unsigned char *)&h)[i];
    }
    snprintf(h.checksum, sizeof(h.checksum), "%06o", sum & 0777777);
    cbx_buf_add_bytes(tar, &h, sizeof(h));
    cbx_buf_add(tar, bytes);
    add_zeros(tar, (BLOCK - bytes.len % BLOCK) % BLOCK);
}

void cbx_tar_end(struct cbx_buf *tar)
{
    add_zeros(tar, (size_t)2 * BLOCK);
}
