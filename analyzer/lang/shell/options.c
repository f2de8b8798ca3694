/* SPDX-License-Identifier: MIT
 * Words of unknown text and wildcards at places where a command reads options: commands.def lists
 * the commands with options that run code (CBX_ACTS). */
#include "analyzer/lang/shell/command.h"

/* Places where a command reads options. EVERYWHERE: also after its operands, up to "--"; FIRST:
 * before the first operand; OPERANDS: "--" does not end them; BUNDLED: everywhere, and the first
 * word has options without a dash, whose values are the next words (tar xf FILE). */
enum places { EVERYWHERE, FIRST, OPERANDS, BUNDLED };

static const struct {
    const char *word, *values;
    enum places places;
} acting[] = {
#define CBX_ACTS(word, values, places) { word, values, places },
#include "analyzer/lang/shell/commands.def"
};

static void add_fact(const struct cbx_shell_command *c, const struct cbx_word *word)
{
    cbx_facts_add_special(c->s->parsed->facts, CBX_FACT_SHELL_OPTION, c->words[0].text, word->start,
                          word->end);
}

/* Returns true if the option's value is the next word. */
static bool takes_next(struct cbx_str option, const char *values)
{
    return option.len > 1 && option.p[1] != '-' && strchr(values, option.p[option.len - 1]) != NULL;
}

static size_t count_bundled(const struct cbx_shell_command *c, const char *values)
{
    size_t count = 0;
    struct cbx_str first = c->count > 1 ? c->words[1].text : (struct cbx_str){ 0 };
    for (size_t i = 0; i < first.len && !cbx_shell_is_option(&c->words[1]); i++) {
        count += strchr(values, first.p[i]) != NULL;
    }
    return count;
}

/* Returns true if a word of unknown text may make find run a program. It can only be -exec: a
 * command, which is no option, has to follow it, and a word that ends the command. */
static bool may_find_run(const struct cbx_shell_command *c, size_t w)
{
    const struct cbx_word *command = w + 1 < c->count ? &c->words[w + 1] : NULL;
    if ((c->may[w] & CBX_SHELL_MAY_MANY) != 0) {
        return true;
    }
    bool runs = command != NULL && !(command->known && cbx_shell_is_option(command));
    for (size_t end = w + 2; runs && end < c->count; end++) {
        const struct cbx_word *word = &c->words[end];
        if (!word->known || c->patterns[end] || cbx_str_is(word->text, ";") ||
            cbx_str_is(word->text, "+")) {
            return true;
        }
    }
    return runs && c->fed;
}

static void check(const struct cbx_shell_command *c, const char *values, enum places places)
{
    bool value = false, operands = false;
    size_t bundled = places == BUNDLED ? count_bundled(c, values) : 0;
    for (size_t w = 1; w < c->count; w++) {
        const struct cbx_word *word = &c->words[w];
        unsigned may = c->may[w];
        bool option = cbx_shell_is_option(word);
        if (word->known && cbx_str_is(word->text, "--") && places != OPERANDS && !value) {
            return;
        }
        bool hole = cbx_shell_has_hole(c, word->text) && word->text.p[0] == c->hole.p[0];
        may |= hole ? c->fed_may & CBX_SHELL_MAY_OPTION : 0u;
        bool test = places == OPERANDS && w > 1 && cbx_shell_is_option(&c->words[w - 1]);
        if ((may & CBX_SHELL_MAY_SPLIT) != 0 && !c->patterns[w]) {
            may |= CBX_SHELL_MAY_OPTION;
        } else if (value || test || (w > 1 && w < 2 + bundled)) {
            may = 0;
        } else if (places == OPERANDS && !c->patterns[w] && !hole) {
            may &= may_find_run(c, w) ? ~0u : ~(unsigned)CBX_SHELL_MAY_OPTION;
        }
        if ((may & CBX_SHELL_MAY_OPTION) != 0) {
            add_fact(c, word);
            return;
        }
        operands |= !option && !value;
        value = option && !value && takes_next(word->text, values);
        if (operands && places == FIRST) {
            return;
        }
    }
    if (c->fed && (c->fed_may & CBX_SHELL_MAY_OPTION) != 0 && !(operands && places == FIRST)) {
        add_fact(c, &c->words[0]);
    }
}

void cbx_shell_check_options(const struct cbx_shell_command *c, struct cbx_str name)
{
    for (size_t i = 0; i < CBX_SHELL_COUNT(acting); i++) {
        if (cbx_str_is(name, acting[i].word)) {
            check(c, acting[i].values, acting[i].places);
        }
    }
}
