/* SPDX-License-Identifier: MIT
 * Rows of what names can do. A language's folder holds its rows:
 *   #include "analyzer/facts/sinks_table.h"
 *   CBX_SINKS(python) = {
 *   #include "analyzer/lang/python/sinks.def"
 *   };
 *   CBX_SINKS_COUNT(python) */
#ifndef CBX_ANALYZER_FACTS_SINKS_TABLE_H
#define CBX_ANALYZER_FACTS_SINKS_TABLE_H

#include "policies/policy.h"

enum { CBX_SINKS_MAX = 2000 };

/* The names of the capabilities in the tables. */
enum {
#define CBX_CAPABILITY(id, name, meaning) id = 1u << CBX_CAN_##id,
#include "policies/guard/capabilities.def"
#undef CBX_CAPABILITY
};

/* The names that a row covers. */
enum cbx_sink_reach { CBX_SINK_EXACTLY, CBX_SINK_AND_WITHIN, CBX_SINK_WHEN_IMPORTED };

struct cbx_sink {
    const char *name;
    uint32_t capabilities; /* bits 1 << enum cbx_capability */
    enum cbx_sink_reach reach;
};

#define CBX_SINKS(word) const struct cbx_sink cbx_sinks_##word[]
/* Fails to compile if there are more rows than the hash tables of sinks.c have space for. */
#define CBX_SINKS_COUNT(word)                                                                      \
    _Static_assert(sizeof(cbx_sinks_##word) / sizeof(cbx_sinks_##word[0]) <= CBX_SINKS_MAX,        \
                   "more rows than the hash table holds");                                         \
    const size_t cbx_sinks_##word##_count = sizeof(cbx_sinks_##word) / sizeof(cbx_sinks_##word[0]);

#define CBX_SINK(name, capabilities)    { name, capabilities, CBX_SINK_EXACTLY },
#define CBX_MODULE(name, capabilities)  { name, capabilities, CBX_SINK_AND_WITHIN },
#define CBX_PACKAGE(name, capabilities) { name, capabilities, CBX_SINK_WHEN_IMPORTED },

#endif
