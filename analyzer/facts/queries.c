/* SPDX-License-Identifier: MIT
 * Evaluates tree-sitter queries with predicates. */
#include "analyzer/facts/queries.h"

#include "analyzer/lang/lang.h"

#include <regex.h>
#include <stdlib.h>

enum { MATCH_LIMIT = 4096, REGEX_TEXT_MAX = 4096, REGEX_MAX = 512 };

static TSQuery *compile(const TSLanguage *grammar, struct cbx_str query, uint32_t *offset)
{
    TSQueryError error;
    return ts_query_new(grammar, query.p, (uint32_t)query.len, offset, &error);
}

/* --- predicates ------------------------------------------------------------------------------- */

enum test { EQUAL, MATCHES, ANY_OF };

static const struct {
    const char *name;
    enum test test;
    bool negated;
} predicates[] = {
    { "eq?", EQUAL, false },         { "not-eq?", EQUAL, true },   { "match?", MATCHES, false },
    { "not-match?", MATCHES, true }, { "any-of?", ANY_OF, false }, { "not-any-of?", ANY_OF, true },
};
enum { PREDICATES = sizeof(predicates) / sizeof(predicates[0]) };

struct run {
    const TSQuery *query;
    const TSQueryMatch *match;
    struct cbx_str text;
};

static struct cbx_str string_of(const TSQuery *query, const TSQueryPredicateStep *step)
{
    uint32_t length;
    const char *p = ts_query_string_value_for_id(query, step->value_id, &length);
    return (struct cbx_str){ .p = p, .len = length };
}

static size_t find_predicate(struct cbx_str name)
{
    size_t i = 0;
    while (i < PREDICATES && !cbx_str_is(name, predicates[i].name)) {
        i++;
    }
    return i;
}

static struct cbx_str text_of(const struct run *run, TSNode node)
{
    return cbx_str_sub(run->text, ts_node_start_byte(node), ts_node_end_byte(node));
}

/* Makes a NUL-terminated copy; false if it does not fit. */
static bool copy(struct cbx_str from, char *to, size_t size)
{
    if (from.len >= size || (from.len > 0 && memchr(from.p, '\0', from.len) != NULL)) {
        return false;
    }
    memcpy(to, from.p, from.len);
    to[from.len] = '\0';
    return true;
}

/* 1: matches, 0: does not match, -1: undecidable. */
static int regex_matches(struct cbx_str pattern, struct cbx_str text)
{
    char expression[REGEX_MAX + 1], subject[REGEX_TEXT_MAX + 1];
    regex_t compiled;
    if (!copy(pattern, expression, sizeof(expression)) || !copy(text, subject, sizeof(subject)) ||
        regcomp(&compiled, expression, REG_EXTENDED | REG_NOSUB) != 0) {
        return -1;
    }
    int status = regexec(&compiled, subject, 0, NULL, 0);
    regfree(&compiled);
    return status == 0 ? 1 : status == REG_NOMATCH ? 0 : -1;
}

/* Returns the other operand: a string, or the first node of a capture. */
static struct cbx_str operand(const struct run *run, const TSQueryPredicateStep *step)
{
    if (step->type == TSQueryPredicateStepTypeString) {
        return string_of(run->query, step);
    }
    for (uint16_t i = 0; i < run->match->capture_count; i++) {
        if (run->match->captures[i].index == step->value_id) {
            return text_of(run, run->match->captures[i].node);
        }
    }
    return (struct cbx_str){ 0 };
}

/* Returns 1 if the predicate holds for this text, 0 if not, -1 if undecidable. `steps` are the
 * operands after the capture. */
static int holds_for(const struct run *run, enum test test, struct cbx_str text,
                     const TSQueryPredicateStep *steps, uint32_t count)
{
    if (test == MATCHES) {
        return regex_matches(operand(run, &steps[0]), text);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (cbx_str_equal(operand(run, &steps[i]), text)) {
            return 1;
        }
    }
    return 0;
}

/* Evaluates one predicate: name, capture, operands. */
static bool predicate_holds(const struct run *run, const TSQueryPredicateStep *steps,
                            uint32_t count)
{
    size_t p = find_predicate(string_of(run->query, &steps[0]));
    if (p == PREDICATES || count < 3) {
        return true; /* the check of the policy rejected it */
    }
    for (uint16_t i = 0; i < run->match->capture_count; i++) {
        const TSQueryCapture *capture = &run->match->captures[i];
        int holds = capture->index == steps[1].value_id
                        ? holds_for(run, predicates[p].test, text_of(run, capture->node), steps + 2,
                                    count - 2)
                        : -1;
        if (holds == (predicates[p].negated ? 1 : 0)) {
            return false;
        }
    }
    return true;
}

static bool all_hold(const struct run *run)
{
    uint32_t count, from = 0;
    const TSQueryPredicateStep *steps =
        ts_query_predicates_for_pattern(run->query, run->match->pattern_index, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (steps[i].type == TSQueryPredicateStepTypeDone) {
            if (!predicate_holds(run, steps + from, i - from)) {
                return false;
            }
            from = i + 1;
        }
    }
    return true;
}

/* --- checking --------------------------------------------------------------------------------- */

static int check_regex(const TSQuery *query, struct cbx_str name, const TSQueryPredicateStep *step,
                       struct cbx_err *err)
{
    char expression[REGEX_MAX + 1], why[128] = "it is too long";
    regex_t compiled;
    if (step->type != TSQueryPredicateStepTypeString) {
        return cbx_fail(err, CBX_EPOLICY,
                        "'#%.*s' needs a regular expression (regex(7)), found is a capture",
                        CBX_STR_SHOWN(name));
    }
    int status = copy(string_of(query, step), expression, sizeof(expression))
                     ? regcomp(&compiled, expression, REG_EXTENDED | REG_NOSUB)
                     : -1;
    if (status == 0) {
        regfree(&compiled);
        return 0;
    }
    if (status > 0) {
        regerror(status, &compiled, why, sizeof(why));
    }
    return cbx_fail(err, CBX_EPOLICY, "'#%.*s' needs a regular expression (regex(7)): %s",
                    CBX_STR_SHOWN(name), why);
}

static int check_predicate(const TSQuery *query, const TSQueryPredicateStep *steps, uint32_t count,
                           struct cbx_err *err)
{
    struct cbx_str name = string_of(query, &steps[0]);
    size_t p = find_predicate(name);
    if (p == PREDICATES) {
        return cbx_fail(err, CBX_EPOLICY,
                        "predicate '#%.*s' is not known, allowed are #eq?, #match? and #any-of?, "
                        "each also with 'not-' in front",
                        CBX_STR_SHOWN(name));
    }
    bool one = predicates[p].test != ANY_OF;
    if (count < 3 || (one && count > 3) || steps[1].type != TSQueryPredicateStepTypeCapture) {
        return cbx_fail(err, CBX_EPOLICY, "predicate '#%.*s' takes a capture and %s",
                        CBX_STR_SHOWN(name),
                        one ? "one other operand" : "the texts that it may be");
    }
    if (predicates[p].test == MATCHES) {
        return check_regex(query, name, &steps[2], err);
    }
    return 0;
}

static int check_predicates(const TSQuery *query, struct cbx_err *err)
{
    for (uint32_t pattern = 0; pattern < ts_query_pattern_count(query); pattern++) {
        uint32_t count, from = 0;
        const TSQueryPredicateStep *steps = ts_query_predicates_for_pattern(query, pattern, &count);
        for (uint32_t i = 0; i < count; i++) {
            if (steps[i].type != TSQueryPredicateStepTypeDone) {
                continue;
            }
            int failed = check_predicate(query, steps + from, i - from, err);
            if (failed) {
                return failed;
            }
            from = i + 1;
        }
    }
    return 0;
}

int cbx_query_check(enum cbx_language language, struct cbx_str query, struct cbx_err *err)
{
    uint32_t offset = 0;
    TSQuery *compiled = compile(cbx_lang_grammar(language), query, &offset);
    if (compiled == NULL) {
        return cbx_fail(
            err, CBX_EPOLICY, "the query is not one that the grammar of %s knows, from '%.*s' on",
            cbx_language_name(language), CBX_STR_SHOWN(cbx_str_sub(query, offset, query.len)));
    }
    int failed = check_predicates(compiled, err);
    if (!failed && ts_query_capture_count(compiled) == 0) {
        failed = cbx_fail(err, CBX_EPOLICY,
                          "the query has no capture: say '@here' behind what it looks for");
    }
    ts_query_delete(compiled);
    return failed;
}

/* --- running ---------------------------------------------------------------------------------- */

void cbx_query_run(struct cbx_str query, const TSTree *tree, struct cbx_str text,
                   bool (*found)(void *context, uint32_t start, uint32_t end, const char *what),
                   void *context)
{
    uint32_t offset;
    TSQuery *compiled = compile(ts_tree_language(tree), query, &offset);
    if (compiled == NULL) {
        found(context, 0, 0, "(the rule's query is broken)");
        return;
    }
    TSQueryCursor *cursor = ts_query_cursor_new();
    ts_query_cursor_set_match_limit(cursor, MATCH_LIMIT);
    ts_query_cursor_exec(cursor, compiled, ts_tree_root_node(tree));
    TSQueryMatch match;
    bool more = true;
    while (more && ts_query_cursor_next_match(cursor, &match)) {
        struct run run = { .query = compiled, .match = &match, .text = text };
        if (match.capture_count > 0 && all_hold(&run)) {
            TSNode node = match.captures[0].node;
            more = found(context, ts_node_start_byte(node), ts_node_end_byte(node),
                         ts_node_type(node));
        }
    }
    if (ts_query_cursor_did_exceed_match_limit(cursor)) {
        found(context, 0, 0, "(too many matches)");
    }
    ts_query_cursor_delete(cursor);
    ts_query_delete(compiled);
}
