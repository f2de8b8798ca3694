/* SPDX-License-Identifier: MIT
 * awk: its options, and the output of its programs. `>` and `|` after print write to a file or a
 * command; within parentheses they compare. */
#include "analyzer/lang/shell/command.h"

#include <ctype.h>

/* Long options that load no code and write no file. Others, and abbreviations, count as code. */
static const char *const plain_options[] = { "assign",    "bignum",      "characters-as-bytes",
                                             "copyright", "csv",         "field-separator",
                                             "gen-pot",   "help",        "lint",
                                             "lint-old",  "no-optimize", "non-decimal-data",
                                             "optimize",  "posix",       "re-interval",
                                             "sandbox",   "traditional", "use-lc-numeric",
                                             "version" };

static bool is_plain_option(struct cbx_str word)
{
    const char *equals = memchr(word.p, '=', word.len);
    struct cbx_str name =
        cbx_str_sub(word, 2, equals != NULL ? (size_t)(equals - word.p) : word.len);
    bool plain = name.len == 0;
    for (size_t i = 0; i < CBX_SHELL_COUNT(plain_options); i++) {
        plain |= cbx_str_is(name, plain_options[i]);
    }
    return plain;
}

/* --- programs --------------------------------------------------------------------------------- */

/* A position in a program. `operand`: an operand may begin here, so '/' begins a pattern; if
 * `unclear`, '/' may also divide. */
struct scan {
    struct cbx_str text;
    size_t at;
    bool operand, unclear, continues; /* continues: a line end here ends no statement */
    int depth;                        /* open parentheses and brackets */
    int print;                        /* depth at which `print` began; -1 outside of print */
};

/* Moves past a string or a pattern; returns false if it does not end on its line. */
static bool skip_quoted(struct scan *s, char close)
{
    bool brackets = false;
    for (s->at++; s->at < s->text.len && s->text.p[s->at] != '\n'; s->at++) {
        char c = s->text.p[s->at];
        if (c == close && !brackets) {
            s->at++;
            return true;
        }
        if (close == '/') {
            brackets = (brackets || c == '[') && c != ']';
        }
        s->at += c == '\\';
    }
    return false;
}

static void take_word(struct scan *s)
{
    static const char *const before_operands[] = { "print", "printf", "return", "in",     "case",
                                                   "else",  "do",     "exit",   "getline" };
    size_t from = s->at;
    while (s->at < s->text.len &&
           (s->text.p[s->at] == '_' || isalnum((unsigned char)s->text.p[s->at]))) {
        s->at++;
    }
    struct cbx_str word = cbx_str_sub(s->text, from, s->at);
    s->operand = false;
    for (size_t i = 0; i < CBX_SHELL_COUNT(before_operands); i++) {
        s->operand |= cbx_str_is(word, before_operands[i]);
    }
    if (cbx_str_is(word, "print") || cbx_str_is(word, "printf")) {
        s->print = s->depth;
    }
}

/* Takes one character of code; returns true if it sends the output of print to a file or a
 * command. */
static bool take_sign(struct scan *s)
{
    char c = s->text.p[s->at], next = s->at + 1 < s->text.len ? s->text.p[s->at + 1] : '\0';
    bool either = c == '|' && next == '|';
    s->at += either ? 2 : 1;
    s->depth += (c == '(' || c == '[') - (c == ')' || c == ']');
    bool goes_on = c == '\n' && s->continues;
    if (s->print >= 0 && !goes_on && (memchr(";}{\n", c, 4) != NULL || s->depth < s->print)) {
        s->print = -1;
    }
    if (memchr(" \t\r\\", c, 4) == NULL) {
        s->unclear = c == ')' || c == '+' || c == '-'; /* if (x) /re/; x++ / 2 */
        s->operand = memchr(")]$", c, 3) == NULL;
        s->continues = goes_on || memchr(",&|", c, 3) != NULL;
    } else if (c == '\\') {
        s->continues = true;
    }
    return s->print == s->depth && (c == '>' || (c == '|' && !either));
}

/* Returns true if a program may print into a file or a command, or cannot be read with
 * certainty. */
static bool leads_out(struct cbx_str program)
{
    struct scan s = { .text = program, .operand = true, .print = -1 };
    while (s.at < program.len) {
        char c = program.p[s.at];
        if (c == '#') {
            const char *end = memchr(program.p + s.at, '\n', program.len - s.at);
            s.at = end != NULL ? (size_t)(end - program.p) : program.len;
        } else if (c == '"' || (c == '/' && s.operand && !s.unclear)) {
            if (!skip_quoted(&s, c)) {
                return true;
            }
            s.operand = s.unclear = s.continues = false;
        } else if (c == '/' && s.unclear) {
            return true;
        } else if (c == '_' || isalnum((unsigned char)c)) {
            take_word(&s);
            s.unclear = s.continues = false;
        } else if (take_sign(&s)) {
            return true;
        }
    }
    return s.depth != 0;
}

/* Returns true if a program may print into a file or a command; scans only programs that print
 * and have one of these signs. */
static bool may_lead_out(struct cbx_str program)
{
    return memmem(program.p, program.len, "print", 5) != NULL && cbx_shell_has_any(program, ">|") &&
           leads_out(program);
}

/* --- the command ------------------------------------------------------------------------------ */

/* awk [-F SEPARATOR] [-v NAME=VALUE] PROGRAM FILE...: a part of an unknown program may run others. Other
 * forbidden words of known programs are in commands.def. */
void cbx_shell_judge_awk(const struct cbx_shell_command *c)
{
    static const struct cbx_shell_options names = { "Fv", " field-separator assign ", "", "", "" };
    size_t w = 1;
    while (w < c->count && cbx_shell_is_option(&c->words[w]) &&
           !cbx_str_is(c->words[w].text, "--")) {
        const struct cbx_word *option = &c->words[w];
        struct cbx_word value;
        if (option->text.p[1] == '-' && !is_plain_option(option->text)) {
            cbx_shell_unresolved(c->s, "code", option);
        }
        cbx_shell_take_option(c, &w, &names, &value);
    }
    w += w < c->count && cbx_shell_is_option(&c->words[w]);
    if (w < c->count && !c->words[w].known) {
        cbx_shell_unknown_script(c, &c->words[w]);
    } else if (w < c->count && may_lead_out(c->words[w].text)) {
        cbx_shell_unresolved(c->s, "code", &c->words[w]);
    }
}
