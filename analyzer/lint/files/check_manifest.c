/* SPDX-License-Identifier: MIT
 * Checks a manifest, a document or a page: its packages, and its pieces of code, whose findings
 * get places in the file. */
#include "analyzer/lint/files/lint_check.h"

#include "analyzer/syntax/source.h"

/* Moves the places of the findings from `first` on, which are in a piece, to the file. */
static void move_findings(struct cbx_lint_check *c, const struct cbx_manifest *manifest,
                          const struct cbx_manifest_piece *piece, size_t first)
{
    for (size_t i = first; i < c->count; i++) {
        cbx_manifest_map(manifest, piece, &c->findings[i].v.span);
        c->findings[i].source = manifest->text;
    }
}

/* Returns the place where the code runs. */
static enum cbx_build build_of(const struct cbx_manifest *manifest,
                               const struct cbx_manifest_piece *piece, enum cbx_manifest_code code)
{
    /* people type the commands of a document where the project is built */
    bool commands = code == CBX_MANIFEST_DOCUMENT && strcmp(piece->language, "shell") == 0;
    if (code != CBX_MANIFEST_BUILD && !commands) {
        return CBX_BUILD_NONE;
    }
    if (manifest->image) {
        return CBX_BUILD_IMAGE;
    }
    return piece->completed ? CBX_BUILD_COMPLETED : CBX_BUILD_PROJECT;
}

static int check_code(struct cbx_lint_check *c, const struct cbx_manifest *manifest,
                      const struct cbx_manifest_piece *piece, enum cbx_manifest_code code)
{
    const struct cbx_cell cell = { .source = piece->text };
    struct cbx_str language = c->file.language;
    size_t first = c->count;
    c->code = code;
    c->unreadable = false;
    c->build = build_of(manifest, piece, code);
    c->file.language = cbx_str_of(piece->language);
    int failed = cbx_lint_check_cell(c, &cell, NULL, 0);
    c->file.language = language;
    c->build = CBX_BUILD_NONE;
    c->code = CBX_MANIFEST_BUILD;
    move_findings(c, manifest, piece, first);
    return failed;
}

/* An unreadable example is a fragment, and so is code with the marks of a template that is
 * unreadable with and without them: no program runs it as it is. */
static int check_piece(struct cbx_lint_check *c, const struct cbx_manifest *manifest,
                       const struct cbx_manifest_piece *piece)
{
    bool lenient = manifest->code == CBX_MANIFEST_DOCUMENT || piece->instead != NULL;
    int failed = check_code(c, manifest, piece, lenient ? CBX_MANIFEST_DOCUMENT : manifest->code);
    if (!failed && lenient && c->unreadable && piece->instead != NULL) {
        failed = check_code(c, manifest, piece->instead, CBX_MANIFEST_DOCUMENT);
    }
    if (!failed && lenient && c->unreadable) {
        cbx_lint_check_skip(c, CBX_LINT_SKIP_FRAGMENT, cbx_str_of(piece->language));
    }
    return failed;
}

/* Judges the pieces of code in their order. */
static int check_pieces(struct cbx_lint_check *c, const struct cbx_manifest *manifest)
{
    int failed = 0;
    struct cbx_downloads downloads;
    cbx_downloads_init(&downloads, &c->worker->file);
    c->downloads = manifest->image ? &downloads : NULL;
    for (size_t i = 0; !failed && i < manifest->piece_count; i++) {
        c->folder = manifest->pieces[i].folder;
        failed = check_piece(c, manifest, &manifest->pieces[i]);
    }
    c->downloads = NULL;
    c->folder = CBX_STR("");
    return failed;
}

/* Judges the packages that a manifest names. */
static int check_packages(struct cbx_lint_check *c, const struct cbx_manifest *manifest)
{
    struct cbx_decision decision;
    cbx_arena_reset(&c->worker->analysis);
    int failed = cbx_manifest_judge(c->lint->report.policy, manifest, c->lint->now,
                                    &c->worker->analysis, &decision, c->err);
    if (failed) {
        return failed;
    }
    cbx_lint_check_verdict(c, &decision);
    if (c->lint->stage != CBX_STAGE_REPORT) {
        return cbx_lint_check_dump(c, &decision);
    }
    const struct cbx_cell whole = { .source = manifest->text };
    failed = cbx_lint_check_reserve(c, decision.finding_count);
    for (size_t i = 0; !failed && i < decision.finding_count; i++) {
        cbx_lint_check_keep(c, &decision.findings[i], &whole, manifest->text);
    }
    c->file.truncated |= decision.truncated;
    return failed;
}

int cbx_lint_check_manifest(struct cbx_lint_check *c, const struct cbx_manifest_reader *reader,
                            struct cbx_str text)
{
    struct cbx_arena *arena = &c->worker->file;
    struct cbx_facts ignored = { .arena = arena };
    struct cbx_source source;
    struct cbx_manifest manifest;
    if (text.len > CBX_MANIFEST_MAX_BYTES ||
        cbx_source_read(text, false, arena, &ignored, &source) != 0) {
        return cbx_fail(c->err, CBX_ETOOBIG, "larger than %d bytes", CBX_MANIFEST_MAX_BYTES);
    }
    if (!source.readable) {
        return cbx_fail(c->err, CBX_EINVAL, "it is not UTF-8 text");
    }
    int failed = reader->read(source.text, arena, &manifest, c->err);
    if (!failed && arena->exhausted) {
        failed = cbx_fail(c->err, CBX_ETOOBIG, "out of the analysis's memory");
    }
    for (size_t i = 0; !failed && i < manifest.skip_count; i++) {
        bool foreign = manifest.skips[i].why == CBX_SKIPPED_FOREIGN;
        cbx_lint_check_skip(c, foreign ? CBX_LINT_SKIP_PIECE : CBX_LINT_SKIP_FRAGMENT,
                            manifest.skips[i].language);
    }
    if (!failed && (manifest.requirements || manifest.word_count > 0)) {
        failed = check_packages(c, &manifest);
    }
    if (failed) {
        return failed;
    }
    return check_pieces(c, &manifest);
}
