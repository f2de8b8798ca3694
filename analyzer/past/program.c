/* SPDX-License-Identifier: MIT
 * Reads cells as one program. */
#include "analyzer/past/program.h"

#include "analyzer/lang/summary.h"
#include "analyzer/past/past.h"
#include "analyzer/past/written.h"
#include "analyzer/syntax/source.h"
#include "analyzer/syntax/tree_memory.h"
#include "policies/base/array.h"

/* A part of the program: the text of a cell or file, or code inside of a cell's notebook line. */
struct segment {
    uint32_t start; /* offset in the program */
    uint32_t cell;
    const struct cbx_magic *magic; /* the notebook line with the code; NULL: the cell's own text */
};

/* A cell or file of the program. */
struct cell {
    struct cbx_notebook notebook;
    uint32_t first_fact; /* index in `order`; the next cell's `first_fact` is the end */
};

struct cbx_program {
    const struct cbx_lang *lang;
    struct cbx_arena *arena;
    struct cell *cells; /* with one more, for the end of the last one's facts */
    size_t cell_count, cell_size;
    struct segment *segments; /* by start */
    size_t segment_count, segment_size;
    struct cbx_magic *lines; /* all rewritten notebook lines, with their places in the program */
    size_t line_count, line_size;
    bool has_code; /* true if a notebook line has code inside */
    bool whole;    /* false: the program could not be read, and all its cells are denied */
    /* true if the last cell is new and the others have run: only their functions run again */
    bool has_past;
    struct cbx_ranges files;
    struct cbx_ranges functions; /* only for a program with a past */
    struct cbx_str summary;      /* summary of the last cell; empty if there is none */
    struct cbx_facts facts;
    uint32_t *order; /* indexes of the facts, sorted by cell */
    struct cbx_written written;
};

static bool add_lines(struct cbx_program *p, const struct cbx_notebook *notebook, uint32_t at)
{
    for (size_t i = 0; i < notebook->magic_count; i++) {
        if (!CBX_ARRAY_RESERVE(p->arena, p->lines, p->line_count, &p->line_size, 1, SIZE_MAX)) {
            return false;
        }
        struct cbx_magic *line = &p->lines[p->line_count++];
        *line = notebook->magics[i];
        line->text_start += at;
        line->text_end += at;
    }
    return true;
}

/* Appends a text of the newest cell. */
static bool add_segment(struct cbx_program *p, const struct cbx_notebook *notebook,
                        const struct cbx_magic *magic, struct cbx_buf *text)
{
    if (!CBX_ARRAY_RESERVE(p->arena, p->segments, p->segment_count, &p->segment_size, 1,
                           SIZE_MAX) ||
        !add_lines(p, notebook, (uint32_t)text->len)) {
        return false;
    }
    p->segments[p->segment_count++] = (struct segment){ .start = (uint32_t)text->len,
                                                        .cell = (uint32_t)p->cell_count - 1,
                                                        .magic = magic };
    cbx_buf_add(text, notebook->text);
    cbx_buf_add_cstr(text, p->lang->code->between);
    return !text->overflow;
}

/* Appends the code inside of the notebook lines, and inside of the lines of that code. `line`:
 * the line of the cell that contains it; NULL for the cell itself. */
static bool add_codes(struct cbx_program *p, const struct cbx_notebook *notebook,
                      const struct cbx_magic *line, int depth, struct cbx_buf *text)
{
    bool added = true;
    for (size_t i = 0; added && i < notebook->magic_count; i++) {
        const struct cbx_magic *magic = &notebook->magics[i];
        const struct cbx_magic *outer = line != NULL ? line : magic;
        p->has_code |= magic->code_count > 0;
        for (uint32_t c = 0; added && c < magic->code_count && depth < CBX_CODE_DEPTH_MAX; c++) {
            added = add_segment(p, magic->codes[c], outer, text) &&
                    add_codes(p, magic->codes[c], outer, depth + 1, text);
        }
    }
    return added;
}

/* Appends a cell's text and then the code inside of its lines. The caller has reserved room in
 * p->cells. */
static bool add_cell(struct cbx_program *p, const struct cbx_notebook *notebook,
                     struct cbx_buf *text)
{
    if (!CBX_ARRAY_RESERVE(p->arena, p->cells, p->cell_count, &p->cell_size, 2, SIZE_MAX)) {
        return false;
    }
    p->cells[p->cell_count++].notebook = *notebook;
    return add_segment(p, notebook, NULL, text) && add_codes(p, notebook, NULL, 0, text);
}

/* Adds a cell as the client sent it. A cell that cannot be read is denied by its own analysis;
 * here it becomes empty, so that the other cells can be read. */
static bool add_source(struct cbx_program *p, struct cbx_str cell, struct cbx_buf *text)
{
    struct cbx_facts ignored = { .arena = p->arena };
    struct cbx_source source;
    struct cbx_notebook notebook = { 0 };
    if (cbx_source_read(cell, false, p->arena, &ignored, &source) != 0) {
        return false;
    }
    notebook.text = source.text;
    if (!source.readable) {
        notebook.text.len = 0;
    } else if (cbx_lang_is_notebook(p->lang) &&
               cbx_notebook_rewrite(source.text, p->arena, &notebook) != 0) {
        return false;
    }
    return add_cell(p, &notebook, text);
}

/* Appends a file: its names are its own, and they are attributes in every text that imports it. */
static bool add_file(struct cbx_program *p, struct cbx_str source, struct cbx_buf *text)
{
    const char *const *around = p->lang->code->around_file;
    if (!CBX_ARRAY_RESERVE(p->arena, p->files.items, p->files.count, &p->files.size, 1, SIZE_MAX)) {
        return false;
    }
    cbx_buf_add_cstr(text, around != NULL ? around[0] : "");
    uint32_t start = (uint32_t)text->len;
    struct cbx_notebook file = { .text = source };
    bool added = add_cell(p, &file, text);
    p->files.items[p->files.count++] = (struct cbx_range){ start, (uint32_t)text->len };
    cbx_buf_add_cstr(text, around != NULL ? around[1] : "");
    return added;
}

static bool add_files(struct cbx_program *p, const struct cbx_past *past, struct cbx_buf *text)
{
    struct cbx_str rest = cbx_buf_str(&past->files);
    struct cbx_entry entry;
    bool added = true;
    while (added && cbx_entry_next(&rest, &entry)) {
        struct cbx_facts ignored = { .arena = p->arena };
        struct cbx_source source;
        const struct cbx_lang *lang = cbx_lang_find(entry.language);
        if (lang != NULL && cbx_lang_are_like(lang, p->lang)) {
            added = cbx_source_read(entry.text, false, p->arena, &ignored, &source) == 0 &&
                    source.readable && add_file(p, source.text, text);
        }
    }
    return added;
}

struct adding {
    struct cbx_program *program;
    struct cbx_buf *text;
};

/* Adds a cell as the client sent it, or statements of a cell. */
static bool add_record(void *context, const struct cbx_record *record)
{
    const struct adding *a = context;
    struct cbx_notebook statements = { .text = record->body };
    return record->kind == CBX_RECORD_CELL ? add_source(a->program, record->body, a->text)
                                           : add_cell(a->program, &statements, a->text);
}

static bool add_past(struct cbx_program *p, const struct cbx_past *past,
                     const struct cbx_recall *recall, struct cbx_buf *text)
{
    struct adding adding = { .program = p, .text = text };
    bool added =
        past == NULL || (add_files(p, past, text) && cbx_recall_each(recall, add_record, &adding));
    p->has_past = past != NULL;
    return added;
}

/* --- reading ---------------------------------------------------------------------------------- */

static const struct segment *segment_at(const struct cbx_program *p, uint32_t byte)
{
    size_t low = 0, high = p->segment_count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (p->segments[middle].start <= byte) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return &p->segments[low];
}

/* Counts the facts of each cell, then sorts them by cell. */
static bool sort_facts(struct cbx_program *p)
{
    p->order = cbx_arena_array(p->arena, p->facts.count + 1, sizeof(*p->order));
    uint32_t *next = cbx_arena_array(p->arena, p->cell_count + 1, sizeof(*next));
    if (p->order == NULL || next == NULL) {
        return false;
    }
    for (size_t i = 0; i < p->facts.count; i++) {
        next[segment_at(p, p->facts.items[i].start)->cell]++;
    }
    uint32_t before = 0;
    for (size_t c = 0; c <= p->cell_count; c++) {
        uint32_t own = next[c];
        p->cells[c].first_fact = next[c] = before;
        before += own;
    }
    for (size_t i = 0; i < p->facts.count; i++) {
        p->order[next[segment_at(p, p->facts.items[i].start)->cell]++] = (uint32_t)i;
    }
    return true;
}

/* Reads the program: one text, one tree, one extraction. */
static bool read_text(struct cbx_program *p, const struct cbx_parsed *like,
                      const struct cbx_buf *buf)
{
    const struct cbx_lang *lang = p->lang;
    /* facts borrow from this copy */
    struct cbx_str text = cbx_arena_copy(p->arena, cbx_buf_str(buf));
    struct cbx_parsed parsed = *like;
    TSTree *tree = NULL;
    p->facts =
        (struct cbx_facts){ .arena = p->arena, .language = lang->policy, .source = lang->policy };
    parsed.facts = &p->facts;
    parsed.magics = p->lines;
    parsed.magic_count = p->line_count;
    parsed.names_only = true;
    parsed.files = p->files;
    parsed.functions = p->has_past ? &p->functions : NULL;
    if (text.p == NULL) {
        return false;
    }
    cbx_parse_text(&parsed, lang, text, &tree);
    bool in_time = tree != NULL;
    cbx_tree_delete(tree);
    cbx_written_read(&p->facts, &p->written);
    if (parsed.recall != NULL) {
        cbx_recall_written(parsed.recall, &p->written);
    }
    return in_time && sort_facts(p);
}

enum { PROGRAM_MAX_BYTES = 64 * 1024 * 1024 };

static struct cbx_program *new_program(struct cbx_arena *arena, const struct cbx_lang *lang)
{
    struct cbx_program *p = cbx_arena_array(arena, 1, sizeof(*p));
    if (p != NULL) {
        p->arena = arena;
        p->lang = lang;
    }
    return p;
}

/* Returns true for a single cell without code in its lines: the program has no facts besides
 * the facts of the cell's own analysis. */
static bool adds_nothing(const struct cbx_program *p)
{
    return p->cell_count < 2 && !p->has_code;
}

int cbx_program_read(const struct cbx_policy *policy, const struct cbx_str *cells, size_t count,
                     uint32_t budget_ms, struct cbx_arena *arena, const struct cbx_program **out)
{
    struct cbx_program *p = new_program(arena, cbx_lang_of_notebooks());
    if (p == NULL) {
        return CBX_ETOOBIG;
    }
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, PROGRAM_MAX_BYTES);
    p->whole = true;
    for (size_t i = 0; p->whole && i < count; i++) {
        p->whole = add_source(p, cells[i], &text);
    }
    struct cbx_parsed like = { .policy = policy,
                               .arena = arena,
                               .deadline_ms = cbx_parse_deadline(budget_ms) };
    cbx_tree_memory_begin();
    p->whole = p->whole && (adds_nothing(p) || read_text(p, &like, &text));
    cbx_tree_memory_end();
    *out = p;
    return 0;
}

/* --- facts of a cell -------------------------------------------------------------------------- */

/* Converts a place in the program to a place in its cell. */
static void place_in_cell(const struct cbx_program *p, const struct cbx_fact *fact, uint32_t *start,
                          uint32_t *end)
{
    const struct segment *s = segment_at(p, fact->start);
    const struct cbx_notebook *notebook = &p->cells[s->cell].notebook;
    if (s->magic != NULL) {
        *start = s->magic->start;
        *end = s->magic->end;
        return;
    }
    /* A node may extend past the cell, for example after an error: cut it at the cell's end. */
    uint32_t last = (uint32_t)notebook->text.len, from = fact->start - s->start,
             to = fact->end - s->start;
    *start = cbx_notebook_place(notebook->magics, notebook->magic_count, from < last ? from : last);
    *end = cbx_notebook_place(notebook->magics, notebook->magic_count, to < last ? to : last);
}

/* Returns true for a syntax error: the analyses of the cell and of its pieces report it. */
static bool is_syntax(const struct cbx_fact *fact)
{
    return fact->kind == CBX_IS_SPECIAL && fact->special == CBX_FACT_SYNTAX;
}

static void take_fact(const struct cbx_program *p, const struct cbx_fact *from,
                      struct cbx_facts *to)
{
    uint32_t start, end;
    if (is_syntax(from)) {
        return;
    }
    place_in_cell(p, from, &start, &end);
    struct cbx_fact *fact = cbx_facts_add(to, from->kind, from->name, start, end);
    if (fact != NULL) {
        start = fact->start;
        end = fact->end;
        *fact = *from;
        fact->start = start;
        fact->end = end;
    }
}

/* Returns true for a fact of an earlier cell or file that the new cell may cause: the fact is
 * about code that runs later, a function or an imported file, or about the reading of the whole
 * program. */
static bool is_of_now(const struct cbx_program *p, const struct cbx_fact *fact)
{
    return !is_syntax(fact) &&
           ((fact->kind == CBX_IS_SPECIAL && fact->special == CBX_FACT_TOO_COMPLEX) ||
            cbx_ranges_have(&p->functions, fact->start) || cbx_ranges_have(&p->files, fact->start));
}

/* Takes facts of earlier cells and files: they were judged when they came, but the new cell may
 * change their meaning. */
static void take_past(const struct cbx_program *p, size_t cell, struct cbx_facts *facts)
{
    for (uint32_t i = 0; i < p->cells[cell].first_fact; i++) {
        const struct cbx_fact *from = &p->facts.items[p->order[i]];
        struct cbx_fact *fact =
            is_of_now(p, from) ? cbx_facts_add(facts, from->kind, from->name, 0, 0) : NULL;
        if (fact != NULL) {
            uint32_t start = fact->start, end = fact->end;
            *fact = *from;
            fact->start = start;
            fact->end = end;
            fact->earlier = true;
        }
    }
}

void cbx_program_facts(const struct cbx_program *p, size_t cell, struct cbx_facts *facts)
{
    if (!p->whole || cell >= p->cell_count) {
        cbx_facts_add_special(facts, CBX_FACT_TOO_COMPLEX, CBX_STR("cells"), 0, 1);
        return;
    }
    if (p->has_past || !adds_nothing(p)) {
        cbx_facts_drop_alone(facts);
    }
    if (p->has_past && p->order != NULL) {
        take_past(p, cell, facts);
    }
    for (uint32_t i = p->cells[cell].first_fact; i < p->cells[cell + 1].first_fact; i++) {
        take_fact(p, &p->facts.items[p->order[i]], facts);
    }
    cbx_written_imports(&p->written, facts);
}

const struct cbx_notebook *cbx_program_notebook(const struct cbx_program *p, size_t cell)
{
    return p->whole && cell < p->cell_count ? &p->cells[cell].notebook : NULL;
}

/* The last cell of a program, with the past before it. */
struct last_cell {
    const struct cbx_past *past;
    struct cbx_recall *recall; /* NULL without a past */
    const struct cbx_notebook *notebook;
    bool is_file;
    struct cbx_buf *summary; /* output: the summary of the cell; NULL: not needed */
};

static void begin_again(struct cbx_program *p)
{
    p->cell_count = p->segment_count = p->line_count = 0;
    p->has_code = false;
    p->files.count = p->functions.count = 0;
}

/* Builds the program from the recalled records, and reads it. */
static bool read_last(struct cbx_program *p, const struct last_cell *last,
                      const struct cbx_parsed *like, struct cbx_buf *text)
{
    struct cbx_parsed parsed = *like;
    begin_again(p);
    cbx_buf_reset(text);
    bool added = add_past(p, last->past, last->recall, text);
    parsed.recall = last->recall;
    parsed.summary = last->summary;
    parsed.fresh.start = (uint32_t)text->len;
    added = added && (last->is_file ? add_file(p, last->notebook->text, text)
                                    : add_cell(p, last->notebook, text));
    parsed.fresh.end = (uint32_t)text->len;
    return added && ((last->past == NULL && adds_nothing(p)) || read_text(p, &parsed, text));
}

/* Returns false if the summary has a piece of a cell with notebook lines: it is not plain text
 * of the language. */
static bool is_plain(const struct cbx_notebook *notebook, struct cbx_str summary)
{
    struct cbx_record record;
    bool plain = true;
    while (notebook->magic_count > 0 && plain && cbx_record_next(&summary, &record)) {
        plain = record.kind != CBX_RECORD_PIECE;
    }
    return plain;
}

/* Reads the program, again with more of the past as long as the last reading needed more. */
static bool read_with_past(struct cbx_program *p, struct last_cell *last,
                           const struct cbx_parsed *like, struct cbx_buf *text)
{
    enum { READINGS_MAX = 6 };
    last->recall = cbx_recall_new(cbx_buf_str(&last->past->cells), p->arena);
    if (last->recall == NULL) {
        return false;
    }
    cbx_recall_words(last->recall, last->notebook->text);
    bool whole = read_last(p, last, like, text);
    for (int i = 1; whole && cbx_recall_more(last->recall); i++) {
        if (i == READINGS_MAX) {
            cbx_recall_all(last->recall);
        }
        whole = read_last(p, last, like, text);
    }
    if (whole && last->summary != NULL && is_plain(last->notebook, cbx_buf_str(last->summary))) {
        p->summary = cbx_arena_copy(p->arena, cbx_buf_str(last->summary));
    }
    return whole;
}

const struct cbx_program *cbx_program_of_cell(const struct cbx_parsed *parsed,
                                              const struct cbx_lang *lang,
                                              const struct cbx_past *past,
                                              const struct cbx_notebook *notebook, bool is_file,
                                              size_t *cell)
{
    enum { SUMMARY_MAX_BYTES = 4 * 1024 * 1024 };
    struct cbx_program *p = new_program(parsed->arena, lang);
    if (p == NULL) {
        return NULL;
    }
    CBX_AUTO_DONE(buf) text;
    CBX_AUTO_DONE(buf) summary;
    cbx_buf_init(&text, PROGRAM_MAX_BYTES);
    cbx_buf_init(&summary, SUMMARY_MAX_BYTES);
    struct last_cell last = {
        .past = past, .notebook = notebook, .is_file = is_file, .summary = is_file ? NULL : &summary
    };
    p->whole =
        past != NULL ? read_with_past(p, &last, parsed, &text) : read_last(p, &last, parsed, &text);
    *cell = p->cell_count > 0 ? p->cell_count - 1 : 0;
    return p;
}

struct cbx_str cbx_program_summary(const struct cbx_program *p)
{
    return p->whole ? p->summary : CBX_STR("");
}
