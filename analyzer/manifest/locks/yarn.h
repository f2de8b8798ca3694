/* SPDX-License-Identifier: MIT
 * yarn.lock of yarn 1: a format of its own, which resembles YAML. */
#ifndef CBX_ANALYZER_MANIFEST_LOCKS_YARN_H
#define CBX_ANALYZER_MANIFEST_LOCKS_YARN_H

#include "analyzer/manifest/locks/locked.h"

/* Adds the packages of a file. CBX_EINVAL, with line and column, for any line that yarn does not
 * write. */
int cbx_yarn_read_classic(struct cbx_locking *l, struct cbx_str text);

#endif
