/* SPDX-License-Identifier: MIT
 * Builds and stores the past of a session. */
#include "analyzer/past/past.h"

#include "analyzer/facts/fold.h"
#include "analyzer/lang/lang.h"
#include "analyzer/lang/python/notebook/magics.h"
#include "analyzer/lang/summary.h"

void cbx_past_begin(struct cbx_past *past, const struct cbx_sha256 *ledger)
{
    *past = (struct cbx_past){ .ledger = *ledger, .has_all_cells = true, .has_all_files = true };
    cbx_buf_init(&past->cells, CBX_PAST_MAX_BYTES);
    cbx_buf_init(&past->files, CBX_PAST_MAX_BYTES);
}

void cbx_past_done(struct cbx_past *past)
{
    cbx_buf_done(&past->cells);
    cbx_buf_done(&past->files);
    *past = (struct cbx_past){ 0 };
}

/* Removes the earlier file with the same bytes as the last one, which begins at `last`. */
static void drop_earlier_file(struct cbx_buf *files, size_t last)
{
    size_t len = files->len - last;
    struct cbx_str rest = { .p = files->p, .len = last };
    struct cbx_entry entry;
    for (size_t at = 0; cbx_entry_next(&rest, &entry); at = last - rest.len) {
        size_t end = last - rest.len;
        if (end - at == len && memcmp(files->p + at, files->p + last, len) == 0) {
            memmove(files->p + at, files->p + end, files->len - end);
            files->len -= len;
            return;
        }
    }
}

/* Returns true if the past already has this cell as the client sent it. */
static bool has_cell(const struct cbx_buf *cells, struct cbx_str text)
{
    struct cbx_str rest = cbx_buf_str(cells);
    struct cbx_record record;
    bool has = false;
    while (!has && cbx_record_next(&rest, &record)) {
        has = record.kind == CBX_RECORD_CELL && cbx_str_equal(record.body, text);
    }
    return has;
}

bool cbx_past_is_complete(const struct cbx_past *past)
{
    return past->has_all_cells && past->has_all_files;
}

static size_t count_in(struct cbx_str bytes)
{
    struct cbx_entry entry;
    size_t count = 0;
    while (cbx_entry_next(&bytes, &entry)) {
        count++;
    }
    return count;
}

bool cbx_past_fits(const struct cbx_past *past, const struct cbx_entry *entry)
{
    enum { HEAD_BYTES = 64 };
    if (entry->kind == CBX_ENTRY_FILE && count_in(cbx_buf_str(&past->files)) + 1 > CBX_FILES_MAX) {
        return false;
    }
    return past->cells.len + past->files.len + HEAD_BYTES + entry->language.len + entry->name.len +
               entry->text.len <=
           CBX_PAST_MAX_BYTES;
}

static void add_to_ledger(struct cbx_past *past, const struct cbx_entry *entry)
{
    struct cbx_sha256 hash = cbx_entry_hash(entry);
    past->ledger = cbx_ledger_add(&past->ledger, &hash);
}

static void keep_file(struct cbx_past *past, const struct cbx_entry *file)
{
    size_t at = past->files.len;
    cbx_entry_write(file, &past->files);
    drop_earlier_file(&past->files, at);
}

static void keep_cell(struct cbx_past *past, const struct cbx_entry *cell)
{
    if (has_cell(&past->cells, cell->text)) {
        return;
    }
    if (cbx_past_fits(past, cell)) {
        cbx_record_write(&(struct cbx_record){ .kind = CBX_RECORD_CELL, .body = cell->text },
                         &past->cells);
    } else {
        past->has_all_cells = false;
    }
}

void cbx_past_add(struct cbx_past *past, const struct cbx_entry *entry)
{
    add_to_ledger(past, entry);
    if (entry->kind == CBX_ENTRY_RESET) {
        cbx_buf_reset(&past->cells);
        past->has_all_cells = true;
    } else if (entry->kind == CBX_ENTRY_CELL) {
        keep_cell(past, entry);
    } else if (cbx_past_fits(past, entry)) {
        keep_file(past, entry);
    } else {
        past->has_all_files = false;
    }
}

void cbx_past_add_cell_as(struct cbx_past *past, const struct cbx_entry *cell,
                          struct cbx_str summary, struct cbx_arena *arena)
{
    if (summary.len == 0) {
        cbx_past_add(past, cell);
        return;
    }
    add_to_ledger(past, cell);
    if (!cbx_summary_merge(&past->cells, summary, arena) ||
        past->cells.len + past->files.len > CBX_PAST_MAX_BYTES) {
        past->has_all_cells = false;
    }
}

void cbx_past_add_written(struct cbx_past *past, const struct cbx_entry *cell,
                          struct cbx_arena *arena)
{
    const struct cbx_lang *lang = cbx_lang_find(cell->language);
    struct cbx_str text = cbx_fold_trim(cell->text), path;
    struct cbx_notebook notebook = { 0 };
    if (cell->kind != CBX_ENTRY_CELL || lang == NULL || !cbx_lang_is_notebook(lang) ||
        !cbx_str_starts(text, CBX_STR("%%")) ||
        cbx_notebook_rewrite(cell->text, arena, &notebook) != 0) {
        return;
    }
    for (size_t i = 0; i < notebook.magic_count; i++) {
        struct cbx_str name =
            cbx_magic_file(&notebook.magics[i], &path) ? cbx_arena_copy(arena, path) : CBX_STR("");
        const struct cbx_lang *code = name.len > 0 ? cbx_lang_of_file(name.p) : NULL;
        struct cbx_entry file = { .kind = CBX_ENTRY_FILE,
                                  .language = cbx_str_of(code != NULL ? code->name : ""),
                                  .name = name,
                                  .text = notebook.magics[i].body };
        /* a file in no known language cannot be loaded */
        if (code != NULL && cbx_past_fits(past, &file)) {
            keep_file(past, &file);
        }
    }
}

void cbx_past_list_files(const struct cbx_past *past, struct cbx_str language, struct cbx_buf *out)
{
    struct cbx_str rest = cbx_buf_str(&past->files);
    const struct cbx_lang *own = cbx_lang_find(language);
    struct cbx_entry file;
    while (own != NULL && cbx_entry_next(&rest, &file)) {
        const struct cbx_lang *lang = cbx_lang_find(file.language);
        if (lang == NULL || !cbx_lang_are_like(lang, own)) {
            continue;
        }
        char hex[CBX_SHA256_HEX + 1];
        struct cbx_sha256 hash = cbx_sha256_of(file.text);
        cbx_sha256_hex(&hash, hex);
        cbx_buf_add_cstr(out, hex);
    }
}

void cbx_past_add_cell(struct cbx_past *past, struct cbx_str text)
{
    cbx_past_add(past, &(struct cbx_entry){ .kind = CBX_ENTRY_CELL, .text = text });
}

/* Precedes the entries; host byte order. */
struct head {
    struct cbx_sha256 ledger;
    uint32_t has_all_cells, has_all_files, cells_bytes, files_bytes;
};

void cbx_past_write(const struct cbx_past *past, struct cbx_buf *out)
{
    struct head head = { .ledger = past->ledger,
                         .has_all_cells = past->has_all_cells,
                         .has_all_files = past->has_all_files,
                         .cells_bytes = (uint32_t)past->cells.len,
                         .files_bytes = (uint32_t)past->files.len };
    cbx_buf_add_bytes(out, &head, sizeof(head));
    cbx_buf_add(out, cbx_buf_str(&past->cells));
    cbx_buf_add(out, cbx_buf_str(&past->files));
}

static bool are_files(struct cbx_str bytes)
{
    struct cbx_entry entry;
    bool good = true;
    while (good && cbx_entry_next(&bytes, &entry)) {
        good = entry.kind == CBX_ENTRY_FILE;
    }
    return good && bytes.len == 0;
}

int cbx_past_read(struct cbx_str bytes, struct cbx_past *out, struct cbx_err *err)
{
    struct head head = { 0 };
    cbx_past_begin(out, &head.ledger);
    out->has_all_cells = out->has_all_files = false;
    if (bytes.len < sizeof(head)) {
        return cbx_fail(err, CBX_EPROTO, "the past has %zu bytes, at least %zu are needed",
                        bytes.len, sizeof(head));
    }
    memcpy(&head, bytes.p, sizeof(head));
    struct cbx_str cells = cbx_str_sub(bytes, sizeof(head), sizeof(head) + head.cells_bytes);
    struct cbx_str files = cbx_str_sub(bytes, sizeof(head) + head.cells_bytes, bytes.len);
    if (cells.len != head.cells_bytes || files.len != head.files_bytes ||
        cells.len + files.len > CBX_PAST_MAX_BYTES || !are_files(files)) {
        return cbx_fail(err, CBX_EPROTO, "the past is malformed");
    }
    cbx_buf_add(&out->cells, cells);
    cbx_buf_add(&out->files, files);
    out->has_all_cells = head.has_all_cells == 1;
    out->has_all_files = head.has_all_files == 1;
    out->ledger = head.ledger;
    return 0;
}

size_t cbx_past_count(const struct cbx_past *past)
{
    struct cbx_str rest = cbx_buf_str(&past->cells);
    struct cbx_record record;
    size_t count = count_in(cbx_buf_str(&past->files));
    while (cbx_record_next(&rest, &record)) {
        count++;
    }
    return count;
}
