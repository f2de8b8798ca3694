/* SPDX-License-Identifier: MIT
 * What names can do: a table per language from qualified names to capabilities. */
#ifndef CBX_ANALYZER_FACTS_SINKS_H
#define CBX_ANALYZER_FACTS_SINKS_H

#include "policies/policy.h"

/* The capabilities of a callable, a value or a command of this name, called or passed on: bits 1 <<
 * enum cbx_capability; 0 when no row covers it. The longest row that covers the name counts.
 * Thread-safe, linear in the name. */
uint32_t cbx_sinks_of(enum cbx_language language, struct cbx_str name);

/* The capabilities of importing this module. Only rows for whole modules count: `os` has none,
 * although os.system can start a process. */
uint32_t cbx_sinks_of_module(enum cbx_language language, struct cbx_str module);

/* True when the longest row that covers the name says that it can do nothing: an exception from a
 * row for a module around it. */
bool cbx_sinks_cleared(enum cbx_language language, struct cbx_str name);

/* True when the table has a row for this name as a whole module. */
bool cbx_sinks_is_module(enum cbx_language language, struct cbx_str name);

/* True when the table has a row within this name ("flask.Flask", for "flask.Flask.run"). */
bool cbx_sinks_within(enum cbx_language language, struct cbx_str name);

/* The name of the row with this number, 0 and on; static. False behind the last. */
bool cbx_sinks_name(enum cbx_language language, size_t number, struct cbx_str *name);

#endif
