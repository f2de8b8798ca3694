/* SPDX-License-Identifier: MIT
 * Expands words of the shell as bash does, as far as they are constants: quoting, escapes,
 * variables, home. */
#include "analyzer/lang/shell/internal.h"

#include "policies/base/array.h"

enum { FOLD_DEPTH_MAX = 8, BUILT_MAX_BYTES = 65536, SUBSTITUTED_WORDS_MAX = 3 };

/* --- building a text -------------------------------------------------------------------------- */

bool cbx_shell_append(struct cbx_arena *arena, struct cbx_shell_built *built, struct cbx_str part)
{
    if (!CBX_ARRAY_RESERVE(arena, built->p, built->len, &built->size, part.len, BUILT_MAX_BYTES)) {
        return false;
    }
    if (part.len > 0) {
        memcpy(built->p + built->len, part.p, part.len);
    }
    built->len += part.len;
    return true;
}

struct folding {
    struct cbx_shell *s;
    struct cbx_shell_built built;
    bool pattern, fields, literal_only;
    /* Of an assignment: the working folder at this place, if it is known. Then folders of the
     * environment are constants too, and `of_folder` tells that the text has one. */
    struct cbx_str here;
    bool of_folder;
};

static bool append(struct folding *f, struct cbx_str part)
{
    return cbx_shell_append(f->s->parsed->arena, &f->built, part);
}

static bool append_char(struct folding *f, char c)
{
    return append(f, (struct cbx_str){ .p = &c, .len = 1 });
}

/* --- pieces of words -------------------------------------------------------------------------- */

bool cbx_shell_substitutes(struct cbx_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        bool opens = text.p[i] == '$' && i + 1 < text.len && text.p[i + 1] == '(';
        if (opens || text.p[i] == '`') {
            return true;
        }
        i += text.p[i] == '\\';
    }
    return false;
}

/* Expands ~ and ~root at the start of a word; another user's home is unknown. */
static bool append_home(struct folding *f, struct cbx_str text, size_t *taken)
{
    bool plain = text.len == 1 || text.p[1] == '/';
    bool root = cbx_str_starts(text, CBX_STR("~root")) && (text.len == 5 || text.p[5] == '/');
    *taken = root ? 5 : 1;
    return (plain || root) && append(f, root ? CBX_STR("/root") : CBX_STR("~"));
}

/* Appends an unquoted piece. A brace other than "{}" would expand. `end` is the end of the piece
 * in the source. */
static bool fold_word(struct folding *f, struct cbx_str text, uint32_t end)
{
    const struct cbx_str all = f->s->parsed->text;
    size_t i = 0;
    if (f->built.len == 0 && text.len > 0 && text.p[0] == '~' && !append_home(f, text, &i)) {
        return false;
    }
    if (cbx_shell_substitutes(text)) {
        return false;
    }
    for (; i < text.len; i++) {
        char c = text.p[i], after = i + 1 < text.len ? text.p[i + 1] : '\0';
        if (c == '{' && (i + 1 < text.len ? after : end < all.len ? all.p[end] : '\0') != '}') {
            return false;
        }
        if (c == '\\' && i + 1 < text.len) {
            i++;
            if (after == '\n') {
                continue;
            }
            c = after;
        } else {
            f->pattern |= c == '*' || c == '?' || c == '[';
        }
        if (!append_char(f, c)) {
            return false;
        }
    }
    return true;
}

/* Appends the text in double quotes: there a backslash quotes only the special characters. */
static bool fold_quoted(struct folding *f, struct cbx_str text)
{
    if (cbx_shell_substitutes(text)) {
        return false;
    }
    for (size_t i = 0; i < text.len; i++) {
        char c = text.p[i];
        if (c == '\\' && i + 1 < text.len && memchr("$`\"\\\n", text.p[i + 1], 5) != NULL) {
            c = text.p[++i];
            if (c == '\n') {
                continue;
            }
        }
        if (!append_char(f, c)) {
            return false;
        }
    }
    return true;
}

/* Returns the value of a hexadecimal digit; 99 for other characters. */
static unsigned digit_of(char c)
{
    if (c >= '0' && c <= '9') {
        return (unsigned)(c - '0');
    }
    if (c >= 'a' && c <= 'f') {
        return (unsigned)(c - 'a') + 10;
    }
    return c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10 : 99;
}

static size_t read_digits(struct cbx_str text, unsigned base, size_t most, unsigned *value)
{
    size_t n = 0;
    for (*value = 0; n < text.len && n < most; n++) {
        unsigned digit = digit_of(text.p[n]);
        if (digit >= base) {
            break;
        }
        *value = *value * base + digit;
    }
    return n;
}

/* Appends an escape of $'...' that makes one byte; the others (\u, \U, \c) are unknown. */
static bool fold_escape(struct folding *f, struct cbx_str text, size_t *taken)
{
    static const char names[] = "abeEfnrtv\\'\"?";
    static const char values[] = "\a\b\033\033\f\n\r\t\v\\'\"?";
    const char *known = memchr(names, text.p[0], sizeof(names) - 1);
    unsigned value;
    if (known != NULL) {
        *taken = 1;
        return append_char(f, values[known - names]);
    }
    bool hex = text.p[0] == 'x';
    size_t n = read_digits(cbx_str_sub(text, hex, text.len), hex ? 16 : 8, hex ? 2 : 3, &value);
    *taken = n + hex;
    return n > 0 && value > 0 && value < 256 && append_char(f, (char)value);
}

static bool fold_ansi(struct folding *f, struct cbx_str text)
{
    for (size_t i = 2; i + 1 < text.len; i++) {
        size_t taken = 0;
        if (text.p[i] != '\\') {
            if (!append_char(f, text.p[i])) {
                return false;
            }
            continue;
        }
        if (!fold_escape(f, cbx_str_sub(text, i + 1, text.len - 1), &taken)) {
            return false;
        }
        i += taken;
    }
    return true;
}

/* Appends a value, which the shell splits and expands if it is not quoted. */
static bool append_value(struct folding *f, struct cbx_str value, bool quoted)
{
    if (!quoted && f->s->names.splits) {
        return false;
    }
    if (!quoted) {
        f->fields |= value.len == 0 || cbx_shell_has_any(value, " \t\n");
        f->pattern |= cbx_shell_has_any(value, "*?[");
    }
    return append(f, value);
}

/* Reads the value of a variable. That of HOME is "~", that of PWD ".", unless the text assigns
 * them. */
static bool read_variable(struct folding *f, struct cbx_str name, uint32_t at, struct cbx_str *out)
{
    bool home = cbx_str_is(name, "HOME"), here = cbx_str_is(name, "PWD");
    if (f->literal_only) {
        *out = home ? CBX_STR("~") : f->here;
        f->of_folder = true;
        return (home || here) && f->here.len > 0;
    }
    const struct cbx_shell_loop *loop =
        cbx_shell_loop_of(f->s, cbx_shell_name_find(f->s, name), at);
    if (loop != NULL) {
        f->s->needed = loop == f->s->turn ? f->s->needed : loop;
        *out = f->s->turn_value;
        return loop == f->s->turn;
    }
    if (cbx_shell_variable(f->s, name, at, out)) {
        return true;
    }
    *out = home ? CBX_STR("~") : CBX_STR(".");
    return (home || here) && !cbx_shell_assigned(f->s, name);
}

/* Returns true for a path that is no bare name: no command is found under it in PATH. */
static bool is_place(struct cbx_str path)
{
    return path.len > 0 && memchr("./~", path.p[0], 3) != NULL;
}

/* Applies the suffix of ${X...} to a value: % removes the last part of a path, %% all of it (both
 * with a slash and a star as the pattern); a default is for a value that is not set. False for
 * other suffixes. */
static bool apply_suffix(struct cbx_arena *arena, struct cbx_str suffix, struct cbx_str *value)
{
    const char *slash = value->len > 0 ? memchr(value->p, '/', value->len) : NULL;
    struct cbx_str otherwise =
        cbx_str_sub(suffix, cbx_str_starts(suffix, CBX_STR(":")), suffix.len);
    if (value->len > 0 && otherwise.len > 0 && memchr("-=?", otherwise.p[0], 3) != NULL) {
        return true; /* the value is set */
    }
    if (cbx_str_is(suffix, "%%/*") && is_place(*value)) {
        *value = CBX_STR("");
        return true;
    }
    if (!cbx_str_is(suffix, "%/*")) {
        return suffix.len == 0;
    }
    if (slash != NULL || is_place(*value)) {
        *value = cbx_places_parent(arena, *value);
    }
    return value->len > 0;
}

/* Appends $X and ${X}, also with a suffix that is applied; others are unknown. */
static bool fold_variable(struct folding *f, TSNode node, bool quoted)
{
    struct cbx_str text = cbx_shell_source_of(f->s, node), value, suffix = CBX_STR("");
    TSNode name = ts_node_named_child(node, 0);
    const char *dollar = memchr(text.p, '$', text.len); /* the node includes blanks before it */
    if (!cbx_shell_type_is(name, "variable_name") || dollar == NULL) {
        return false;
    }
    struct cbx_str word = cbx_shell_source_of(f->s, name);
    size_t at = (size_t)(dollar - text.p),
           begin = ts_node_start_byte(name) - ts_node_start_byte(node);
    bool braces = cbx_shell_type_is(node, "expansion");
    if (begin != at + 1 + braces) { /* ${!X}, ${#X} */
        return false;
    }
    if (braces) {
        suffix = cbx_str_sub(text, begin + word.len, text.len - 1);
    }
    if (!append(f, cbx_str_sub(text, 0, at)) ||
        !read_variable(f, word, ts_node_start_byte(node), &value) ||
        !apply_suffix(f->s->parsed->arena, suffix, &value)) {
        return false;
    }
    return append_value(f, value, quoted);
}

static bool fold_node(struct folding *f, TSNode node, bool quoted, int depth);

/* Appends the parts of a string or a joined word; between the parts of a string there is text
 * too. */
static bool fold_parts(struct folding *f, TSNode node, bool quoted, int depth)
{
    uint32_t at = ts_node_start_byte(node) + quoted, end = ts_node_end_byte(node) - quoted;
    TSTreeCursor cursor = ts_tree_cursor_new(node);
    bool known = true;
    for (bool more = ts_tree_cursor_goto_first_child(&cursor); more && known;
         more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        TSNode child = ts_tree_cursor_current_node(&cursor);
        uint32_t from = ts_node_start_byte(child);
        if (!ts_node_is_named(child) && quoted && (from < at || ts_node_end_byte(child) > end)) {
            continue; /* the quotes */
        }
        if (quoted && from > at) {
            known = append(f, (struct cbx_str){ .p = f->s->src + at, .len = from - at });
        }
        known = known && (ts_node_is_named(child) ? fold_node(f, child, quoted, depth + 1)
                                                  : append(f, cbx_shell_source_of(f->s, child)));
        at = ts_node_end_byte(child);
    }
    ts_tree_cursor_delete(&cursor);
    if (known && quoted && end > at) {
        known = append(f, (struct cbx_str){ .p = f->s->src + at, .len = end - at });
    }
    return known;
}

/* Reads the words of a command without redirections and assignments. Returns their number; 0 if
 * there are more than fit, or one is not known. */
static size_t read_words(struct folding *f, TSNode command, struct cbx_str *words, int depth)
{
    uint32_t count = ts_node_child_count(command);
    if (!cbx_shell_type_is(command, "command") || count > SUBSTITUTED_WORDS_MAX) {
        return 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        TSNode child = ts_node_child(command, i);
        struct folding word = { .s = f->s, .literal_only = f->literal_only, .here = f->here };
        if (!fold_node(&word, child, false, depth) || word.pattern || word.fields) {
            return 0;
        }
        words[i] = cbx_shell_built_text(&word.built);
    }
    return count;
}

/* Returns true if the words are these, and the first one is no function of the text. */
static bool are_words(struct folding *f, const struct cbx_str *words, const char *command,
                      const char *option)
{
    return cbx_str_is(words[0], command) && (option == NULL || cbx_str_is(words[1], option)) &&
           !cbx_shell_may_be_function(f->s, words[0]);
}

/* Appends the folder that a command prints: pwd, dirname FOLDER, realpath FOLDER, readlink -f
 * FOLDER, cd FOLDER && pwd. */
static bool fold_substitution(struct folding *f, TSNode node, bool quoted, int depth)
{
    struct cbx_str words[SUBSTITUTED_WORDS_MAX], path = CBX_STR("");
    struct cbx_arena *arena = f->s->parsed->arena;
    bool absolute = true;
    TSNode command = ts_node_named_child(node, 0);
    if (ts_node_named_child_count(node) != 1) {
        return false;
    }
    bool list = cbx_shell_type_is(command, "list") && ts_node_named_child_count(command) == 2;
    if (list) {
        size_t prints = read_words(f, ts_node_named_child(command, 1), words, depth + 1);
        if (prints != 1 || !are_words(f, words, "pwd", NULL)) {
            return false;
        }
        command = ts_node_named_child(command, 0);
    }
    size_t count = read_words(f, command, words, depth + 1);
    if (list) {
        path = count == 2 && are_words(f, words, "cd", NULL) ? words[1] : path;
    } else if (count == 1 || (count == 2 && words[1].len == 2 && words[1].p[0] == '-')) {
        struct cbx_str here = f->literal_only ? f->here : CBX_STR(".");
        path = are_words(f, words, "pwd", NULL) ? here : path;
    } else if (count == 2 && are_words(f, words, "dirname", NULL)) {
        path = is_place(words[1]) ? cbx_places_parent(arena, words[1]) : path;
        absolute = false;
    } else if (count == 2 && are_words(f, words, "realpath", NULL)) {
        path = words[1];
    } else if (count == 3 && are_words(f, words, "readlink", "-f")) {
        path = words[2];
    }
    if (path.len == 0 || path.p[0] == '-') {
        return false;
    }
    if (absolute && f->literal_only) {
        path = cbx_places_resolve(arena, f->here, path);
    } else if (absolute && !is_place(path)) {
        path = CBX_JOIN(arena, CBX_STR("./"), path);
    }
    f->of_folder = true;
    return is_place(path) && append_value(f, path, quoted);
}

static bool fold_node(struct folding *f, TSNode node, bool quoted, int depth)
{
    const char *type = ts_node_type(node);
    struct cbx_str text = cbx_shell_source_of(f->s, node);
    if (depth > FOLD_DEPTH_MAX) {
        return false;
    }
    if (strcmp(type, "word") == 0 || strcmp(type, "number") == 0) {
        return fold_word(f, text, ts_node_end_byte(node));
    }
    if (strcmp(type, "string_content") == 0) {
        return fold_quoted(f, text);
    }
    if (strcmp(type, "raw_string") == 0) {
        return append(f, cbx_str_sub(text, 1, text.len > 0 ? text.len - 1 : 0));
    }
    if (strcmp(type, "ansi_c_string") == 0) {
        return fold_ansi(f, text);
    }
    if (strcmp(type, "simple_expansion") == 0 || strcmp(type, "expansion") == 0) {
        return fold_variable(f, node, quoted);
    }
    if (strcmp(type, "command_substitution") == 0) {
        return (!f->literal_only || f->here.len > 0) && fold_substitution(f, node, quoted, depth);
    }
    if (strcmp(type, "string") == 0) {
        return fold_parts(f, node, true, depth);
    }
    if (strcmp(type, "translated_string") == 0) {
        TSNode inner = ts_node_named_child(node, 0);
        return !ts_node_is_null(inner) && fold_node(f, inner, quoted, depth + 1);
    }
    return (strcmp(type, "concatenation") == 0 || strcmp(type, "command_name") == 0) &&
           fold_parts(f, node, false, depth);
}

static struct cbx_shell_text fold(struct cbx_shell *s, TSNode node, bool literal_only)
{
    struct folding f = { .s = s, .literal_only = literal_only };
    bool known = fold_node(&f, node, false, 0);
    return (struct cbx_shell_text){ .text = cbx_shell_built_text(&f.built),
                                    .known = known,
                                    .pattern = f.pattern,
                                    .fields = f.fields };
}

struct cbx_shell_text cbx_shell_fold(struct cbx_shell *s, TSNode node)
{
    return fold(s, node, false);
}

struct cbx_shell_text cbx_shell_fold_constant(struct cbx_shell *s, TSNode node)
{
    return fold(s, node, true);
}

bool cbx_shell_fold_folder(struct cbx_shell *s, TSNode node, struct cbx_shell_text *out)
{
    bool known = s->places.count == 1 && !s->places.lost;
    struct folding f = { .s = s,
                         .literal_only = true,
                         .here = known ? s->places.items[0] : CBX_STR("") };
    if (!known || !fold_node(&f, node, false, 0) || !f.of_folder || f.pattern) {
        return false;
    }
    *out = (struct cbx_shell_text){ .text = cbx_shell_built_text(&f.built), .known = true };
    return true;
}
