/* SPDX-License-Identifier: MIT
 * Programs that a source writes and then loads. */
#ifndef CBX_ANALYZER_PAST_WRITTEN_H
#define CBX_ANALYZER_PAST_WRITTEN_H

#include "analyzer/facts/facts.h"

/* Names of modules whose file the source writes, if the end of the path is known. Borrowed from
 * its facts. */
enum { CBX_WRITTEN_MAX = 16 };
struct cbx_written {
    struct cbx_str modules[CBX_WRITTEN_MAX];
    uint32_t count;
};
void cbx_written_read(const struct cbx_facts *writers, struct cbx_written *out);

/* Adds CBX_FACT_WRITTEN_IMPORT to `facts` for each import of one of those modules: the content of
 * the file was not judged. */
void cbx_written_imports(const struct cbx_written *written, struct cbx_facts *facts);

#endif
