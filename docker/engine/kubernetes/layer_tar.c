/* SPDX-License-Identifier: MIT
 * The archive of a layer, entry by entry: pax.1p ("ustar Interchange Format"), and GNU tar's entries
 * for long names (info tar, "Basic Tar Format"). */
#include "docker/engine/kubernetes/layer_tar.h"

#include <stddef.h>
#include <string.h>

struct header {
    char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], checksum[8], type, link[100],
        magic[8], user[32], group[32], major[8], minor[8], rest[167];
};
_Static_assert(sizeof(struct header) == CBX_LAYER_BLOCK, "a header is one block");

static int refuse(struct cbx_err *err, const char *why)
{
    return cbx_fail(err, CBX_EPROTO, "the installer's archive has %s", why);
}

/* Reads an octal number that ends with a NUL or a blank; false for any other text. */
static bool read_octal(const char *field, size_t size, int64_t *out)
{
    size_t at = 0;
    int64_t value = 0;
    while (at < size && field[at] >= '0' && field[at] <= '7') {
        value = value * 8 + (field[at++] - '0');
    }
    *out = value;
    return at > 0 && at < size && (field[at] == '\0' || field[at] == ' ');
}

/* The sum of all bytes, with blanks in place of the checksum. */
static bool has_its_checksum(const struct header *header)
{
    const unsigned char *bytes = (const unsigned char *)header;
    int64_t sum = 0, stored = 0;
    for (size_t i = 0; i < sizeof(*header); i++) {
        bool of_sum = i >= offsetof(struct header, checksum) && i < offsetof(struct header, type);
        sum += of_sum ? ' ' : bytes[i];
    }
    return read_octal(header->checksum, sizeof(header->checksum), &stored) && stored == sum;
}

static bool is_zero(const char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (bytes[i] != '\0') {
            return false;
        }
    }
    return true;
}

/* --- paths ------------------------------------------------------------------------------------ */

static bool is_part(struct cbx_str part)
{
    return part.len > 0 && !cbx_str_is(part, ".") && !cbx_str_is(part, "..") &&
           !cbx_str_starts(part, CBX_STR(".wh."));
}

/* True for a path of good parts, without a slash at an end. */
static bool is_path(struct cbx_str path)
{
    for (;;) {
        const char *slash = path.len > 0 ? memchr(path.p, '/', path.len) : NULL;
        size_t len = slash != NULL ? (size_t)(slash - path.p) : path.len;
        if (!is_part(cbx_str_sub(path, 0, len))) {
            return false;
        }
        if (slash == NULL) {
            return true;
        }
        path = cbx_str_sub(path, len + 1, path.len);
    }
}

static bool is_below(struct cbx_str path, struct cbx_str place)
{
    return path.len > place.len + 1 && cbx_str_starts(path, place) && path.p[place.len] == '/';
}

static int check_path(const struct cbx_layer_tar *tar, struct cbx_str path, bool folder,
                      struct cbx_err *err)
{
    struct cbx_str place = cbx_str_of(tar->place);
    if (folder && path.len > 0 && path.p[path.len - 1] == '/') {
        path.len--;
    }
    bool allowed = is_below(path, place) || (folder && cbx_str_equal(path, place));
    if (!allowed || !is_path(path) || memchr(path.p, '\0', path.len) != NULL) {
        return refuse(err, "a path that is not below the folder of packages");
    }
    return 0;
}

/* --- headers ---------------------------------------------------------------------------------- */

static int check_owner(const struct header *header, struct cbx_err *err)
{
    int64_t mode = 0, user = 0, group = 0;
    bool readable = read_octal(header->mode, sizeof(header->mode), &mode) &&
                    read_octal(header->uid, sizeof(header->uid), &user) &&
                    read_octal(header->gid, sizeof(header->gid), &group);
    if (!readable || (mode & ~0777) != 0 || user != 0 || group != 0) {
        return refuse(err, "a file that is not root's, or has set-id bits");
    }
    return 0;
}

/* An entry 'L', whose contents are the name of the next entry, and a NUL. */
static int begin_long_name(struct cbx_layer_tar *tar, int64_t size, struct cbx_err *err)
{
    if (tar->name_len > 0 || size < 2 || size > CBX_LAYER_PATH_MAX) {
        return refuse(err, "a path of a wrong length");
    }
    tar->reads_name = true;
    return 0;
}

static int begin_file(struct cbx_layer_tar *tar, const struct header *header, int64_t size,
                      struct cbx_err *err)
{
    bool folder = header->type == '5';
    struct cbx_str path = { .p = header->name, .len = strnlen(header->name, sizeof(header->name)) };
    if (!folder && header->type != '0') {
        return refuse(err, "an entry that is neither a file nor a folder");
    }
    if (!is_zero(header->link, sizeof(header->link)) || (folder && size != 0)) {
        return refuse(err, "a link, or a folder with contents");
    }
    if (++tar->entries > tar->entries_max) {
        return cbx_fail(err, CBX_ETOOBIG, "the packages have more than %lld files",
                        (long long)tar->entries_max);
    }
    if (tar->name_len > 0) {
        path = (struct cbx_str){ .p = tar->name, .len = tar->name_len };
    }
    tar->name_len = 0;
    int failed = check_path(tar, path, folder, err);
    if (failed) {
        return failed;
    }
    return check_owner(header, err);
}

static int take_header(struct cbx_layer_tar *tar, struct cbx_err *err)
{
    static const char magic[8] = { 'u', 's', 't', 'a', 'r', ' ', ' ', '\0' };
    struct header header;
    int64_t size = 0;
    memcpy(&header, tar->block, sizeof(header));
    if (is_zero(tar->block, sizeof(tar->block))) {
        tar->zero_blocks++;
        return tar->name_len > 0 ? refuse(err, "a name without a file") : 0;
    }
    if (tar->zero_blocks > 0) {
        return refuse(err, "entries after its end");
    }
    if (memcmp(header.magic, magic, sizeof(magic)) != 0 || !has_its_checksum(&header) ||
        !read_octal(header.size, sizeof(header.size), &size)) {
        return refuse(err, "a malformed header");
    }
    int failed =
        header.type == 'L' ? begin_long_name(tar, size, err) : begin_file(tar, &header, size, err);
    tar->content = size;
    tar->padding = (CBX_LAYER_BLOCK - size % CBX_LAYER_BLOCK) % CBX_LAYER_BLOCK;
    return failed;
}

/* --- the stream ------------------------------------------------------------------------------- */

/* The name is at most CBX_LAYER_PATH_MAX bytes long, with its NUL (begin_long_name). */
static int take_content(struct cbx_layer_tar *tar, struct cbx_str *bytes, struct cbx_err *err)
{
    struct cbx_str part = cbx_str_take(bytes, (size_t)tar->content);
    tar->content -= (int64_t)part.len;
    if (!tar->reads_name) {
        return 0;
    }
    memcpy(tar->name + tar->name_len, part.p, part.len);
    tar->name_len += part.len;
    if (tar->content > 0) {
        return 0;
    }
    tar->reads_name = false;
    tar->name_len--;
    if (tar->name[tar->name_len] != '\0') {
        return refuse(err, "a path without an end");
    }
    return 0;
}

static int take_block(struct cbx_layer_tar *tar, struct cbx_str *bytes, struct cbx_err *err)
{
    struct cbx_str part = cbx_str_take(bytes, sizeof(tar->block) - tar->block_len);
    memcpy(tar->block + tar->block_len, part.p, part.len);
    tar->block_len += part.len;
    if (tar->block_len < sizeof(tar->block)) {
        return 0;
    }
    tar->block_len = 0;
    return take_header(tar, err);
}

int cbx_layer_tar_feed(struct cbx_layer_tar *tar, struct cbx_str bytes, struct cbx_err *err)
{
    tar->bytes += (int64_t)bytes.len;
    if (tar->bytes > tar->bytes_max) {
        return cbx_fail(err, CBX_ETOOBIG, "the packages need more than %lld bytes",
                        (long long)tar->bytes_max);
    }
    while (bytes.len > 0) {
        int failed = 0;
        if (tar->content > 0) {
            failed = take_content(tar, &bytes, err);
        } else if (tar->padding > 0) {
            tar->padding -= (int64_t)cbx_str_take(&bytes, (size_t)tar->padding).len;
        } else {
            failed = take_block(tar, &bytes, err);
        }
        if (failed) {
            return failed;
        }
    }
    return 0;
}

int cbx_layer_tar_end(const struct cbx_layer_tar *tar, struct cbx_err *err)
{
    bool complete =
        tar->zero_blocks >= 2 && tar->block_len == 0 && tar->content == 0 && tar->padding == 0;
    if (!complete) {
        return refuse(err, "no end");
    }
    return 0;
}
