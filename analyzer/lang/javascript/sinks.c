/* SPDX-License-Identifier: MIT
 * Capabilities of names: the rows of sinks.def. */
#include "analyzer/facts/sinks_table.h"

#define CBX_FS(name, capabilities)                                                                 \
    CBX_SINK("fs." name, capabilities)                                                             \
    CBX_SINK("fs/promises." name, capabilities)                                                    \
    CBX_SINK("fs-extra." name, capabilities)                                                       \
    CBX_SINK("graceful-fs." name, capabilities)

CBX_SINKS(javascript) = {
#include "analyzer/lang/javascript/sinks.def"
};
CBX_SINKS_COUNT(javascript)
