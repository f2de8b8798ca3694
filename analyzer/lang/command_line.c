/* SPDX-License-Identifier: MIT
 * Programs that other languages start with a list of words; judged as the equivalent line of
 * shell. */
#include "analyzer/lang/command_line.h"

/* Returns true for sys.executable, the path of the running interpreter. */
static bool is_interpreter(const struct cbx_values *word)
{
    return word->count == 1 && word->items[0]->kind == CBX_V_NAME &&
           cbx_str_is(word->items[0]->text, "sys.executable");
}

/* Appends a word in quotes, so that the shell reads one word; an unknown part becomes a variable
 * that is not set. */
static struct cbx_str add_word(struct cbx_arena *arena, struct cbx_str line,
                               const struct cbx_values *word)
{
    struct cbx_str text, out = line.len > 0 ? cbx_fold_concat(arena, line, CBX_STR(" ")) : line;
    if (is_interpreter(word)) {
        return cbx_fold_concat(arena, out, CBX_STR("python"));
    }
    if (!cbx_values_is_text(word, &text)) {
        return cbx_fold_concat(arena, out, CBX_STR("\"$CODEBOX_UNKNOWN\""));
    }
    text = cbx_fold_replace(arena, text, CBX_STR("'"), CBX_STR("'\\''"));
    out = cbx_fold_concat(arena, out, CBX_STR("'"));
    return cbx_fold_concat(arena, cbx_fold_concat(arena, out, text), CBX_STR("'"));
}

void cbx_command_line(const struct cbx_parsed *parsed, const struct cbx_values *const *words,
                      uint32_t count, bool open, uint32_t start, uint32_t end)
{
    struct cbx_str line = CBX_STR("");
    for (uint32_t i = 0; i < count && line.p != NULL; i++) {
        line = add_word(parsed->arena, line, words[i]);
    }
    if (open && line.p != NULL) {
        line = add_word(parsed->arena, line, &cbx_values_unknown);
    }
    if (line.p == NULL || count == 0) {
        cbx_facts_add_special(parsed->facts, CBX_FACT_SHELL_UNRESOLVED, CBX_STR("command"), start,
                              end);
        return;
    }
    cbx_parse_inner(parsed, "shell", line, start, end);
}
