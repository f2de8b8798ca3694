/* SPDX-License-Identifier: MIT
 * Reads uv.lock, pylock.toml, poetry.lock, pdm.lock and Pipfile.lock. */
#include "analyzer/manifest/locks/locked.h"
#include "analyzer/manifest/readers.h"

static int read_each(struct cbx_locking *l, const char *path,
                     int (*read)(void *context, const struct cbx_doc_node *node))
{
    return cbx_doc_each(l->doc, path, read, l, l->err);
}

static bool has_any(const struct cbx_doc_node *table, const char *const *keys)
{
    while (*keys != NULL && cbx_doc_get(table, *keys) == NULL) {
        keys++;
    }
    return *keys != NULL;
}

/* Adds a repository, whatever its scheme is. */
static int add_git(struct cbx_locking *l, struct cbx_locked_text name, struct cbx_str address)
{
    bool has = cbx_str_starts(address, CBX_STR("git+"));
    return cbx_locked_add_direct(l, name,
                                 CBX_JOIN(l->arena, has ? CBX_STR("") : CBX_STR("git+"), address));
}

/* --- uv --------------------------------------------------------------------------------------- */

/* Adds the files of a package, which are downloaded from the addresses in the lock file. */
static int add_files(struct cbx_locking *l, const struct cbx_doc_node *package,
                     struct cbx_str index)
{
    const struct cbx_doc_node *wheels = cbx_doc_get(package, "wheels");
    struct cbx_locked_text url =
        cbx_locked_value(cbx_doc_get(cbx_doc_get(package, "sdist"), "url"));
    int failed = cbx_locked_add_file(l, url, index);
    const struct cbx_doc_node *wheel = wheels != NULL ? wheels->first : NULL;
    for (; wheel != NULL && !failed; wheel = wheel->next) {
        failed = cbx_locked_add_file(l, cbx_locked_value(cbx_doc_get(wheel, "url")), index);
    }
    return failed;
}

static int read_uv_package(void *context, const struct cbx_doc_node *package)
{
    static const char *const own[] = { "virtual", "editable", "directory", "path", NULL };
    struct cbx_locking *l = context;
    struct cbx_locked_text name = cbx_locked_value(cbx_doc_get(package, "name"));
    const struct cbx_doc_node *source = cbx_doc_get(package, "source");
    struct cbx_str git = cbx_doc_text(source, "git"), url = cbx_doc_text(source, "url");
    if (has_any(source, own)) {
        return 0;
    }
    if (git.len > 0) {
        return add_git(l, name, git);
    }
    if (url.len > 0) {
        return cbx_locked_add_direct(l, name, url);
    }
    struct cbx_locked_text index = cbx_locked_value(cbx_doc_get(source, "registry"));
    int failed = cbx_locked_add(l, name, cbx_doc_text(package, "version"));
    if (!failed) {
        failed = cbx_locked_add_index(l, index);
    }
    if (failed) {
        return failed;
    }
    return add_files(l, package, index.text);
}

/* --- pylock.toml (PEP 751) ---------------------------------------------------------------------- */

static int read_pylock_package(void *context, const struct cbx_doc_node *package)
{
    struct cbx_locking *l = context;
    struct cbx_locked_text name = cbx_locked_value(cbx_doc_get(package, "name"));
    struct cbx_locked_text index = cbx_locked_value(cbx_doc_get(package, "index"));
    const struct cbx_doc_node *vcs = cbx_doc_get(package, "vcs");
    const struct cbx_doc_node *archive = cbx_doc_get(package, "archive");
    struct cbx_str repository = cbx_doc_text(vcs, "url"), url = cbx_doc_text(archive, "url");
    if (repository.len > 0) {
        return add_git(l, name, repository);
    }
    if (url.len > 0) {
        return cbx_locked_add_direct(l, name, url);
    }
    if (vcs != NULL || archive != NULL || cbx_doc_get(package, "directory") != NULL) {
        return 0; /* of a path beside the file */
    }
    int failed = cbx_locked_add(l, name, cbx_doc_text(package, "version"));
    if (!failed && index.text.len > 0) {
        failed = cbx_locked_add_index(l, index);
    }
    if (failed) {
        return failed;
    }
    return add_files(l, package, index.text);
}

/* --- poetry, pdm ------------------------------------------------------------------------------ */

static int read_poetry_package(void *context, const struct cbx_doc_node *package)
{
    struct cbx_locking *l = context;
    struct cbx_locked_text name = cbx_locked_value(cbx_doc_get(package, "name"));
    const struct cbx_doc_node *source = cbx_doc_get(package, "source");
    struct cbx_str type = cbx_doc_text(source, "type");
    struct cbx_locked_text url = cbx_locked_value(cbx_doc_get(source, "url"));
    if (cbx_str_is(type, "directory") || cbx_str_is(type, "file")) {
        return 0;
    }
    if (cbx_str_is(type, "git")) {
        return add_git(l, name, url.text);
    }
    if (cbx_str_is(type, "url")) {
        return cbx_locked_add_direct(l, name, url.text);
    }
    int failed = cbx_locked_add(l, name, cbx_doc_text(package, "version"));
    if (failed) {
        return failed;
    }
    return cbx_locked_add_index(l, url);
}

static int read_pdm_package(void *context, const struct cbx_doc_node *package)
{
    struct cbx_locking *l = context;
    struct cbx_locked_text name = cbx_locked_value(cbx_doc_get(package, "name"));
    struct cbx_str git = cbx_doc_text(package, "git"), url = cbx_doc_text(package, "url");
    if (cbx_doc_get(package, "path") != NULL) {
        return 0;
    }
    if (git.len > 0) {
        return add_git(l, name, git);
    }
    return url.len > 0 ? cbx_locked_add_direct(l, name, url)
                       : cbx_locked_add(l, name, cbx_doc_text(package, "version"));
}

/* --- pipenv ----------------------------------------------------------------------------------- */

static int read_pipenv_package(struct cbx_locking *l, const struct cbx_doc_node *package)
{
    struct cbx_str git = cbx_doc_text(package, "git"), file = cbx_doc_text(package, "file");
    struct cbx_str version = cbx_doc_text(package, "version");
    bool remote = file.len > 0 && memmem(file.p, file.len, "://", 3) != NULL;
    if (git.len > 0) {
        return add_git(l, cbx_locked_key(package), git);
    }
    if (remote) {
        return cbx_locked_add_direct(l, cbx_locked_key(package), file);
    }
    if (cbx_doc_get(package, "path") != NULL || file.len > 0) {
        return 0;
    }
    size_t equals = cbx_str_starts(version, CBX_STR("==")) ? 2 : 0;
    return cbx_locked_add(l, cbx_locked_key(package), cbx_str_sub(version, equals, version.len));
}

/* Each table but _meta is a group of packages. */
static int read_pipenv_group(void *context, const struct cbx_doc_node *group)
{
    struct cbx_locking *l = context;
    int failed = 0;
    if (cbx_str_is(group->key, "_meta")) {
        return 0;
    }
    if (group->kind != CBX_DOC_MAP) {
        return cbx_doc_fail(l->doc, group, "a group of packages that is no table", l->err);
    }
    for (const struct cbx_doc_node *one = group->first; one != NULL && !failed; one = one->next) {
        failed = read_pipenv_package(l, one);
    }
    return failed;
}

static int read_index(void *context, const struct cbx_doc_node *node)
{
    return cbx_locked_add_index(context, cbx_locked_value(node));
}

/* --- files ------------------------------------------------------------------------------------ */

static int read_toml(struct cbx_str text, struct cbx_arena *arena, struct cbx_manifest *out,
                     const char *packages,
                     int (*read)(void *context, const struct cbx_doc_node *node),
                     struct cbx_err *err)
{
    struct cbx_doc doc;
    *out = (struct cbx_manifest){ .text = text };
    int failed = cbx_doc_read_toml(text, arena, &doc, err);
    if (failed) {
        return failed;
    }
    struct cbx_locking l = { .doc = &doc, .arena = arena, .out = out, .err = err };
    return read_each(&l, packages, read);
}

int cbx_manifest_read_uv_lock(struct cbx_str text, struct cbx_arena *arena,
                              struct cbx_manifest *out, struct cbx_err *err)
{
    return read_toml(text, arena, out, "package[]", read_uv_package, err);
}

int cbx_manifest_read_pylock(struct cbx_str text, struct cbx_arena *arena, struct cbx_manifest *out,
                             struct cbx_err *err)
{
    return read_toml(text, arena, out, "packages[]", read_pylock_package, err);
}

int cbx_manifest_read_poetry_lock(struct cbx_str text, struct cbx_arena *arena,
                                  struct cbx_manifest *out, struct cbx_err *err)
{
    return read_toml(text, arena, out, "package[]", read_poetry_package, err);
}

int cbx_manifest_read_pdm_lock(struct cbx_str text, struct cbx_arena *arena,
                               struct cbx_manifest *out, struct cbx_err *err)
{
    return read_toml(text, arena, out, "package[]", read_pdm_package, err);
}

int cbx_manifest_read_pipfile_lock(struct cbx_str text, struct cbx_arena *arena,
                                   struct cbx_manifest *out, struct cbx_err *err)
{
    struct cbx_doc doc;
    *out = (struct cbx_manifest){ .text = text };
    int failed = cbx_doc_read_json(text, arena, &doc, err);
    if (failed) {
        return failed;
    }
    struct cbx_locking l = { .doc = &doc, .arena = arena, .out = out, .err = err };
    failed = read_each(&l, "_meta.sources[].url", read_index);
    if (failed) {
        return failed;
    }
    return read_each(&l, "*", read_pipenv_group);
}
