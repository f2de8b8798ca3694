/* SPDX-License-Identifier: MIT
 * Executes the directives of a source in C. If a condition is unknown, one branch is taken and its
 * tokens are `maybe`; every name and text in the other branches is a fact. So is every name in a
 * macro, used or not. */
#include "analyzer/lang/c/macros.h"
#include "analyzer/past/past.h"

/* certainly; certainly not; perhaps, its tokens are read; perhaps, they are not read */
enum taken { TAKEN, DEAD, CHOSEN, PASSED };

enum { CONDITIONS_MAX = 200 };
struct condition {
    enum taken now;
    bool done;   /* a branch was certainly taken */
    bool chosen; /* a branch was taken that may apply */
};

/* A text that was left for an #include; it continues after the included text. */
enum { INCLUDES_MAX = 16, INCLUDES_OF_ALL_MAX = 256 };
struct including {
    const struct cbx_c_tokens *in;
    size_t at;
    bool older;
    struct cbx_str text; /* the included text */
};

struct preprocessor {
    struct cbx_c_reader r;
    const struct cbx_c_tokens *in;
    size_t at;
    struct including texts[INCLUDES_MAX]; /* texts that include `in` */
    /* first_text: number of outer texts that do not continue now */
    int text_count, first_text;
    int includes; /* number of included texts so far */
    int headers;  /* number of headers that are being read, each by the one before */
    /* `in` is a version of a file that a newer one has replaced: nothing in it is certain */
    bool older;
    struct condition conditions[CONDITIONS_MAX];
    int depth;
};

/* Returns the least certain state of the enclosing conditions. */
static enum taken state(const struct preprocessor *p)
{
    static const int uncertainty[] = { [TAKEN] = 0, [CHOSEN] = 1, [PASSED] = 2, [DEAD] = 3 };
    enum taken out = TAKEN;
    for (int i = 0; i < p->depth; i++) {
        enum taken now = p->conditions[i].now;
        if (uncertainty[now] > uncertainty[out]) {
            out = now;
        }
    }
    return out;
}

/* --- names and texts that are not parsed ------------------------------------------------------ */

static void mention(struct preprocessor *p, const struct cbx_c_token *token)
{
    struct cbx_facts *facts = p->r.parsed->facts;
    if (token->kind == C_IDENTIFIER) {
        cbx_facts_add(facts, CBX_IS_REFERENCE, cbx_c_canonical(token->text), token->start,
                      token->end);
    } else if (token->kind == C_STRING) {
        cbx_facts_add(facts, CBX_IS_LITERAL, cbx_c_unescape(p->r.arena, token->text), token->start,
                      token->end);
    }
}

/* --- directives ------------------------------------------------------------------------------- */

/* Returns the tokens of the line, without its '#' and name. */
static struct cbx_c_tokens line_of(struct preprocessor *p)
{
    struct cbx_c_tokens line = { .items = p->in->items + p->at };
    while (p->at < p->in->count && !p->in->items[p->at].first) {
        p->at++;
        line.count++;
    }
    return line;
}

/* Reads (a, b, rest...) after a macro's name; returns the number of tokens. */
static size_t read_parameters(struct cbx_c_macro *macro, const struct cbx_c_tokens *line)
{
    size_t i = 2;
    macro->function = true;
    for (; i < line->count && !cbx_c_is(&line->items[i], ")"); i++) {
        const struct cbx_c_token *token = &line->items[i];
        bool more = macro->parameter_count < CBX_C_PARAMETERS_MAX;
        if (token->kind == C_IDENTIFIER && more) {
            macro->parameters[macro->parameter_count++] = token->text;
        } else if (cbx_c_is(token, "...")) {
            macro->variadic = true;
            if (cbx_c_is(&line->items[i - 1], ",") || cbx_c_is(&line->items[i - 1], "(")) {
                macro->parameters[macro->parameter_count] = CBX_STR("__VA_ARGS__");
                macro->parameter_count += more;
            }
        }
    }
    return i + 1;
}

static void define(struct preprocessor *p, const struct cbx_c_tokens *line)
{
    if (line->count == 0 || line->items[0].kind != C_IDENTIFIER) {
        return;
    }
    enum taken now = state(p);
    struct cbx_c_macro *macro = cbx_c_macro_add(&p->r, line->items[0].text);
    if (macro == NULL) {
        return;
    }
    bool before = macro->defined;
    struct cbx_c_macro fresh = { .next = macro->next, .name = macro->name, .defined = true };
    fresh.doubtful = now != TAKEN;
    size_t from = 1;
    if (line->count > 1 && cbx_c_is(&line->items[1], "(") && !line->items[1].space) {
        from = read_parameters(&fresh, line);
    }
    for (size_t i = from; i < line->count; i++) {
        cbx_c_push(p->r.arena, &fresh.body, line->items[i]);
        int parameter = -1;
        for (uint32_t k = 0; k < fresh.parameter_count; k++) {
            parameter = cbx_str_equal(fresh.parameters[k], line->items[i].text) ? 0 : parameter;
        }
        if (parameter < 0 && fresh.parameter_count < CBX_C_PARAMETERS_MAX) {
            mention(p, &line->items[i]);
        }
    }
    if (now == PASSED && before) {
        macro->doubtful = true;
    } else if (!macro->busy) {
        *macro = fresh;
    }
}

static void undefine(struct preprocessor *p, const struct cbx_c_tokens *line)
{
    struct cbx_c_macro *macro =
        line->count > 0 ? cbx_c_macro_add(&p->r, line->items[0].text) : NULL;
    if (macro == NULL) {
        return;
    }
    bool certain = state(p) == TAKEN;
    macro->doubtful = !certain;
    macro->defined = !certain && macro->defined;
}

/* Returns "stdio.h" for <stdio.h>, "./stdio.h" and "x/../stdio.h". */
static struct cbx_str straight(struct cbx_arena *arena, struct cbx_str path)
{
    char *out = cbx_arena_alloc(arena, path.len + 1);
    size_t n = 0;
    for (size_t i = 0; out != NULL && i <= path.len;) {
        size_t end = i;
        while (end < path.len && path.p[end] != '/') {
            end++;
        }
        struct cbx_str part = cbx_str_sub(path, i, end);
        if (part.len == 0 && i == 0 && end < path.len) {
            out[n++] = '/';
        } else if (part.len > 0 && !cbx_str_is(part, ".")) {
            if (n > 0 && out[n - 1] != '/') {
                out[n++] = '/';
            }
            memcpy(out + n, part.p, part.len);
            n += part.len;
        }
        i = end + 1;
    }
    return (struct cbx_str){ .p = out != NULL ? out : "", .len = out != NULL ? n : 0 };
}

/* Macros of compilers and headers that the grammar cannot parse as names: they paste, take a
 * type, or occur where no name is allowed. */
static const struct {
    const char *header, *text; /* NULL: defined without a header */
} known_macros[] = {
#define CBX_C_MACRO(header, text) { header, "#define " text "\n" },
#include "analyzer/lang/c/macros.def"
#undef CBX_C_MACRO
};

static void settle(struct preprocessor *p);

/* Reads the directives of a text, without a fact and without its other tokens. */
static void read_quietly(struct preprocessor *p, struct cbx_str text)
{
    const struct preprocessor before = *p;
    struct cbx_parsed quiet = *p->r.parsed;
    struct cbx_facts nowhere = { .arena = p->r.arena };
    struct cbx_c_tokens tokens = { 0 };
    quiet.facts = &nowhere;
    cbx_c_tokens_read(&quiet, text, &tokens);
    p->r.parsed = &quiet;
    p->first_text = p->text_count;
    p->in = &tokens;
    for (p->at = 0; p->at < tokens.count && !p->r.gave_up; p->at++) {
        settle(p);
    }
    p->r.parsed = before.r.parsed;
    p->in = before.in;
    p->at = before.at;
    p->first_text = before.first_text;
    p->depth = before.depth;
}

static void add_known(struct preprocessor *p, const char *header)
{
    for (size_t i = 0; i < sizeof(known_macros) / sizeof(known_macros[0]); i++) {
        bool same = header == NULL || known_macros[i].header == NULL
                        ? header == known_macros[i].header
                        : strcmp(header, known_macros[i].header) == 0;
        if (same) {
            read_quietly(p, cbx_str_of(known_macros[i].text));
        }
    }
}

/* --- files of the session --------------------------------------------------------------------- */

static bool is_included(const struct cbx_entry *file, struct cbx_str name)
{
    size_t before = file->name.len > name.len ? file->name.len - name.len : 0;
    return cbx_str_ends(file->name, name) && (before == 0 || file->name.p[before - 1] == '/') &&
           file->name.len >= name.len;
}

/* Makes this text the next to be read, at the place of its #include. */
static void push_text(struct preprocessor *p, struct cbx_str text, bool older, uint32_t start,
                      uint32_t end)
{
    int active = 0;
    for (int i = 0; i < p->text_count; i++) {
        active += p->texts[i].text.p == text.p;
    }
    if (active > 1) { /* a guard against repeated inclusion is not certain here */
        return;
    }
    struct cbx_c_tokens *tokens = cbx_arena_alloc(p->r.arena, sizeof(*tokens));
    if (tokens == NULL || p->text_count == INCLUDES_MAX || ++p->includes > INCLUDES_OF_ALL_MAX) {
        p->r.gave_up = true;
        return;
    }
    *tokens = (struct cbx_c_tokens){ 0 };
    cbx_c_tokens_read(p->r.parsed, text, tokens);
    for (size_t i = 0; i < tokens->count; i++) {
        tokens->items[i].start = start;
        tokens->items[i].end = end;
    }
    p->texts[p->text_count++] = (struct including){ p->in, p->at, p->older, text };
    p->in = tokens;
    p->at = 0;
    p->older |= older;
}

static bool pop_text(struct preprocessor *p)
{
    if (p->text_count <= p->first_text) {
        return false;
    }
    const struct including *text = &p->texts[--p->text_count];
    p->in = text->in;
    p->at = text->at;
    p->older = text->older;
    return true;
}

/* Reads the macros of a project's header of this name. */
static void read_header(struct preprocessor *p, struct cbx_str name)
{
    const struct cbx_buf *headers = p->r.parsed->headers;
    struct cbx_str rest = headers != NULL ? cbx_buf_str(headers) : (struct cbx_str){ 0 };
    struct cbx_entry file;
    while (p->headers < INCLUDES_MAX && p->includes < INCLUDES_OF_ALL_MAX &&
           cbx_entry_next(&rest, &file)) {
        if (is_included(&file, name)) {
            p->headers++;
            p->includes++;
            read_quietly(p, file.text);
            p->headers--;
            return;
        }
    }
}

/* Includes all versions of the session's file of this name, the newest first: the compiler may
 * take any of them. */
static void include_file(struct preprocessor *p, struct cbx_str name, uint32_t start, uint32_t end)
{
    const struct cbx_past *past = p->r.parsed->past;
    struct cbx_str rest = past != NULL ? cbx_buf_str(&past->files) : (struct cbx_str){ 0 };
    struct cbx_str versions[INCLUDES_MAX];
    struct cbx_entry file;
    int count = 0;
    while (cbx_entry_next(&rest, &file)) {
        if (!is_included(&file, name)) {
            continue;
        }
        if (count == INCLUDES_MAX) {
            p->r.gave_up = true;
            return;
        }
        versions[count++] = file.text;
    }
    for (int i = 0; i < count; i++) { /* the text that is pushed last is read first */
        push_text(p, versions[i], i + 1 < count, start, end);
    }
}

static void include(struct preprocessor *p, const struct cbx_c_tokens *line, uint32_t start)
{
    struct cbx_facts *facts = p->r.parsed->facts;
    struct cbx_c_tokens expanded = { 0 };
    const struct cbx_c_tokens *t = line;
    uint32_t end = line->count > 0 ? line->items[line->count - 1].end : start + 1;
    if (line->count > 0 && line->items[0].kind == C_IDENTIFIER) {
        cbx_c_expand(&p->r, line, NULL, &expanded);
        t = &expanded;
    }
    struct cbx_str name = t->count > 0 ? t->items[0].text : CBX_STR("");
    bool maybe = false, angle = t->count > 0 && cbx_c_is(&t->items[0], "<");
    for (size_t i = 1; angle && i < t->count; i++) {
        maybe |= t->items[i].maybe;
        name = CBX_JOIN(p->r.arena, name, t->items[i].text);
    }
    bool whole = name.len > 2 && ((name.p[0] == '<' && name.p[name.len - 1] == '>') ||
                                  (name.p[0] == '"' && name.p[name.len - 1] == '"'));
    if (!whole || (t == &expanded && (maybe || t->items[0].maybe))) {
        cbx_facts_add_special(facts, CBX_FACT_DYNAMIC_IMPORT, CBX_STR("#include"), start, end);
    }
    if (whole) {
        name = straight(p->r.arena, cbx_str_sub(name, 1, name.len - 1));
        cbx_facts_add(facts, CBX_IS_IMPORT, name, start, end);
        cbx_facts_add(facts, CBX_IS_LITERAL, name, start, end);
        add_known(p, cbx_arena_copy(p->r.arena, name).p);
        include_file(p, name, start, end);
        read_header(p, name);
    }
}

/* Handles #pragma weak f = g and redefine_extname f g, which rename functions, and push_macro
 * and pop_macro, which change macros. */
static void pragma(struct preprocessor *p, const struct cbx_c_tokens *line)
{
    for (size_t i = 0; i < line->count; i++) {
        const struct cbx_c_token *token = &line->items[i];
        if (cbx_c_is(token, "weak") || cbx_c_is(token, "redefine_extname")) {
            cbx_facts_add(p->r.parsed->facts, CBX_IS_REFERENCE,
                          CBX_JOIN(p->r.arena, CBX_STR("pragma."), token->text), token->start,
                          token->end);
        } else if (token->kind == C_STRING) {
            struct cbx_str name = cbx_c_unescape(p->r.arena, token->text);
            struct cbx_c_macro *macro = cbx_c_macro(&p->r, name);
            if (cbx_c_is(&line->items[0], "push_macro") || cbx_c_is(&line->items[0], "pop_macro")) {
                cbx_facts_add(p->r.parsed->facts, CBX_IS_REFERENCE, cbx_c_canonical(name),
                              token->start, token->end);
            }
            if (macro != NULL) {
                macro->doubtful = true;
            }
        }
        mention(p, token);
    }
}

/* --- conditions ------------------------------------------------------------------------------- */

static struct cbx_c_value is_defined(struct preprocessor *p, struct cbx_str name)
{
    const struct cbx_c_macro *macro = cbx_c_macro(&p->r, name);
    int there = cbx_c_predefined(name);
    if (macro != NULL) {
        return (struct cbx_c_value){ macro->defined, !macro->doubtful && !p->older };
    }
    return (struct cbx_c_value){ there > 0, there >= 0 && !p->older };
}

static struct cbx_c_value evaluate(struct preprocessor *p, const struct cbx_c_tokens *line)
{
    struct cbx_c_tokens asked = { 0 }, expanded = { 0 };
    for (size_t i = 0; i < line->count; i++) {
        struct cbx_c_token token = line->items[i];
        if (cbx_c_is(&token, "defined")) {
            size_t at = i + 1;
            at += at < line->count && cbx_c_is(&line->items[at], "(");
            struct cbx_c_value v =
                at < line->count ? is_defined(p, line->items[at].text) : (struct cbx_c_value){ 0 };
            token.kind = C_NUMBER;
            token.text = v.value ? CBX_STR("1") : CBX_STR("0");
            token.maybe = !v.certain;
            i = at + (at + 1 < line->count && at > i + 1);
        }
        cbx_c_push(p->r.arena, &asked, token);
    }
    cbx_c_expand(&p->r, &asked, NULL, &expanded);
    return cbx_c_condition(&expanded);
}

/* Enters the next branch of the innermost condition. */
static void branch(struct condition *c, struct cbx_c_value value)
{
    if (c->done || (value.certain && value.value == 0)) {
        c->now = DEAD;
    } else if (value.certain && !c->chosen) {
        c->now = TAKEN;
        c->done = true;
    } else if (value.value != 0 && !c->chosen) {
        c->now = CHOSEN;
        c->chosen = true;
    } else {
        c->now = PASSED;
        c->done |= value.certain;
    }
}

/* Enters #else; `passed`: the branch before it may apply and was not taken. */
static void other_branch(struct condition *c, bool passed)
{
    if (c->done) {
        c->now = DEAD;
    } else if (c->chosen) {
        c->now = PASSED;
    } else {
        c->now = passed ? CHOSEN : TAKEN;
    }
    c->done = true;
}

static bool take_condition(struct preprocessor *p, const struct cbx_c_token *name,
                           const struct cbx_c_tokens *line)
{
    bool ifdef = cbx_c_is(name, "ifdef"), ifndef = cbx_c_is(name, "ifndef"),
         is_if = cbx_c_is(name, "if");
    struct condition *c = p->depth > 0 ? &p->conditions[p->depth - 1] : NULL;
    if (ifdef || ifndef || is_if) {
        if (p->depth == CONDITIONS_MAX) {
            p->r.gave_up = true;
            return true;
        }
        struct cbx_c_value value = { 0, true };
        if (state(p) != DEAD) {
            value = is_if             ? evaluate(p, line)
                    : line->count > 0 ? is_defined(p, line->items[0].text)
                                      : value;
            value.value = ifndef ? !value.value : value.value;
            /* the compiler may read this older version */
            value.value = p->older && !value.certain ? 1 : value.value;
        }
        c = &p->conditions[p->depth++];
        *c = (struct condition){ 0 };
        branch(c, value);
        return true;
    }
    if (cbx_c_is(name, "endif")) {
        p->depth -= p->depth > 0;
        return true;
    }
    bool elif = cbx_c_is(name, "elif") || cbx_c_is(name, "elifdef") || cbx_c_is(name, "elifndef");
    if (c == NULL || (!elif && !cbx_c_is(name, "else"))) {
        return elif || cbx_c_is(name, "else");
    }
    bool passed = c->now == PASSED;
    if (!elif) {
        other_branch(c, passed);
    } else {
        enum taken before = c->now;
        c->now = TAKEN; /* the expression of #elif is evaluated in the outer state */
        struct cbx_c_value value = evaluate(p, line);
        value.certain &= before != PASSED || value.value == 0;
        branch(c, value);
    }
    return true;
}

static void take_directive(struct preprocessor *p)
{
    uint32_t start = p->in->items[p->at++].start;
    bool named = p->at < p->in->count && !p->in->items[p->at].first;
    const struct cbx_c_token *name = named ? &p->in->items[p->at++] : NULL;
    struct cbx_c_tokens line = line_of(p);
    if (name == NULL || take_condition(p, name, &line) || state(p) == DEAD) {
        return;
    }
    if (cbx_c_is(name, "define")) {
        define(p, &line);
    } else if (cbx_c_is(name, "undef")) {
        undefine(p, &line);
    } else if (cbx_c_is(name, "include") || cbx_c_is(name, "include_next") ||
               cbx_c_is(name, "import")) {
        include(p, &line, start);
    } else if (cbx_c_is(name, "pragma")) {
        pragma(p, &line);
    }
}

/* --- the source ------------------------------------------------------------------------------- */

/* Consumes directives, and the tokens of branches that are not taken. */
static void settle(struct preprocessor *p)
{
    while ((p->at < p->in->count || pop_text(p)) && !p->r.gave_up) {
        if (p->at >= p->in->count) {
            continue;
        }
        const struct cbx_c_token *token = &p->in->items[p->at];
        enum taken now = state(p);
        if (token->first && cbx_c_is(token, "#")) {
            take_directive(p);
        } else if (now == DEAD) {
            p->at++;
        } else if (now == PASSED) {
            mention(p, token);
            p->at++;
        } else {
            return;
        }
    }
}

static bool next_of_source(void *context, struct cbx_c_token *out)
{
    struct preprocessor *p = context;
    settle(p);
    if (p->at >= p->in->count || p->r.gave_up) {
        return false;
    }
    *out = p->in->items[p->at++];
    out->maybe = state(p) == CHOSEN;
    return true;
}

static bool is_next_of_source(void *context, const char *text)
{
    struct preprocessor *p = context;
    settle(p);
    return p->at < p->in->count && cbx_c_is(&p->in->items[p->at], text);
}

void cbx_c_preprocess(struct cbx_parsed *parsed, const struct cbx_c_tokens *in,
                      struct cbx_c_tokens *out)
{
    struct preprocessor *p = cbx_arena_alloc(parsed->arena, sizeof(*p));
    if (p == NULL) {
        return;
    }
    p->r.parsed = parsed;
    p->r.arena = parsed->arena;
    p->in = in;
    add_known(p, NULL);
    const struct cbx_c_source source = { next_of_source, is_next_of_source, p };
    for (struct cbx_c_token token; next_of_source(p, &token);) {
        struct cbx_c_macro *macro =
            token.kind == C_IDENTIFIER ? cbx_c_macro(&p->r, token.text) : NULL;
        if (macro == NULL || !macro->defined) {
            cbx_c_push(parsed->arena, out, token);
        } else {
            cbx_c_expand(&p->r, &(struct cbx_c_tokens){ .items = &token, .count = 1 }, &source,
                         out);
        }
    }
    cbx_c_drop_attributes(out);
    if (p->r.gave_up) {
        cbx_facts_add_special(parsed->facts, CBX_FACT_TOO_COMPLEX, CBX_STR("macros"), 0, 1);
    }
}
