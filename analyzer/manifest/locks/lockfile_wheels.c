/* SPDX-License-Identifier: MIT
 * Hashes of the wheels that a lock file names. */
#include "analyzer/manifest/locks/lockfile_internal.h"
#include "policies/versions/pinned.h"

/* Returns the name of a wheel's file: from its address, its path, or by itself. */
static struct cbx_str file_of(const struct cbx_doc_node *wheel)
{
    static const char *const keys[] = { "url", "path", "filename", "name" };
    struct cbx_str file = CBX_STR("");
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]) && file.len == 0; i++) {
        file = cbx_doc_text(wheel, keys[i]);
    }
    const char *slash = file.len > 0 ? memrchr(file.p, '/', file.len) : NULL;
    return cbx_str_sub(file, slash != NULL ? (size_t)(slash - file.p) + 1 : 0, file.len);
}

/* Returns true for NAME-VERSION(-BUILD)-PYTHON-ABI-PLATFORM.whl for Linux, or for any platform. */
static bool is_for_linux(struct cbx_str file)
{
    const char *dash = file.len > 0 ? memrchr(file.p, '-', file.len) : NULL;
    if (!cbx_str_ends(file, CBX_STR(".whl")) || dash == NULL) {
        return false;
    }
    struct cbx_str platform = cbx_str_sub(file, (size_t)(dash - file.p) + 1, file.len - 4);
    return cbx_str_is(platform, "any") || memmem(platform.p, platform.len, "linux", 5) != NULL;
}

/* Returns the digits of hash = "sha256:HEX" or of hashes = { sha256 = "HEX" }, or what is written
 * instead. */
static struct cbx_str sha256_of(const struct cbx_doc_node *wheel)
{
    struct cbx_str hash = cbx_doc_text(wheel, "hash");
    if (hash.len == 0) {
        return cbx_doc_text(cbx_doc_get(wheel, "hashes"), "sha256");
    }
    return cbx_str_starts(hash, CBX_STR("sha256:")) ? cbx_str_sub(hash, 7, hash.len) : hash;
}

int cbx_lockfile_add_wheels(const struct cbx_lockfile *lockfile, const struct cbx_doc_node *package,
                            struct cbx_buf *line, struct cbx_err *err)
{
    struct cbx_str name = cbx_doc_text(package, "name");
    const struct cbx_doc_node *wheels = cbx_doc_get(package, "wheels");
    const struct cbx_doc_node *wheel = wheels != NULL ? wheels->first : NULL;
    size_t count = 0;
    for (; wheel != NULL; wheel = wheel->next) {
        struct cbx_str hash = sha256_of(wheel);
        if (!is_for_linux(file_of(wheel))) {
            continue;
        }
        if (!cbx_pinned_is_sha256(hash)) {
            return cbx_lockfile_fail(lockfile, wheel->start, err,
                                     "a wheel of '%.*s' has the SHA-256 '%.*s', allowed are 64 "
                                     "hexadecimal digits",
                                     CBX_STR_SHOWN(name), CBX_STR_SHOWN(hash));
        }
        cbx_buf_printf(line, " --hash=sha256:%.*s", CBX_STR_ARG(hash));
        count++;
    }
    if (count > 0) {
        return 0;
    }
    if (cbx_doc_get(package, "sdist") != NULL && wheels == NULL) {
        return cbx_lockfile_fail(lockfile, package->start, err,
                                 "'%.*s' has a source distribution alone, which would run code of "
                                 "its own to be installed; allowed are wheels",
                                 CBX_STR_SHOWN(name));
    }
    return cbx_lockfile_fail(lockfile, package->start, err,
                             "'%.*s' has no wheel for Linux, allowed are packages with one",
                             CBX_STR_SHOWN(name));
}
