/* SPDX-License-Identifier: MIT
 * One pass over an archive: from tar in the installer's Pod, through the check of its entries
 * (layer_tar.h) and zlib, to the registry. */
#include "docker/engine/kubernetes/layer_archive.h"

#include "docker/engine/kubernetes/layer_tar.h"
#include "policies/base/hash.h"
#include "policies/base/memory.h"
#include "policies/base/time/clock.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { READ_BYTES = 64 * 1024, POLL_MS = 500, WORDS_BYTES = 256 };
/* An archive has a header for each entry, and each file and its name end at a full block. */
enum { ENTRY_BYTES = 4 * CBX_LAYER_BLOCK, ARCHIVE_END_BYTES = 64 * 1024 };
enum { GZIP_WINDOW = 15 + 16 }; /* zlib's manual, deflateInit2: 16 more for a header of gzip */

struct cbx_layer_archive {
    struct cbx_engine *engine;
    const struct cbx_engine_stop *stop;
    struct cbx_attach *attach;
    struct cbx_layer_tar tar;
    struct cbx_sha256_sum *plain, *blob;
    z_stream zip;
    char bytes[READ_BYTES]; /* received, for zlib */
    int64_t heard_ms, size;
    bool ended, finished; /* all bytes were received; all were given */
    struct cbx_err err;   /* why reading failed; code 0 = it did not */
};

/* --- packing ---------------------------------------------------------------------------------- */

/* The order of the entries and their times are fixed, so that the same packages give the same
 * bytes. `to` begins with a slash. */
static int start_tar(struct cbx_kube *kube, const struct cbx_layer_recipe *recipe,
                     struct cbx_layer_archive *a, struct cbx_err *err)
{
    char transform[WORDS_BYTES];
    snprintf(transform, sizeof(transform), "--transform=s,^%s,%s,", recipe->from, recipe->to + 1);
    const char *const command[] = { "/usr/bin/tar", "--create",        "--format=gnu",
                                    "--sort=name",  "--mtime=@0",      "--owner=0",
                                    "--group=0",    "--numeric-owner", "--directory=/packages",
                                    transform,      recipe->from,      NULL };
    a->tar = (struct cbx_layer_tar){ .place = recipe->to + 1,
                                     .bytes_max = recipe->bytes_max + ARCHIVE_END_BYTES +
                                                  recipe->files_max * ENTRY_BYTES,
                                     .entries_max = recipe->files_max };
    a->heard_ms = cbx_clock_ms();
    return cbx_kube_exec(kube, recipe->container, command, &a->attach, err);
}

int cbx_layer_archive_new(struct cbx_kube *kube, const struct cbx_layer_recipe *recipe,
                          const struct cbx_engine_stop *stop, struct cbx_layer_archive **out,
                          struct cbx_err *err)
{
    CBX_AUTO(layer_archive) a = cbx_new(sizeof(*a));
    a->engine = &kube->engine;
    a->stop = stop;
    a->plain = cbx_sha256_sum_new();
    a->blob = cbx_sha256_sum_new();
    if (deflateInit2(&a->zip, Z_BEST_SPEED, Z_DEFLATED, GZIP_WINDOW, MAX_MEM_LEVEL,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
        abort();
    }
    int failed = start_tar(kube, recipe, a, err);
    if (!failed) {
        *out = cbx_steal(&a);
    }
    return failed;
}

void cbx_layer_archive_free(struct cbx_layer_archive *archive)
{
    if (archive == NULL) {
        return;
    }
    deflateEnd(&archive->zip);
    cbx_sha256_sum_free(archive->plain);
    cbx_sha256_sum_free(archive->blob);
    cbx_attach_free(archive->attach);
    free(archive);
}

/* --- reading ---------------------------------------------------------------------------------- */

static bool is_cancelled(const struct cbx_layer_archive *a)
{
    return a->stop != NULL && a->stop->cancelled != NULL && a->stop->cancelled(a->stop->context);
}

/* Receives bytes of one stream; CBX_ETIMEDOUT if none arrived for a while, and the cluster
 * answers. */
static int receive_some(struct cbx_layer_archive *a, struct cbx_attach_bytes *out,
                        struct cbx_err *err)
{
    struct cbx_err inner = { 0 };
    if (is_cancelled(a)) {
        return cbx_fail(err, CBX_ESTATE, "the installation was cancelled");
    }
    int failed = cbx_attach_receive(a->attach, a->bytes, sizeof(a->bytes), POLL_MS, out, &inner);
    if (failed == CBX_ETIMEDOUT) {
        int silent = cbx_engine_check(a->engine, &a->heard_ms, err);
        return silent ? silent : CBX_ETIMEDOUT;
    }
    if (failed) {
        cbx_fail(err, failed, "%s", inner.text);
        return cbx_err_detail(err, "%s", inner.detail);
    }
    a->heard_ms = cbx_clock_ms();
    return 0;
}

/* Success only if tar itself succeeded, and the archive is complete. */
static int check_end(struct cbx_layer_archive *a, struct cbx_err *err)
{
    int exit_code = -1;
    int failed = cbx_kube_exit_code(a->attach, &exit_code, err);
    if (failed) {
        return failed;
    }
    if (exit_code != 0) {
        return cbx_fail(err, CBX_EENGINE, "the installer could not pack the packages");
    }
    return cbx_layer_tar_end(&a->tar, err);
}

/* Receives the next part of the archive, checks it, and gives it to zlib. Messages of tar are
 * dropped: its exit code says enough. */
static int receive(struct cbx_layer_archive *a, struct cbx_err *err)
{
    struct cbx_attach_bytes got = { 0 };
    int failed;
    do {
        failed = receive_some(a, &got, err);
    } while (failed == CBX_ETIMEDOUT ||
             (!failed && got.bytes.len > 0 && got.channel != CBX_CHANNEL_STDOUT));
    if (failed) {
        return failed;
    }
    a->ended = got.bytes.len == 0;
    if (a->ended) {
        return check_end(a, err);
    }
    cbx_sha256_add(a->plain, got.bytes);
    a->zip.next_in = (Bytef *)(uintptr_t)got.bytes.p;
    a->zip.avail_in = (uInt)got.bytes.len;
    return cbx_layer_tar_feed(&a->tar, got.bytes, err);
}

static int64_t read_blob(void *context, char *to, size_t size)
{
    struct cbx_layer_archive *a = context;
    a->zip.next_out = (Bytef *)to;
    a->zip.avail_out = (uInt)size;
    while (!a->finished && a->zip.avail_out == size) {
        if (a->zip.avail_in == 0 && !a->ended && receive(a, &a->err) != 0) {
            return -1;
        }
        a->finished = deflate(&a->zip, a->ended ? Z_FINISH : Z_NO_FLUSH) == Z_STREAM_END;
    }
    struct cbx_str part = { .p = to, .len = size - a->zip.avail_out };
    cbx_sha256_add(a->blob, part);
    a->size += (int64_t)part.len;
    return (int64_t)part.len;
}

struct cbx_registry_source cbx_layer_archive_source(struct cbx_layer_archive *archive)
{
    return (struct cbx_registry_source){ read_blob, archive };
}

const struct cbx_err *cbx_layer_archive_error(const struct cbx_layer_archive *archive)
{
    return &archive->err;
}

/* --- digests ---------------------------------------------------------------------------------- */

static void write_digest(const struct cbx_sha256_sum *sum, char out[CBX_DIGEST_CHARS + 1])
{
    char hex[CBX_SHA256_HEX + 1];
    struct cbx_sha256 hash = cbx_sha256_now(sum);
    cbx_sha256_hex(&hash, hex);
    snprintf(out, CBX_DIGEST_CHARS + 1, "sha256:%s", hex);
}

void cbx_layer_archive_digest(void *archive, char out[CBX_DIGEST_CHARS + 1])
{
    write_digest(((struct cbx_layer_archive *)archive)->blob, out);
}

int64_t cbx_layer_archive_size(const struct cbx_layer_archive *archive)
{
    return archive->size;
}

void cbx_layer_archive_plain_digest(const struct cbx_layer_archive *archive,
                                    char out[CBX_DIGEST_CHARS + 1])
{
    write_digest(archive->plain, out);
}
