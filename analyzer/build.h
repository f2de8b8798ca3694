/* SPDX-License-Identifier: MIT
 * Facts about shell code that runs where a project is built (Dockerfiles, scripts of
 * package.json), not in a sandbox. */
#ifndef CBX_ANALYZER_BUILD_H
#define CBX_ANALYZER_BUILD_H

#include "analyzer/analyze.h"
#include "analyzer/downloads.h"
#include "analyzer/facts/facts.h"

/* Removes facts that are only about a sandbox, and keeps the others. A build starts the programs
 * of its image and writes to its file system, so a command that is not in `shell.allow`, or a
 * file outside the workspace, is no finding there. Kept are packages, literals (credentials,
 * paths of the host), code of other languages (`node -e`, `python -c`), and unknown code that a
 * shell or an interpreter gets while the same source downloads or decodes (`curl ... | sh`), or
 * that is a downloaded file (downloads.h). `earlier` has the files that earlier code of the same
 * build downloaded; the downloads of this code are added. NULL: there is no other code. In an
 * image /etc/passwd, ~/.bashrc and the like are the image's own, and are no findings; keys and
 * tokens are. If the build's service completes the code, an unknown word of an install is no
 * finding: it is the version of a matrix. */
void cbx_build_keep(struct cbx_facts *facts, enum cbx_build build, struct cbx_downloads *earlier);

#endif
