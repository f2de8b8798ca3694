/* SPDX-License-Identifier: MIT
 * Facts about package installs: the packages, their versions and their sources. Linear in the
 * words. */
#ifndef CBX_ANALYZER_PACKAGES_INSTALL_H
#define CBX_ANALYZER_PACKAGES_INSTALL_H

#include "analyzer/parse.h"

/* A word of a command line. */
struct cbx_word {
    struct cbx_str text;
    bool known; /* false: the word is computed */
    uint32_t start, end;
};

/* Reads a command line and adds the facts of an install, in any spelling. Returns true if the
 * command is a package manager's. */
bool cbx_packages_read(struct cbx_parsed *parsed, const struct cbx_word *words, size_t count);

/* Returns true if this is the name of a file of requirements: "requirements-dev.txt",
 * "constraints.txt". */
bool cbx_packages_is_file(struct cbx_str path);

/* Removes the first line of such a file from *rest and returns it without comment and white
 * space. *continues: the line ended with a backslash, so the next line belongs to it. */
struct cbx_str cbx_packages_take_line(struct cbx_str *rest, bool *continues);

/* Adds the facts of the content of such a file, all at one place. */
void cbx_packages_read_file(struct cbx_parsed *parsed, struct cbx_str text, uint32_t start,
                            uint32_t end);

/* The same for a file that is read on its own: each fact at its place in the text. */
void cbx_packages_read_lines(struct cbx_parsed *parsed, struct cbx_str text);

/* Adds package-blocked at every import that only blocked packages provide. */
void cbx_packages_imports(const struct cbx_policy *policy, struct cbx_facts *facts);

#endif
