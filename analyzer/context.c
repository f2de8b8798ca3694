/* SPDX-License-Identifier: MIT
 * Cells as programs. A context is a row of cells, each with its length in front (32 bits, host
 * order): the bytes between our own processes say where a cell ends, not the cell. */
#include "analyzer/context.h"

#include "analyzer/analyze.h"
#include "analyzer/source.h"
#include "analyzer/written.h"

/* Between two pieces: an empty line ends whatever the line before would go on with. */
static const char separator[] = "\n\n";

/* Takes the record at `at` out. */
static void drop_record(struct cbx_buf *context, size_t at)
{
    uint32_t length;
    memcpy(&length, context->p + at, sizeof(length));
    size_t next = at + sizeof(length) + length;
    memmove(context->p + at, context->p + next, context->len - next);
    context->len -= next - at;
}

void cbx_context_add(struct cbx_buf *context, struct cbx_str cell)
{
    uint32_t length = (uint32_t)cell.len;
    if (cell.len > CBX_CONTEXT_MAX_BYTES - sizeof(length)) {
        return;
    }
    /* A cell that is run again and again binds the same each time. */
    for (size_t at = 0; at < context->len;) {
        uint32_t other;
        memcpy(&other, context->p + at, sizeof(other));
        struct cbx_str text = { .p = context->p + at + sizeof(other), .len = other };
        if (cbx_str_equal(text, cell)) {
            drop_record(context, at);
            break;
        }
        at += sizeof(other) + other;
    }
    while (context->len + sizeof(length) + cell.len > CBX_CONTEXT_MAX_BYTES) {
        drop_record(context, 0);
    }
    cbx_buf_add_bytes(context, &length, sizeof(length));
    cbx_buf_add(context, cell);
}

/* Code inside a notebook line, and where it stands in the program. */
struct piece {
    const struct cbx_magic *magic;
    uint32_t start;
};

struct program {
    struct cbx_buf text;
    struct cbx_arena *arena;
    uint32_t cell;        /* where the cell's own text stands */
    struct piece *pieces; /* of the cell, in order */
    size_t piece_count;
    struct cbx_magic
        *lines; /* all notebook lines that were rewritten, at their places in the program */
    size_t line_count, line_size;
};

static bool add_lines(struct program *p, const struct cbx_notebook *notebook, uint32_t at)
{
    for (size_t i = 0; i < notebook->magic_count; i++) {
        if (p->line_count == p->line_size) {
            size_t size = p->line_size == 0 ? 64 : p->line_size * 2;
            struct cbx_magic *lines = cbx_arena_array(p->arena, size, sizeof(*lines));
            if (lines == NULL) {
                return false;
            }
            if (p->line_count > 0) {
                memcpy(lines, p->lines, p->line_count * sizeof(*lines));
            }
            p->lines = lines;
            p->line_size = size;
        }
        struct cbx_magic *line = &p->lines[p->line_count++];
        *line = notebook->magics[i];
        line->text_start += at;
        line->text_end += at;
    }
    return true;
}

/* Appends a cell's text and then the code inside its lines; `own` notes the places of the latter.
 */
static bool add_cell(struct program *p, const struct cbx_notebook *notebook, bool own)
{
    if (!add_lines(p, notebook, (uint32_t)p->text.len)) {
        return false;
    }
    cbx_buf_add(&p->text, notebook->text);
    cbx_buf_add_cstr(&p->text, separator);
    for (size_t i = 0; i < notebook->magic_count; i++) {
        struct cbx_str codes[CBX_MAGIC_CODES];
        uint32_t count = cbx_magic_code(&notebook->magics[i], codes);
        for (uint32_t c = 0; c < count; c++) {
            struct cbx_notebook inner = { .text = codes[c] };
            if (cbx_notebook_rewrite(codes[c], p->arena, &inner) != 0 ||
                !add_lines(p, &inner, (uint32_t)p->text.len)) {
                return false;
            }
            if (own) {
                p->pieces[p->piece_count++] =
                    (struct piece){ .magic = &notebook->magics[i], .start = (uint32_t)p->text.len };
            }
            cbx_buf_add(&p->text, inner.text);
            cbx_buf_add_cstr(&p->text, separator);
        }
    }
    return true;
}

static bool add_context(struct program *p, struct cbx_str context)
{
    while (context.len >= sizeof(uint32_t)) {
        uint32_t length;
        memcpy(&length, context.p, sizeof(length));
        struct cbx_str cell = cbx_str_sub(context, sizeof(length), sizeof(length) + (size_t)length);
        struct cbx_facts ignored = { .arena = p->arena };
        struct cbx_source source;
        struct cbx_notebook notebook = { .text = cell };
        if (cell.len != length || cbx_source_read(cell, false, p->arena, &ignored, &source) != 0 ||
            cbx_notebook_rewrite(source.text, p->arena, &notebook) != 0 ||
            !add_cell(p, &notebook, false)) {
            return false;
        }
        context = cbx_str_sub(context, sizeof(length) + (size_t)length, context.len);
    }
    return true;
}

/* Where a place of the program stands in the cell; false when it is in the context. */
static bool place_in_cell(const struct program *p, const struct cbx_notebook *notebook,
                          uint32_t start, uint32_t end, uint32_t *start_out, uint32_t *end_out)
{
    if (start < p->cell) {
        return false;
    }
    if (p->piece_count == 0 || start < p->pieces[0].start) {
        /* A node that goes on beyond the cell, as after an error, ends with it. */
        uint32_t last = (uint32_t)notebook->text.len, from = start - p->cell, to = end - p->cell;
        *start_out =
            cbx_notebook_place(notebook->magics, notebook->magic_count, from < last ? from : last);
        *end_out =
            cbx_notebook_place(notebook->magics, notebook->magic_count, to < last ? to : last);
        return true;
    }
    size_t low = 0, high = p->piece_count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (p->pieces[middle].start <= start) {
            low = middle;
        } else {
            high = middle;
        }
    }
    *start_out = p->pieces[low].magic->start;
    *end_out = p->pieces[low].magic->end;
    return true;
}

/* Errors are told where the cell and its pieces are read by themselves. */
static void take_fact(const struct program *p, const struct cbx_notebook *notebook,
                      const struct cbx_fact *from, struct cbx_facts *to)
{
    uint32_t start, end;
    if ((from->kind == CBX_IS_SPECIAL && from->special == CBX_FACT_SYNTAX) ||
        !place_in_cell(p, notebook, from->start, from->end, &start, &end)) {
        return;
    }
    struct cbx_fact *fact = cbx_facts_add(to, from->kind, from->name, start, end);
    if (fact != NULL) {
        start = fact->start;
        end = fact->end;
        *fact = *from;
        fact->start = start;
        fact->end = end;
    }
}

static bool has_code(const struct cbx_notebook *notebook, size_t *count)
{
    struct cbx_str codes[CBX_MAGIC_CODES];
    *count = 0;
    for (size_t i = 0; i < notebook->magic_count; i++) {
        *count += cbx_magic_code(&notebook->magics[i], codes);
    }
    return *count > 0;
}

void cbx_context_facts(const struct cbx_parsed *parsed, const struct cbx_lang *lang,
                       struct cbx_str context, const struct cbx_notebook *notebook)
{
    enum { PROGRAM_MAX_BYTES = 64 * 1024 * 1024 };
    struct program p = { .arena = parsed->arena };
    size_t codes;
    if (!has_code(notebook, &codes) && context.len == 0) {
        return;
    }
    p.pieces = cbx_arena_array(parsed->arena, codes + 1, sizeof(*p.pieces));
    cbx_buf_init(&p.text, PROGRAM_MAX_BYTES);
    bool whole = p.pieces != NULL && add_context(&p, context);
    p.cell = (uint32_t)p.text.len;
    whole = whole && add_cell(&p, notebook, true) && !p.text.overflow;
    if (whole) {
        struct cbx_facts facts = { .arena = parsed->arena,
                                   .language = lang->policy,
                                   .source = lang->policy };
        struct cbx_parsed program = *parsed;
        program.facts = &facts;
        program.magics = p.lines;
        program.magic_count = p.line_count;
        program.names_only = true;
        struct cbx_str text =
            cbx_arena_copy(parsed->arena, cbx_buf_str(&p.text)); /* facts borrow from it */
        if (text.p != NULL) {
            cbx_parse_text(&program, lang, text, NULL);
        }
        cbx_written_imports(&facts, parsed->facts);
        for (size_t i = 0; i < facts.count; i++) {
            take_fact(&p, notebook, &facts.items[i], parsed->facts);
        }
    } else {
        cbx_facts_add_special(parsed->facts, CBX_FACT_TOO_COMPLEX, CBX_STR("cells"), 0, 1);
    }
    cbx_buf_done(&p.text);
}
