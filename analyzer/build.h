/* SPDX-License-Identifier: MIT
 * Shell code that runs where a project is built (Dockerfiles, scripts of package.json), not in a
 * sandbox. */
#ifndef CBX_ANALYZER_BUILD_H
#define CBX_ANALYZER_BUILD_H

#include "analyzer/analyze.h"
#include "analyzer/facts/facts.h"

/* Removes the facts that only mean something in a sandbox, and keeps the others. A build starts
 * the programs of its image and writes to its file system: that a command is not in
 * `shell.allow`, or a file not in the workspace, says nothing there. What stays are packages,
 * literals (credentials, paths of the host), code of other languages (`node -e`, `python -c`),
 * and code of unknown text that a shell or an interpreter is given when the same code downloads
 * or decodes: `curl ... | sh`. Of a build whose service completes the code, a word of an install
 * that is not known is no finding: it is the version of a matrix. */
void cbx_build_keep(struct cbx_facts *facts, enum cbx_build build);

#endif
