/* SPDX-License-Identifier: MIT
 * The entry for `codebox mcp` in the text of a client's file, in each of the formats that
 * clients have. What a person has set in an entry, and in the rest of the file, stays. Pure. */
#ifndef CBX_GATEWAY_CLI_INSTALL_CLIENT_ENTRY_H
#define CBX_GATEWAY_CLI_INSTALL_CLIENT_ENTRY_H

#include "gateway/cli/install/json_splice.h"

/* Borrowed. */
struct cbx_client_entry {
    const char *section, *name;
    const json_t *members; /* are set, in a new entry and in one that is there */
    const json_t *once;    /* are set in a new entry alone; NULL = none */
    const char *head;      /* of a text that is blank; NULL = none */
};

/* Appends `text` with the entry, each by the rules of its format. *what says what changed.
 * CBX_EINVAL for a text that is not of the format, in which the section or the entry has another
 * form, whose entry is of a server at a URL, or which cannot be edited without changing more of
 * it. */
int cbx_client_entry_json(struct cbx_str text, const struct cbx_client_entry *entry,
                          enum cbx_splice *what, struct cbx_buf *out, struct cbx_err *err);
int cbx_client_entry_toml(struct cbx_str text, const struct cbx_client_entry *entry,
                          enum cbx_splice *what, struct cbx_buf *out, struct cbx_err *err);
int cbx_client_entry_yaml(struct cbx_str text, const struct cbx_client_entry *entry,
                          enum cbx_splice *what, struct cbx_buf *out, struct cbx_err *err);
/* The section is a list, and the entry is its item with this `name`. */
int cbx_client_entry_yaml_list(struct cbx_str text, const struct cbx_client_entry *entry,
                               enum cbx_splice *what, struct cbx_buf *out, struct cbx_err *err);

/* CBX_EINVAL when the entry that is there is of a server that is reached by a URL: a program
 * beside it would be ignored, or win silently. `has` tells whether it has a member. */
int cbx_client_entry_check(bool (*has)(const void *entry, const char *member), const void *entry,
                           const char *name, struct cbx_err *err);

/* The members of a new entry (new reference). */
json_t *cbx_client_entry_whole(const struct cbx_client_entry *entry);

#endif
