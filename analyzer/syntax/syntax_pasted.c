/* SPDX-License-Identifier: MIT
 * Recognises traces of copying in program text: characters of formatted text, and prompts of an
 * interactive session. */
#include "analyzer/syntax/syntax_internal.h"

static const struct pasted {
    const char *character, *instead, *name;
} table[] = {
#define CBX_PASTED(character, instead, name) { character, instead, name },
#include "analyzer/syntax/syntax_pasted.def"
};

static const struct pasted *find(struct cbx_str text)
{
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        if (cbx_str_starts(text, cbx_str_of(table[i].character))) {
            return &table[i];
        }
    }
    return NULL;
}

bool cbx_syntax_is_pasted(struct cbx_str text)
{
    return find(text) != NULL;
}

/* Makes the corrected line; false if it is too long to be shown. */
static bool repair(struct cbx_str line, char *out, size_t size)
{
    size_t n = 0;
    for (size_t i = 0; i < line.len;) {
        const struct pasted *pasted = find(cbx_str_sub(line, i, line.len));
        const char *text = pasted != NULL ? pasted->instead : line.p + i;
        size_t len = pasted != NULL ? strlen(text) : 1;
        if (n + len >= size) {
            return false;
        }
        memcpy(out + n, text, len);
        n += len;
        i += pasted != NULL ? strlen(pasted->character) : 1;
    }
    out[n] = '\0';
    return true;
}

/* Returns the line that has this byte, without the spaces around it. */
static struct cbx_str line_at(struct cbx_str text, size_t at)
{
    size_t from = at, to = at;
    while (from > 0 && text.p[from - 1] != '\n') {
        from--;
    }
    while (to < text.len && text.p[to] != '\n') {
        to++;
    }
    from = cbx_syntax_first_word(text, from);
    while (to > from && cbx_syntax_is_space(text.p[to - 1])) {
        to--;
    }
    return cbx_str_sub(text, from, to);
}

bool cbx_syntax_pasted_character(struct cbx_explainer *e)
{
    struct cbx_scan scan;
    char repaired[2 * CBX_SYNTAX_SHOWN_MAX];
    cbx_scan_source(e->source->lang->policy, e->text, NULL, NULL, &scan);
    if (!scan.has_pasted) {
        return false;
    }
    const struct pasted *pasted = find(cbx_str_sub(e->text, scan.pasted, e->text.len));
    struct cbx_str line = line_at(e->text, scan.pasted);
    bool shown = line.len < sizeof(repaired) && repair(line, repaired, sizeof(repaired));
    return cbx_syntax_report(e, scan.pasted, scan.pasted + strlen(pasted->character), pasted->name,
                             shown ? cbx_arena_note(e->arena, "instead of `%.*s` write `%s`",
                                                    CBX_STR_SHOWN(line), repaired)
                                   : cbx_arena_note(e->arena, "instead of `%s` write `%s`",
                                                    pasted->character, pasted->instead));
}

bool cbx_syntax_prompt(struct cbx_explainer *e)
{
    static const struct {
        enum cbx_language language;
        const char *prompt;
    } prompts[] = {
        { CBX_PYTHON, ">>> " },   { CBX_PYTHON, "$ " },     { CBX_JAVASCRIPT, "> " },
        { CBX_JAVASCRIPT, "$ " }, { CBX_TYPESCRIPT, "> " }, { CBX_TYPESCRIPT, "$ " },
    };
    size_t first = 0;
    while (first < e->text.len &&
           (cbx_syntax_is_space(e->text.p[first]) || e->text.p[first] == '\n')) {
        first++;
    }
    struct cbx_str line = line_at(e->text, first);
    for (size_t i = 0; i < sizeof(prompts) / sizeof(prompts[0]); i++) {
        struct cbx_str prompt = cbx_str_of(prompts[i].prompt);
        bool begins =
            prompts[i].language == e->source->lang->policy && cbx_str_starts(line, prompt);
        if (begins && line.len > prompt.len && line.len < 2 * CBX_SYNTAX_SHOWN_MAX) {
            return cbx_syntax_report(
                e, first, first + prompt.len, "prompt of an interactive session",
                cbx_arena_note(e->arena,
                               "instead of `%.*s` write `%.*s`, and so on each line; leave out "
                               "what was printed",
                               CBX_STR_SHOWN(line),
                               CBX_STR_SHOWN(cbx_str_sub(line, prompt.len, line.len))));
        }
    }
    return false;
}
