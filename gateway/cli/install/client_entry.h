/* SPDX-License-Identifier: MIT
 * Edits the entry for `codebox mcp` in the text of a client's file, in each format that clients
 * have. Other settings of a person, in the entry and in the rest of the file, stay. Pure. */
#ifndef CBX_GATEWAY_CLI_INSTALL_CLIENT_ENTRY_H
#define CBX_GATEWAY_CLI_INSTALL_CLIENT_ENTRY_H

#include "gateway/cli/install/json_splice.h"

/* Borrowed. */
struct cbx_client_entry {
    const char *section, *name;
    const json_t *members; /* members that are set, in a new entry and in an existing one */
    const json_t *once;    /* members that are set in a new entry alone; NULL = none */
    const char *head;      /* text that a blank file begins with; NULL = none */
};

/* Appends `text` with the entry, by the rules of its format. *what describes the change.
 * CBX_EINVAL if the text is not of the format, if the section or the entry has an unknown form,
 * if the entry is of a server at a URL, or if the entry cannot be edited without other changes. */
int cbx_client_entry_json(struct cbx_str text, const struct cbx_client_entry *entry,
                          enum cbx_splice *what, struct cbx_buf *out, struct cbx_err *err);
int cbx_client_entry_toml(struct cbx_str text, const struct cbx_client_entry *entry,
                          enum cbx_splice *what, struct cbx_buf *out, struct cbx_err *err);
int cbx_client_entry_yaml(struct cbx_str text, const struct cbx_client_entry *entry,
                          enum cbx_splice *what, struct cbx_buf *out, struct cbx_err *err);
/* The section is a list, and the entry is its item with this `name`. */
int cbx_client_entry_yaml_list(struct cbx_str text, const struct cbx_client_entry *entry,
                               enum cbx_splice *what, struct cbx_buf *out, struct cbx_err *err);

/* CBX_EINVAL if the existing entry is of a server that is reached by a URL: clients would ignore
 * a program beside it, or prefer it without a message. `has` tells whether the entry has a
 * member. */
int cbx_client_entry_check(bool (*has)(const void *entry, const char *member), const void *entry,
                           const char *name, struct cbx_err *err);

/* Returns the members of a new entry (new reference). */
json_t *cbx_client_entry_whole(const struct cbx_client_entry *entry);

#endif
