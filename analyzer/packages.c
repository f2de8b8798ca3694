/* SPDX-License-Identifier: MIT
 * Package installs to facts. */
#include "analyzer/packages.h"

#include "analyzer/value.h"
#include "policies/version.h"

static bool word_is(const struct cbx_word *word, const char *text)
{
    return word->known && cbx_str_is(word->text, text);
}

static void add(struct cbx_parsed *parsed, enum cbx_fact_id id, const struct cbx_word *word)
{
    cbx_facts_add_special(parsed->facts, id, word->known ? word->text : CBX_STR("(computed)"),
                          word->start, word->end);
}

static bool listed(const struct cbx_strs *globs, struct cbx_str name, bool python)
{
    char normal[256];
    for (size_t i = 0; i < globs->count; i++) {
        struct cbx_str glob = globs->items[i];
        if (python && memchr(glob.p, '*', glob.len) == NULL) {
            cbx_package_normalise(glob, normal, sizeof(normal));
            glob = cbx_str_of(normal);
        }
        if (cbx_str_glob(glob, name)) {
            return true;
        }
    }
    return false;
}

static bool source_listed(const struct cbx_packages *packages, const char *source)
{
    for (size_t i = 0; i < packages->sources.count; i++) {
        if (cbx_str_is(packages->sources.items[i], source)) {
            return true;
        }
    }
    return false;
}

static void check_name(struct cbx_parsed *parsed, const struct cbx_packages *packages,
                       const struct cbx_word *word, struct cbx_str name, struct cbx_str specifiers,
                       bool python)
{
    char normal[256], other[256];
    cbx_package_normalise(name, normal, sizeof(normal));
    struct cbx_str key = python ? cbx_str_of(normal) : name;
    if (listed(&packages->block, key, python)) {
        add(parsed, CBX_FACT_PACKAGE_BLOCKED, word);
    }
    bool none = packages->mode == CBX_PACKAGES_NONE;
    if (none ||
        (packages->mode == CBX_PACKAGES_ALLOWLIST && !listed(&packages->allow, key, python))) {
        add(parsed, CBX_FACT_PACKAGE_NOT_LISTED, word);
    }
    for (size_t i = 0; i < packages->minimum_count; i++) {
        cbx_package_normalise(packages->minimum[i].name, other, sizeof(other));
        bool same =
            python ? strcmp(normal, other) == 0 : cbx_str_equal(name, packages->minimum[i].name);
        if (same && (python ? cbx_version_below : cbx_npm_below)(specifiers,
                                                                 packages->minimum[i].version)) {
            add(parsed, CBX_FACT_PACKAGE_BELOW_MINIMUM, word);
        }
    }
}

static bool is_name_char(char c)
{
    return c == '-' || c == '_' || c == '.' || (c >= '0' && c <= '9') ||
           ((c | 32) >= 'a' && (c | 32) <= 'z');
}

/* PEP 508 as far as a command line has it: name[extras] specifiers ; marker. */
static void check_requirement(struct cbx_parsed *parsed, const struct cbx_word *word)
{
    const struct cbx_packages *packages = &parsed->policy->pip;
    struct cbx_str text = word->text;
    bool url = memmem(text.p, text.len, "://", 3) != NULL || memchr(text.p, '@', text.len) != NULL;
    bool vcs = cbx_str_starts(text, CBX_STR("git+")) || cbx_str_starts(text, CBX_STR("hg+")) ||
               cbx_str_starts(text, CBX_STR("svn+")) || cbx_str_starts(text, CBX_STR("bzr+"));
    bool path = memchr(text.p, '/', text.len) != NULL || cbx_str_starts(text, CBX_STR(".")) ||
                cbx_str_ends(text, CBX_STR(".whl")) || cbx_str_ends(text, CBX_STR(".tar.gz")) ||
                cbx_str_ends(text, CBX_STR(".zip"));
    if (url || path) {
        if (!source_listed(packages, vcs ? "vcs" : url ? "url" : "path")) {
            add(parsed, CBX_FACT_PACKAGE_SOURCE, word);
        }
        return;
    }
    size_t n = 0;
    while (n < text.len && is_name_char(text.p[n])) {
        n++;
    }
    struct cbx_str name = cbx_str_sub(text, 0, n), rest = cbx_str_sub(text, n, text.len);
    if (rest.len > 0 && rest.p[0] == '[') {
        const char *close = memchr(rest.p, ']', rest.len);
        rest = close != NULL ? cbx_str_sub(rest, (size_t)(close - rest.p) + 1, rest.len) : rest;
    }
    const char *marker = rest.len > 0 ? memchr(rest.p, ';', rest.len) : NULL;
    rest = marker != NULL ? cbx_str_sub(rest, 0, (size_t)(marker - rest.p)) : rest;
    while (rest.len > 0 && rest.p[0] == ' ') {
        rest = cbx_str_sub(rest, 1, rest.len);
    }
    bool odd = rest.len > 0 && memchr("=<>!~(", rest.p[0], 6) == NULL;
    if (n == 0 || odd) {
        add(parsed, CBX_FACT_PACKAGE_UNRESOLVED, word);
        /* "paramiko," is no requirement, and yet the reader knows what is meant. */
    }
    if (n > 0) {
        check_name(parsed, packages, word, name, odd ? (struct cbx_str){ 0 } : rest, true);
    }
}

/* name, name@version, @scope/name@version. */
static void check_npm(struct cbx_parsed *parsed, const struct cbx_word *word)
{
    const struct cbx_packages *packages = &parsed->policy->npm;
    struct cbx_str text = word->text;
    bool url = memmem(text.p, text.len, "://", 3) != NULL || memchr(text.p, ':', text.len) != NULL;
    bool scoped = text.len > 0 && text.p[0] == '@';
    const char *slash = memchr(text.p, '/', text.len);
    bool path = !scoped && (slash != NULL || cbx_str_starts(text, CBX_STR(".")));
    if (url || path) {
        if (!source_listed(packages, url ? "url" : "path")) {
            add(parsed, CBX_FACT_PACKAGE_SOURCE, word);
        }
        return;
    }
    const char *at = text.len > 1 ? memchr(text.p + 1, '@', text.len - 1) : NULL;
    struct cbx_str name = at != NULL ? cbx_str_sub(text, 0, (size_t)(at - text.p)) : text;
    struct cbx_str version =
        at != NULL ? cbx_str_sub(text, name.len + 1, text.len) : (struct cbx_str){ 0 };
    check_name(parsed, packages, word, name, version, false);
}

/* Options of pip that take a value, and what the value is. */
static const struct {
    const char *name;
    enum { VALUE, INDEX, REQUIREMENTS, PATH } what;
} pip_options[] = {
    { "-r", REQUIREMENTS },
    { "--requirement", REQUIREMENTS },
    { "-c", REQUIREMENTS },
    { "--constraint", REQUIREMENTS },
    { "-i", INDEX },
    { "--index-url", INDEX },
    { "--extra-index-url", INDEX },
    { "-f", INDEX },
    { "--find-links", INDEX },
    { "--pypi-url", INDEX },
    { "--trusted-host", INDEX },
    { "--proxy", INDEX },
    { "--index", INDEX },
    { "--default-index", INDEX },
    { "--channel", INDEX },
    { "-e", PATH },
    { "--editable", PATH },
    { "-t", VALUE },
    { "--target", VALUE },
    { "--prefix", PATH },
    { "--root", PATH },
    { "--src", VALUE },
    { "--python", VALUE },
    { "-n", VALUE },
    { "--name", VALUE },
    { "--platform", VALUE },
    { "--python-version", VALUE },
    { "--abi", VALUE },
    { "--implementation", VALUE },
    { "--progress-bar", VALUE },
    { "--timeout", VALUE },
    { "--retries", VALUE },
    { "--cache-dir", VALUE },
    { "--upgrade-strategy", VALUE },
    { "--no-binary", VALUE },
    { "--only-binary", VALUE },
    { "--report", VALUE },
    { "--log", VALUE },
    { "--config-settings", PATH },
    { "--global-option", PATH },
    { "--install-option", PATH },
    { "--registry", INDEX },
};

static bool index_listed(const struct cbx_packages *packages, struct cbx_str url)
{
    for (size_t i = 0; i < packages->indexes.count; i++) {
        if (!cbx_str_is(packages->indexes.items[i], "default") &&
            cbx_str_starts(url, packages->indexes.items[i])) {
            return true;
        }
    }
    return false;
}

/* Takes an option and its value; returns how many words it took. */
static size_t take_option(struct cbx_parsed *parsed, const struct cbx_packages *packages,
                          const struct cbx_word *words, size_t count)
{
    struct cbx_str option = words[0].text;
    size_t flags = 1;
    while (flags + 1 < option.len && memchr("qvUIh", option.p[flags], 5) != NULL) {
        flags++; /* -qr is -q -r */
    }
    if (flags > 1) {
        option =
            cbx_fold_concat(parsed->arena, CBX_STR("-"), cbx_str_sub(option, flags, option.len));
    }
    if (option.p == NULL) {
        add(parsed, CBX_FACT_PACKAGE_UNRESOLVED, &words[0]);
        return 1;
    }
    const char *equals = memchr(option.p, '=', option.len);
    struct cbx_str name =
        equals != NULL ? cbx_str_sub(option, 0, (size_t)(equals - option.p)) : option;
    for (size_t i = 0; i < sizeof(pip_options) / sizeof(pip_options[0]); i++) {
        bool joined = name.len > 2 && name.p[1] != '-' && strlen(pip_options[i].name) == 2 &&
                      cbx_str_starts(name, cbx_str_of(pip_options[i].name));
        if (!cbx_str_is(name, pip_options[i].name) && !joined) {
            continue;
        }
        bool inside = equals != NULL || joined;
        struct cbx_str value = equals != NULL ? cbx_str_sub(option, name.len + 1, option.len)
                               : joined       ? cbx_str_sub(option, 2, option.len)
                               : count > 1    ? words[1].text
                                              : (struct cbx_str){ 0 };
        bool bad =
            (pip_options[i].what == INDEX && !index_listed(packages, value)) ||
            (pip_options[i].what == REQUIREMENTS && !source_listed(packages, "requirements")) ||
            (pip_options[i].what == PATH && !source_listed(packages, "path"));
        if (bad) {
            add(parsed, CBX_FACT_PACKAGE_SOURCE, &words[0]);
        }
        return inside || count < 2 ? 1 : 2;
    }
    return 1;
}

static void read_names(struct cbx_parsed *parsed, const struct cbx_word *words, size_t count,
                       bool python)
{
    const struct cbx_packages *packages = python ? &parsed->policy->pip : &parsed->policy->npm;
    for (size_t i = 0; i < count;) {
        if (!words[i].known) {
            add(parsed, CBX_FACT_PACKAGE_UNRESOLVED, &words[i]);
            i++;
        } else if (words[i].text.len > 1 && words[i].text.p[0] == '-') {
            i += take_option(parsed, packages, &words[i], count - i);
        } else {
            if (words[i].text.len > 0) {
                python ? check_requirement(parsed, &words[i]) : check_npm(parsed, &words[i]);
            }
            i++;
        }
    }
}

/* Those before the verb: pip --index-url URL install x. */
static void read_options(struct cbx_parsed *parsed, const struct cbx_word *words, size_t count)
{
    for (size_t i = 0; i < count;) {
        bool option = words[i].known && words[i].text.len > 1 && words[i].text.p[0] == '-';
        i += option ? take_option(parsed, &parsed->policy->pip, &words[i], count - i) : 1;
    }
}

/* What npx and its like install and run: the first name, and what --package says. */
static void read_first_name(struct cbx_parsed *parsed, const struct cbx_word *words, size_t count,
                            bool python)
{
    size_t end = 0;
    while (end < count && words[end].known && words[end].text.len > 0 &&
           words[end].text.p[0] == '-') {
        bool package = cbx_str_is(words[end].text, "-p") || word_is(&words[end], "--package") ||
                       word_is(&words[end], "--from") || word_is(&words[end], "--with");
        end += package && end + 1 < count ? 2 : 1;
    }
    read_names(parsed, words, end < count ? end + 1 : count, python);
}

/* The manager's own options may stand before the verb: pip --quiet install. */
static size_t find_verb(const struct cbx_word *words, size_t count, const char *const *verbs)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t v = 0; verbs[v] != NULL; v++) {
            if (word_is(&words[i], verbs[v])) {
                return i + 1;
            }
        }
    }
    return 0;
}

bool cbx_packages_read(struct cbx_parsed *parsed, const struct cbx_word *words, size_t count)
{
    static const char *const install[] = { "install", "download", "wheel", "add",
                                           "create",  "inject",   NULL };
    static const char *const npm_install[] = { "install", "i",  "add", "exec", "x",   "ci",
                                               "isntall", "in", "ins", "inst", "dlx", NULL };
    if (count > 0 && words[0].known && cbx_str_starts(words[0].text, CBX_STR("python"))) {
        size_t i = 1;
        while (i < count && !word_is(&words[i], "-m")) {
            i++;
        }
        return i + 1 < count && cbx_packages_read(parsed, words + i + 1, count - i - 1);
    }
    if (count == 0 || !words[0].known) {
        return false;
    }
    struct cbx_str manager = words[0].text;
    bool pip = cbx_str_is(manager, "pip") || cbx_str_starts(manager, CBX_STR("pip3")) ||
               cbx_str_starts(manager, CBX_STR("pip2"));
    bool other = cbx_str_is(manager, "conda") || cbx_str_is(manager, "mamba") ||
                 cbx_str_is(manager, "micromamba") || cbx_str_is(manager, "uv") ||
                 cbx_str_is(manager, "pipx") || cbx_str_is(manager, "poetry") ||
                 cbx_str_is(manager, "easy_install");
    if (pip || other) {
        size_t from = find_verb(words + 1, count - 1, install);
        if (from > 0) {
            read_options(parsed, words + 1, from - 1);
            read_names(parsed, words + 1 + from, count - 1 - from, true);
        } else if (cbx_str_is(manager, "easy_install")) {
            read_names(parsed, words + 1, count - 1, true);
        }
        return true;
    }
    if (cbx_str_is(manager, "npm") || cbx_str_is(manager, "yarn") || cbx_str_is(manager, "pnpm") ||
        cbx_str_is(manager, "bun")) {
        size_t from = find_verb(words + 1, count - 1, npm_install);
        if (from > 0) {
            read_names(parsed, words + 1 + from, count - 1 - from, false);
        }
        return true;
    }
    if (cbx_str_is(manager, "npx") || cbx_str_is(manager, "bunx") || cbx_str_is(manager, "uvx")) {
        read_first_name(parsed, words + 1, count - 1, cbx_str_is(manager, "uvx"));
        return true;
    }
    return false;
}
