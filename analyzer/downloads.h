/* SPDX-License-Identifier: MIT
 * Files that shell code downloads, and commands that run them unchecked. A flow over the facts of
 * a text, in their order: copies and pipes carry a download on, and a command that compares a hash
 * or a signature ends it. Archives are not followed. */
#ifndef CBX_ANALYZER_DOWNLOADS_H
#define CBX_ANALYZER_DOWNLOADS_H

#include "analyzer/facts/facts.h"

enum { CBX_DOWNLOADS_MAX = 256 };

/* Name of the fact (CBX_FACT_SHELL_UNRESOLVED) that a command runs such a file. */
#define CBX_DOWNLOADS_RUN "downloaded file"

/* A file that was downloaded. `executable`: a command made it a program. */
struct cbx_download {
    struct cbx_str path; /* absolute and straight */
    bool executable;
};

/* The files that were downloaded and not checked. */
struct cbx_downloads {
    struct cbx_arena *arena; /* holds the paths */
    struct cbx_download files[CBX_DOWNLOADS_MAX];
    size_t count;
    bool full; /* there are more, so each file may be one of them */
};

/* Begins without files. */
void cbx_downloads_init(struct cbx_downloads *downloads, struct cbx_arena *arena);

/* Follows the facts of one text, and adds its downloaded files to `downloads`, which has the files
 * of earlier texts. A call that runs such a file becomes a fact with the name CBX_DOWNLOADS_RUN. */
void cbx_downloads_follow(struct cbx_downloads *downloads, struct cbx_facts *facts);

#endif
