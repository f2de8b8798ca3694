/* SPDX-License-Identifier: MIT
 * Conditions on the arguments of a call. */
#include "analyzer/facts/conditions.h"

#include "analyzer/facts/fold.h"
#include "analyzer/facts/places.h"
#include "policies/environment.h"

#include <stdlib.h>

static bool any_glob(const struct cbx_strs *globs, struct cbx_str value, bool path)
{
    for (size_t i = 0; i < globs->count; i++) {
        if (path ? cbx_str_glob_path(globs->items[i], value)
                 : cbx_str_glob(globs->items[i], value)) {
            return true;
        }
    }
    return false;
}

struct cbx_str cbx_path_resolve(struct cbx_arena *arena, struct cbx_str path)
{
    return cbx_places_resolve(arena, CBX_STR(CBX_HOME), path);
}

static const struct cbx_arg *find_argument(const struct cbx_fact *fact,
                                           const struct cbx_strs *names)
{
    for (uint32_t a = 0; a < fact->arg_count; a++) {
        const struct cbx_arg *arg = &fact->args[a];
        for (size_t n = 0; n < names->count; n++) {
            struct cbx_str name = names->items[n];
            bool position = name.len > 0 && name.p[0] >= '0' && name.p[0] <= '9';
            if (position
                    ? arg->keyword.len == 0 && arg->position == (uint32_t)strtoul(name.p, NULL, 10)
                    : cbx_str_equal(arg->keyword, name)) {
                return arg;
            }
        }
    }
    return NULL;
}

/* Folders of the system. A relative path that leaves the workspace to any other folder does not
 * exist in the sandbox; programs for another layout have such paths. */
static bool is_system(struct cbx_str path)
{
    static const char *const folders[] = { "etc",  "usr",  "bin", "sbin", "lib",  "lib64",
                                           "root", "home", "var", "proc", "sys",  "dev",
                                           "boot", "run",  "opt", "srv",  "media" };
    size_t end = 1;
    while (end < path.len && path.p[end] != '/') {
        end++;
    }
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        if (cbx_str_is(cbx_str_sub(path, 1, end), folders[i])) {
            return true;
        }
    }
    return false;
}

/* Returns true if the path is one of these folders, or in one. */
static bool is_in_folder(const struct cbx_strs *folders, struct cbx_str path)
{
    for (size_t i = 0; folders != NULL && i < folders->count; i++) {
        struct cbx_str folder = folders->items[i];
        if (cbx_str_starts(path, folder) && (path.len == folder.len || path.p[folder.len] == '/')) {
            return true;
        }
    }
    return false;
}

bool cbx_path_is_in(const struct cbx_strs *folders, struct cbx_str path, struct cbx_arena *arena)
{
    return folders != NULL && folders->count > 0 &&
           is_in_folder(folders, cbx_path_resolve(arena, path));
}

/* The folders and globs that the paths of a call are compared with. */
struct where {
    struct cbx_arena *arena;
    const struct cbx_strs *folders;
    const struct cbx_fact *fact;
    bool any_climb; /* true: a relative path counts if it leaves the workspace at all */
};

static bool leaves(const struct where *at, const struct cbx_strs *globs, struct cbx_str folder,
                   struct cbx_str text)
{
    struct cbx_str path = cbx_places_resolve(at->arena, folder, text);
    bool absolute = text.len > 0 && text.p[0] == '/';
    return !any_glob(globs, path, true) && !is_in_folder(at->folders, path) &&
           (absolute || at->any_climb || is_system(path));
}

/* Returns true if no glob matches the path, made absolute in a working folder of the call, and
 * no folder contains it. */
static bool is_outside(const struct where *at, const struct cbx_strs *globs, struct cbx_str text)
{
    if (at->fact->places == NULL || !cbx_places_is_relative(text)) {
        return leaves(at, globs, CBX_STR(CBX_HOME), text);
    }
    for (uint32_t i = 0; i < at->fact->place_count; i++) {
        if (leaves(at, globs, at->fact->places[i], text)) {
            return true;
        }
    }
    return false;
}

/* Returns true if a glob matches the path, made absolute. Where ".." leads above the workspace
 * depends on the working directory of the program. */
static bool is_within(struct cbx_arena *arena, const struct cbx_strs *globs, struct cbx_str text)
{
    struct cbx_str path = cbx_path_resolve(arena, text);
    bool climbs = path.len == 1 && text.len > 0 && text.p[0] == '.';
    return !climbs && any_glob(globs, path, true);
}

/* Returns true if a relative path of which only this beginning is known leaves the workspace:
 * ../ and a name. */
static bool climbs_out(const struct where *at, const struct cbx_strs *globs,
                       struct cbx_str beginning)
{
    static const struct cbx_str home = { CBX_HOME, sizeof(CBX_HOME) - 1 };
    bool placed = at->fact->places != NULL;
    for (uint32_t i = 0; i < (placed ? at->fact->place_count : 1); i++) {
        struct cbx_str place = placed ? at->fact->places[i] : home,
                       folder = cbx_places_resolve(at->arena, place, beginning);
        if (!any_glob(globs, folder, true) && !is_in_folder(at->folders, folder)) {
            return true;
        }
    }
    return false;
}

/* Returns true if a path of which only the beginning is known, up to a '*', is outside for every
 * possible rest. */
static bool begins_outside(const struct where *at, const struct cbx_strs *globs,
                           struct cbx_str partial)
{
    const struct cbx_strs *folders = at->folders;
    const char *gap = memchr(partial.p, '*', partial.len);
    size_t end = gap != NULL ? (size_t)(gap - partial.p) : partial.len;
    while (end > 0 && partial.p[end - 1] != '/') {
        end--;
    }
    if (end > 0 && at->any_climb && cbx_places_is_relative(partial)) {
        return climbs_out(at, globs, cbx_str_sub(partial, 0, end));
    }
    struct cbx_str folder = cbx_path_resolve(at->arena, cbx_str_sub(partial, 0, end));
    if (end == 0 || (partial.p[0] != '/' && partial.p[0] != '~') || folder.len <= 1) {
        return false;
    }
    for (size_t i = 0; i < globs->count; i++) {
        if (cbx_str_starts(globs->items[i], folder)) {
            return false; /* for some rests the path may lead inside */
        }
    }
    for (size_t i = 0; folders != NULL && i < folders->count; i++) {
        if (cbx_str_starts(folders->items[i], folder)) {
            return false;
        }
    }
    return !any_glob(globs, folder, true) && !is_in_folder(folders, folder);
}

/* Returns the host of a URL (RFC 3986): "" if it has none, or if an unknown part makes it
 * uncertain. */
static struct cbx_str host_of(struct cbx_str url)
{
    const char *start = memmem(url.p, url.len, "://", 3);
    if (start == NULL) {
        return (struct cbx_str){ 0 };
    }
    struct cbx_str host = cbx_str_sub(url, (size_t)(start - url.p) + 3, url.len);
    size_t end = 0;
    while (end < host.len && strchr("/?#\\", host.p[end]) == NULL) {
        end++;
    }
    host.len = end;
    const char *user = memrchr(host.p, '@', host.len);
    host = user != NULL ? cbx_str_sub(host, (size_t)(user - host.p) + 1, host.len) : host;
    const char *port = host.len > 0 && host.p[0] != '[' ? memchr(host.p, ':', host.len) : NULL;
    host.len = port != NULL ? (size_t)(port - host.p) : host.len;
    return host.len > 0 && memchr(host.p, '*', host.len) != NULL ? (struct cbx_str){ 0 } : host;
}

static bool tests_host(const struct cbx_where *w)
{
    return w->host.count + w->host_outside.count > 0;
}

/* Hosts are compared in small letters, without the dot of the root. */
static bool host_holds(struct cbx_arena *arena, const struct cbx_where *w, struct cbx_str url)
{
    struct cbx_str host = cbx_fold_case(arena, host_of(url), false);
    host.len -= host.len > 0 && host.p[host.len - 1] == '.';
    return host.len == 0
               ? w->unknown_holds
               : (w->host.count == 0 || any_glob(&w->host, host, false)) &&
                     !(w->host_outside.count > 0 && any_glob(&w->host_outside, host, false));
}

static bool value_holds(const struct where *at, const struct cbx_where *w, struct cbx_str value,
                        bool constant)
{
    bool path = w->outside.count > 0 || w->inside.count > 0;
    if ((w->matches.count > 0 && !any_glob(&w->matches, value, false)) ||
        (w->not_matches.count > 0 && any_glob(&w->not_matches, value, false))) {
        return false;
    }
    if ((path || tests_host(w)) && !constant) {
        return w->unknown_holds;
    }
    return !(w->outside.count > 0 && !is_outside(at, &w->outside, value)) &&
           !(w->inside.count > 0 && !is_within(at->arena, &w->inside, value)) &&
           (!tests_host(w) || host_holds(at->arena, w, value));
}

/* Decides about a partly known text by the known parts of its path or host. */
static bool partial_holds(const struct where *at, const struct cbx_where *w, struct cbx_str partial)
{
    bool more = w->matches.count + w->not_matches.count + w->inside.count > 0;
    bool path = w->outside.count > 0 && begins_outside(at, &w->outside, partial),
         host = tests_host(w) && host_of(partial).len > 0 && host_holds(at->arena, w, partial);
    return !more && (w->outside.count == 0 || path) && (!tests_host(w) || host);
}

/* Decides about a value that is not certain: the condition holds if it holds for one of the
 * possible constants, or for any value. */
static bool any_value_holds(const struct where *at, const struct cbx_where *w,
                            const struct cbx_arg *arg)
{
    for (uint32_t i = 0; i < arg->text_count; i++) {
        if (value_holds(at, w, arg->texts[i], true)) {
            return true;
        }
    }
    if (arg->likely) {
        return false; /* its text decides */
    }
    bool hosts_known = tests_host(w) && arg->partial_count > 0;
    for (uint32_t i = 0; i < arg->partial_count; i++) {
        if ((w->outside.count > 0 || tests_host(w)) && partial_holds(at, w, arg->partials[i])) {
            return true;
        }
        hosts_known &= host_of(arg->partials[i]).len > 0;
    }
    return !hosts_known && w->unknown_holds;
}

static bool condition_holds(const struct cbx_policy *policy, const struct cbx_strs *folders,
                            struct cbx_arena *arena, const struct cbx_fact *fact,
                            const struct cbx_where *w)
{
    const struct cbx_arg *arg = find_argument(fact, &w->arg);
    if (arg == NULL && fact->spread) {
        return w->unknown_holds; /* *args may contain the argument */
    }
    if ((w->presence == CBX_PRESENT && arg == NULL) || (w->presence == CBX_ABSENT && arg != NULL)) {
        return false;
    }
    if (arg == NULL) {
        return w->not_matches.count > 0 || w->presence == CBX_ABSENT;
    }
    if ((w->constant == CBX_PRESENT && !arg->constant) ||
        (w->constant == CBX_ABSENT && arg->constant)) {
        return false;
    }
    bool granted = arg->known && arg->constant && cbx_variable_is_granted(policy, arg->value);
    if ((w->granted == CBX_PRESENT && !granted) || (w->granted == CBX_ABSENT && granted)) {
        return false;
    }
    struct where at = { .arena = arena, .folders = folders, .fact = fact };
    bool tests = w->matches.count > 0 || w->not_matches.count > 0 || w->outside.count > 0 ||
                 w->inside.count > 0 || tests_host(w);
    return !tests       ? true
           : arg->known ? value_holds(&at, w, arg->value, arg->constant)
                        : any_value_holds(&at, w, arg);
}

/* Returns true if the argument is what the call writes, or says how: no path. */
static bool is_content(const struct cbx_fact *fact, const struct cbx_arg *arg)
{
    static const struct content {
        const char *name; /* NULL: of any name */
        uint32_t from;    /* the first position that is content */
        bool method;
        const char *keyword;
    } contents[] = {
#define CBX_CONTENT(name, from)   { name, from, false, NULL },
#define CBX_CONTENT_METHOD(name)  { name, 1, true, NULL },
#define CBX_CONTENT_KEYWORD(word) { NULL, 0, false, word },
#include "analyzer/facts/contents.def"
#undef CBX_CONTENT
#undef CBX_CONTENT_METHOD
#undef CBX_CONTENT_KEYWORD
    };
    const char *dot = fact->name.len > 0 ? memrchr(fact->name.p, '.', fact->name.len) : NULL;
    size_t begin = dot != NULL ? (size_t)(dot - fact->name.p) + 1 : 0;
    struct cbx_str word = cbx_str_sub(fact->name, begin, fact->name.len);
    bool unbound = cbx_str_starts(fact->name, CBX_STR("*.")); /* the object is not known */
    for (size_t i = 0; i < sizeof(contents) / sizeof(contents[0]); i++) {
        const struct content *row = &contents[i];
        uint32_t from = row->from - (row->method && unbound);
        if (row->name == NULL ? cbx_str_is(arg->keyword, row->keyword)
                              : arg->keyword.len == 0 && arg->position >= from &&
                                    cbx_str_glob(cbx_str_of(row->name), word)) {
            return true;
        }
    }
    return false;
}

bool cbx_call_is_outside(const struct cbx_strs *globs, const struct cbx_strs *folders,
                         const struct cbx_fact *fact, bool any_climb, struct cbx_arena *arena,
                         struct cbx_str *path)
{
    struct where at = { .arena = arena, .folders = folders, .fact = fact, .any_climb = any_climb };
    for (uint32_t i = 0; i < fact->arg_count; i++) {
        const struct cbx_arg *arg = &fact->args[i];
        if (is_content(fact, arg)) {
            continue;
        }
        const struct cbx_str *texts = arg->known ? &arg->value : arg->texts;
        uint32_t count = arg->known ? arg->constant : arg->text_count;
        for (uint32_t k = 0; k < count; k++) {
            if (is_outside(&at, globs, texts[k])) {
                *path = texts[k];
                return true;
            }
        }
        for (uint32_t k = 0; k < arg->partial_count; k++) {
            if (begins_outside(&at, globs, arg->partials[k])) {
                *path = arg->partials[k];
                return true;
            }
        }
    }
    return false;
}

bool cbx_call_holds(const struct cbx_policy *policy, const struct cbx_strs *folders,
                    const struct cbx_call *call, const struct cbx_fact *fact,
                    struct cbx_arena *arena)
{
    if (fact->kind != CBX_IS_CALL) {
        return call->where_count == 0; /* the callable is passed on: its arguments are unknown */
    }
    for (size_t i = 0; i < call->where_count; i++) {
        if (!condition_holds(policy, folders, arena, fact, &call->where[i])) {
            return false;
        }
    }
    return true;
}
