/* SPDX-License-Identifier: MIT
 * The configuration file of `codebox serve` and `codebox mcp`: YAML whose keys are the options of
 * cli_options.def that `codebox config` takes, and the sections of sections.def. Security depends
 * on it, so a file that another user could have written is refused (gateway/ipc/jail/trusted.h). */
#ifndef CBX_GATEWAY_CLI_SETTINGS_SETTINGS_H
#define CBX_GATEWAY_CLI_SETTINGS_SETTINGS_H

#include "policies/base/options/options.h"
#include "policies/load/yaml.h"

#define CBX_SETTINGS_FILE "/etc/codebox/codebox.yaml"

enum cbx_settings_section {
#define CBX_SETTINGS_SECTION(name, check, help) CBX_SETTINGS_##name,
#include "gateway/cli/settings/sections.def"
#undef CBX_SETTINGS_SECTION
    CBX_SETTINGS_SECTIONS
};

/* Problems in the order in which they were found; those over the bound are dropped. */
enum { CBX_PROBLEMS_MAX = 32 };
struct cbx_problems {
    struct cbx_err items[CBX_PROBLEMS_MAX];
    size_t count;
};

/* Adds a problem, unless one with this text was added before: a section is checked when it is
 * read, and when it is used. */
void cbx_problems_add(struct cbx_problems *problems, const struct cbx_err *err);

/* Reads the file into out->into, with origins. sections[CBX_SETTINGS_SECTIONS] gets the nodes,
 * NULL where a section is not given. Strings and nodes are of out->arena. Every problem is
 * added: 'FILE:LINE:COLUMN: what was found and what is allowed'. */
void cbx_settings_read(const char *path, const struct cbx_option_table *table,
                       struct cbx_option_values *out, const struct cbx_yaml **sections,
                       struct cbx_problems *problems);

/* The same from a text; `path` is its name in problems. */
void cbx_settings_read_text(struct cbx_str text, const char *path,
                            const struct cbx_option_table *table, struct cbx_option_values *out,
                            const struct cbx_yaml **sections, struct cbx_problems *problems);

/* Returns true if the row of an option is a key of the file. */
bool cbx_settings_has(const struct cbx_option *row);

/* Returns the first variable of the environment with the table's prefix that is no option; NULL
 * = none. */
const char *cbx_settings_unknown_variable(const struct cbx_option_table *table);

/* Appends the example file: every key with its help, as comments. */
void cbx_settings_example(const struct cbx_option_table *table, struct cbx_buf *out);

/* Appends every setting of `values`, its value or its default, and its source. `path` is the
 * file that was read, NULL = none. */
void cbx_settings_explain(const struct cbx_option_table *table,
                          const struct cbx_option_values *values, const char *path,
                          const struct cbx_yaml *const *sections, struct cbx_buf *out);

#endif
