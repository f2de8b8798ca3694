/* SPDX-License-Identifier: MIT
 * Manifests: the first line is the name of the file. Words and pieces have places in the text, and every
 * place of a piece maps to one. What is installed of a lock file is what installers take. */
#include "analyzer/analyze.h"
#include "analyzer/manifest/locks/lockfile.h"
#include "analyzer/manifest/manifest.h"
#include "analyzer/packages/resolved.h"
#include "analyzer/syntax/source.h"
#include "docker/packages/package_layers.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
    if (!holds) {
        abort();
    }
}

static void check_piece(const struct cbx_manifest *manifest, const struct cbx_manifest_piece *piece)
{
    check(piece->run_count > 0 && piece->runs[0].piece == 0);
    for (uint32_t i = 0; i < piece->text.len; i++) {
        struct cbx_span span = { .start_byte = i, .end_byte = i + 1 };
        cbx_manifest_map(manifest, piece, &span);
        check(span.start_byte <= span.end_byte && span.end_byte <= manifest->text.len);
        i += (uint32_t)(piece->text.len / 64);
    }
}

static void judge(const struct cbx_manifest *manifest, struct cbx_arena *arena)
{
    static struct cbx_policy *policy;
    struct cbx_decision decision;
    struct cbx_err err;
    if (policy == NULL) {
        check(cbx_policy_load("default", &policy, &err) == 0);
    }
    check(cbx_manifest_judge(policy, manifest, 0, arena, &decision, &err) == 0);
    for (size_t i = 0; i < decision.finding_count; i++) {
        check(decision.findings[i].span.end_byte <= manifest->text.len);
    }
}

/* The text of an accepted file has a form that the next process accepts, or is refused there by a
 * cap or by what npm's entries say. */
static void check_lockfile(struct cbx_str name, struct cbx_str text, struct cbx_arena *arena)
{
    struct cbx_lockfile lockfile;
    struct cbx_resolved resolved;
    struct cbx_err err = { 0 };
    if (cbx_lockfile_read(name, text, arena, &lockfile, &err) != 0) {
        check(err.text[0] != '\0');
        return;
    }
    check(lockfile.text.len > 0);
    if (lockfile.manager == CBX_MANAGER_PIP) {
        check(cbx_requirements_are_pinned(lockfile.text));
        check(cbx_requirements_check(CBX_MANAGER_PIP, lockfile.text, &err) == 0 ||
              err.code == CBX_ETOOBIG);
    } else if (cbx_resolved_read(CBX_SPEC_NPM, lockfile.text, &resolved, &err) == 0) {
        for (size_t i = 0; i < resolved.count; i++) {
            check(resolved.items[i].url.len == 0 && resolved.items[i].hash.len > 0);
        }
        cbx_resolved_done(&resolved);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cbx_str all = { .p = (const char *)data, .len = size };
    const char *end = size > 0 ? memchr(all.p, '\n', all.len) : NULL;
    size_t n = end != NULL ? (size_t)(end - all.p) : all.len;
    const struct cbx_manifest_reader *reader = cbx_manifest_reader_of(cbx_str_sub(all, 0, n));
    CBX_AUTO_DONE(arena) arena;
    cbx_arena_init(&arena, CBX_ANALYSIS_ARENA_MAX);
    struct cbx_facts facts = { .arena = &arena };
    struct cbx_source source;
    struct cbx_manifest manifest;
    struct cbx_err err;
    if (reader == NULL ||
        cbx_source_read(cbx_str_sub(all, n + 1, all.len), false, &arena, &facts, &source) != 0 ||
        !source.readable || reader->read(source.text, &arena, &manifest, &err) != 0) {
        return 0;
    }
    for (size_t i = 0; i < manifest.word_count; i++) {
        check(manifest.words[i].start <= manifest.words[i].end &&
              manifest.words[i].end <= manifest.text.len);
    }
    for (size_t i = 0; i < manifest.piece_count; i++) {
        check_piece(&manifest, &manifest.pieces[i]);
    }
    judge(&manifest, &arena);
    check_lockfile(cbx_str_sub(all, 0, n), source.text, &arena);
    return 0;
}
