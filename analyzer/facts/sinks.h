/* SPDX-License-Identifier: MIT
 * Capabilities of names: a table per language from qualified names to capabilities. */
#ifndef CBX_ANALYZER_FACTS_SINKS_H
#define CBX_ANALYZER_FACTS_SINKS_H

#include "policies/policy.h"

/* Returns the capabilities of a callable, a value or a command of this name, called or passed
 * on: bits 1 << enum cbx_capability; 0 if no row covers it. The longest row that covers the name
 * counts. Thread-safe, linear in the name. */
uint32_t cbx_sinks_of(enum cbx_language language, struct cbx_str name);

/* Returns the capabilities of importing this module. Only rows for whole modules count: `os` has
 * none, although os.system can start a process. */
uint32_t cbx_sinks_of_module(enum cbx_language language, struct cbx_str module);

/* Returns true if the longest row that covers the name gives it no capability: an exception from
 * a row for its module. */
bool cbx_sinks_cleared(enum cbx_language language, struct cbx_str name);

/* Returns true if the table has a row for this name as a whole module. */
bool cbx_sinks_is_module(enum cbx_language language, struct cbx_str name);

/* Returns true if the table has a row for a name within this one ("flask.Flask", for
 * "flask.Flask.run"). */
bool cbx_sinks_within(enum cbx_language language, struct cbx_str name);

/* Returns the name of the row with this number, from 0; static. False after the last row. */
bool cbx_sinks_name(enum cbx_language language, size_t number, struct cbx_str *name);

#endif
