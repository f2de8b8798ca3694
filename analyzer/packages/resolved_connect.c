/* SPDX-License-Identifier: MIT
 * Determines which package requires which. */
#include "analyzer/packages/resolved_internal.h"
#include "policies/base/memory.h"
#include "policies/base/sort.h"
#include "policies/versions/version.h"

#include <stdlib.h>

struct cbx_str cbx_npm_path_name(struct cbx_str path)
{
    struct cbx_str folder = CBX_STR("node_modules/");
    for (size_t at = path.len; at-- > 0;) {
        struct cbx_str rest = cbx_str_sub(path, at, path.len);
        if (cbx_str_starts(rest, folder) && (at == 0 || path.p[at - 1] == '/')) {
            return cbx_str_sub(rest, folder.len, rest.len);
        }
    }
    return CBX_STR("");
}

struct cbx_str cbx_npm_path_outer(struct cbx_str path)
{
    struct cbx_str name = cbx_npm_path_name(path);
    size_t cut = name.len + CBX_NPM_FOLDER_BYTES;
    return cut < path.len ? cbx_str_sub(path, 0, path.len - cut - 1) : CBX_STR("");
}

/* --- where packages are ----------------------------------------------------------------------- */

/* Packages sorted by name, then by the path of the package in which they lie. */
struct place {
    struct cbx_str name;  /* for pip normalised; for npm as in the path, which may have an alias */
    struct cbx_str outer; /* for npm; empty at the first level */
    size_t package;       /* its number */
    size_t end;           /* index of the first place after those with this name */
};

struct places {
    struct place items[CBX_PACKAGE_SET_MAX];
    size_t count;
    /* normalised names of pip's packages */
    char normal[CBX_PACKAGE_SET_MAX][CBX_PACKAGE_NAME_MAX + 1];
};

/* Lengths first: of the paths around a package no two have the same length. */
static int compare_outer(struct cbx_str a, struct cbx_str b)
{
    return a.len != b.len ? (a.len > b.len) - (a.len < b.len) : cbx_str_compare(a, b);
}

static int compare_places(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    int order = cbx_str_compare(x->name, y->name);
    if (order != 0) {
        return order;
    }
    order = compare_outer(x->outer, y->outer);
    if (order != 0) {
        return order;
    }
    return (x->package > y->package) - (x->package < y->package);
}

static void read_place(const struct cbx_resolved *resolved, size_t package, char *normal,
                       struct place *out)
{
    const struct cbx_resolved_package *p = &resolved->items[package];
    out->package = package;
    if (resolved->kind == CBX_SPEC_NPM) {
        out->name = cbx_npm_path_name(p->path);
        out->outer = cbx_npm_path_outer(p->path);
    } else {
        cbx_package_normalise(p->name, normal, CBX_PACKAGE_NAME_MAX + 1);
        out->name = cbx_str_of(normal);
    }
}

/* Allocated on the heap. */
static struct places *list_places(const struct cbx_resolved *resolved)
{
    struct places *places = cbx_new(sizeof(*places));
    places->count = resolved->count;
    for (size_t i = 0; i < places->count; i++) {
        read_place(resolved, i, places->normal[i], &places->items[i]);
    }
    cbx_sort_heap(places->items, places->count, sizeof(places->items[0]), compare_places);
    for (size_t i = places->count; i-- > 0;) {
        struct place *place = &places->items[i];
        bool last = i + 1 == places->count || !cbx_str_equal(place->name, place[1].name);
        place->end = last ? i + 1 : place[1].end;
    }
    return places;
}

/* Returns the first place with this name; NULL if there is none. */
static const struct place *find_name(const struct places *places, struct cbx_str name)
{
    size_t low = 0, high = places->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (cbx_str_compare(places->items[middle].name, name) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    bool found = low < places->count && cbx_str_equal(places->items[low].name, name);
    return found ? &places->items[low] : NULL;
}

/* Returns the package in `outer`, of those with the name of `first`. */
static size_t find_in(const struct places *places, const struct place *first, struct cbx_str outer)
{
    size_t low = (size_t)(first - places->items), high = first->end;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_outer(places->items[middle].outer, outer) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    bool found = low < first->end && cbx_str_equal(places->items[low].outer, outer);
    return found ? places->items[low].package : CBX_RESOLVED_ASKED;
}

/* --- where edges lead to ---------------------------------------------------------------------- */

/* Searches like Node: in the package's own folder, then in those around it. */
struct folders {
    struct cbx_str items[CBX_NPM_PATH_MAX / CBX_NPM_FOLDER_BYTES + 1];
    size_t count;
};

static void list_folders(struct cbx_str path, struct folders *out)
{
    out->count = 0;
    for (; path.len > 0; path = cbx_npm_path_outer(path)) {
        out->items[out->count++] = path;
    }
    out->items[out->count++] = path;
}

static size_t find_npm(const struct places *places, const struct folders *folders,
                       struct cbx_str name)
{
    const struct place *first = find_name(places, name);
    size_t to = CBX_RESOLVED_ASKED;
    for (size_t i = 0; first != NULL && i < folders->count && to == CBX_RESOLVED_ASKED; i++) {
        to = find_in(places, first, folders->items[i]);
    }
    return to;
}

static size_t find_pip(const struct places *places, struct cbx_str name)
{
    char normal[CBX_PACKAGE_NAME_MAX + 2]; /* a longer name is cut to a name that no package has */
    cbx_package_normalise(name, normal, sizeof(normal));
    const struct place *first = find_name(places, cbx_str_of(normal));
    return first != NULL ? first->package : CBX_RESOLVED_ASKED;
}

/* Returns the package to which each edge leads, on the heap; CBX_RESOLVED_ASKED for a package
 * that the report lacks. */
static size_t *follow(const struct cbx_resolved *resolved, const struct cbx_resolved_edge *edges,
                      size_t count)
{
    size_t *to = cbx_new_array(count + 1, sizeof(*to));
    struct places *places = list_places(resolved);
    struct folders folders = { .count = 0 };
    for (size_t e = 0; e < count; e++) {
        size_t from = edges[e].from;
        if (resolved->kind != CBX_SPEC_NPM) {
            to[e] = find_pip(places, edges[e].name);
            continue;
        }
        if (e == 0 || from != edges[e - 1].from) {
            list_folders(from == CBX_RESOLVED_ASKED ? CBX_STR("") : resolved->items[from].path,
                         &folders);
        }
        to[e] = find_npm(places, &folders, edges[e].name);
    }
    free(places);
    return to;
}

/* --- chains ----------------------------------------------------------------------------------- */

/* A queue of packages in the order in which they are reached. */
struct queue {
    struct cbx_resolved *resolved;
    size_t items[CBX_PACKAGE_SET_MAX], head, tail;
    bool seen[CBX_PACKAGE_SET_MAX];
};

static void reach(struct queue *queue, size_t package, size_t by)
{
    if (package != CBX_RESOLVED_ASKED && !queue->seen[package]) {
        queue->seen[package] = true;
        queue->items[queue->tail++] = package;
        queue->resolved->items[package].by = by;
    }
}

/* Breadth first from the caller's packages, so each package gets a shortest chain. A package
 * that no other one requires counts as requested by the caller. */
static void set_by(struct cbx_resolved *resolved, const struct cbx_resolved_edge *edges,
                   const size_t *to, size_t count)
{
    struct queue queue = { .resolved = resolved };
    size_t first[CBX_PACKAGE_SET_MAX] = { 0 }; /* the first edge of each package */
    for (size_t e = count; e-- > 0;) {
        if (edges[e].from != CBX_RESOLVED_ASKED) {
            first[edges[e].from] = e;
        }
    }
    for (size_t e = 0; e < count; e++) { /* for npm the lock file names the caller's packages, */
        if (edges[e].from == CBX_RESOLVED_ASKED) {
            reach(&queue, to[e], CBX_RESOLVED_ASKED);
        }
    }
    for (size_t i = 0; i < resolved->count; i++) { /* for pip each package does */
        if (resolved->items[i].by == CBX_RESOLVED_ASKED) {
            reach(&queue, i, CBX_RESOLVED_ASKED);
        }
    }
    while (queue.head < queue.tail) {
        size_t from = queue.items[queue.head++];
        for (size_t e = first[from]; e < count && edges[e].from == from; e++) {
            reach(&queue, to[e], from);
        }
    }
    for (size_t i = 0; i < resolved->count; i++) {
        resolved->items[i].by = queue.seen[i] ? resolved->items[i].by : CBX_RESOLVED_ASKED;
    }
}

/* A package that is requested by a URL has a "resolved" like the registry's own packages: only
 * the edge shows that it is from elsewhere. */
static void set_direct(struct cbx_resolved *resolved, const struct cbx_resolved_edge *edges,
                       const size_t *to, size_t count)
{
    for (size_t e = 0; e < count; e++) {
        if (edges[e].is_url && to[e] != CBX_RESOLVED_ASKED) {
            resolved->items[to[e]].is_direct = true;
        }
    }
}

void cbx_resolved_connect(struct cbx_resolved *resolved, const struct cbx_resolved_edge *edges,
                          size_t count)
{
    size_t *to = follow(resolved, edges, count);
    set_direct(resolved, edges, to, count);
    set_by(resolved, edges, to, count);
    free(to);
}
