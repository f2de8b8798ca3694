/* SPDX-License-Identifier: MIT
 * Capabilities of names: the rows of sinks.def. */
#include "analyzer/facts/sinks_table.h"

CBX_SINKS(python) = {
#include "analyzer/lang/python/library.def"
#include "analyzer/lang/python/sinks.def"
};
CBX_SINKS_COUNT(python)
