/* SPDX-License-Identifier: MIT
 * Programs that a source writes and then loads. */
#ifndef CBX_ANALYZER_WRITTEN_H
#define CBX_ANALYZER_WRITTEN_H

#include "analyzer/facts.h"

/* Adds CBX_FACT_WRITTEN_IMPORT for each import of a module that has the name of a file of code
 * which the same source writes, by a path that is known at least at its end: what is in the file
 * was not judged. */
void cbx_written_imports(struct cbx_facts *facts);

#endif
