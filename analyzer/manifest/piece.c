/* SPDX-License-Identifier: MIT
 * Pieces of code and their places in a file. */
#include "analyzer/manifest/manifest_internal.h"
#include "policies/base/array.h"

void cbx_piece_maker_init(struct cbx_piece_maker *maker, struct cbx_arena *arena,
                          struct cbx_str file)
{
    *maker = (struct cbx_piece_maker){ .arena = arena, .file = file };
    cbx_buf_init(&maker->text, CBX_MANIFEST_MAX_BYTES);
}

void cbx_piece_maker_done(struct cbx_piece_maker *maker)
{
    cbx_buf_done(&maker->text);
}

/* A byte whose predecessor also precedes it in the file needs no run of its own. */
static bool continues(const struct cbx_piece_maker *maker, uint32_t place)
{
    if (maker->count == 0) {
        return false;
    }
    const struct cbx_manifest_run *last = &maker->runs[maker->count - 1];
    return last->file + (maker->text.len - last->piece) == place;
}

static void add_run(struct cbx_piece_maker *maker, uint32_t place)
{
    if (continues(maker, place)) {
        return;
    }
    bool fits = CBX_ARRAY_RESERVE(maker->arena, maker->runs, maker->count, &maker->size, 1,
                                  CBX_MANIFEST_MAX_BYTES);
    if (fits) {
        maker->runs[maker->count++] =
            (struct cbx_manifest_run){ .piece = (uint32_t)maker->text.len, .file = place };
    } else {
        maker->text.overflow = true;
    }
}

void cbx_piece_maker_take(struct cbx_piece_maker *maker, uint32_t start, uint32_t end)
{
    add_run(maker, start);
    cbx_buf_add(&maker->text, cbx_str_sub(maker->file, start, end));
}

void cbx_piece_maker_put(struct cbx_piece_maker *maker, struct cbx_str text, uint32_t place)
{
    for (size_t i = 0; i < text.len; i++) { /* each byte stands for the same place */
        add_run(maker, place);
        cbx_buf_add_char(&maker->text, text.p[i]);
    }
}

int cbx_piece_maker_end(struct cbx_piece_maker *maker, const char *language,
                        struct cbx_manifest *manifest, struct cbx_err *err)
{
    if (maker->count == 0) {
        return 0;
    }
    if (maker->text.overflow ||
        !CBX_ARRAY_RESERVE(maker->arena, manifest->pieces, manifest->piece_count,
                           &manifest->piece_size, 1, CBX_MANIFEST_PIECES_MAX)) {
        return cbx_fail(err, CBX_ETOOBIG, "more code than is read, allowed are %d pieces",
                        CBX_MANIFEST_PIECES_MAX);
    }
    manifest->pieces[manifest->piece_count++] = (struct cbx_manifest_piece){
        .language = language,
        .text = cbx_arena_copy(maker->arena, cbx_buf_str(&maker->text)),
        .runs = maker->runs,
        .run_count = maker->count,
    };
    return 0;
}

int cbx_manifest_add_word(struct cbx_manifest *manifest, struct cbx_arena *arena,
                          const struct cbx_manifest_word *word, struct cbx_err *err)
{
    if (!CBX_ARRAY_RESERVE(arena, manifest->words, manifest->word_count, &manifest->word_size, 1,
                           CBX_MANIFEST_WORDS_MAX)) {
        return cbx_fail(err, CBX_ETOOBIG, "more packages than are read, allowed are %d",
                        CBX_MANIFEST_WORDS_MAX);
    }
    manifest->words[manifest->word_count++] = *word;
    return 0;
}

int cbx_manifest_add_skip(struct cbx_manifest *manifest, struct cbx_arena *arena,
                          enum cbx_skipped_piece why, struct cbx_str language, struct cbx_err *err)
{
    if (!CBX_ARRAY_RESERVE(arena, manifest->skips, manifest->skip_count, &manifest->skip_size, 1,
                           CBX_MANIFEST_PIECES_MAX)) {
        return cbx_fail(err, CBX_ETOOBIG, "more code than is read, allowed are %d pieces",
                        CBX_MANIFEST_PIECES_MAX);
    }
    manifest->skips[manifest->skip_count++] =
        (struct cbx_manifest_skip){ why, cbx_arena_copy(arena, language) };
    return 0;
}

int cbx_manifest_fail(struct cbx_str file, uint32_t place, const char *what, struct cbx_err *err)
{
    uint32_t line, column;
    cbx_str_place(file, place, &line, &column);
    return cbx_fail(err, CBX_EINVAL, "line %u, column %u: %s", line, column, what);
}

/* Returns the place in the file of a byte, by the runs. */
static uint32_t map_byte(const struct cbx_manifest_run *runs, size_t count, uint32_t byte)
{
    size_t low = 0, high = count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (runs[middle].piece <= byte) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return runs[low].file + (byte - runs[low].piece);
}

uint32_t cbx_piece_maker_place(const struct cbx_piece_maker *maker, uint32_t byte)
{
    return maker->count > 0 ? map_byte(maker->runs, maker->count, byte) : 0;
}

void cbx_manifest_map(const struct cbx_manifest *manifest, const struct cbx_manifest_piece *piece,
                      struct cbx_span *span)
{
    uint32_t start = map_byte(piece->runs, piece->run_count, span->start_byte), last = start, end;
    if (span->end_byte > span->start_byte) {
        last = map_byte(piece->runs, piece->run_count, span->end_byte - 1);
    }
    end = span->end_byte > span->start_byte ? last + 1 : start;
    end = end > manifest->text.len ? (uint32_t)manifest->text.len : end;
    end = end < start ? start : end;
    *span = (struct cbx_span){ .start_byte = start, .end_byte = end };
    cbx_str_place(manifest->text, start, &span->line, &span->column);
    cbx_str_place(manifest->text, end, &span->end_line, &span->end_column);
}
