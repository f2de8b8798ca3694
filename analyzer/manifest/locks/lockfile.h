/* SPDX-License-Identifier: MIT
 * Lock files from which packages are installed: requirements.txt with hashes, uv.lock, pylock.toml,
 * package-lock.json. The reader of manifest.def finds the contents of such a file; this part
 * converts them to a text for installers. Pure and strict: an entry that cannot be installed as it
 * is locked is an error with its line. */
#ifndef CBX_ANALYZER_MANIFEST_LOCKS_LOCKFILE_H
#define CBX_ANALYZER_MANIFEST_LOCKS_LOCKFILE_H

#include "analyzer/manifest/manifest.h"
#include "policies/packages.h"

struct cbx_lockfile {
    enum cbx_manager manager;
    struct cbx_manifest
        manifest; /* the packages, indexes and files that the file names, with their places */
    /* The text for the installer, in the arena. Of pip: a line for each package
     * (policies/versions/pinned.h), sorted, each line with its line feed. Of npm: the package-
     * lock.json, as lockfileVersion 3, without addresses: packages are taken from the index. */
    struct cbx_str text;
};

/* Reads a file: UTF-8, line ends normalised (cbx_source_read). The kind follows from its name, else
 * from its content. CBX_EINVAL with the line, and with what is allowed:
 *   - a file of another kind;
 *   - requirements.txt: a requirement without `==`, or without --hash=sha256 (as pip's
 *     --require-hashes demands); a URL, a path, another file, an option that is not about
 *     indexes;
 *   - uv.lock: a package that the project needs and that has no wheel for Linux, or does not come
 *     from an index. Needed are the dependencies of the project and its group `dev`, as
 *     `uv sync --frozen` installs them; their markers stay in the text;
 *   - pylock.toml (PEP 751): the same, of each package but the project; a marker that depends on
 *     extras or groups;
 *   - package-lock.json: lockfileVersion 1, an entry without a sha512, of a repository, a folder,
 *     or within the archive of another one.
 * CBX_ETOOBIG over the caps of policies/packages.h. *out borrows from `text` and the arena. */
int cbx_lockfile_read(struct cbx_str name, struct cbx_str text, struct cbx_arena *arena,
                      struct cbx_lockfile *out, struct cbx_err *err);

/* Judges the indexes and files that the lock file names, by the policy; indexes and files of
 * `index`, the configured one, are the policy's `default` (NULL: none is). Its packages are judged
 * when they are installed. The places of findings are in manifest.text. CBX_ETOOBIG if the arena is
 * exhausted. */
int cbx_lockfile_judge_sources(const struct cbx_lockfile *lockfile, const struct cbx_policy *policy,
                               const char *index, struct cbx_arena *arena, struct cbx_decision *out,
                               struct cbx_err *err);

/* Compares an installed set (resolved.h) with the file: each package of the set is locked, in
 * this version and with this hash, and each locked one without a marker is in the set. Of npm a
 * package for other platforms (optional) may be missing. CBX_EINVAL names the package that
 * differs. */
int cbx_lockfile_compare(const struct cbx_lockfile *lockfile, struct cbx_str set,
                         struct cbx_err *err);

#endif
