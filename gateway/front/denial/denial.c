/* SPDX-License-Identifier: MIT
 * Findings to text. Findings at one place, or with the same rule and hint, are one entry. */
#include "gateway/front/denial/denial.h"

#include "analyzer/report/report.h"
#include "policies/base/text/printable.h"

enum {
    ENTRIES_MAX = 64,
    PLACES_MAX = 8,     /* number of further places that an entry lists */
    ENTRY_BYTES = 8192, /* maximum size of a text before it is cut */
    SYMBOL_BYTES = 120,
    DETAIL_BYTES = 300,
    MESSAGE_BYTES = 300,
    HINT_BYTES = 500,
    WINDOW_CHARS = 96, /* characters of the source line */
    BEFORE_CHARS = 32, /* characters before the place */
    REST_BYTES = 64,   /* for "and N more" */
};

struct entry {
    const json_t *finding;          /* the shown one */
    const json_t *same[PLACES_MAX]; /* the same rule and hint at other places */
    const json_t *merged;           /* another rule at this place, or NULL */
    size_t same_count, more;
};

struct entries {
    struct entry items[ENTRIES_MAX];
    size_t count, omitted;
    bool shown_to_approve;
};

static struct cbx_str text_of(const json_t *finding, const char *key)
{
    return cbx_json_str(json_object_get(finding, key));
}

static long long number_of(const json_t *finding, const char *key)
{
    return (long long)json_integer_value(json_object_get(finding, key));
}

/* A finding without an effect is from a failed analysis, which denies. */
static bool has_effect(const json_t *finding, const char *effect)
{
    struct cbx_str own = text_of(finding, "effect");
    return cbx_str_is(own.len > 0 ? own : CBX_STR("deny"), effect);
}

static void list_effect(const json_t *findings, const char *effect, json_t *out)
{
    for (size_t i = 0; i < json_array_size(findings); i++) {
        json_t *finding = json_array_get(findings, i);
        if (has_effect(finding, effect)) {
            json_array_append(out, finding);
        }
    }
}

json_t *cbx_denial_list(const json_t *decision)
{
    const json_t *findings = json_object_get(decision, "findings");
    json_t *list = json_array();
    list_effect(findings, "deny", list);
    list_effect(findings, "ask", list);
    return list;
}

/* --- entries ---------------------------------------------------------------------------------- */

static bool have_same_text(const json_t *a, const json_t *b, const char *key)
{
    return cbx_str_equal(text_of(a, key), text_of(b, key));
}

static bool have_same_number(const json_t *a, const json_t *b, const char *key)
{
    return number_of(a, key) == number_of(b, key);
}

/* True if one begins in the other, on the same line: "new Function" and "Function". */
static bool overlap(const json_t *a, const json_t *b)
{
    const json_t *first = number_of(a, "column") <= number_of(b, "column") ? a : b;
    const json_t *second = first == a ? b : a;
    return number_of(first, "end_line") > number_of(first, "line") ||
           number_of(second, "column") < number_of(first, "end_column");
}

static bool are_at_one_place(const json_t *a, const json_t *b)
{
    return have_same_number(a, b, "line") &&
           (have_same_number(a, b, "column") || (have_same_text(a, b, "rule") && overlap(a, b)));
}

static int severity_of(const json_t *finding)
{
    static const char *const names[] = { "low", "medium", "high", "critical" };
    for (int i = 0; i < 4; i++) {
        if (cbx_str_is(text_of(finding, "severity"), names[i])) {
            return i;
        }
    }
    return -1;
}

/* True if `a` is the more informative finding of a place: the deciding one, the one with a hint,
 * then the more severe rule. */
static bool says_more(const json_t *a, const json_t *b)
{
    bool a_denies = has_effect(a, "deny"), b_denies = has_effect(b, "deny");
    if (a_denies != b_denies) {
        return a_denies;
    }
    bool a_hints = text_of(a, "hint").len > 0, b_hints = text_of(b, "hint").len > 0;
    return a_hints != b_hints ? a_hints : severity_of(a) > severity_of(b);
}

static void merge(struct entry *entry, const json_t *finding)
{
    if (have_same_text(entry->finding, finding, "rule")) {
        return;
    }
    if (says_more(finding, entry->finding)) {
        entry->merged = entry->finding;
        entry->finding = finding;
    } else if (entry->merged == NULL) {
        entry->merged = finding;
    }
}

static void add_place(struct entry *entry, const json_t *finding)
{
    const json_t *last =
        entry->same_count > 0 ? entry->same[entry->same_count - 1] : entry->finding;
    if (have_same_number(last, finding, "line")) {
        return;
    }
    if (entry->same_count < PLACES_MAX) {
        entry->same[entry->same_count++] = finding;
    } else {
        entry->more++;
    }
}

static void take_finding(struct entries *entries, const json_t *finding)
{
    for (size_t i = 0; i < entries->count; i++) {
        struct entry *entry = &entries->items[i];
        if (are_at_one_place(entry->finding, finding)) {
            merge(entry, finding);
            return;
        }
        if (have_same_text(entry->finding, finding, "rule") &&
            have_same_text(entry->finding, finding, "hint")) {
            add_place(entry, finding);
            return;
        }
    }
    if (entries->count == ENTRIES_MAX) {
        entries->omitted++;
        return;
    }
    entries->items[entries->count++] = (struct entry){ .finding = finding };
}

/* --- texts ------------------------------------------------------------------------------------ */

/* Adds at most max_bytes of the text, printable, with "..." at a cut. */
static void add_short(struct cbx_buf *out, const char *before, struct cbx_str text,
                      size_t max_bytes)
{
    if (text.len == 0) {
        return;
    }
    cbx_buf_add_cstr(out, before);
    cbx_printable_add(out, cbx_str_cut(text, max_bytes), CBX_PRINTABLE_LINE);
    cbx_buf_add_cstr(out, text.len > max_bytes ? "..." : "");
}

/* Returns the line with this number, from 1, without its end ("\n", "\r\n" or "\r"). */
static struct cbx_str line_of(struct cbx_str source, long long number)
{
    size_t from = 0, to = 0;
    for (long long line = 1;; line++) {
        for (to = from; to < source.len && source.p[to] != '\n' && source.p[to] != '\r';) {
            to++;
        }
        if (line >= number || to == source.len) {
            return line == number ? cbx_str_sub(source, from, to) : CBX_STR("");
        }
        from = to + 1;
        from += source.p[to] == '\r' && from < source.len && source.p[from] == '\n';
    }
}

/* Returns the byte offset of the character with this index, from 0. */
static size_t byte_of(struct cbx_str line, long long index)
{
    size_t at = 0;
    while (at < line.len && index > 0) {
        at++;
        while (at < line.len && cbx_utf8_continues(line.p[at])) {
            at++;
        }
        index--;
    }
    return at;
}

static void add_repeated(struct cbx_buf *out, char c, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        cbx_buf_add_char(out, c);
    }
}

/* Adds the source line, and a caret below the finding. Of a long line only the part around the
 * place. */
static void add_source(struct cbx_buf *out, const json_t *finding, struct cbx_str source,
                       bool numbered)
{
    char before[32] = "    ", below[32] = "    ";
    struct cbx_str line = line_of(source, number_of(finding, "line"));
    long long first = number_of(finding, "column") - 1, last = number_of(finding, "end_column") - 1;
    size_t at = byte_of(line, first);
    bool ends_here = number_of(finding, "end_line") <= number_of(finding, "line");
    size_t end = ends_here ? byte_of(line, last > first ? last : first + 1) : line.len;
    size_t from = byte_of(line, first > 2 * BEFORE_CHARS ? first - BEFORE_CHARS : 0);
    size_t to = from + byte_of(cbx_str_sub(line, from, line.len), WINDOW_CHARS);
    if (line.len == 0) {
        return;
    }
    end = end < to ? end : to;
    if (numbered) {
        int width = snprintf(before, sizeof(before), "%5lld | ", number_of(finding, "line"));
        snprintf(below, sizeof(below), "%*s| ", width - 2, "");
    }
    cbx_buf_printf(out, "%s%s", before, from > 0 ? "..." : "");
    size_t left = cbx_report_shown(cbx_str_sub(line, from, at), out) + (from > 0 ? 3 : 0);
    size_t marked = cbx_report_shown(cbx_str_sub(line, at, end), out);
    cbx_report_shown(cbx_str_sub(line, end, to), out);
    cbx_buf_printf(out, "%s\n%s", to < line.len ? "..." : "", below);
    add_repeated(out, ' ', left);
    cbx_buf_add_char(out, '^');
    add_repeated(out, '~', marked > 1 ? marked - 1 : 0);
    cbx_buf_add_char(out, '\n');
}

static void add_places(struct cbx_buf *out, const struct entry *entry)
{
    for (size_t i = 0; i < entry->same_count; i++) {
        cbx_buf_printf(out, "%s%lld", i == 0 ? "  also line " : ", ",
                       number_of(entry->same[i], "line"));
        if (!have_same_text(entry->finding, entry->same[i], "symbol")) {
            add_short(out, " ", text_of(entry->same[i], "symbol"), SYMBOL_BYTES / 2);
        }
    }
    if (entry->more > 0) {
        cbx_buf_printf(out, " and %zu more", entry->more);
    }
    cbx_buf_add_cstr(out, entry->same_count > 0 ? "\n" : "");
}

/* True if an earlier entry has the same text under this key. */
static bool is_repeated(const struct entries *entries, size_t index, const char *key)
{
    for (size_t i = 0; i < index; i++) {
        if (have_same_text(entries->items[i].finding, entries->items[index].finding, key)) {
            return true;
        }
    }
    return false;
}

static void add_entry(struct cbx_buf *out, const struct entries *entries, size_t index,
                      struct cbx_str source)
{
    const struct entry *entry = &entries->items[index];
    const json_t *f = entry->finding;
    if (source.len > 0) { /* packages to install are in no source */
        cbx_buf_printf(out, "line %lld, column %lld: ", number_of(f, "line"),
                       number_of(f, "column"));
    }
    add_short(out, "found ", text_of(f, "symbol"), SYMBOL_BYTES);
    if (text_of(f, "detail").len > 0) {
        add_short(out, " (", text_of(f, "detail"), DETAIL_BYTES);
        cbx_buf_add_char(out, ')');
    }
    if (index > 0) {
        add_short(out, ", rule ", text_of(f, "rule"), SYMBOL_BYTES);
    }
    add_short(out, ", also rule ", text_of(entry->merged, "rule"), SYMBOL_BYTES);
    cbx_buf_add_char(out, '\n');
    add_source(out, f, source, entries->shown_to_approve);
    add_places(out, entry);
    if (!is_repeated(entries, index, "message")) {
        add_short(out, "  ", text_of(f, "message"), MESSAGE_BYTES);
        cbx_buf_add_cstr(out, text_of(f, "message").len > 0 ? "\n" : "");
    }
    if (!entries->shown_to_approve && !is_repeated(entries, index, "hint")) {
        add_short(out, "  hint: ", text_of(f, "hint"), HINT_BYTES);
        cbx_buf_add_cstr(out, text_of(f, "hint").len > 0 ? "\n" : "");
    }
}

/* --- the whole -------------------------------------------------------------------------------- */

/* Some clients show only the first line. */
static void add_first_line(struct cbx_buf *out, const struct cbx_denial *denial,
                           const struct entries *entries)
{
    cbx_buf_add_cstr(out, denial->ask ? "needs approval" : "denied");
    if (entries->count > 0) {
        add_short(out, " by policy rule ", text_of(entries->items[0].finding, "rule"),
                  SYMBOL_BYTES);
    }
    cbx_buf_add_cstr(out, "; nothing ran\n");
}

static void add_last_lines(struct cbx_buf *out, const struct cbx_denial *denial,
                           const struct entries *entries)
{
    bool hinted = false;
    for (size_t i = 0; i < entries->count; i++) {
        hinted |= text_of(entries->items[i].finding, "hint").len > 0;
    }
    const char *advice = "Change the code, or ask the operator of this gateway for another policy.";
    if (denial->ask && denial->approval != NULL) {
        advice = denial->approval;
    } else if (denial->ask) {
        advice = "This code needs approval, and this client cannot be asked for it. Change the "
                 "code, or ask the operator of this gateway.";
    } else if (json_is_true(json_object_get(denial->decision, "packages"))) {
        advice = "Nothing was installed. Ask for other packages or versions, or the operator of "
                 "this gateway for another policy.";
    } else if (hinted) {
        advice = "Change the code as the hints say and send all of it again.";
    }
    cbx_buf_add_cstr(out, advice);
    cbx_buf_add_char(out, '\n');
    add_short(out, "audit id ", cbx_str_of(denial->audit_id), SYMBOL_BYTES);
    cbx_buf_add_cstr(out, denial->audit_id != NULL && denial->audit_id[0] != '\0' ? "\n" : "");
}

static void collect(const struct cbx_denial *denial, struct entries *entries)
{
    /* the decision keeps them alive */
    CBX_AUTO_JSON findings = cbx_denial_list(denial->decision);
    *entries = (struct entries){ .shown_to_approve = denial->shown_to_approve };
    for (size_t i = 0; i < json_array_size(findings); i++) {
        take_finding(entries, json_array_get(findings, i));
    }
}

static void add_entries(const struct entries *entries, struct cbx_str source, size_t max_bytes,
                        struct cbx_buf *out)
{
    size_t start = out->len, shown = 0;
    for (; shown < entries->count; shown++) {
        CBX_AUTO_DONE(buf) entry;
        cbx_buf_init(&entry, ENTRY_BYTES);
        add_entry(&entry, entries, shown, source);
        if (out->len - start + entry.len + REST_BYTES > max_bytes) {
            break;
        }
        cbx_buf_add(out, cbx_buf_str(&entry));
    }
    if (shown < entries->count || entries->omitted > 0) {
        cbx_buf_printf(out, "and %zu more\n", entries->count - shown + entries->omitted);
    }
}

void cbx_denial_add_places(const struct cbx_denial *denial, size_t max_bytes, struct cbx_buf *out)
{
    struct entries entries;
    collect(denial, &entries);
    add_entries(&entries, denial->source, max_bytes, out);
}

void cbx_denial_add(const struct cbx_denial *denial, struct cbx_buf *out)
{
    struct entries entries;
    collect(denial, &entries);
    CBX_AUTO_DONE(buf) last;
    cbx_buf_init(&last, CBX_DENIAL_BYTES_MAX);
    add_last_lines(&last, denial, &entries);
    size_t start = out->len;
    add_first_line(out, denial, &entries);
    size_t used = out->len - start + last.len;
    add_entries(&entries, denial->source,
                CBX_DENIAL_BYTES_MAX > used ? CBX_DENIAL_BYTES_MAX - used : 0, out);
    cbx_buf_add(out, cbx_buf_str(&last));
}
