/* SPDX-License-Identifier: MIT
 * Working folders: the folder in which a relative path lies, after calls that change it. */
#ifndef CBX_ANALYZER_FACTS_PLACES_H
#define CBX_ANALYZER_FACTS_PLACES_H

#include "analyzer/facts/facts.h"

enum { CBX_PLACES_MAX = 4 };

/* The possible working folders, absolute and straight. */
struct cbx_places {
    struct cbx_str items[CBX_PLACES_MAX];
    uint32_t count;
    bool lost; /* true if it may be any other folder, too */
};

/* The folder in which programs begin, and the folder of "~". */
#define CBX_HOME "/workspace"
extern const struct cbx_places cbx_places_home;

/* Returns the path without ".", ".." and doubled slashes: a relative one in `folder`, "~" and
 * "~/..." in the home. The path itself if it is longer than 4096 bytes or the arena is
 * exhausted. */
struct cbx_str cbx_places_resolve(struct cbx_arena *arena, struct cbx_str folder,
                                  struct cbx_str path);

/* Returns true for a path that depends on the working folder. */
bool cbx_places_is_relative(struct cbx_str path);

/* Returns true for a path without empty parts, "." and "..": libraries for paths do not change
 * it. */
bool cbx_places_is_plain(struct cbx_str path);

/* Returns the folder of a path; for a relative path that climbs, and for "." and "~", the folder
 * above. "" if the last part of the path has a '*'. */
struct cbx_str cbx_places_parent(struct cbx_arena *arena, struct cbx_str path);

/* Applies a change to `path`; p NULL: to an unknown folder. */
void cbx_places_enter(struct cbx_places *places, struct cbx_str path, struct cbx_arena *arena);

/* Adds the folders of `more`. */
void cbx_places_join(struct cbx_places *places, const struct cbx_places *more);

/* Stores the folders in a fact. */
void cbx_places_note(struct cbx_fact *fact, const struct cbx_places *places,
                     struct cbx_arena *arena);

/* Returns true for a call that changes the working folder, in all languages but shell. */
bool cbx_places_are_changed_by(const struct cbx_fact *fact);

/* Stores the folders in the facts of all languages but shell, whose extractor does so itself.
 * The calls that change the folder are applied in the order of the text; functions may run after
 * any of them. */
void cbx_places_follow(struct cbx_facts *facts);

#endif
