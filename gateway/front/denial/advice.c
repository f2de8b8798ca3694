/* SPDX-License-Identifier: MIT
 * Matches a program's errors against advice.def. */
#include "gateway/front/denial/advice.h"

#include "gateway/front/denial/hosts.h"
#include "gateway/front/service/dependencies.h"
#include "policies/base/text/printable.h"
#include "policies/language.h"

enum { WORD_BYTES = 60, LINE_BYTES = 1024 };

enum word { NONE, AFTER, BEFORE, PATH_AFTER, PATH_BEFORE };

static const struct row {
    const char *kernel, *error;
    enum word word;
    const char *text;
} rows[] = {
#define CBX_ADVICE(kernel, error, word, text) { kernel, error, word, text },
#include "gateway/front/denial/advice.def"
#undef CBX_ADVICE
};
enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

/* --- limits ----------------------------------------------------------------------------------- */

static void add_bytes(struct cbx_buf *out, int64_t bytes)
{
    if (bytes <= 0) {
        cbx_buf_add_cstr(out, "a limited number of bytes");
    } else if (bytes % (1024 * 1024) == 0) {
        cbx_buf_printf(out, "%lld MiB", (long long)(bytes / (1024 * 1024)));
    } else {
        cbx_buf_printf(out, "%lld bytes", (long long)bytes);
    }
}

/* Writes "60 s", "1.5 s", "200 ms". */
static void add_time(struct cbx_buf *out, int64_t ms)
{
    if (ms >= 1000) {
        cbx_buf_printf(out, "%g s", (double)ms / 1000);
    } else {
        cbx_buf_printf(out, "%lld ms", (long long)ms);
    }
}

/* Returns the limit, or the used amount if the limit is not known. */
static int64_t limit_or(int64_t limit, uint64_t used)
{
    return limit > 0 ? limit : (int64_t)used;
}

static bool add_stop(const struct cbx_result *r, const struct cbx_limits *limits,
                     struct cbx_buf *out)
{
    switch (r->status) {
    case CBX_RUN_TIMEOUT:
        cbx_buf_add_cstr(out, "timeout: stopped after ");
        add_time(out, limit_or(limits->wall_ms, r->duration_ms));
        cbx_buf_add_cstr(out,
                         r->input_awaited
                             ? ", the time limit: the program had read all of its standard "
                               "input, which was still open, so it may have waited for more; "
                               "end the input"
                             : ", the time limit; make the program faster or its work smaller");
        return true;
    case CBX_RUN_CPU:
        cbx_buf_add_cstr(out, "cpu: stopped after ");
        add_time(out, limit_or(limits->cpu_ms, r->cpu_ms));
        cbx_buf_add_cstr(out, " of processor time, the limit; make the program faster or its work "
                              "smaller");
        return true;
    case CBX_RUN_OOM:
        cbx_buf_add_cstr(out, "oom: stopped, the program needed more ");
        if (limits->memory_bytes > 0) {
            cbx_buf_add_cstr(out, "than ");
            add_bytes(out, limits->memory_bytes);
            cbx_buf_add_cstr(out, " of memory, the limit");
        } else {
            cbx_buf_add_cstr(out, "memory than the limit");
        }
        cbx_buf_add_cstr(out, "; process the data in pieces");
        return true;
    default:
        return false;
    }
}

bool cbx_advice_stopped(const struct cbx_result *r, const struct cbx_limits *limits,
                        struct cbx_buf *out)
{
    bool stopped = add_stop(r, limits, out);
    if (r->input_cut) {
        cbx_buf_printf(out,
                       "%sinput: the gateway was restarted before the program had all of its "
                       "standard input, which ended early",
                       stopped ? "; " : "");
    }
    return stopped || r->input_cut;
}

/* --- errors ----------------------------------------------------------------------------------- */

static bool is_end_of_word(char c)
{
    return (unsigned char)c <= ' ' || c == '\'' || c == '"' || c == '`' || c == ':';
}

static struct cbx_str word_after(struct cbx_str text, size_t at)
{
    size_t end = at;
    while (end < text.len && !is_end_of_word(text.p[end])) {
        end++;
    }
    return cbx_str_sub(text, at, end);
}

static struct cbx_str word_before(struct cbx_str text, size_t at)
{
    size_t from = at;
    while (from > 0 && !is_end_of_word(text.p[from - 1])) {
        from--;
    }
    return cbx_str_sub(text, from, at);
}

/* True for an absolute path outside of the folders with a program's files. */
static bool leads_out(struct cbx_str word)
{
    return cbx_str_starts(word, CBX_STR("/")) && !cbx_str_starts(word, CBX_STR("/workspace")) &&
           !cbx_str_starts(word, CBX_STR("/tmp"));
}

/* Finds a row's error in the text; *word = the captured word. */
static bool finds(const struct row *row, struct cbx_str text, struct cbx_str *word)
{
    size_t len = strlen(row->error);
    const char *found = text.len > 0 ? memmem(text.p, text.len, row->error, len) : NULL;
    if (found == NULL) {
        return false;
    }
    size_t at = (size_t)(found - text.p);
    switch (row->word) {
    case NONE:
        *word = CBX_STR("");
        return true;
    case AFTER:
        *word = word_after(text, at + len);
        return word->len > 0;
    case BEFORE:
        *word = word_before(text, at);
        return word->len > 0;
    case PATH_AFTER:
        *word = word_after(text, at + len);
        return leads_out(*word);
    case PATH_BEFORE:
        *word = word_before(text, at);
        return leads_out(*word);
    }
    return false;
}

/* Returns the language whose libraries advice for programs of this kernel names. */
static const char *advised_language(const char *kernel)
{
    return strcmp(kernel, "bash") == 0 ? "python" : kernel;
}

/* True if programs import the package by exactly this name. */
static bool has_module(const struct cbx_image_package *package, struct cbx_str name)
{
    bool has = false;
    for (size_t i = 0; i < json_array_size(package->modules); i++) {
        has |= cbx_str_equal(cbx_json_str(json_array_get(package->modules, i)), name);
    }
    return has;
}

static void add_network(struct cbx_buf *out, const struct cbx_strs *hosts)
{
    if (hosts == NULL) {
        cbx_buf_add_cstr(out, "programs reach no other machine under this policy: put the data "
                              "into the program or into a file of the workspace; an operator "
                              "grants hosts with 'network: {egress: [HOST]}' in the policy");
        return;
    }
    cbx_buf_add_cstr(out, "under this policy programs reach only ");
    cbx_hosts_add(hosts, out);
    cbx_buf_add_cstr(out, ", by HTTP and HTTPS through the proxy that HTTP_PROXY and HTTPS_PROXY "
                          "name");
}

/* Adds the replacement for a missing module: the module of a package ("bs4" of
 * "beautifulsoup4"), or packages with similar names. */
static void add_instead(const struct cbx_contents *contents, struct cbx_str word,
                        struct cbx_buf *out)
{
    CBX_AUTO_DONE(buf) nearest;
    cbx_buf_init(&nearest, LINE_BYTES);
    const char *dot = word.len > 0 ? memchr(word.p, '.', word.len) : NULL;
    struct cbx_str top = dot != NULL ? cbx_str_sub(word, 0, (size_t)(dot - word.p)) : word;
    const struct cbx_image_package *package = cbx_contents_provider(contents, top);
    package = package != NULL ? package : cbx_contents_find(contents, top);
    if (package != NULL && has_module(package, top)) {
        cbx_buf_printf(out, "; the sandbox has %.*s %.*s without this part of it",
                       CBX_STR_ARG(package->name), CBX_STR_ARG(package->version));
    } else if (package != NULL && json_array_size(package->modules) > 0) {
        cbx_buf_printf(out, "; the sandbox has %.*s: its module is '%s'",
                       CBX_STR_ARG(package->name),
                       json_string_value(json_array_get(package->modules, 0)));
    } else if (cbx_contents_add_nearest(contents, top, &nearest)) {
        cbx_buf_printf(out, " (did you mean %s?)", nearest.p);
    }
}

/* Adds the highlighted libraries that the image has. */
static void add_libraries(const struct cbx_advice *advice, const char *language,
                          struct cbx_buf *out)
{
    const char *name;
    bool any = false;
    for (size_t i = 0; (name = cbx_highlight_at(language, advice->small_images, i)) != NULL; i++) {
        if (advice->contents == NULL ||
            cbx_contents_find(advice->contents, cbx_str_of(name)) != NULL) {
            cbx_buf_printf(out, "%s%s", any ? ", " : "", name);
            any = true;
        }
    }
    if (!any) {
        cbx_buf_add_cstr(out, "what its image brings");
    }
}

static void add_install(const struct cbx_advice *advice, const char *kernel, struct cbx_buf *out)
{
    if (!advice->installs) {
        cbx_buf_add_cstr(out, "the policy lets no package be installed");
        return;
    }
    cbx_buf_add_cstr(out, "packages are installed before a program starts: ");
    if (advice->at_command_line) {
        cbx_buf_add_cstr(out, "`codebox run --with PACKAGE FILE`");
        return;
    }
    cbx_buf_add_cstr(out, "name them in 'dependencies' of a new session or of a run without one");
    if (strcmp(kernel, "python") == 0) {
        cbx_buf_add_cstr(out, ", or in '%pip install' in the first cell");
    }
}

static void add_field(const struct cbx_advice *advice, const char *kernel, struct cbx_str field,
                      struct cbx_str word, struct cbx_buf *out)
{
    if (field.len == 0) {
        cbx_printable_add(out, cbx_str_sub(word, 0, WORD_BYTES), CBX_PRINTABLE_LINE);
    } else if (cbx_str_is(field, "libraries")) {
        add_libraries(advice, advised_language(kernel), out);
    } else if (cbx_str_is(field, "instead")) {
        static const struct cbx_contents none = { 0 };
        add_instead(advice->contents != NULL ? advice->contents : &none,
                    cbx_str_sub(word, 0, WORD_BYTES), out);
    } else if (cbx_str_is(field, "install")) {
        add_install(advice, kernel, out);
    } else if (cbx_str_is(field, "input")) {
        cbx_buf_add_cstr(out, advice->at_command_line
                                  ? "pipe the program its input into codebox run"
                                  : "give the program its input with `stdin`");
    } else if (cbx_str_is(field, "disk")) {
        add_bytes(out, advice->limits->disk_bytes);
    } else if (cbx_str_is(field, "memory")) {
        add_bytes(out, advice->limits->memory_bytes);
    } else if (cbx_str_is(field, "pids")) {
        cbx_buf_printf(out, "%lld", (long long)advice->limits->pids);
    } else if (cbx_str_is(field, "network")) {
        add_network(out, advice->hosts);
    }
}

static void fill(const struct cbx_advice *advice, const struct row *row, const char *kernel,
                 struct cbx_str word, struct cbx_buf *out)
{
    for (const char *p = row->text; *p != '\0'; p++) {
        const char *end = *p == '{' ? strchr(p, '}') : NULL;
        if (end == NULL) {
            cbx_buf_add_char(out, *p);
            continue;
        }
        add_field(advice, kernel, (struct cbx_str){ p + 1, (size_t)(end - p - 1) }, word, out);
        p = end;
    }
}

static struct cbx_str end_of(struct cbx_str text)
{
    return text.len > CBX_ADVICE_READ_BYTES
               ? cbx_str_sub(text, text.len - CBX_ADVICE_READ_BYTES, text.len)
               : text;
}

/* Rows come most specific first; of rows with the same beginning only the first gives advice. */
static bool is_given(const struct row *row, const struct row *const *given, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct row *other = given[i];
        if (strcmp(other->text, row->text) == 0 || strstr(other->error, row->error) != NULL) {
            return true;
        }
    }
    return false;
}

bool cbx_advice_names_contents(const struct cbx_advice *advice)
{
    const struct cbx_language_row *language = cbx_language_find(advice->language);
    struct cbx_str word;
    for (size_t i = 0; i < ROWS && language != NULL && advice->result->status != CBX_RUN_OK; i++) {
        bool applies = rows[i].kernel[0] == '\0' || strcmp(rows[i].kernel, language->kernel) == 0;
        if (applies && strstr(rows[i].text, "{instead}") != NULL &&
            (finds(&rows[i], end_of(cbx_str_of(advice->result->traceback)), &word) ||
             finds(&rows[i], end_of(advice->errors), &word))) {
            return true;
        }
    }
    return false;
}

void cbx_advice_give(const struct cbx_advice *advice,
                     void (*take)(void *context, struct cbx_str line), void *context)
{
    const struct cbx_language_row *language = cbx_language_find(advice->language);
    const char *kernel = language != NULL ? language->kernel : "";
    struct cbx_str traceback = end_of(cbx_str_of(advice->result->traceback));
    struct cbx_str errors = end_of(advice->errors);
    const struct row *given[CBX_ADVICE_MAX];
    size_t count = 0;
    if (advice->result->status == CBX_RUN_OK) {
        return;
    }
    for (size_t i = 0; i < ROWS && count < CBX_ADVICE_MAX; i++) {
        struct cbx_str word;
        bool applies = rows[i].kernel[0] == '\0' || strcmp(rows[i].kernel, kernel) == 0;
        if (applies && !is_given(&rows[i], given, count) &&
            (finds(&rows[i], traceback, &word) || finds(&rows[i], errors, &word))) {
            CBX_AUTO_DONE(buf) line;
            cbx_buf_init(&line, LINE_BYTES);
            fill(advice, &rows[i], kernel, word, &line);
            take(context, cbx_buf_str(&line));
            given[count++] = &rows[i];
        }
    }
}
