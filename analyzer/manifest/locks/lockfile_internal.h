/* SPDX-License-Identifier: MIT
 * Declarations shared by the files that implement lockfile.h. */
#ifndef CBX_ANALYZER_MANIFEST_LOCKS_LOCKFILE_INTERNAL_H
#define CBX_ANALYZER_MANIFEST_LOCKS_LOCKFILE_INTERNAL_H

#include "analyzer/manifest/documents/doc.h"
#include "analyzer/manifest/locks/lockfile.h"

enum { CBX_LOCKFILE_WHAT_BYTES = 400 };

/* Append the text for the installer to *out (cap CBX_REPORT_BYTES_MAX), from the file in
 * lockfile->manifest.text. Errors of cbx_lockfile_read. The one of requirements also adds the
 * indexes to the manifest: the reader of requirements leaves its lines as they are. */
int cbx_lockfile_read_requirements(struct cbx_lockfile *lockfile, struct cbx_arena *arena,
                                   struct cbx_buf *out, struct cbx_err *err);
int cbx_lockfile_read_uv(struct cbx_lockfile *lockfile, struct cbx_arena *arena,
                         struct cbx_buf *out, struct cbx_err *err);
int cbx_lockfile_read_pylock(struct cbx_lockfile *lockfile, struct cbx_arena *arena,
                             struct cbx_buf *out, struct cbx_err *err);
int cbx_lockfile_read_npm(struct cbx_lockfile *lockfile, struct cbx_arena *arena,
                          struct cbx_buf *out, struct cbx_err *err);

/* Appends a line and checks that it has the form of pinned.h; `place` is the place of its
 * package in the file. CBX_EINVAL, CBX_ETOOBIG. */
int cbx_lockfile_add_line(struct cbx_lockfile *lockfile, struct cbx_str line, uint32_t place,
                          struct cbx_buf *out, struct cbx_err *err);

/* Appends " --hash=sha256:HEX" for each wheel of a package that is for Linux. `package` is a table
 * with "name" and the list "wheels". CBX_EINVAL, with the place, for a package without such a
 * wheel, and for a wheel without a SHA-256. */
int cbx_lockfile_add_wheels(const struct cbx_lockfile *lockfile, const struct cbx_doc_node *package,
                            struct cbx_buf *line, struct cbx_err *err);

/* Appends a marker with its texts in double quotes. CBX_EINVAL, with the place, for a marker
 * that is malformed or has a character that no marker of a lock file needs. */
int cbx_lockfile_add_marker(const struct cbx_lockfile *lockfile, struct cbx_str marker,
                            uint32_t place, struct cbx_buf *out, struct cbx_err *err);

/* Fails with the place in the file and a sentence. */
int cbx_lockfile_fail(const struct cbx_lockfile *lockfile, uint32_t place, struct cbx_err *err,
                      const char *format, ...) __attribute__((format(printf, 4, 5)));
#define cbx_lockfile_fail(...) CBX_MESSAGE_SCOPE((cbx_lockfile_fail)(__VA_ARGS__))

#endif
