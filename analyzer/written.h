/* SPDX-License-Identifier: MIT
 * Programs that a source writes and then loads. */
#ifndef CBX_ANALYZER_WRITTEN_H
#define CBX_ANALYZER_WRITTEN_H

#include "analyzer/facts.h"

/* Adds CBX_FACT_WRITTEN_IMPORT to `facts` for each import in it of a module that has the name of a
 * file of code which `writers` (may be the same) write, by a path that is known at least at its
 * end: what is in the file was not judged. */
void cbx_written_imports(const struct cbx_facts *writers, struct cbx_facts *facts);

#endif
