/* SPDX-License-Identifier: MIT
 * Describes the error of a source that its grammar cannot read: in the words of its language, at
 * the place where a person would change it. Reads raw hostile text; linear in it; changes no
 * verdict. */
#ifndef CBX_ANALYZER_SYNTAX_SYNTAX_ERROR_H
#define CBX_ANALYZER_SYNTAX_SYNTAX_ERROR_H

#include "analyzer/lang/lang.h"

/* The name of the error of a source in another language. */
#define CBX_SYNTAX_LANGUAGE "another language"

/* A source in which its language finds an error. */
struct cbx_syntax_source {
    const struct cbx_lang *lang;
    struct cbx_str text;
    uint32_t languages;  /* languages that the policy lets run, bits 1 << enum cbx_language */
    int64_t deadline_ms; /* memory for parsing it as another language */
    /* true if the only error is one of its indentation (cbx_lang_code.misindents) */
    bool layout;
};

/* [start, end) is the place; `name` describes the error ("unclosed string"), `hint` the change.
 * The hints have the form of hints.def, and in addition: "add `A` at the end of line 3", "add
 * `A` before the `B` of line 3", "instead of `A` write `B`, and so on each line; leave out what
 * was printed", "write line breaks instead of `\n`", "remove the lines that begin with ```", and
 * a sentence that begins with "indent line 3", "add a line behind line 3" or "write what follows
 * the `A` on line 3", "send it with the language "shell"". Texts are allocated in the arena. */
struct cbx_syntax_error {
    uint32_t start, end;
    struct cbx_str name, hint;
};

/* Returns false if the error cannot be named. Only errors that are certain are named: each of
 * them makes a source of this language invalid. */
bool cbx_syntax_explain(const struct cbx_syntax_source *source, struct cbx_arena *arena,
                        struct cbx_syntax_error *out);

/* Determines the language of a text that does not resemble `lang`: its display name, and its
 * name in policies, empty if it cannot run here. Returns false if the text resembles `lang`. */
bool cbx_syntax_looks_like(const struct cbx_syntax_source *source, struct cbx_str *display,
                           struct cbx_str *word);

#endif
