/* SPDX-License-Identifier: MIT
 * Folding tracebacks. */
#include "gateway/front/mcp/protocol/trace.h"

#include <string.h>

/* The beginning of a frame, and its following lines, as long as they begin with `more`; NULL =
 * one line. `end` follows the file's name. */
static const struct form {
    const char *begin, *more;
    char end;
} forms[] = {
    { "  File \"", "    ", '"' }, /* CPython: the source and its marks are indented deeper */
    { "    at ", NULL, '\0' },    /* V8: name and file on one line */
};
enum { FORMS = sizeof(forms) / sizeof(forms[0]), NONE = -1 };

/* Folders of library code: a frame's file begins with one (CPython), or its line has one (V8). */
static const struct {
    int form;
    const char *text;
} libraries[] = {
    { 0, "/usr/" }, { 0, "/codebox/" }, { 0, "<frozen " },      { 1, "node:" },
    { 1, "/usr/" }, { 1, "/codebox/" }, { 1, "(<anonymous>)" }, /* a function of V8 */
};
/* Cython's frames have the path of their source, relative to its package. */
static const char *const compiled[] = { ".pyx", ".pxi", ".pxd" };

static struct cbx_str next_line(struct cbx_str *rest)
{
    const char *end = memchr(rest->p, '\n', rest->len);
    size_t len = end != NULL ? (size_t)(end - rest->p) + 1 : rest->len;
    struct cbx_str line = cbx_str_sub(*rest, 0, len);
    *rest = cbx_str_sub(*rest, len, rest->len);
    return line;
}

static int form_of(struct cbx_str line)
{
    for (int i = 0; i < FORMS; i++) {
        if (cbx_str_starts(line, cbx_str_of(forms[i].begin))) {
            return i;
        }
    }
    return NONE;
}

static bool ends_with(struct cbx_str text, const char *end)
{
    size_t len = strlen(end);
    return text.len >= len && memcmp(text.p + text.len - len, end, len) == 0;
}

static bool is_library(int form, struct cbx_str line)
{
    struct cbx_str file = cbx_str_sub(line, strlen(forms[form].begin), line.len);
    const char *end = memchr(file.p, forms[form].end, file.len);
    file = end != NULL ? cbx_str_sub(file, 0, (size_t)(end - file.p)) : file;
    bool python = forms[form].more != NULL, found = false;
    for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++) {
        const char *text = libraries[i].text;
        bool there = python ? cbx_str_starts(file, cbx_str_of(text))
                            : memmem(file.p, file.len, text, strlen(text)) != NULL;
        found = found || (libraries[i].form == form && there);
    }
    for (size_t i = 0; python && i < sizeof(compiled) / sizeof(compiled[0]); i++) {
        found = found || ends_with(file, compiled[i]);
    }
    return found;
}

/* Adds the line that replaces frames, with their indentation. */
static void add_count(int form, size_t count, struct cbx_buf *out)
{
    if (count > 0) {
        cbx_buf_printf(out, "%s(%zu frame%s of libraries)\n",
                       forms[form].more == NULL ? "    " : "  ", count, count == 1 ? "" : "s");
    }
}

void cbx_trace_fold(struct cbx_str text, struct cbx_buf *out)
{
    size_t count = 0;    /* number of frames omitted and not reported yet */
    int left_out = NONE; /* form of the last frame, if it is omitted */
    while (text.len > 0) {
        struct cbx_str line = next_line(&text);
        int form = form_of(line);
        bool goes_on = form == NONE && left_out != NONE && forms[left_out].more != NULL &&
                       cbx_str_starts(line, cbx_str_of(forms[left_out].more));
        if (goes_on) {
            continue;
        }
        if (form != NONE && is_library(form, line)) {
            if (left_out != form) {
                add_count(left_out, count, out);
                count = 0;
            }
            left_out = form;
            count++;
            continue;
        }
        add_count(left_out, count, out);
        count = 0;
        left_out = NONE;
        cbx_buf_add(out, line);
    }
    add_count(left_out, count, out);
}
