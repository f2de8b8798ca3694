/* SPDX-License-Identifier: MIT
 * Cells in a row. The context and the cell are read as one text; only what stands in the cell
 * counts. A cell is read by itself as well (analyze.c), so no context can hide what it does. */
#include "analyzer/context.h"

#include "analyzer/analyze.h"

/* Between two cells: an empty line ends whatever the line before would go on with. Form feed is
 * white space that no program needs at the start of a line, so it marks where a cell begins. */
static const char separator[] = "\n\n\f\n";

void cbx_context_add(struct cbx_buf *context, struct cbx_str text)
{
    if (text.len > CBX_CONTEXT_MAX_BYTES) {
        return;
    }
    while (context->len + text.len + sizeof(separator) > CBX_CONTEXT_MAX_BYTES &&
           context->len > 0) {
        const char *end = memmem(context->p, context->len, separator, sizeof(separator) - 1);
        size_t oldest =
            end != NULL ? (size_t)(end - context->p) + sizeof(separator) - 1 : context->len;
        cbx_buf_consume(context, oldest);
    }
    cbx_buf_add(context, text);
    cbx_buf_add_cstr(context, separator);
}

/* The notebook lines of the cell, at their places behind the context. */
static struct cbx_magic *shift_magics(const struct cbx_notebook *notebook, uint32_t by,
                                      struct cbx_arena *arena)
{
    struct cbx_magic *magics = cbx_arena_array(arena, notebook->magic_count + 1, sizeof(*magics));
    for (size_t i = 0; magics != NULL && i < notebook->magic_count; i++) {
        magics[i] = notebook->magics[i];
        magics[i].start += by;
        magics[i].end += by;
        magics[i].text_start += by;
        magics[i].text_end += by;
    }
    return magics;
}

static void take_fact(struct cbx_facts *to, const struct cbx_fact *from, uint32_t offset)
{
    if (from->start < offset ||
        (from->kind == CBX_IS_SPECIAL && from->special == CBX_FACT_SYNTAX)) {
        return;
    }
    struct cbx_fact *fact =
        cbx_facts_add(to, from->kind, from->name, from->start - offset, from->end - offset);
    if (fact != NULL) {
        uint32_t start = fact->start, end = fact->end;
        *fact = *from;
        fact->start = start;
        fact->end = end;
    }
}

void cbx_context_facts(const struct cbx_parsed *parsed, const struct cbx_lang *lang,
                       struct cbx_str context, const struct cbx_notebook *notebook)
{
    struct cbx_parsed both = *parsed;
    struct cbx_facts facts = { .arena = parsed->arena,
                               .language = lang->policy,
                               .source = lang->policy };
    struct cbx_str cell = notebook->text;
    char *text = cbx_arena_alloc(parsed->arena, context.len + cell.len + 1);
    both.facts = &facts;
    both.magics = shift_magics(notebook, (uint32_t)context.len, parsed->arena);
    both.magic_count = notebook->magic_count;
    if (text == NULL || both.magics == NULL) {
        return;
    }
    memcpy(text, context.p, context.len);
    if (cell.len > 0) {
        memcpy(text + context.len, cell.p, cell.len);
    }
    cbx_parse_text(&both, lang, (struct cbx_str){ .p = text, .len = context.len + cell.len }, NULL);
    for (size_t i = 0; i < facts.count; i++) {
        take_fact(parsed->facts, &facts.items[i], (uint32_t)context.len);
    }
}
