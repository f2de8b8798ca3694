/* SPDX-License-Identifier: MIT
 * Decisions as text and in machine formats. Everything in a decision may quote hostile source: text
 * is escaped by cbx_printable_add, JSON by jansson. */
#ifndef CBX_ANALYZER_REPORT_REPORT_H
#define CBX_ANALYZER_REPORT_REPORT_H

#include "analyzer/decide.h"
#include "policies/base/text/json.h"

/* Returns {verdict, language, sha256, findings[, truncated]}, each finding {rule, severity,
 * effect, message, hint, symbol, detail, line, column, end_line, end_column, references} without
 * empty members, in *out (new reference). CBX_ETOOBIG if there are more findings than memory for
 * them. */
int cbx_decision_json(const struct cbx_decision *decision, json_t **out, struct cbx_err *err);

/* The way in which a finding is suppressed. */
enum cbx_suppression { CBX_SUPPRESSED_NOT = 0, CBX_SUPPRESSED_INLINE, CBX_SUPPRESSED_BASELINE };

/* A finding of a file. */
struct cbx_report_finding {
    struct cbx_finding v;
    struct cbx_str source; /* the text in which its place is: the file's, or its cell's */
    /* number of the cell, as notebooks count them; 0: a file without cells */
    uint32_t cell;
    uint32_t file_line; /* line of the file where the cell's first line stands, 0: not known */
    enum cbx_suppression suppression;
    struct cbx_str reason;      /* reason of the suppression */
    struct cbx_str fingerprint; /* fingerprint, which stays the same if the line moves; or empty */
};

/* A checked file, or the reason why it could not be checked. */
struct cbx_report_file {
    struct cbx_str path;   /* the path as it was found: for people */
    struct cbx_str normal; /* its cbx_lint_path_normal: for tools */
    struct cbx_str uri;    /* cbx_report_uri of the normal path */
    struct cbx_str language;
    enum cbx_verdict verdict;
    struct cbx_str error; /* not empty: it could not be checked, and has no findings */
    const struct cbx_report_finding *findings;
    size_t count;
    bool truncated; /* true if there are more */
};

/* Parameters of all reports of one run. */
struct cbx_report {
    const struct cbx_policy *policy;
    bool color, show_suppressed;
};

/* The totals of all files. */
struct cbx_report_totals {
    size_t files, denied, findings, suppressed, errors;
    size_t ignored; /* number of files and folders that patterns excluded */
    size_t gone;    /* number of baseline entries that nothing matched */
    const json_t
        *skipped; /* files and folders that were not judged (lint/paths/skips.h), or NULL */
    const json_t *failures; /* [{uri, error}] of the files that could not be checked */
};

/* A format is three functions: begin, one file (in any process; may append nothing), end; begin
 * and end may be NULL. `separator` is written between files that appended something. */
struct cbx_report_format {
    const char *name, *separator;
    void (*begin)(const struct cbx_report *report, struct cbx_buf *out);
    void (*file)(const struct cbx_report *report, const struct cbx_report_file *file,
                 struct cbx_buf *out);
    void (*end)(const struct cbx_report *report, const struct cbx_report_totals *totals,
                struct cbx_buf *out);
};

/* Returns the format "text", "json", "sarif" or "github"; NULL for any other name. */
const struct cbx_report_format *cbx_report_format_find(const char *name);

extern const struct cbx_report_format cbx_report_as_text, cbx_report_as_json, cbx_report_as_sarif,
    cbx_report_as_github;

/* The rule of the warning about a suppressing comment without effect: its rule is unknown or
 * cannot be suppressed, it has no reason, there is no such finding, or the policy does not
 * permit it. */
extern const struct cbx_rule cbx_rule_suppression;

/* The rule of the warning about unreadable code of a skill. */
extern const struct cbx_rule cbx_rule_fragment;

/* Returns the rules that findings can have: the policy's, then the built-in ones; NULL after the
 * last. */
const struct cbx_rule *cbx_report_rule(const struct cbx_policy *policy, size_t index);

/* Returns true for rules about unreadable source, which no policy can allow and nothing can
 * suppress: the built-in ones, and rules of a policy for the same facts. */
bool cbx_report_is_built_in(const struct cbx_rule *rule);

/* Appends a path as a URI reference: percent-encoded, relative if the path is. `path` is one of
 * cbx_lint_path_normal. */
void cbx_report_uri(struct cbx_str path, struct cbx_buf *out);

/* Appends JSON on one line, keys in their order. */
void cbx_report_add_json(const json_t *value, struct cbx_buf *out);

/* Appends "message: symbol (detail)" and the hint, for formats that show one text. */
void cbx_report_message(const struct cbx_report_finding *finding, struct cbx_buf *out);

/* Appends text to be shown above a caret, escaped and with a tab as four spaces, and returns its
 * width in columns of a terminal: two for a wide character, none for a combining one. */
size_t cbx_report_shown(struct cbx_str text, struct cbx_buf *out);

/* Appends one block for each finding of a decision. */
void cbx_report_text(const struct cbx_decision *decision, struct cbx_str path,
                     struct cbx_str source, bool color, struct cbx_buf *out);

#endif
