/* SPDX-License-Identifier: MIT
 * Conditions on the arguments of a call. */
#ifndef CBX_ANALYZER_FACTS_CONDITIONS_H
#define CBX_ANALYZER_FACTS_CONDITIONS_H

#include "analyzer/facts/facts.h"

/* True when all conditions of `call` hold for this fact. A reference to a callable that is not
 * called matches only a `call` without conditions. Intermediate texts are allocated in `arena`.
 * `folders` (NULL = none) are as the workspace to `outside`: no path in them is. */
bool cbx_call_holds(const struct cbx_policy *policy, const struct cbx_strs *folders,
                    const struct cbx_call *call, const struct cbx_fact *fact,
                    struct cbx_arena *arena);

/* True when an argument of the call is a constant path that none of the globs match and that no
 * folder has; relative paths are made absolute in the working folders of the call, and count
 * when they lead to a folder of the system, with `any_climb` to any other too. *path is the
 * first such path. */
bool cbx_call_is_outside(const struct cbx_strs *globs, const struct cbx_strs *folders,
                         const struct cbx_fact *fact, bool any_climb, struct cbx_arena *arena,
                         struct cbx_str *path);

/* Is the path, made absolute, one of the folders (NULL = none), or in one? */
bool cbx_path_is_in(const struct cbx_strs *folders, struct cbx_str path, struct cbx_arena *arena);

/* A path without "//", "/./" and "/../"; absolute in /workspace. */
struct cbx_str cbx_path_resolve(struct cbx_arena *arena, struct cbx_str path);

#endif
