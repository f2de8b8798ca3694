/* SPDX-License-Identifier: MIT
 * The options of codebox. */
#include "gateway/cli/options.h"

#include "gateway/cli/clients.h"
#include "policies/option_kinds.h"

#include <stddef.h>

static const struct cbx_option_kind kinds[] = {
    CBX_OPTION_KINDS, { .name = "@client", .words = cbx_client_add_names }
};

static const struct cbx_option rows[] = {
#define CBX_OPTION(member, name, letter, type, value, words, lo, hi, commands, help)               \
    { name,                                                                                        \
      letter,                                                                                      \
      CBX_OPTION_##type,                                                                           \
      offsetof(struct cbx_options, member),                                                        \
      value,                                                                                       \
      words,                                                                                       \
      lo,                                                                                          \
      hi,                                                                                          \
      commands,                                                                                    \
      help },
#include "gateway/cli/options.def"
#undef CBX_OPTION
};

static struct cbx_option_table table_of(char command)
{
    return (struct cbx_option_table){ .program = "codebox",
                                      .rows = rows,
                                      .count = sizeof(rows) / sizeof(rows[0]),
                                      .kinds = kinds,
                                      .kind_count = sizeof(kinds) / sizeof(kinds[0]),
                                      .command = command,
                                      .first_argument_ends = command == 'r' };
}

int cbx_cli_options_read(char command, int argc, char **argv, int from, struct cbx_options *out,
                         struct cbx_err *err)
{
    enum { ARENA_MAX = 64 * 1024 * 1024 };
    *out = (struct cbx_options){ .keep_days = -1 }; /* 0 days are a wish too */
    cbx_arena_init(&out->arena, ARENA_MAX);
    struct cbx_option_table table = table_of(command);
    struct cbx_option_values values = { .into = out, .arena = &out->arena };
    int failed = cbx_options_read(&table, argc, argv, from, &values, err);
    out->arguments = values.rest;
    return failed;
}

void cbx_cli_options_done(struct cbx_options *options)
{
    cbx_arena_done(&options->arena);
}

void cbx_cli_options_help(char command, struct cbx_buf *out)
{
    struct cbx_option_table table = table_of(command);
    cbx_options_help(&table, out);
}

bool cbx_cli_options_complete(const char *shell, struct cbx_buf *out)
{
    struct cbx_option_table table = table_of('\0');
    cbx_options_complete(&table, shell, out);
    return out->len > 0;
}
