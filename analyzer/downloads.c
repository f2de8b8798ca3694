/* SPDX-License-Identifier: MIT
 * Files that shell code downloads and runs. */
#include "analyzer/downloads.h"

#include "analyzer/facts/places.h"

/* Commands that write what they download to a file or to standard output. */
static const char *const downloaders[] = { "curl", "wget", "aria2c", "fetch", "http" };

/* Commands that run the file that they are given. */
static const char *const runners[] = { "sh",     "bash", "dash", "ash",  "zsh",  "ksh", "eval",
                                       "source", ".",    "node", "perl", "ruby", "php", "python*" };

/* Commands that compare a file with what its author published. */
static const char *const checks[] = { "sha*sum", "shasum",  "b2sum",    "gpg*",
                                      "cosign",  "openssl", "minisign", "signify" };

/* Commands that give a file another name. */
static const char *const copiers[] = { "mv", "cp", "install", "ln" };

/* Folders of PATH, of which a command without a slash is a file. */
static const char *const path_folders[] = { "/usr/local/sbin", "/usr/local/bin",
                                            "/usr/sbin",       "/usr/bin",
                                            "/sbin",           "/bin",
                                            "/root/bin",       "/root/.local/bin",
                                            CBX_HOME "/bin",   CBX_HOME "/.local/bin" };

/* Options whose value is the folder of the files that a command writes. */
static const struct {
    const char *word, *option;
} folder_options[] = {
    { "wget", "-P" },
    { "wget", "--directory-prefix" },
    { "curl", "--output-dir" },
    { "aria2c", "-d" },
    { "aria2c", "--dir" },
    { "mv", "-t" },
    { "cp", "-t" },
    { "ln", "-t" },
    { "install", "-t" },
    { "mv", "--target-directory" },
    { "cp", "--target-directory" },
    { "ln", "--target-directory" },
    { "install", "--target-directory" },
};

#define COUNT_OF(rows)         (sizeof(rows) / sizeof((rows)[0]))
#define IS_ONE_OF(name, globs) is_one_of((name), (globs), COUNT_OF(globs))

/* The walk over the facts. */
struct walk {
    struct cbx_downloads *d;
    struct cbx_arena *arena; /* of the facts */
    uint32_t printed; /* 1 + the start of the last call that prints downloaded text; 0: none */
    const struct cbx_fact *keeper; /* the download whose addresses name its files; or NULL */
    const struct cbx_fact *word;   /* the last command word that is not listed; or NULL */
};

static bool is_one_of(struct cbx_str name, const char *const *globs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (cbx_str_glob(cbx_str_of(globs[i]), name)) {
            return true;
        }
    }
    return false;
}

/* Returns the text of an argument; empty if it is unknown. */
static struct cbx_str text_of(const struct cbx_arg *arg)
{
    if (arg->known && arg->constant) {
        return arg->value;
    }
    return arg->partial_count == 1 ? arg->partials[0] : CBX_STR("");
}

static bool is_option(struct cbx_str word)
{
    return word.len > 1 && word.p[0] == '-';
}

static struct cbx_str base_name(struct cbx_str path)
{
    const char *slash = path.len > 0 ? memrchr(path.p, '/', path.len) : NULL;
    return slash != NULL ? cbx_str_sub(path, (size_t)(slash - path.p) + 1, path.len) : path;
}

/* --- files ------------------------------------------------------------------------------------ */

/* Returns the number of folders from which a path of this fact may be relative. */
static uint32_t count_folders(const struct cbx_fact *fact)
{
    return fact->place_count > 0 ? fact->place_count : 1;
}

/* Returns the absolute path, from the folder of this number. A folder that is not known is one
 * folder of its own: a download and a run in it are of the same file. */
static struct cbx_str resolve(const struct walk *w, const struct cbx_fact *fact, uint32_t folder,
                              struct cbx_str path)
{
    static const char unknown[] = "/?";
    struct cbx_str from = CBX_STR(CBX_HOME);
    if (fact->places != NULL) {
        from = fact->place_count > 0 ? fact->places[folder] : cbx_str_of(unknown);
    }
    return cbx_places_resolve(w->arena, from, path);
}

static struct cbx_download *find_path(struct cbx_downloads *d, struct cbx_str path)
{
    bool pattern = memchr(path.p, '*', path.len) != NULL;
    for (size_t i = 0; i < d->count; i++) {
        if (cbx_str_equal(d->files[i].path, path) ||
            (pattern && cbx_str_glob(path, d->files[i].path))) {
            return &d->files[i];
        }
    }
    return NULL;
}

/* Returns the file that the path names in the folder of the call; NULL if it was not downloaded. */
static struct cbx_download *find_file(const struct walk *w, const struct cbx_fact *fact,
                                      struct cbx_str path)
{
    struct cbx_download *found = NULL;
    bool may = path.len > 0 && w->d->count > 0;
    for (uint32_t i = 0; may && found == NULL && i < count_folders(fact); i++) {
        found = find_path(w->d, resolve(w, fact, i, path));
    }
    return found;
}

static bool has_file(const struct walk *w, const struct cbx_fact *fact, struct cbx_str path)
{
    return path.len > 0 && (w->d->full || find_file(w, fact, path) != NULL);
}

static void add_file(struct walk *w, const struct cbx_fact *fact, struct cbx_str path,
                     bool executable)
{
    struct cbx_downloads *d = w->d;
    if (path.len == 0 || memchr(path.p, '*', path.len) != NULL) {
        return;
    }
    for (uint32_t i = 0; i < count_folders(fact); i++) {
        struct cbx_str full = cbx_arena_copy(d->arena, resolve(w, fact, i, path));
        struct cbx_download *known = full.len > 0 ? find_path(d, full) : NULL;
        if (known != NULL) {
            known->executable |= executable;
        } else if (full.len == 0 || full.p[0] != '/') {
            continue; /* too long for a path */
        } else if (d->count == CBX_DOWNLOADS_MAX) {
            d->full = true;
        } else {
            d->files[d->count++] = (struct cbx_download){ full, executable };
        }
    }
}

/* Returns the value of the option that names the folder of a command's files; empty if there is
 * none. */
static struct cbx_str folder_of(const struct cbx_fact *call)
{
    for (size_t row = 0; row < COUNT_OF(folder_options); row++) {
        struct cbx_str option = cbx_str_of(folder_options[row].option);
        bool is_long = option.len > 2;
        for (uint32_t i = 0;
             cbx_str_is(call->name, folder_options[row].word) && i < call->arg_count; i++) {
            struct cbx_str word = text_of(&call->args[i]);
            if (!cbx_str_starts(word, option)) {
                continue;
            }
            struct cbx_str rest = cbx_str_sub(word, option.len, word.len);
            if (rest.len == 0 && i + 1 < call->arg_count) {
                return text_of(&call->args[i + 1]);
            }
            if (!is_long || (rest.len > 0 && rest.p[0] == '=')) {
                return cbx_str_sub(rest, is_long, rest.len);
            }
        }
    }
    return CBX_STR("");
}

/* --- downloads -------------------------------------------------------------------------------- */

/* Returns the name under which a file of this address is stored. */
static struct cbx_str name_in_address(struct cbx_str address)
{
    const char *scheme = address.len > 0 ? memmem(address.p, address.len, "://", 3) : NULL;
    if (scheme == NULL) {
        return CBX_STR("");
    }
    size_t end = 0;
    while (end < address.len && address.p[end] != '?' && address.p[end] != '#') {
        end++;
    }
    struct cbx_str path = cbx_str_sub(address, (size_t)(scheme - address.p) + 3, end);
    bool file = path.len > 0 && memchr(path.p, '/', path.len) != NULL;
    return file ? base_name(path) : CBX_STR("");
}

/* curl has -O, also behind other letters (-fsSLO); the other commands do it by themselves. */
static bool keeps_name(const struct cbx_fact *call)
{
    bool keeps = !cbx_str_is(call->name, "curl");
    for (uint32_t i = 0; i < call->arg_count && !keeps; i++) {
        struct cbx_str option = text_of(&call->args[i]);
        bool letters = option.len > 1 && option.p[0] == '-' && option.p[1] != '-';
        keeps = cbx_str_starts(option, CBX_STR("--remote-name")) ||
                (letters && (option.p[1] == 'O' || option.p[option.len - 1] == 'O'));
    }
    return keeps;
}

/* Returns true if the download writes to standard output, or if its words do not tell. */
static bool prints(const struct cbx_fact *call)
{
    bool curl = cbx_str_is(call->name, "curl"), wget = cbx_str_is(call->name, "wget");
    bool stores = curl ? keeps_name(call) : wget;
    for (uint32_t i = 0; i < call->arg_count; i++) {
        struct cbx_str word = text_of(&call->args[i]);
        bool letters = is_option(word) && word.p[1] != '-';
        stores |= curl && (cbx_str_starts(word, CBX_STR("--output")) ||
                           (letters && memchr(word.p, 'o', word.len) != NULL));
        if (wget && word.len > 0 && word.p[word.len - 1] == '-') { /* -O -, -qO- */
            return true;
        }
    }
    return !stores;
}

/* Adds a file that a download writes: it is in the folder of the command's options. */
static void add_download(struct walk *w, const struct cbx_fact *call, struct cbx_str name)
{
    struct cbx_str folder = folder_of(call);
    bool inside = folder.len > 0 && cbx_places_is_relative(name);
    if (name.len > 0) {
        add_file(w, call, inside ? CBX_JOIN(w->arena, folder, CBX_STR("/"), name) : name, false);
    }
}

/* --- commands that carry a download on -------------------------------------------------------- */

/* Returns true if the call reads text that a download, or a command that was given a downloaded
 * file, prints into its pipe. For a redirection: if its command prints such text. */
static bool gets_download(const struct walk *w, const struct cbx_fact *call)
{
    return w->printed > call->stream;
}

/* Returns true for an option of a copier whose value is the next word. */
static bool takes_value(struct cbx_str word)
{
    return word.len == 2 && word.p[0] == '-' && memchr("mogSt", word.p[1], 5) != NULL;
}

/* Handles mv FILE... TARGET: the target is a file, or the folder of the files. */
static void follow_copy(struct walk *w, const struct cbx_fact *call)
{
    struct cbx_str target = folder_of(call);
    uint32_t end = call->arg_count;
    while (target.len == 0 && end > 0) {
        struct cbx_str word = text_of(&call->args[--end]);
        target = is_option(word) ? CBX_STR("") : word;
    }
    bool installs = cbx_str_is(call->name, "install");
    for (uint32_t i = 0; i < end; i++) {
        struct cbx_str word = text_of(&call->args[i]);
        i += takes_value(word);
        const struct cbx_download *file = is_option(word) ? NULL : find_file(w, call, word);
        if (file != NULL) {
            struct cbx_str inside = CBX_JOIN(w->arena, target, CBX_STR("/"), base_name(file->path));
            bool executable = installs || file->executable;
            add_file(w, call, target, executable);
            add_file(w, call, inside, executable);
        }
    }
}

/* Returns true if an argument of the call is a downloaded file; with `executable`, each of them
 * becomes a program. */
static bool names_file(struct walk *w, const struct cbx_fact *call, bool executable)
{
    bool names = false;
    for (uint32_t i = 0; i < call->arg_count; i++) {
        struct cbx_download *file = find_file(w, call, text_of(&call->args[i]));
        names |= file != NULL;
        if (file != NULL && executable) {
            file->executable = true;
        }
    }
    return names;
}

/* Handles a file that the last command writes, by an option or a redirection. */
static void follow_target(struct walk *w, const struct cbx_fact *target)
{
    struct cbx_str path = target->arg_count > 0 ? text_of(&target->args[0]) : CBX_STR("");
    bool own = w->keeper != NULL && w->keeper->stream == target->stream;
    if (own || gets_download(w, target)) {
        add_download(w, own ? w->keeper : target, path);
    }
}

static void follow_call(struct walk *w, const struct cbx_fact *call)
{
    if (cbx_str_is(call->name, ">")) {
        follow_target(w, call);
        return;
    }
    bool downloads = IS_ONE_OF(call->name, downloaders);
    w->keeper = downloads ? call : NULL;
    if (IS_ONE_OF(call->name, checks)) {
        w->d->count = 0;
        w->d->full = false;
    }
    if (IS_ONE_OF(call->name, copiers)) {
        follow_copy(w, call);
    }
    bool reads = names_file(w, call, cbx_str_is(call->name, "chmod"));
    if (downloads ? prints(call) : reads) {
        w->printed = call->start + 1;
    }
}

/* --- commands that run a download ------------------------------------------------------------- */

/* Returns true if the call is given a downloaded file to run: it is the first argument that is no
 * option. */
static bool is_given_file(const struct walk *w, const struct cbx_fact *call)
{
    uint32_t i = 0;
    while (i < call->arg_count && cbx_str_starts(text_of(&call->args[i]), CBX_STR("-"))) {
        i += cbx_str_is(text_of(&call->args[i]), "-o") ? 2 : 1; /* bash -o pipefail FILE */
    }
    return i < call->arg_count && IS_ONE_OF(call->name, runners) &&
           has_file(w, call, text_of(&call->args[i]));
}

/* Returns true if a command without a slash is a downloaded file: it is in a folder of PATH, or a
 * command made it a program, and then its folder may have been added to PATH. */
static bool is_program(const struct walk *w, struct cbx_str name)
{
    for (size_t i = 0; i < w->d->count; i++) {
        const struct cbx_download *file = &w->d->files[i];
        struct cbx_str base = base_name(file->path);
        struct cbx_str folder = cbx_str_sub(file->path, 0, file->path.len - base.len - 1);
        if (cbx_str_equal(base, name) && (file->executable || IS_ONE_OF(folder, path_folders))) {
            return true;
        }
    }
    return false;
}

/* Returns true if the call runs a downloaded file. Its name has no folder: the word is in the fact
 * before it, if the policy does not list the command. */
static bool runs_file(const struct walk *w, const struct cbx_fact *call)
{
    bool listed = w->word == NULL || w->word->start != call->start;
    struct cbx_str word = listed ? call->name : w->word->name;
    if (w->d->count == 0 || word.len == 0) {
        return false;
    }
    bool path = memchr(word.p, '/', word.len) != NULL;
    return is_given_file(w, call) || (path ? has_file(w, call, word) : is_program(w, word));
}

void cbx_downloads_init(struct cbx_downloads *downloads, struct cbx_arena *arena)
{
    *downloads = (struct cbx_downloads){ .arena = arena };
}

void cbx_downloads_follow(struct cbx_downloads *downloads, struct cbx_facts *facts)
{
    struct walk w = { .d = downloads, .arena = facts->arena };
    for (size_t i = 0; i < facts->count; i++) {
        struct cbx_fact *fact = &facts->items[i];
        if (fact->language != CBX_SHELL) {
            continue;
        }
        if (fact->kind == CBX_IS_SPECIAL && fact->special == CBX_FACT_SHELL_NOT_LISTED) {
            w.word = fact;
        } else if (fact->kind == CBX_IS_LITERAL && w.keeper != NULL && keeps_name(w.keeper)) {
            add_download(&w, w.keeper, name_in_address(fact->name));
        } else if (fact->kind == CBX_IS_CALL && runs_file(&w, fact)) {
            *fact = (struct cbx_fact){ .kind = CBX_IS_SPECIAL,
                                       .special = CBX_FACT_SHELL_UNRESOLVED,
                                       .name = CBX_STR(CBX_DOWNLOADS_RUN),
                                       .start = fact->start,
                                       .end = fact->end,
                                       .language = CBX_SHELL };
        } else if (fact->kind == CBX_IS_CALL) {
            follow_call(&w, fact);
        }
    }
}
