/* SPDX-License-Identifier: MIT
 * The reason why an installer failed. */
#include "docker/packages/package_failures.h"

#include <string.h>

static const struct row {
    int code;
    const char *pattern, *sentence;
} rows[] = {
#define CBX_FAILURE(code, pattern, sentence) { code, pattern, sentence },
#include "docker/packages/package_layers.def"
};
enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

static bool is_of_word(char c)
{
    char low = (char)(c | 32);
    return (low >= 'a' && low <= 'z') || (c >= '0' && c <= '9') ||
           (c != '\0' && strchr("._@/+~^<>=!,*:[]-", c) != NULL);
}

/* Takes the word at the start of *text. Punctuation at its end belongs to the sentence; "@*" is
 * any version for npm. */
static bool take_word(struct cbx_str *text, char out[CBX_FAILURE_WORD_BYTES])
{
    size_t len = 0;
    while (len < text->len && is_of_word(text->p[len])) {
        len++;
    }
    struct cbx_str word = cbx_str_sub(*text, 0, len);
    *text = cbx_str_sub(*text, len, text->len);
    while (word.len > 0 && strchr(".,:", word.p[word.len - 1]) != NULL) {
        word.len--;
    }
    word.len -= cbx_str_ends(word, CBX_STR("@*")) ? 2 : 0;
    if (word.len == 0 || word.len >= CBX_FAILURE_WORD_BYTES) {
        return false;
    }
    snprintf(out, CBX_FAILURE_WORD_BYTES, "%.*s", (int)word.len, word.p);
    return true;
}

/* Takes the pattern's literal text up to its next '%', which is skipped. */
static struct cbx_str take_literal(const char **pattern)
{
    size_t len = strcspn(*pattern, "%");
    struct cbx_str literal = { .p = *pattern, .len = len };
    *pattern += len + ((*pattern)[len] == '%' ? 1 : 0);
    return literal;
}

/* True if the line has the pattern at its start. */
static bool match_here(const char *pattern, struct cbx_str line,
                       char words[CBX_FAILURE_WORDS][CBX_FAILURE_WORD_BYTES])
{
    for (size_t count = 0;; count++) {
        const char *before = pattern;
        struct cbx_str literal = take_literal(&pattern);
        if (!cbx_str_starts(line, literal)) {
            return false;
        }
        line = cbx_str_sub(line, literal.len, line.len);
        if (before[literal.len] != '%') {
            return true;
        }
        if (count == CBX_FAILURE_WORDS || !take_word(&line, words[count])) {
            return false;
        }
    }
}

static bool match(const char *pattern, struct cbx_str line,
                  char words[CBX_FAILURE_WORDS][CBX_FAILURE_WORD_BYTES])
{
    for (size_t i = 0; i < line.len; i++) {
        if (line.p[i] == pattern[0] || pattern[0] == '%') {
            memset(words, 0, sizeof(char[CBX_FAILURE_WORDS][CBX_FAILURE_WORD_BYTES]));
            if (match_here(pattern, cbx_str_sub(line, i, line.len), words)) {
                return true;
            }
        }
    }
    return false;
}

static void keep_last(struct cbx_failure *failure, struct cbx_str line)
{
    size_t from = 0, len = 0;
    while (from < line.len && (line.p[from] == ' ' || line.p[from] == '\t')) {
        from++;
    }
    for (size_t i = from; i < line.len && len + 1 < CBX_FAILURE_LAST_BYTES; i++) {
        failure->last[len++] = line.p[i] >= ' ' && line.p[i] <= '~' ? line.p[i] : '?';
    }
    if (len > 0) {
        failure->last[len] = '\0';
    }
}

void cbx_failure_take(struct cbx_failure *failure, struct cbx_str line)
{
    keep_last(failure, line);
    size_t known = failure->row != 0 ? failure->row - 1 : ROWS;
    for (size_t i = 0; i < known; i++) {
        char words[CBX_FAILURE_WORDS][CBX_FAILURE_WORD_BYTES];
        if (match(rows[i].pattern, line, words)) {
            failure->row = i + 1;
            memcpy(failure->words, words, sizeof(failure->words));
            return;
        }
    }
}

int cbx_failure_fail(const struct cbx_failure *failure, struct cbx_err *err)
{
    if (failure->row == 0) {
        return cbx_fail(err, CBX_EINVAL, "the packages cannot be installed%s%s",
                        failure->last[0] != '\0' ? ": " : "", failure->last);
    }
    const struct row *row = &rows[failure->row - 1];
    char text[CBX_ERR_TEXT_BYTES];
    size_t len = 0, word = 0;
    for (const char *p = row->sentence; *p != '\0' && len + 1 < sizeof(text);) {
        struct cbx_str literal = take_literal(&p);
        const char *next = p > row->sentence && p[-1] == '%' ? failure->words[word++] : "";
        len += (size_t)snprintf(text + len, sizeof(text) - len, "%.*s%s", (int)literal.len,
                                literal.p, next);
    }
    return cbx_fail(err, row->code, "%s", text);
}
