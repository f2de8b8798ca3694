/* SPDX-License-Identifier: MIT
 * What names can do: the rows of sinks.def. */
#include "analyzer/sinks_table.h"

/* The names of the capabilities as the tables write them. */
enum {
#define CBX_CAPABILITY(id, name, meaning) id = 1u << CBX_CAN_##id,
#include "policies/capabilities.def"
#undef CBX_CAPABILITY
};

CBX_SINKS(python) = {
#include "analyzer/lang/python/sinks.def"
};
CBX_SINKS_COUNT(python)
