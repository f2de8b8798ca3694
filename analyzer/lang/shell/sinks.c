/* SPDX-License-Identifier: MIT
 * Capabilities of names: the rows of sinks.def. */
#include "analyzer/facts/sinks_table.h"

CBX_SINKS(shell) = {
#include "analyzer/lang/shell/sinks.def"
};
CBX_SINKS_COUNT(shell)
