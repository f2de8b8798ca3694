/* SPDX-License-Identifier: MIT
 * Working folders of calls. */
#include "analyzer/facts/places.h"

const struct cbx_places cbx_places_home = { .items = { { CBX_HOME, sizeof(CBX_HOME) - 1 } },
                                            .count = 1 };

static bool is_home(struct cbx_str path)
{
    return path.len > 0 && path.p[0] == '~' && (path.len == 1 || path.p[1] == '/');
}

bool cbx_places_is_relative(struct cbx_str path)
{
    return path.len == 0 || (path.p[0] != '/' && path.p[0] != '~');
}

struct cbx_str cbx_places_resolve(struct cbx_arena *arena, struct cbx_str folder,
                                  struct cbx_str path)
{
    if (is_home(path)) {
        folder = CBX_STR(CBX_HOME);
        path = cbx_str_sub(path, 1, path.len);
        path = path.len > 0 ? cbx_str_sub(path, 1, path.len) : path;
    } else if (!cbx_places_is_relative(path)) { /* /x, ~user */
        folder = CBX_STR("");
    }
    char *out = path.len <= 4096 ? cbx_arena_alloc(arena, folder.len + path.len + 16) : NULL;
    if (out == NULL) {
        return path;
    }
    size_t n = folder.len > 0 ? cbx_path_append(out, 0, folder) : 0;
    n = cbx_path_append(out, n, path);
    if (n == 0) {
        out[n++] = '/';
    }
    return (struct cbx_str){ .p = out, .len = n };
}

/* Returns the name that ends at `end`: the part after the slash before it. */
static struct cbx_str last_part(struct cbx_str path, size_t end)
{
    size_t from = end;
    while (from > 0 && path.p[from - 1] != '/') {
        from--;
    }
    return cbx_str_sub(path, from, end);
}

static bool is_dots(struct cbx_str part)
{
    return part.len == 0 || cbx_str_is(part, ".") || cbx_str_is(part, "..");
}

bool cbx_places_is_plain(struct cbx_str path)
{
    size_t end = path.len;
    while (end > 0) {
        struct cbx_str part = last_part(path, end);
        if (is_dots(part)) {
            return false;
        }
        end -= part.len;
        end -= end > 0; /* the slash */
    }
    return path.len > 0;
}

struct cbx_str cbx_places_parent(struct cbx_arena *arena, struct cbx_str path)
{
    size_t end = path.len;
    while (end > 1 && path.p[end - 1] == '/') {
        end--;
    }
    struct cbx_str part = last_part(path, end);
    if (memchr(part.p, '*', part.len) != NULL) {
        return CBX_STR("");
    }
    if (is_dots(part) || cbx_str_is(part, "~")) {
        return end == 1 && path.p[0] == '/'
                   ? CBX_STR("/")
                   : CBX_JOIN(arena, cbx_str_sub(path, 0, end), CBX_STR("/.."));
    }
    end -= part.len;
    while (end > 1 && path.p[end - 1] == '/') {
        end--;
    }
    return end > 0 ? cbx_str_sub(path, 0, end) : CBX_STR(".");
}

static void add(struct cbx_places *places, struct cbx_str folder)
{
    for (uint32_t i = 0; i < places->count; i++) {
        if (cbx_str_equal(places->items[i], folder)) {
            return;
        }
    }
    if (places->count == CBX_PLACES_MAX) {
        places->lost = true;
        return;
    }
    places->items[places->count++] = folder;
}

void cbx_places_enter(struct cbx_places *places, struct cbx_str path, struct cbx_arena *arena)
{
    struct cbx_places before = *places;
    *places = (struct cbx_places){ .lost = path.p == NULL };
    if (path.p == NULL) {
        return;
    }
    if (!cbx_places_is_relative(path)) {
        add(places, cbx_places_resolve(arena, CBX_STR(""), path));
        return;
    }
    places->lost = before.lost;
    for (uint32_t i = 0; i < before.count; i++) {
        add(places, cbx_places_resolve(arena, before.items[i], path));
    }
}

void cbx_places_join(struct cbx_places *places, const struct cbx_places *more)
{
    places->lost |= more->lost;
    for (uint32_t i = 0; i < more->count; i++) {
        add(places, more->items[i]);
    }
}

void cbx_places_note(struct cbx_fact *fact, const struct cbx_places *places,
                     struct cbx_arena *arena)
{
    bool home = places->count == 1 && !places->lost && cbx_str_is(places->items[0], CBX_HOME);
    struct cbx_str *items = home ? NULL : cbx_arena_array(arena, places->count + 1, sizeof(*items));
    if (items != NULL) {
        memcpy(items, places->items, places->count * sizeof(*items));
        fact->places = items;
        fact->place_count = places->count;
    }
}

/* --- the calls of a text ---------------------------------------------------------------------- */

static const char *const changes[] = { "os.chdir", "contextlib.chdir", "process.chdir", "chdir",
                                       "path.Path.chdir" };
enum { CHANGES_MAX = 64 };

/* The calls of one language that change the folder, in the order of the text, each with the
 * possible folders after it. */
struct changes {
    struct change {
        uint32_t start;
        const struct cbx_fact *fact;
        struct cbx_places after;
    } items[CHANGES_MAX];
    size_t count;
    struct cbx_places outside; /* all of these folders that are not the program's own (is_own) */
};

bool cbx_places_are_changed_by(const struct cbx_fact *fact)
{
    bool is = false;
    for (size_t i = 0; fact->kind == CBX_IS_CALL && i < sizeof(changes) / sizeof(changes[0]); i++) {
        is |= cbx_str_is(fact->name, changes[i]);
    }
    return is;
}

static void insert_change(struct changes *c, const struct cbx_fact *fact)
{
    size_t at = c->count;
    if (c->count == CHANGES_MAX) {
        return;
    }
    while (at > 0 && c->items[at - 1].start > fact->start) {
        c->items[at] = c->items[at - 1];
        at--;
    }
    c->items[at] = (struct change){ .start = fact->start, .fact = fact };
    c->count++;
}

static bool is_own(struct cbx_str folder)
{
    return cbx_str_starts(folder, CBX_STR(CBX_HOME)) || cbx_str_starts(folder, CBX_STR("/tmp"));
}

/* The possible folders after each change. */
static void compute_changes(struct changes *c, struct cbx_arena *arena)
{
    struct cbx_places now = cbx_places_home;
    for (size_t i = 0; i < c->count; i++) {
        const struct cbx_fact *fact = c->items[i].fact;
        const struct cbx_arg *arg = fact->arg_count > 0 ? &fact->args[0] : NULL;
        struct cbx_places before = now, none = { .lost = true };
        bool known = arg != NULL && arg->known && arg->constant;
        cbx_places_enter(&now, known ? arg->value : (struct cbx_str){ 0 }, arena);
        for (uint32_t t = 0; !known && arg != NULL && t < arg->text_count; t++) {
            struct cbx_places one = before;
            cbx_places_enter(&one, arg->texts[t], arena);
            cbx_places_join(&now, &one);
        }
        now = now.count == 0 && !now.lost ? none : now;
        c->items[i].after = now;
        for (uint32_t k = 0; k < now.count; k++) {
            if (!is_own(now.items[k])) {
                add(&c->outside, now.items[k]);
            }
        }
    }
}

static void follow(struct cbx_facts *facts, enum cbx_language language)
{
    struct changes c = { 0 };
    for (size_t i = 0; i < facts->count; i++) {
        if (facts->items[i].language == language && cbx_places_are_changed_by(&facts->items[i])) {
            insert_change(&c, &facts->items[i]);
        }
    }
    compute_changes(&c, facts->arena);
    for (size_t i = 0; c.count > 0 && i < facts->count; i++) {
        struct cbx_fact *fact = &facts->items[i];
        bool line =
            fact->language == CBX_SHELL && facts->source != CBX_SHELL && fact->places == NULL;
        if (fact->kind != CBX_IS_CALL || fact->arg_count == 0 ||
            (fact->language != language && !line)) {
            continue;
        }
        struct cbx_places places = cbx_places_home;
        for (size_t k = 0; k < c.count && c.items[k].start < fact->start; k++) {
            places = c.items[k].after;
        }
        cbx_places_join(&places, &c.outside);
        cbx_places_note(fact, &places, facts->arena);
    }
}

void cbx_places_follow(struct cbx_facts *facts)
{
    follow(facts, CBX_PYTHON);
    follow(facts, CBX_JAVASCRIPT);
    follow(facts, CBX_TYPESCRIPT);
    follow(facts, CBX_C);
}
