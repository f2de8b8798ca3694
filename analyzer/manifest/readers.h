/* SPDX-License-Identifier: MIT
 * The readers of manifest.def; the contract of each is that of cbx_manifest_reader.read. */
#ifndef CBX_ANALYZER_MANIFEST_READERS_H
#define CBX_ANALYZER_MANIFEST_READERS_H

#include "analyzer/manifest/manifest.h"

/* requirements.txt, constraints.txt: pip's format. */
int cbx_manifest_read_requirements(struct cbx_str text, struct cbx_arena *arena,
                                   struct cbx_manifest *out, struct cbx_err *err);

/* package.json: dependencies of all kinds, what replaces them (overrides, resolutions), and
 * scripts. pnpm-workspace.yaml: catalogs and overrides. CBX_EINVAL, with the place, if a value is
 * no text. */
int cbx_manifest_read_package_json(struct cbx_str text, struct cbx_arena *arena,
                                   struct cbx_manifest *out, struct cbx_err *err);
int cbx_manifest_read_pnpm_workspace(struct cbx_str text, struct cbx_arena *arena,
                                     struct cbx_manifest *out, struct cbx_err *err);

/* Dockerfile, Containerfile: RUN, CMD, ENTRYPOINT and HEALTHCHECK in all their forms. Refuses a
 * SHELL that is no POSIX shell, and another escape character. */
int cbx_manifest_read_dockerfile(struct cbx_str text, struct cbx_arena *arena,
                                 struct cbx_manifest *out, struct cbx_err *err);

/* pyproject.toml: the packages, indexes and commands of pyproject.def. */
int cbx_manifest_read_pyproject(struct cbx_str text, struct cbx_arena *arena,
                                struct cbx_manifest *out, struct cbx_err *err);

/* Pipfile: sources, scripts, and the packages of every other table. */
int cbx_manifest_read_pipfile(struct cbx_str text, struct cbx_arena *arena,
                              struct cbx_manifest *out, struct cbx_err *err);

/* Lock files: each locked package with its version and its source. */
int cbx_manifest_read_uv_lock(struct cbx_str text, struct cbx_arena *arena,
                              struct cbx_manifest *out, struct cbx_err *err);
int cbx_manifest_read_pylock(struct cbx_str text, struct cbx_arena *arena, struct cbx_manifest *out,
                             struct cbx_err *err);
int cbx_manifest_read_poetry_lock(struct cbx_str text, struct cbx_arena *arena,
                                  struct cbx_manifest *out, struct cbx_err *err);
int cbx_manifest_read_pdm_lock(struct cbx_str text, struct cbx_arena *arena,
                               struct cbx_manifest *out, struct cbx_err *err);
int cbx_manifest_read_pipfile_lock(struct cbx_str text, struct cbx_arena *arena,
                                   struct cbx_manifest *out, struct cbx_err *err);
int cbx_manifest_read_package_lock(struct cbx_str text, struct cbx_arena *arena,
                                   struct cbx_manifest *out, struct cbx_err *err);
int cbx_manifest_read_pnpm_lock(struct cbx_str text, struct cbx_arena *arena,
                                struct cbx_manifest *out, struct cbx_err *err);
int cbx_manifest_read_yarn_lock(struct cbx_str text, struct cbx_arena *arena,
                                struct cbx_manifest *out, struct cbx_err *err);
int cbx_manifest_read_bun_lock(struct cbx_str text, struct cbx_arena *arena,
                               struct cbx_manifest *out, struct cbx_err *err);
/* Workflows of GitHub (and Gitea, Forgejo): the code of their steps, with expressions as unknown
 * words. Code of an unknown shell is skipped. */
int cbx_manifest_read_workflow(struct cbx_str text, struct cbx_arena *arena,
                               struct cbx_manifest *out, struct cbx_err *err);

/* Composite actions of GitHub: the same. */
int cbx_manifest_read_action(struct cbx_str text, struct cbx_arena *arena, struct cbx_manifest *out,
                             struct cbx_err *err);

/* Pipelines of GitLab: the scripts of each job and of all. */
int cbx_manifest_read_gitlab_ci(struct cbx_str text, struct cbx_arena *arena,
                                struct cbx_manifest *out, struct cbx_err *err);

/* Markdown: fenced blocks of code in a language that is judged. */
int cbx_manifest_read_markdown(struct cbx_str text, struct cbx_arena *arena,
                               struct cbx_manifest *out, struct cbx_err *err);

/* Markdown of a skill of agents: the same, commands of its hooks and those behind "!", and
 * blocks in other languages are noted. */
int cbx_manifest_read_skill(struct cbx_str text, struct cbx_arena *arena, struct cbx_manifest *out,
                            struct cbx_err *err);

/* HTML: scripts, handlers of events, addresses with code. */
int cbx_manifest_read_html(struct cbx_str text, struct cbx_arena *arena, struct cbx_manifest *out,
                           struct cbx_err *err);

#endif
