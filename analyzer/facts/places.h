/* SPDX-License-Identifier: MIT
 * Working folders: the folder that a relative path is in, after calls that change it. */
#ifndef CBX_ANALYZER_FACTS_PLACES_H
#define CBX_ANALYZER_FACTS_PLACES_H

#include "analyzer/facts/facts.h"

enum { CBX_PLACES_MAX = 4 };

/* The folders that may be the working folder, absolute and straight. */
struct cbx_places {
    struct cbx_str items[CBX_PLACES_MAX];
    uint32_t count;
    bool lost; /* it may be any other, too */
};

/* Where programs begin, and where "~" is. */
#define CBX_HOME "/workspace"
extern const struct cbx_places cbx_places_home;

/* The path, absolute in `folder` when relative, in the home for "~" and "~/...", without ".",
 * ".." and doubled slashes. The path itself when it is longer than 4096 bytes or the arena is
 * exhausted. */
struct cbx_str cbx_places_resolve(struct cbx_arena *arena, struct cbx_str folder,
                                  struct cbx_str path);

/* True for a path that depends on the working folder. */
bool cbx_places_is_relative(struct cbx_str path);

/* True for a path without empty parts, "." and "..": libraries for paths leave it as it is. */
bool cbx_places_is_plain(struct cbx_str path);

/* The folder that a path is in; of a relative one that climbs, and of "." and "~", the folder
 * around that folder. "" when the path has a '*' in its last part. */
struct cbx_str cbx_places_parent(struct cbx_arena *arena, struct cbx_str path);

/* After a change to `path`; p NULL: to a folder that is not known. */
void cbx_places_enter(struct cbx_places *places, struct cbx_str path, struct cbx_arena *arena);

/* Adds the folders of `more`. */
void cbx_places_join(struct cbx_places *places, const struct cbx_places *more);

/* Notes the folders in a fact. */
void cbx_places_note(struct cbx_fact *fact, const struct cbx_places *places,
                     struct cbx_arena *arena);

/* True for a call that changes the working folder, in all languages but shell. */
bool cbx_places_are_changed_by(const struct cbx_fact *fact);

/* Notes the folders in the facts of all languages but shell, whose extractor does it: the calls
 * that change the folder are taken in the order of the text, and functions may run after any of
 * them. */
void cbx_places_follow(struct cbx_facts *facts);

#endif
