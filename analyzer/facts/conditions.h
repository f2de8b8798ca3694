/* SPDX-License-Identifier: MIT
 * Conditions on the arguments of a call. */
#ifndef CBX_ANALYZER_FACTS_CONDITIONS_H
#define CBX_ANALYZER_FACTS_CONDITIONS_H

#include "analyzer/facts/facts.h"

/* Returns true if all conditions of `call` hold for this fact. A reference to a callable that is
 * not called matches only a `call` without conditions. Intermediate texts are allocated in
 * `arena`. Paths in `folders` (NULL = none) are never `outside`, like paths of the workspace. */
bool cbx_call_holds(const struct cbx_policy *policy, const struct cbx_strs *folders,
                    const struct cbx_call *call, const struct cbx_fact *fact,
                    struct cbx_arena *arena);

/* Returns true if an argument of the call is a constant path that no glob matches and no folder
 * contains. Relative paths are made absolute in the working folders of the call; they count if
 * they lead to a folder of the system, with `any_climb` also to any other. *path is the first
 * such path. */
bool cbx_call_is_outside(const struct cbx_strs *globs, const struct cbx_strs *folders,
                         const struct cbx_fact *fact, bool any_climb, struct cbx_arena *arena,
                         struct cbx_str *path);

/* Returns true if the path, made absolute, is one of the folders (NULL = none), or in one. */
bool cbx_path_is_in(const struct cbx_strs *folders, struct cbx_str path, struct cbx_arena *arena);

/* Returns the path without "//", "/./" and "/../", absolute in /workspace. */
struct cbx_str cbx_path_resolve(struct cbx_arena *arena, struct cbx_str path);

#endif
