/* SPDX-License-Identifier: MIT
 * Judges command lines: the command, the commands that it runs, and its output files. The tables
 * are in commands.def. */
#include "analyzer/lang/shell/command.h"

enum { INNER_MAX = 8 };
enum how { NOTHING, REST, JOINED, FED };

struct runner {
    const char *word, *values, *long_values, *code, *long_code;
    size_t skip;
    enum how how;
};

static const struct runner runners[] = {
#define CBX_RUNNER(...) { __VA_ARGS__ },
#include "analyzer/lang/shell/commands.def"
};
static const char *const steering[] = {
#define CBX_STEERS(word) word,
#include "analyzer/lang/shell/commands.def"
};
static const char *const variables[] = {
#define CBX_VARIABLE(glob) glob,
#include "analyzer/lang/shell/commands.def"
};

static void judge(const struct cbx_shell_command *c);

static void add_fact(struct cbx_shell *s, enum cbx_fact_id id, struct cbx_str name,
                     const struct cbx_word *word)
{
    cbx_facts_add_special(s->parsed->facts, id, name, word->start, word->end);
}

bool cbx_shell_is_own_word(struct cbx_str word)
{
    for (size_t i = 0; i < CBX_SHELL_COUNT(steering); i++) {
        if (cbx_str_is(word, steering[i])) {
            return true;
        }
    }
    return false;
}

bool cbx_shell_is_allowed(const struct cbx_shell *s, struct cbx_str word)
{
    if (cbx_shell_is_own_word(word)) {
        return true;
    }
    const struct cbx_strs *list = &s->parsed->policy->shell_allow;
    for (size_t i = 0; i < list->count; i++) {
        if (cbx_str_equal(list->items[i], word)) {
            return true;
        }
    }
    return false;
}

static struct cbx_str base_name(struct cbx_str word)
{
    const char *slash = memrchr(word.p, '/', word.len);
    return slash != NULL ? cbx_str_sub(word, (size_t)(slash - word.p) + 1, word.len) : word;
}

/* --- variables and files ---------------------------------------------------------------------- */

void cbx_shell_check_variable(struct cbx_shell *s, struct cbx_str name, uint32_t start,
                              uint32_t end)
{
    for (size_t i = 0; i < CBX_SHELL_COUNT(variables); i++) {
        if (cbx_str_glob(cbx_str_of(variables[i]), name)) {
            cbx_facts_add_special(s->parsed->facts, CBX_FACT_SHELL_UNRESOLVED, name, start, end);
            return;
        }
    }
}

static bool is_own(struct cbx_str path)
{
    static const char *const devices[] = { "/dev/null",  "/dev/stdout", "/dev/stderr",
                                           "/dev/stdin", "/workspace",  "/tmp" };
    for (size_t i = 0; i < CBX_SHELL_COUNT(devices); i++) {
        if (cbx_str_is(path, devices[i])) {
            return true;
        }
    }
    return cbx_str_starts(path, CBX_STR("/workspace/")) || cbx_str_starts(path, CBX_STR("/tmp/")) ||
           cbx_str_starts(path, CBX_STR("/dev/fd/"));
}

bool cbx_shell_stays_inside(struct cbx_str path)
{
    bool home = cbx_str_is(path, "~") || cbx_str_starts(path, CBX_STR("~/"));
    return path.len > 0 && memmem(path.p, path.len, "..", 2) == NULL &&
           (home || cbx_places_is_relative(path) || is_own(path));
}

bool cbx_shell_is_inside(const struct cbx_shell *s, struct cbx_str path)
{
    const struct cbx_places *places = &s->places;
    bool relative = cbx_places_is_relative(path),
         climbs = memmem(path.p, path.len, "..", 2) != NULL;
    if (path.len == 0 || (climbs && (!relative || places->lost))) {
        return false;
    }
    bool inside = relative ? places->count > 0 || places->lost
                           : is_own(cbx_places_resolve(s->parsed->arena, CBX_STR(""), path));
    for (uint32_t i = 0; relative && i < places->count; i++) {
        inside &= is_own(cbx_places_resolve(s->parsed->arena, places->items[i], path));
    }
    return inside;
}

bool cbx_shell_is_of_system(struct cbx_str path)
{
    static const char *const folders[] = { "/etc",  "/usr",  "/bin",  "/sbin", "/lib",
                                           "/root", "/home", "/proc", "/sys",  "/dev",
                                           "/var",  "/boot", "/opt",  "/run" };
    for (size_t i = 0; i < CBX_SHELL_COUNT(folders); i++) {
        size_t len = strlen(folders[i]);
        if (cbx_str_starts(path, cbx_str_of(folders[i])) &&
            (path.len == len || path.p[len] == '/')) {
            return true;
        }
    }
    return false;
}

void cbx_shell_note_command(const struct cbx_shell *s, struct cbx_fact *fact)
{
    const struct cbx_facts *facts = s->parsed->facts;
    fact->stream = facts->base_end != 0 ? facts->base : facts->base + s->stream;
    cbx_places_note(fact, &s->places, facts->arena);
}

void cbx_shell_check_target(struct cbx_shell *s, struct cbx_str path, bool known, bool writes,
                            uint32_t start, uint32_t end)
{
    bool network = known && (cbx_str_starts(path, CBX_STR("/dev/tcp/")) ||
                             cbx_str_starts(path, CBX_STR("/dev/udp/")));
    if (network) {
        cbx_facts_add(s->parsed->facts, CBX_IS_CALL, cbx_str_sub(path, 0, 8), start, end);
    }
    struct cbx_arg *arg =
        writes && known ? cbx_arena_array(s->parsed->arena, 1, sizeof(*arg)) : NULL;
    struct cbx_fact *fact =
        arg != NULL ? cbx_facts_add(s->parsed->facts, CBX_IS_CALL, CBX_STR(">"), start, end) : NULL;
    if (fact != NULL) {
        *arg = (struct cbx_arg){ .known = true, .constant = true, .value = path };
        fact->args = arg;
        fact->arg_count = 1;
        cbx_shell_note_command(s, fact);
    }
    if (network || (writes && (!known || !cbx_shell_is_inside(s, path)))) {
        cbx_facts_add_special(s->parsed->facts, CBX_FACT_SHELL_REDIRECT,
                              known ? path : CBX_STR("(computed)"), start, end);
    }
}

/* --- commands that run commands -----------------------------------------------------------------
 */

static void judge_from(const struct cbx_shell_command *c, size_t from, bool fed, bool by_shell)
{
    struct cbx_shell_command inner = *c;
    inner.words += from;
    inner.patterns += from;
    inner.may += from;
    inner.count -= from;
    inner.depth++;
    inner.by_shell = by_shell;
    inner.fed = fed;
    inner.hole = fed && c->hole.len == 0 ? CBX_STR("{}") : c->hole;
    if (inner.depth > INNER_MAX) {
        cbx_shell_unresolved(c->s, "nesting", &c->words[0]);
    } else if (inner.count > 0) {
        judge(&inner);
    } else if (c->fed) {
        cbx_shell_unresolved(c->s, "command word", &c->words[0]);
    }
}

void cbx_shell_judge_inner(const struct cbx_shell_command *c, size_t from, bool fed)
{
    judge_from(c, from, fed, false);
}

void cbx_shell_judge_in_shell(const struct cbx_shell_command *c, size_t from)
{
    judge_from(c, from, c->fed, true);
}

/* Returns the end of the line: the arguments of parallel follow ":::". */
static size_t end_of_line(const struct cbx_shell_command *c, size_t from)
{
    while (from < c->count && !cbx_str_starts(c->words[from].text, CBX_STR(":::"))) {
        from++;
    }
    return from;
}

void cbx_shell_judge_joined(const struct cbx_shell_command *c, size_t from)
{
    size_t end = end_of_line(c, from), bytes = 0;
    for (size_t w = from; w < end; w++) {
        bytes += c->words[w].text.len + 1;
        if (!c->words[w].known) {
            cbx_shell_unresolved(c->s, "code", &c->words[w]);
            return;
        }
    }
    char *p = cbx_arena_alloc(c->s->parsed->arena, bytes + 1), *at = p;
    for (size_t w = from; p != NULL && w < end; w++) {
        struct cbx_str word = c->words[w].text;
        memcpy(at, word.p, word.len);
        at[word.len] = ' ';
        at += word.len + 1;
    }
    if (p != NULL && bytes > 0) {
        cbx_shell_judge_code(c->s, "shell", (struct cbx_str){ .p = p, .len = bytes }, true,
                             &c->words[from]);
    }
}

static bool is_assignment(const struct cbx_word *word)
{
    struct cbx_str text = word->text;
    size_t n = 0;
    while (n < text.len &&
           (text.p[n] == '_' || ((text.p[n] | 32) >= 'a' && (text.p[n] | 32) <= 'z') ||
            (n > 0 && text.p[n] >= '0' && text.p[n] <= '9'))) {
        n++;
    }
    return word->known && n > 0 && n < text.len && text.p[n] == '=';
}

/* Takes an option of a runner, and judges code in it. */
static void take_runner_option(const struct cbx_shell_command *c, size_t *w, const struct runner *r)
{
    const struct cbx_shell_options names = { r->values, r->long_values, r->code, r->long_code, "" };
    struct cbx_word value;
    enum cbx_shell_option kind = cbx_shell_take_option(c, w, &names, &value);
    if (kind == CBX_SHELL_OPTION_CODE) {
        bool exec = cbx_str_starts(value.text, CBX_STR("exec=")); /* an action of tar */
        cbx_shell_judge_code(c->s, "shell", cbx_str_sub(value.text, exec ? 5 : 0, value.text.len),
                             value.known, &value);
    } else if (kind == CBX_SHELL_OPTION_VALUE && !value.known && r->how != NOTHING) {
        cbx_shell_unresolved(c->s, "option", &value); /* the value may be several words */
    }
}

static void take_assignment(const struct cbx_shell_command *c, const struct cbx_word *word)
{
    const char *equals = memchr(word->text.p, '=', word->text.len);
    cbx_shell_check_variable(c->s, cbx_str_sub(word->text, 0, (size_t)(equals - word->text.p)),
                             word->start, word->end);
}

/* Skips options, assignments and other words before the inner command; returns the index of the
 * command. */
static size_t skip_to_command(const struct cbx_shell_command *c, const struct runner *r)
{
    size_t w = 1, skip = r->skip;
    bool options = true;
    while (w < c->count) {
        const struct cbx_word *word = &c->words[w];
        if (options && word->known && cbx_str_is(word->text, "--")) {
            options = false;
            w++;
        } else if (options && cbx_shell_is_option(word)) {
            take_runner_option(c, &w, r);
        } else if (r->how == NOTHING || (word->known && cbx_str_is(word->text, "-"))) {
            w++;
        } else if (is_assignment(word)) {
            take_assignment(c, word);
            w++;
        } else if (skip > 0) {
            skip--;
            w++;
            if (!word->known) {
                cbx_shell_unresolved(c->s, "argument", word);
            }
        } else {
            return w;
        }
    }
    return w;
}

/* Returns the text of xargs -I TEXT. */
static struct cbx_str find_hole(const struct cbx_shell_command *c, size_t end)
{
    for (size_t w = 1; w < end; w++) {
        struct cbx_str word = c->words[w].text;
        const char *letter = cbx_shell_is_option(&c->words[w]) && word.p[1] != '-'
                                 ? memchr(word.p, 'I', word.len)
                                 : NULL;
        struct cbx_str rest =
            letter != NULL ? cbx_str_sub(word, (size_t)(letter - word.p) + 1, word.len) : word;
        if (letter != NULL && (rest.len > 0 || w + 1 < c->count)) {
            return rest.len > 0 ? rest : c->words[w + 1].text;
        }
        if (cbx_str_starts(word, CBX_STR("--replace=")) || cbx_str_starts(word, CBX_STR("-i"))) {
            size_t name = word.p[1] == '-' ? 10 : 2;
            return word.len > name ? cbx_str_sub(word, name, word.len) : CBX_STR("{}");
        }
    }
    return CBX_STR("{}");
}

/* Returns true for command -v WORD, which only describes the word. */
static bool only_asks(const struct cbx_shell_command *c, const struct runner *r, size_t command)
{
    for (size_t w = 1; w < command && cbx_str_is(cbx_str_of(r->word), "command"); w++) {
        struct cbx_str word = c->words[w].text;
        if (c->words[w].known &&
            (memchr(word.p, 'v', word.len) != NULL || memchr(word.p, 'V', word.len) != NULL)) {
            return true;
        }
    }
    return false;
}

/* Returns true for xargs -0, -d, -I: its input is split into lines, not at blanks and quotes. */
static bool takes_lines(const struct cbx_shell_command *c, size_t end)
{
    bool lines = false;
    for (size_t w = 1; w < end; w++) {
        struct cbx_str word = c->words[w].text;
        lines |= cbx_shell_is_option(&c->words[w]) &&
                 (word.p[1] != '-'
                      ? cbx_shell_has_any(word, "0dI")
                      : cbx_str_is(word, "--null") || cbx_str_starts(word, CBX_STR("--delim")));
    }
    return lines;
}

/* Returns the traits of the words that xargs adds. */
static unsigned fed_traits(const struct cbx_shell_command *c, size_t end)
{
    struct cbx_shell *s = c->s;
    if (s->input.source != CBX_SHELL_OUTPUT) {
        return CBX_SHELL_MAY_ANY;
    }
    unsigned may = cbx_shell_output_traits(s, s->input.node, s->function);
    bool splits = !takes_lines(c, end) && (may & CBX_SHELL_MAY_SPLIT) != 0;
    return may | (splits ? CBX_SHELL_MAY_OPTION : 0u);
}

/* Judges the command with the words that xargs certainly adds. */
static void judge_filled(const struct cbx_shell_command *c, size_t from)
{
    enum { COMMANDS_MAX = 16 };
    struct cbx_shell_command filled;
    for (size_t i = 0; i < COMMANDS_MAX && cbx_shell_fill_fed(c, i, &filled); i++) {
        cbx_shell_judge_inner(&filled, from, false);
    }
}

static void judge_runner(const struct cbx_shell_command *outer, const struct runner *r)
{
    size_t w = skip_to_command(outer, r);
    if (only_asks(outer, r, w)) {
        return;
    }
    struct cbx_shell_command with = *outer;
    const struct cbx_shell_command *c = &with;
    with.hole = r->how == FED ? find_hole(outer, w) : with.hole;
    if (r->how == FED) {
        with.fed_may = fed_traits(outer, w);
        cbx_shell_read_fed(&with, takes_lines(outer, w));
    }
    if (r->how == JOINED && w < c->count) {
        cbx_shell_judge_joined(c, w);
    } else if (r->how == REST || r->how == FED) {
        cbx_shell_judge_inner(c, w, r->how == FED || c->fed);
        if (r->how == FED && !outer->fed && !outer->filled) { /* else each level would double */
            judge_filled(c, w);
        }
    }
}

bool cbx_shell_is_runner(struct cbx_str name)
{
    for (size_t i = 0; i < CBX_SHELL_COUNT(runners); i++) {
        if (runners[i].how == REST && cbx_str_is(name, runners[i].word)) {
            return true;
        }
    }
    return false;
}

static void judge_runners(const struct cbx_shell_command *c, struct cbx_str name)
{
    for (size_t i = 0; i < CBX_SHELL_COUNT(runners); i++) {
        if (cbx_str_is(name, runners[i].word)) {
            judge_runner(c, &runners[i]);
        }
    }
}

/* --- a command line --------------------------------------------------------------------------- */

void cbx_shell_add_call(const struct cbx_shell_command *c, struct cbx_str name)
{
    struct cbx_facts *facts = c->s->parsed->facts;
    uint32_t start = c->words[0].start, end = c->words[c->count - 1].end;
    struct cbx_arg *args = cbx_arena_array(facts->arena, c->count, sizeof(*args));
    bool computed = false, splits = false;
    for (size_t w = 1; args != NULL && w < c->count; w++) {
        args[w - 1] = (struct cbx_arg){ .position = (uint32_t)(w - 1),
                                        .known = c->words[w].known,
                                        .constant = c->words[w].known,
                                        .value = c->words[w].text };
        if (!c->words[w].known) {
            cbx_shell_read_partial(c->s, &c->words[w], &args[w - 1]);
        }
        computed |= !c->words[w].known;
        splits |= !c->words[w].known && (c->may[w] & CBX_SHELL_MAY_SPLIT) != 0;
    }
    struct cbx_fact *fact = cbx_facts_add(facts, CBX_IS_CALL, name, start, c->words[0].end);
    if (fact == NULL || args == NULL) {
        return;
    }
    fact->args = args;
    fact->arg_count = (uint32_t)(c->count - 1);
    fact->spread = computed || c->fed;
    cbx_shell_add_fed(c, fact);
    cbx_shell_note_command(c->s, fact);
    if (splits) {
        cbx_facts_add_special(facts, CBX_FACT_SHELL_ARGUMENT, name, start, end);
    }
}

/* Returns a word with the version range after it: in `pip install good<2` a shell would redirect
 * at the end of the word. No shell runs installs here; the kernel splits the line at blanks, and
 * so does this function, for a range that follows a name directly. */
static struct cbx_str with_range(const struct cbx_shell *s, const struct cbx_word *word)
{
    static const char of_ranges[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                    ".+-_!*<>=~,";
    struct cbx_str text = s->parsed->text, raw = cbx_str_sub(text, word->start, word->end);
    size_t end = word->end;
    if (!word->known || !cbx_str_equal(raw, word->text) || end >= text.len ||
        (text.p[end] != '<' && text.p[end] != '>')) {
        return word->text;
    }
    size_t version = end + 1 < text.len && text.p[end + 1] == '=' ? end + 2 : end + 1;
    bool ranges = version < text.len && text.p[version] >= '0' && text.p[version] <= '9';
    while (ranges && end < text.len && strchr(of_ranges, text.p[end]) != NULL &&
           text.p[end] != '\0') {
        end++;
    }
    return cbx_str_sub(text, word->start, end);
}

/* Reads the packages of an install by the bare name of the installer, whatever its folder. */
static void read_packages(const struct cbx_shell_command *c, struct cbx_str name)
{
    struct cbx_word *words = cbx_arena_array(c->s->parsed->arena, c->count + 1, sizeof(*words));
    if (words != NULL) {
        memcpy(words, c->words, c->count * sizeof(*words));
        for (size_t i = 1; i < c->count; i++) {
            words[i].text = with_range(c->s, &c->words[i]);
        }
        words[0].text = name;
        words[c->count] = (struct cbx_word){ .start = words[0].start, .end = words[0].end };
        cbx_packages_read(c->s->parsed, words, c->count + c->fed);
    }
}

/* Returns true for python3 -m pip: python3 -m pip install x is pip install x, unless the folder
 * has its own pip. */
static bool is_module_run(const struct cbx_shell_command *c, struct cbx_str name,
                          const char *module)
{
    return (cbx_str_is(name, "python") || cbx_str_is(name, "python3")) &&
           name.len == c->words[0].text.len && c->count > 3 && c->words[1].known &&
           cbx_str_is(c->words[1].text, "-m") && c->words[2].known &&
           cbx_str_is(c->words[2].text, module);
}

static void judge(const struct cbx_shell_command *c)
{
    const struct cbx_word *word = &c->words[0];
    if (!word->known && cbx_shell_is_passed(c)) {
        return;
    }
    if (!word->known || word->text.len == 0 || c->patterns[0] ||
        cbx_shell_has_hole(c, word->text)) {
        cbx_shell_unresolved(c->s, "command word", word);
        return;
    }
    struct cbx_str name = base_name(word->text);
    if (is_module_run(c, name, "pip")) {
        struct cbx_fact *import = cbx_facts_add(c->s->parsed->facts, CBX_IS_IMPORT, CBX_STR("pip"),
                                                word->start, word->end);
        if (import != NULL) { /* an import of the language shell: only files of that name count */
            import->language = CBX_SHELL;
        }
        cbx_shell_judge_inner(c, 2, c->fed);
        return;
    }
    bool here = c->depth == 0 || c->by_shell;
    bool function = here && cbx_shell_function(c->s, word->text, word->start);
    bool redirects = c->count == 1 && !c->fed && cbx_str_is(word->text, "exec"); /* exec >FILE */
    if (!function && !redirects && !cbx_shell_is_allowed(c->s, word->text)) {
        add_fact(c->s, CBX_FACT_SHELL_NOT_LISTED, word->text, word);
    }
    if (!function) {
        cbx_shell_add_call(c, name);
    }
    if (here) {
        cbx_shell_judge_passed(c);
    }
    read_packages(c, name);
    cbx_shell_check_arguments(c, name);
    cbx_shell_check_options(c, name);
    cbx_shell_check_sent(c, name);
    cbx_shell_judge_interpreters(c, name);
    judge_runners(c, name);
    cbx_shell_judge_specials(c, name);
    if (!function) {
        cbx_shell_follow_place(c, name);
    }
}

void cbx_shell_judge(struct cbx_shell *s, const struct cbx_shell_line *line)
{
    if (line->count > 0) {
        judge(&(struct cbx_shell_command){ .s = s,
                                           .words = line->words,
                                           .patterns = line->patterns,
                                           .may = line->may,
                                           .count = line->count });
    }
}
