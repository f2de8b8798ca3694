/* SPDX-License-Identifier: MIT
 * Command lines of package managers: finds the packages, files and indexes among their words. The
 * tables are in managers.def. */
#include "analyzer/packages/install.h"

#include "analyzer/facts/fold.h"
#include "analyzer/packages/package_check.h"

enum how {
    HOW_NAMES,
    HOW_EMPTY,
    HOW_FILES,
    HOW_FIRST,
    HOW_PROGRAM,
    HOW_MADE,
    HOW_PROJECT,
};

static const struct install {
    const char *manager, *verbs;
    enum cbx_spec_kind kind;
    enum how how;
} installs[] = {
#define CBX_INSTALL(manager, verbs, kind, how) { manager, verbs, CBX_SPEC_##kind, HOW_##how },
#include "analyzer/packages/managers.def"
};

enum what {
    WHAT_FLAG = 0, /* takes no value */
    WHAT_MAYBE,
    WHAT_INDEX,
    WHAT_HOST,
    WHAT_FIND,
    WHAT_FILE,
    WHAT_PATH,
    WHAT_NAMED,
    WHAT_BESIDE,
    WHAT_OLDER,
    WHAT_VALUE,
};

static const struct option {
    const char *kinds, *name;
    enum what what;
} options[] = {
#define CBX_INSTALL_OPTION(kinds, name, what) { kinds, name, WHAT_##what },
#include "analyzer/packages/managers.def"
};

#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))

/* The state of reading one install. */
struct line {
    struct cbx_parsed *parsed;
    const struct cbx_word *words;
    size_t count;
    enum cbx_spec_kind kind;
    bool quiet;   /* true: only the first word is searched */
    bool runs;    /* npx and similar commands: -p is a package */
    bool unknown; /* the last option may take a value */
    size_t named; /* number of packages that options named */
};

static bool is_option(const struct cbx_word *word)
{
    return word->known && word->text.len > 1 && word->text.p[0] == '-';
}

static const struct cbx_packages *packages_of(const struct line *l)
{
    return cbx_packages_of(l->parsed->policy, l->kind);
}

static void check_source(struct line *l, const char *source, const struct cbx_word *word)
{
    if (!cbx_packages_takes_source(l->parsed, packages_of(l), source)) {
        cbx_packages_add(l->parsed, CBX_FACT_PACKAGE_SOURCE, word);
    }
}

static void check_file(struct line *l, const struct cbx_word *word)
{
    check_source(l, "requirements", word);
}

/* --- options ---------------------------------------------------------------------------------- */

static bool is_for(const struct line *l, const struct option *o)
{
    static const char letters[] = { 'P', 'J', 'C', 'N' };
    return strchr(o->kinds, letters[l->kind]) != NULL ||
           (l->runs && l->kind == CBX_SPEC_NPM && strchr(o->kinds, 'X') != NULL);
}

/* Options may be abbreviated. For an ambiguous abbreviation the first row of the table wins, and
 * more important rows come first. *whole: the option is not abbreviated. */
static enum what find_long(struct line *l, struct cbx_str name, bool *whole)
{
    enum what what = WHAT_FLAG;
    bool found = false;
    for (size_t i = 0; i < COUNT(options); i++) {
        struct cbx_str row = cbx_str_of(options[i].name);
        if (!is_for(l, &options[i]) || !cbx_str_starts(row, name)) {
            continue;
        }
        *whole = row.len == name.len;
        if (*whole) {
            return options[i].what;
        }
        what = !found && name.len > 4 ? options[i].what : what;
        found |= name.len > 4;
    }
    *whole = cbx_str_starts(name, CBX_STR("--@")) && cbx_str_ends(name, CBX_STR(":registry"));
    return *whole ? WHAT_INDEX : found ? what : WHAT_MAYBE;
}

static enum what find_short(const struct line *l, char letter)
{
    for (size_t i = 0; i < COUNT(options); i++) {
        if (options[i].name[1] == letter && options[i].name[2] == '\0' && is_for(l, &options[i])) {
            return options[i].what;
        }
    }
    return WHAT_MAYBE;
}

static bool is_remote(struct cbx_str value)
{
    return value.len > 0 && memmem(value.p, value.len, "://", 3) != NULL;
}

/* A file of requirements, or its URL. */
static void check_file_value(struct line *l, const struct cbx_word *option, struct cbx_str value)
{
    check_file(l, option);
    if (is_remote(value)) {
        check_source(l, "url", option);
    }
}

/* A folder, or the URL of a repository. */
static void check_code(struct line *l, const struct cbx_word *option, struct cbx_str value)
{
    if (is_remote(value)) {
        cbx_packages_check_text(l->parsed, l->kind, option, value);
    } else {
        check_source(l, "path", option);
    }
}

static void check_found_links(struct line *l, const struct cbx_word *option, struct cbx_str value)
{
    if (!is_remote(value)) {
        check_source(l, "path", option);
    } else if (!cbx_packages_index(packages_of(l), l->kind, value)) {
        cbx_packages_add(l->parsed, CBX_FACT_PACKAGE_SOURCE, option);
    }
}

/* Reads packages in the value of an option; uv takes several with commas between them. */
static void check_named(struct line *l, const struct cbx_word *option, struct cbx_str value)
{
    while (value.len > 0) {
        size_t n = 0;
        while (n < value.len && (value.p[n] != ',' || l->kind == CBX_SPEC_NPM)) {
            n++;
            /* the whole "x>=1,<2" is one */
            n += n + 1 < value.len && value.p[n] == ',' && strchr("<>=!~ ", value.p[n + 1]) != NULL;
        }
        cbx_packages_check_text(l->parsed, l->kind, option, cbx_str_sub(value, 0, n));
        value = cbx_str_sub(value, n + 1, value.len);
    }
}

static void take_value(struct line *l, enum what what, const struct cbx_word *option,
                       struct cbx_str value, bool known)
{
    switch (what) {
    case WHAT_INDEX:
        if (!known || !cbx_packages_takes_index(l->parsed, packages_of(l), l->kind, value)) {
            cbx_packages_add(l->parsed, CBX_FACT_PACKAGE_SOURCE, option);
        }
        return;
    case WHAT_HOST:
        cbx_packages_add(l->parsed, CBX_FACT_PACKAGE_SOURCE, option);
        return;
    case WHAT_FIND:
        check_found_links(l, option, value);
        return;
    case WHAT_FILE:
        check_file_value(l, option, value);
        return;
    case WHAT_PATH:
        check_code(l, option, value);
        return;
    case WHAT_NAMED:
    case WHAT_BESIDE:
        l->named += what == WHAT_NAMED;
        if (!known) {
            cbx_packages_add(l->parsed, CBX_FACT_PACKAGE_UNRESOLVED, option);
        }
        check_named(l, option, value);
        return;
    case WHAT_OLDER:
        if (packages_of(l)->minimum_count > 0 && !cbx_str_is(value, "highest")) {
            cbx_packages_add(l->parsed, CBX_FACT_PACKAGE_UNRESOLVED, option);
        }
        return;
    case WHAT_FLAG:
    case WHAT_MAYBE:
    case WHAT_VALUE:
        return;
    }
}

/* An option in parts. */
struct given {
    enum what what;
    bool inside, whole; /* inside: the value is part of the word */
    struct cbx_str value;
};

static struct given read_long(struct line *l, struct cbx_str text)
{
    const char *equals = memchr(text.p, '=', text.len);
    size_t end = equals != NULL ? (size_t)(equals - text.p) : text.len;
    struct given g = { .inside = equals != NULL };
    g.what = find_long(l, cbx_str_sub(text, 0, end), &g.whole);
    g.value = cbx_str_sub(text, end + 1, text.len);
    return g;
}

/* -qUi URL, -iURL, -i=URL: letters up to the first that takes a value. */
static struct given read_short(const struct line *l, struct cbx_str text)
{
    struct given g = { .whole = true };
    for (size_t i = 1; i < text.len && (g.what == WHAT_FLAG || g.what == WHAT_MAYBE); i++) {
        enum what what = find_short(l, text.p[i]);
        g.what = what == WHAT_FLAG ? g.what : what;
        g.value = cbx_str_sub(text, i + 1, text.len);
        g.value = cbx_str_sub(g.value, g.value.len > 0 && g.value.p[0] == '=', g.value.len);
        g.inside = g.value.len > 0;
    }
    return g;
}

/* Reads the option at words[at] and its value; returns the number of words. A word that may not
 * be a value is read again as a word. */
static size_t take_option(struct line *l, size_t at)
{
    const struct cbx_word *word = &l->words[at], *next = at + 1 < l->count ? word + 1 : NULL;
    struct given g = word->text.p[1] == '-' ? read_long(l, word->text) : read_short(l, word->text);
    if (g.what == WHAT_FLAG || g.what == WHAT_MAYBE) {
        l->unknown |= g.what == WHAT_MAYBE && !g.inside;
        return 1;
    }
    bool follows = !g.inside && next != NULL;
    if (!l->quiet) {
        word = (g.what == WHAT_NAMED || g.what == WHAT_BESIDE) && follows ? next : word;
        take_value(l, g.what, word, follows ? next->text : g.value, follows ? next->known : true);
    }
    l->unknown |= !g.whole;
    return 1 + (follows && g.whole);
}

/* --- words ------------------------------------------------------------------------------------ */

static void check_made(struct line *l, const struct cbx_word *word)
{
    /* npm init x runs create-x, npm init @x/y runs @x/create-y */
    struct cbx_str text = word->text, scope = CBX_STR("");
    const char *slash = text.len > 0 && text.p[0] == '@' ? memchr(text.p, '/', text.len) : NULL;
    if (slash != NULL) {
        scope = cbx_str_sub(text, 0, (size_t)(slash - text.p) + 1);
        text = cbx_str_sub(text, scope.len, text.len);
    }
    struct cbx_str name = CBX_JOIN(l->parsed->arena, scope, CBX_STR("create-"), text);
    if (!word->known || name.p == NULL) {
        cbx_packages_add(l->parsed, CBX_FACT_PACKAGE_UNRESOLVED, word);
    } else {
        cbx_packages_check_text(l->parsed, l->kind, word, name);
    }
}

/* Returns false if the rest is not for the manager. */
static bool take_word(struct line *l, enum how how, size_t at)
{
    const struct cbx_word *word = &l->words[at];
    switch (how) {
    case HOW_FILES:
        check_file(l, word);
        return true;
    case HOW_MADE:
        check_made(l, word);
        return false;
    case HOW_FIRST:
        if (l->named == 0) {
            cbx_packages_check(l->parsed, l->kind, word);
        }
        return false;
    case HOW_PROGRAM:
        return false;
    case HOW_NAMES:
    case HOW_EMPTY:
    case HOW_PROJECT:
        cbx_packages_check(l->parsed, l->kind, word);
        return true;
    }
    return true;
}

static void read_words(struct line *l, enum how how, size_t from)
{
    bool ended = false, any = false;
    for (size_t i = from; i < l->count;) {
        if (!ended && is_option(&l->words[i])) {
            ended = cbx_str_is(l->words[i].text, "--");
            i += take_option(l, i);
            continue;
        }
        any |= !l->words[i].known || l->words[i].text.len > 0;
        if (!take_word(l, how, i)) {
            break;
        }
        i++;
    }
    if (how == HOW_PROJECT || (how == HOW_EMPTY && !any)) {
        check_file(l, &l->words[0]);
    }
}

/* --- verbs ------------------------------------------------------------------------------------ */

/* Matches the verbs, with options between them. Returns the index of the first word after them,
 * or 0. */
static size_t match_verbs(struct line *l, const char *verbs, size_t at)
{
    struct cbx_str rest = cbx_str_of(verbs);
    while (rest.len > 0 && at < l->count) {
        const struct cbx_word *word = &l->words[at];
        const char *space = memchr(rest.p, ' ', rest.len);
        struct cbx_str verb =
            cbx_str_sub(rest, 0, space != NULL ? (size_t)(space - rest.p) : rest.len);
        if (is_option(word)) {
            at += take_option(l, at);
        } else if (word->known && cbx_str_equal(word->text, verb)) {
            rest = cbx_str_sub(rest, verb.len + 1, rest.len);
            at++;
        } else {
            return 0;
        }
    }
    return rest.len == 0 ? at : 0;
}

static const struct install *match_installs(struct line *l, size_t at, size_t *from)
{
    struct cbx_str manager = l->words[0].text;
    for (size_t i = 0; i < COUNT(installs); i++) {
        if (installs[i].manager[0] == manager.p[0] &&
            cbx_str_glob(cbx_str_of(installs[i].manager), manager) &&
            (*from = match_verbs(l, installs[i].verbs, at)) > 0) {
            return &installs[i];
        }
    }
    return NULL;
}

/* The manager's own options may come before the verbs: pip --quiet install. An option that is not
 * in the table may take a value, so the next word may be a value or a verb. */
static const struct install *find_install(struct line *l, size_t *from)
{
    const struct install *install = match_installs(l, 1, from); /* managers without a verb too */
    size_t i = 1;
    while (install == NULL && i < l->count) {
        if (is_option(&l->words[i])) {
            i += take_option(l, i);
            continue;
        }
        install = match_installs(l, i, from);
        if (install == NULL && !l->words[i].known) {
            cbx_packages_add(l->parsed, CBX_FACT_PACKAGE_UNRESOLVED, &l->words[i]);
            break;
        }
        if (install == NULL && !l->unknown) {
            break;
        }
        i++;
    }
    return install;
}

static const struct install *find_manager(struct cbx_str word)
{
    for (size_t i = 0; word.len > 0 && i < COUNT(installs); i++) {
        if (installs[i].manager[0] == word.p[0] &&
            cbx_str_glob(cbx_str_of(installs[i].manager), word)) {
            return &installs[i];
        }
    }
    return NULL;
}

static void read_install(struct cbx_parsed *parsed, const struct cbx_word *words, size_t count,
                         const struct install *manager)
{
    size_t from = 0;
    struct line l = {
        .parsed = parsed, .words = words, .count = count, .kind = manager->kind, .quiet = true
    };
    const struct install *install = find_install(&l, &from);
    if (install != NULL) {
        l.quiet = false;
        l.kind = install->kind;
        l.runs = install->how == HOW_FIRST;
        for (size_t i = 1; i < from;) {
            i += is_option(&words[i]) ? take_option(&l, i) : 1;
        }
        read_words(&l, install->how, from);
    }
}

/* Handles python -m pip install x: the words after -m. */
static size_t find_module(const struct cbx_word *words, size_t count)
{
    size_t i = 1;
    while (i < count && !(words[i].known && cbx_str_is(words[i].text, "-m"))) {
        i++;
    }
    return i + 1 < count ? i + 1 : count;
}

bool cbx_packages_read(struct cbx_parsed *parsed, const struct cbx_word *words, size_t count)
{
    size_t at = 0;
    while (at < count && words[at].known && cbx_str_starts(words[at].text, CBX_STR("python"))) {
        at += find_module(words + at, count - at);
    }
    const struct install *manager =
        at < count && words[at].known ? find_manager(words[at].text) : NULL;
    if (manager != NULL) {
        read_install(parsed, words + at, count - at, manager);
    }
    return manager != NULL;
}

/* --- files of requirements ---------------------------------------------------------------------
 */

bool cbx_packages_is_file(struct cbx_str path)
{
    const char *slash = path.len > 0 ? memrchr(path.p, '/', path.len) : NULL;
    size_t from = slash != NULL ? (size_t)(slash - path.p) + 1 : 0;
    struct cbx_str name = cbx_str_sub(path, from, path.len);
    return cbx_str_glob(CBX_STR("*requirements*.txt"), name) ||
           cbx_str_glob(CBX_STR("*constraints*.txt"), name) ||
           cbx_str_glob(CBX_STR("*requirements*.in"), name);
}

struct cbx_str cbx_packages_take_line(struct cbx_str *rest, bool *continues)
{
    const char *newline = rest->len > 0 ? memchr(rest->p, '\n', rest->len) : NULL;
    struct cbx_str line =
        cbx_str_sub(*rest, 0, newline != NULL ? (size_t)(newline - rest->p) : rest->len);
    *rest = cbx_str_sub(*rest, line.len + 1, rest->len);
    size_t n = 0;
    while (n < line.len && !(line.p[n] == '#' && (n == 0 || line.p[n - 1] == ' '))) {
        n++;
    }
    line = cbx_fold_trim(cbx_str_sub(line, 0, n));
    *continues = cbx_str_ends(line, CBX_STR("\\"));
    line.len -= *continues;
    return cbx_fold_trim(line);
}

/* Reads an option and its value, or a requirement followed by options. If `base` is not NULL,
 * the words have their own places in that text. */
static void read_line(struct line *l, struct cbx_str text, const char *base,
                      struct cbx_word words[2])
{
    bool option = text.len > 1 && text.p[0] == '-';
    const char *space = option ? memchr(text.p, ' ', text.len) : memmem(text.p, text.len, " --", 3);
    size_t n = space != NULL ? (size_t)(space - text.p) : text.len;
    words[0].text = cbx_str_sub(text, 0, n);
    words[1].text = cbx_fold_trim(cbx_str_sub(text, n, text.len));
    l->count = 1 + (words[1].text.len > 0);
    for (size_t i = 0; base != NULL && i < 2; i++) {
        words[i].start = (uint32_t)(text.p - base);
        words[i].end = words[i].start + (uint32_t)(option ? text.len : n);
    }
    if (option) {
        take_option(l, 0);
    } else {
        cbx_packages_check(l->parsed, l->kind, &words[0]);
    }
}

static void read_lines(struct line *l, struct cbx_str text, const char *base,
                       struct cbx_word words[2])
{
    bool continues; /* the words of a line are judged separately: a hash is an option of its own */
    while (text.len > 0) {
        struct cbx_str line = cbx_packages_take_line(&text, &continues);
        if (line.len > 0) {
            read_line(l, line, base, words);
        }
    }
}

void cbx_packages_read_file(struct cbx_parsed *parsed, struct cbx_str text, uint32_t start,
                            uint32_t end)
{
    struct cbx_word words[2] = { { .known = true, .start = start, .end = end },
                                 { .known = true, .start = start, .end = end } };
    struct line l = { .parsed = parsed, .words = words, .kind = CBX_SPEC_PIP };
    read_lines(&l, text, NULL, words);
}

void cbx_packages_read_lines(struct cbx_parsed *parsed, struct cbx_str text)
{
    struct cbx_word words[2] = { { .known = true }, { .known = true } };
    struct line l = { .parsed = parsed, .words = words, .kind = CBX_SPEC_PIP };
    read_lines(&l, text, text.p, words);
}
