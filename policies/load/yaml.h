/* SPDX-License-Identifier: MIT
 * YAML text to a small tree with positions, for the loaders of policies and of the
 * configuration. Accepts one document of scalars, sequences and mappings; refuses tags, repeated
 * keys, keys that are not plain strings, and texts over a cap. Scalars stay text: the key table,
 * not YAML 1.1, determines which values are numbers. */
#ifndef CBX_POLICIES_LOAD_YAML_H
#define CBX_POLICIES_LOAD_YAML_H

#include "policies/base/arena.h"
#include "policies/base/err.h"
#include "policies/base/str.h"

#include <stdint.h>

enum cbx_yaml_kind { CBX_YAML_SCALAR = 1, CBX_YAML_SEQUENCE, CBX_YAML_MAPPING };

struct cbx_yaml {
    enum cbx_yaml_kind kind;
    uint32_t line, column; /* 1-based */
    struct cbx_str text;   /* text of a SCALAR; UTF-8, no NUL */
    struct cbx_str key;    /* key of the mapping entry, if the node is its value */
    uint32_t key_line, key_column;
    struct cbx_yaml *first, *next; /* first child; next sibling */
    uint32_t count;                /* number of children */
};

/* Limits of one document; aliases count with their expansion. */
enum { CBX_YAML_NODES_MAX = 200000, CBX_YAML_ALIASES_MAX = 256 };

/* *out is in `arena`. CBX_EPOLICY with line and column; CBX_ETOOBIG for a cap. */
int cbx_yaml_parse(struct cbx_str text, int depth_max, struct cbx_arena *arena,
                   struct cbx_yaml **out, struct cbx_err *err);

#endif
