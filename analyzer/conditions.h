/* SPDX-License-Identifier: MIT
 * Conditions on the arguments of a call. */
#ifndef CBX_ANALYZER_CONDITIONS_H
#define CBX_ANALYZER_CONDITIONS_H

#include "analyzer/facts.h"

/* Do all conditions of `call` hold for this fact? A callable that is handed on instead of called
 * meets only a `call` without conditions. `arena` is for the request's intermediate texts. */
bool cbx_call_holds(const struct cbx_call *call, const struct cbx_fact *fact,
                    struct cbx_arena *arena);

/* Is a call given a constant path that none of the globs match, made absolute in /workspace? *path
 * is the first one. */
bool cbx_call_is_outside(const struct cbx_strs *globs, const struct cbx_fact *fact,
                         struct cbx_arena *arena, struct cbx_str *path);

/* A path without "//", "/./" and "/../"; absolute in /workspace, or below "~". */
struct cbx_str cbx_path_resolve(struct cbx_arena *arena, struct cbx_str path);

#endif
