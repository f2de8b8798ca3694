/* SPDX-License-Identifier: MIT
 * Builtins and tools with a language of their own: eval, trap, alias, find, sed. */
#include "analyzer/lang/shell/command.h"

static bool ends_exec(const struct cbx_shell_command *c, size_t w)
{
    return c->words[w].known && (cbx_str_is(c->words[w].text, ";") ||
                                 (cbx_str_is(c->words[w].text, "+") && c->words[w - 1].known &&
                                  cbx_str_is(c->words[w - 1].text, "{}")));
}

static bool begins_exec(const struct cbx_shell_command *c, size_t w)
{
    static const char *const runs[] = { "-exec", "-execdir", "-ok", "-okdir" };
    for (size_t i = 0; i < CBX_SHELL_COUNT(runs); i++) {
        if (c->words[w].known && cbx_str_is(c->words[w].text, runs[i])) {
            return true;
        }
    }
    return false;
}

static size_t find_exec_end(const struct cbx_shell_command *c, size_t w)
{
    while (w < c->count && !ends_exec(c, w)) {
        w++;
    }
    return w;
}

/* Handles find DIR... -delete; returns the index after the folders. */
static size_t judge_delete(const struct cbx_shell_command *c)
{
    size_t folders = 1;
    bool deletes = false;
    while (folders < c->count && !(c->words[folders].known && c->words[folders].text.len > 0 &&
                                   memchr("-(!", c->words[folders].text.p[0], 3) != NULL)) {
        folders++;
    }
    for (size_t w = folders; w < c->count; w++) {
        if (begins_exec(c, w)) {
            w = find_exec_end(c, w + 1);
            continue;
        }
        deletes |= cbx_str_is(c->words[w].text, "-delete");
        /* the word may be the value of a test, or any argument, even -exec */
        if (!c->words[w].known && !cbx_shell_is_option(&c->words[w - 1])) {
            cbx_shell_unresolved(c->s, "argument", &c->words[w]);
        }
    }
    struct cbx_shell_command call = *c;
    call.count = folders;
    if (deletes) {
        cbx_shell_add_call(&call, CBX_STR("find -delete"));
    }
    return folders;
}

/* Handles find DIR -exec COMMAND ; */
static void judge_find(const struct cbx_shell_command *c)
{
    size_t folders = judge_delete(c);
    struct cbx_str *words = cbx_arena_array(c->s->parsed->arena, folders, sizeof(*words));
    size_t fed = 0;
    for (size_t w = 1; words != NULL && w < folders; w++) {
        words[fed] = c->words[w].text;
        fed += c->words[w].known;
    }
    for (size_t w = 1; w + 1 < c->count; w++) {
        const struct cbx_word *next = &c->words[w + 1];
        if (c->words[w].known && (cbx_str_starts(c->words[w].text, CBX_STR("-fprint")) ||
                                  cbx_str_is(c->words[w].text, "-fls"))) {
            cbx_shell_check_target(c->s, next->text, next->known, true, next->start, next->end);
        }
        if (begins_exec(c, w)) {
            struct cbx_shell_command inner = *c;
            inner.count = find_exec_end(c, w + 1);
            inner.fed_words = words;
            inner.fed_count = fed;
            cbx_shell_judge_inner(&inner, w + 1, true);
            w = inner.count;
        }
    }
}

static void judge_eval(const struct cbx_shell_command *c)
{
    if (c->count > 1) {
        cbx_shell_judge_joined(c, 1);
    }
}

/* Handles trap TEXT SIGNAL...; a function of the program is judged at its definition. */
static void judge_trap(const struct cbx_shell_command *c)
{
    size_t w = c->count > 1 && c->words[1].known && cbx_str_is(c->words[1].text, "--") ? 2 : 1;
    if (w + 1 >= c->count) {
        return;
    }
    bool known = c->words[w].known;
    struct cbx_str text = c->words[w].text;
    if (!known ||
        !(cbx_str_is(text, "-") || (c->depth == 0 && cbx_shell_function(c->s, text, UINT32_MAX)))) {
        cbx_shell_judge_code(c->s, "shell", c->words[w].text, c->words[w].known, &c->words[w]);
    }
}

/* Handles source FILE: the shell of a sandbox loads judged files only
 * (docker/inside/shell_loader), a shell inside of another program does not. The file has the
 * parameters of the program, so arguments for it are not accepted. */
static void judge_source(const struct cbx_shell_command *c)
{
    size_t w = c->count > 1 && c->words[1].known && cbx_str_is(c->words[1].text, "--") ? 2 : 1;
    bool one = c->count == w + 1 && c->words[w].known && !c->patterns[w];
    struct cbx_str path = one ? c->words[w].text : CBX_STR("");
    bool loaded = c->s->parsed->depth == 0 && c->depth == 0 && c->s->function == NULL;
    if (!loaded || path.len == 0 || path.p[0] == '-' || !cbx_shell_is_inside(c->s, path) ||
        cbx_str_starts(path, CBX_STR("/dev"))) {
        cbx_shell_unresolved(c->s, "code of another file", &c->words[0]);
    }
}

/* Handles alias NAME=TEXT. */
static void judge_alias(const struct cbx_shell_command *c)
{
    for (size_t w = 1; w < c->count; w++) {
        struct cbx_str word = c->words[w].text;
        const char *equals = memchr(word.p, '=', word.len);
        if (!c->words[w].known) {
            cbx_shell_unresolved(c->s, "alias", &c->words[w]);
        } else if (equals != NULL) {
            size_t at = (size_t)(equals - word.p);
            if (cbx_shell_is_allowed(c->s, cbx_str_sub(word, 0, at))) {
                cbx_shell_unresolved(c->s, "alias", &c->words[w]);
            }
            cbx_shell_judge_code(c->s, "shell", cbx_str_sub(word, at + 1, word.len), true,
                                 &c->words[w]);
        }
    }
}

/* Checks the name of a variable that the command assigns. A computed name may have a subscript,
 * which the shell evaluates: `a[$(id)]` runs id. */
static void check_name(const struct cbx_shell_command *c, const struct cbx_word *word)
{
    size_t end = 0;
    if (!word->known || cbx_shell_has_hole(c, word->text)) {
        cbx_shell_unresolved(c->s, "variable name", word);
        return;
    }
    while (end < word->text.len && memchr("=[", word->text.p[end], 2) == NULL) {
        end++;
    }
    cbx_shell_check_variable(c->s, cbx_str_sub(word->text, 0, end), word->start, word->end);
}

/* The role of the words after the options. TESTED: no word is a name, and the options assign
 * nothing. */
enum behind_options { NO_NAME, NAMES, SECOND_IS_NAME, TESTED };

/* The options of these commands; `module`: options whose value is the name of a variable. */
static const struct {
    const char *word;
    struct cbx_shell_options options;
    enum behind_options behind;
} name_takers[] = {
    { "read", { "dinNptu", "", "", "", "a" }, NAMES },
    { "mapfile", { "dnOsuc", "", "C", "", "" }, NAMES },
    { "readarray", { "dnOsuc", "", "C", "", "" }, NAMES },
    { "printf", { "", "", "", "", "v" }, NO_NAME },
    { "getopts", { "", "", "", "", "" }, SECOND_IS_NAME },
    { "unset", { "", "", "", "", "" }, NAMES },
    { "wait", { "", "", "", "", "p" }, NO_NAME },
    { "test", { "", "", "", "", "vR" }, TESTED },
};

/* Checks read -u DESCRIPTOR, joined or not. */
static void check_descriptor(const struct cbx_shell_command *c, struct cbx_str option,
                             const struct cbx_word *value)
{
    bool joined = value->text.p > option.p && value->text.p < option.p + option.len;
    char letter = joined ? value->text.p[-1] : option.p[option.len - 1];
    if (letter == 'u' && (!value->known || cbx_shell_is_inner_descriptor(value->text))) {
        cbx_shell_unresolved(c->s, "descriptor", value);
    }
}

/* Handles read NAME..., printf -v NAME, mapfile -C COMMAND NAME. */
static void judge_names(const struct cbx_shell_command *c)
{
    size_t t = 0, w = 1;
    while (t + 1 < CBX_SHELL_COUNT(name_takers) &&
           !cbx_str_is(c->words[0].text, name_takers[t].word)) {
        t++;
    }
    while (w < c->count && cbx_shell_is_option(&c->words[w]) &&
           !cbx_str_is(c->words[w].text, "--")) {
        struct cbx_word value;
        struct cbx_str option = c->words[w].text;
        enum cbx_shell_option kind = cbx_shell_take_option(c, &w, &name_takers[t].options, &value);
        if (kind == CBX_SHELL_OPTION_VALUE) {
            check_descriptor(c, option, &value);
        } else if (kind == CBX_SHELL_OPTION_CODE) {
            cbx_shell_judge_code(c->s, "shell", value.text, value.known, &value);
        } else if (kind == CBX_SHELL_OPTION_MODULE &&
                   !(name_takers[t].behind == TESTED && value.known)) {
            check_name(c, &value);
        }
    }
    w += w < c->count && cbx_str_is(c->words[w].text, "--");
    w += name_takers[t].behind == SECOND_IS_NAME;
    size_t end = name_takers[t].behind == NAMES            ? c->count
                 : name_takers[t].behind == SECOND_IS_NAME ? w + 1
                                                           : w;
    for (; w < end && w < c->count; w++) {
        check_name(c, &c->words[w]);
    }
}

/* Handles export NAME=VALUE; extract.c adds a fact for a computed name. */
static void judge_declared(const struct cbx_shell_command *c)
{
    for (size_t w = 1; w < c->count; w++) {
        if (c->words[w].known) {
            check_name(c, &c->words[w]);
        }
    }
}

/* Moves past the parts of s/a/b/, y/a/b/ or an address /a/; returns false if their end is
 * uncertain (a delimiter inside brackets). */
static bool skip_parts(struct cbx_str script, size_t *i, char mark, int parts)
{
    bool brackets = false;
    for (; *i < script.len && parts > 0; ++*i) {
        char c = script.p[*i];
        if (c == mark && brackets) {
            return false;
        }
        brackets = (brackets || c == '[') && c != ']';
        parts -= c == mark;
        *i += c == '\\';
    }
    return true;
}

/* Moves past a text (a, i, c), a file name or a label: to the line end, for a label also to a
 * semicolon. In a text a backslash quotes the line end or any other character after it;
 * elsewhere the function returns false at a backslash. */
static bool skip_text(struct cbx_str script, size_t *i)
{
    bool label = memchr("btT:", script.p[*i], 4) != NULL;
    bool text = memchr("aic", script.p[*i], 3) != NULL;
    while (*i < script.len && script.p[*i] != '\n' && !(label && script.p[*i] == ';')) {
        if (script.p[*i] == '\\' && !text) {
            return false;
        }
        *i += 1 + (size_t)(script.p[*i] == '\\');
    }
    *i = *i < script.len ? *i : script.len;
    return true;
}

/* Returns true if a script of sed may run commands (e) or write files (w): any such letter
 * counts where a command or a flag is possible, and so does any part that cannot be parsed. */
static bool sed_acts(struct cbx_str script)
{
    for (size_t i = 0; i < script.len;) {
        char c = script.p[i], next = i + 1 < script.len ? script.p[i + 1] : '\0';
        bool read = true;
        if (c == 'e' || c == 'w' || c == 'W') {
            return true;
        }
        if (c == 's' || c == 'y') {
            i += 2;
            read = skip_parts(script, &i, next, 2);
        } else if (c == '/') {
            i += 1;
            read = skip_parts(script, &i, '/', 1);
        } else if (c == '\\') {
            i += 2;
            read = skip_parts(script, &i, next, 1);
        } else if (memchr("aicrRbtT:#", c, 10) != NULL) {
            read = skip_text(script, &i);
        } else {
            i++;
        }
        if (!read) {
            return true;
        }
    }
    return false;
}

/* The role of one of sed's words. */
enum sed_word { SED_FILE, SED_PLAIN, SED_SKIPS_NEXT, SED_SCRIPT, SED_NEXT_IS_SCRIPT, SED_UNREAD };

static enum sed_word sed_long(struct cbx_str word, struct cbx_str *script)
{
    static const char *const plain[] = { "--quiet",     "--silent",   "--regexp-extended",
                                         "--null-data", "--separate", "--unbuffered",
                                         "--posix",     "--sandbox",  "--zero-terminated",
                                         "--" };
    for (size_t i = 0; i < CBX_SHELL_COUNT(plain); i++) {
        if (cbx_str_is(word, plain[i])) {
            return SED_PLAIN;
        }
    }
    *script = cbx_str_sub(word, 13, word.len);
    if (cbx_str_starts(word, CBX_STR("--expression="))) {
        return SED_SCRIPT;
    }
    return cbx_str_starts(word, CBX_STR("--in-place")) ||
                   cbx_str_starts(word, CBX_STR("--line-length="))
               ? SED_PLAIN
               : SED_UNREAD;
}

static enum sed_word sed_option(struct cbx_str word, struct cbx_str *script)
{
    if (word.p[1] == '-') {
        return sed_long(word, script);
    }
    for (size_t i = 1; i < word.len; i++) {
        bool last = i + 1 == word.len;
        switch (word.p[i]) {
        case 'e':
            *script = cbx_str_sub(word, i + 1, word.len);
            return last ? SED_NEXT_IS_SCRIPT : SED_SCRIPT;
        case 'l':
            return last ? SED_SKIPS_NEXT : SED_PLAIN;
        case 'f':
            return SED_UNREAD;
        case 'i':
            return SED_PLAIN; /* the rest of the word is the suffix of backups */
        default:
            break;
        }
    }
    return SED_PLAIN;
}

static bool sed_in_place(const struct cbx_shell_command *c)
{
    for (size_t w = 1; w < c->count; w++) {
        struct cbx_str word = c->words[w].text;
        if (cbx_shell_is_option(&c->words[w]) &&
            (cbx_str_starts(word, CBX_STR("--in-place")) ||
             (word.p[1] != '-' && memchr(word.p, 'i', word.len) != NULL))) {
            return true;
        }
    }
    return false;
}

static void judge_sed(const struct cbx_shell_command *c)
{
    bool given = false;
    struct cbx_word *files = cbx_arena_array(c->s->parsed->facts->arena, c->count, sizeof(*files));
    struct cbx_shell_command call = *c;
    if (files == NULL) {
        return; /* the arena is exhausted, so the decision is a denial */
    }
    files[0] = c->words[0];
    call.words = files;
    call.count = 1;
    for (size_t w = 1; w < c->count; w++) {
        const struct cbx_word *word = &c->words[w];
        struct cbx_str script = word->text;
        enum sed_word kind = cbx_shell_is_option(word) ? sed_option(word->text, &script)
                             : given                   ? SED_FILE
                                                       : SED_SCRIPT;
        if (kind == SED_NEXT_IS_SCRIPT && w + 1 < c->count) {
            word = &c->words[++w];
            script = word->text;
            kind = SED_SCRIPT;
        }
        if (kind == SED_FILE) {
            files[call.count++] = *word;
        }
        w += kind == SED_SKIPS_NEXT;
        given |= kind == SED_SCRIPT || kind == SED_UNREAD;
        if (kind == SED_SCRIPT && !word->known) {
            cbx_shell_unknown_script(c, word);
        } else if (kind == SED_UNREAD || (kind == SED_SCRIPT && sed_acts(script))) {
            cbx_shell_unresolved(c->s, "code", word);
        }
    }
    if (sed_in_place(c)) {
        cbx_shell_add_call(&call, CBX_STR("sed -i"));
    }
}

/* Handles tar cIf PROGRAM: options without a dash. */
static void judge_tar(const struct cbx_shell_command *c)
{
    if (c->count > 1 && c->words[1].known && !cbx_shell_is_option(&c->words[1]) &&
        (memchr(c->words[1].text.p, 'I', c->words[1].text.len) != NULL ||
         memchr(c->words[1].text.p, 'F', c->words[1].text.len) != NULL)) {
        cbx_shell_unresolved(c->s, "code", &c->words[1]);
    }
}

/* Handles uniq INPUT OUTPUT. */
static void judge_uniq(const struct cbx_shell_command *c)
{
    int files = 0;
    for (size_t w = 1; w < c->count; w++) {
        const struct cbx_word *word = &c->words[w];
        if (cbx_shell_is_option(word)) {
            w += word->text.len == 2 && memchr("fsw", word->text.p[1], 3) != NULL;
        } else if (++files == 2) {
            cbx_shell_check_target(c->s, word->text, word->known, true, word->start, word->end);
        }
    }
}

static const struct {
    const char *word;
    void (*judge)(const struct cbx_shell_command *c);
} specials[] = {
    { "find", judge_find },
    { "eval", judge_eval },
    { "trap", judge_trap },
    { "source", judge_source },
    { ".", judge_source },
    { "alias", judge_alias },
    { "read", judge_names },
    { "printf", judge_names },
    { "mapfile", judge_names },
    { "readarray", judge_names },
    { "getopts", judge_names },
    { "unset", judge_names },
    { "wait", judge_names },
    { "test", judge_names },
    { "let", judge_declared },
    { "export", judge_declared },
    { "declare", judge_declared },
    { "typeset", judge_declared },
    { "local", judge_declared },
    { "readonly", judge_declared },
    { "sed", judge_sed },
    { "gsed", judge_sed },
    { "tar", judge_tar },
    { "uniq", judge_uniq },
    { "awk", cbx_shell_judge_awk },
    { "gawk", cbx_shell_judge_awk },
    { "mawk", cbx_shell_judge_awk },
    { "nawk", cbx_shell_judge_awk },
};

void cbx_shell_judge_specials(const struct cbx_shell_command *c, struct cbx_str name)
{
    for (size_t i = 0; i < CBX_SHELL_COUNT(specials); i++) {
        if (cbx_str_is(name, specials[i].word)) {
            specials[i].judge(c);
        }
    }
}
