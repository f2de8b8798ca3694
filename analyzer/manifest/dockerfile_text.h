/* SPDX-License-Identifier: MIT
 * The text of a Dockerfile: lines, words, options and here-documents. Places are bytes of the file;
 * words and options are looked for from the place `at` to the place `end`. */
#ifndef CBX_ANALYZER_MANIFEST_DOCKERFILE_TEXT_H
#define CBX_ANALYZER_MANIFEST_DOCKERFILE_TEXT_H

#include "policies/base/err.h"
#include "policies/base/str.h"

struct cbx_dockerfile {
    struct cbx_str file;
    uint32_t at; /* start of the next line */
};

/* A line without its line feed, or a text of several lines. */
struct cbx_dockerfile_line {
    uint32_t start, end;
};

/* Returns the next line, and moves past it. Call it only before the end of the file. */
struct cbx_dockerfile_line cbx_dockerfile_next_line(struct cbx_dockerfile *in);

/* True for a line with a comment; for a line of blanks. */
bool cbx_dockerfile_is_comment(struct cbx_str file, struct cbx_dockerfile_line line);
bool cbx_dockerfile_is_blank(struct cbx_str file, struct cbx_dockerfile_line line);

/* Returns the place of the backslash that continues the line; the line's end if there is none. */
uint32_t cbx_dockerfile_continuation(struct cbx_str file, struct cbx_dockerfile_line line);

/* Returns the text from `at` in `line` to the end of its last continued line; *behind is the start
 * of the line after it. */
struct cbx_dockerfile_line cbx_dockerfile_continued(const struct cbx_dockerfile *in, uint32_t at,
                                                    struct cbx_dockerfile_line line,
                                                    uint32_t *behind);

/* Return the first place that is no blank; the first that is one. `end` if there is none. */
uint32_t cbx_dockerfile_skip_blanks(struct cbx_str file, uint32_t at, uint32_t end);
uint32_t cbx_dockerfile_skip_word(struct cbx_str file, uint32_t at, uint32_t end);

/* Returns the end of the shell word that begins at `at`, as Docker splits them: at blanks
 * outside of quotes. */
uint32_t cbx_dockerfile_end_of_word(struct cbx_str file, uint32_t at, uint32_t end);

/* Returns the end of the string of JSON that begins at `at`: its closing quote, or `end`. */
uint32_t cbx_dockerfile_string_end(struct cbx_str file, uint32_t at, uint32_t end);

/* Skips --name=value words, and the lines that end behind them: the command may begin in a further
 * line. *line is the line that has *at. */
void cbx_dockerfile_skip_flag_lines(struct cbx_dockerfile *in, uint32_t *at,
                                    struct cbx_dockerfile_line *line);

/* A word "<<NAME" or "<<-NAME"; `word` is empty if there is none. */
struct cbx_dockerfile_heredoc {
    struct cbx_str word;
    bool tabs; /* leading tabs are removed */
    bool odd;  /* a form of the name that is not supported */
    uint32_t start, behind;
};

/* Finds the first here-document's word. */
struct cbx_dockerfile_heredoc cbx_dockerfile_find_heredoc(struct cbx_str file, uint32_t at,
                                                          uint32_t end);

/* Moves past the line that ends a here-document; *body is the text before it. CBX_EINVAL, with the
 * place, if it has no end or an odd name. */
int cbx_dockerfile_read_heredoc(struct cbx_dockerfile *in, const struct cbx_dockerfile_heredoc *h,
                                struct cbx_dockerfile_line *body, struct cbx_err *err);

#endif
