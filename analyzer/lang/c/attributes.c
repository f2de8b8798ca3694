/* SPDX-License-Identifier: MIT
 * Attributes in the form of GCC (`__attribute__((format(printf, 1, 2)))`) stand in many places of a
 * declaration, and the grammar reads them in a few. Those that change nothing of what a program
 * does are left out. */
#include "analyzer/lang/c/internal.h"

/* For warnings, optimisation, layout and visibility. */
static const char *const harmless[] = {
    "access",
    "aligned",
    "always_inline",
    "artificial",
    "assume_aligned",
    "alloc_size",
    "cold",
    "const",
    "deprecated",
    "error",
    "fallthrough",
    "fd_arg",
    "flatten",
    "format",
    "format_arg",
    "gnu_inline",
    "hot",
    "leaf",
    "malloc",
    "may_alias",
    "noinline",
    "nonnull",
    "nonstring",
    "noreturn",
    "nothrow",
    "null_terminated_string_arg",
    "packed",
    "pure",
    "returns_nonnull",
    "sentinel",
    "transparent_union",
    "unavailable",
    "unused",
    "used",
    "visibility",
    "warn_unused_result",
    "warning",
};

/* `format` and `__format__`. */
static bool is_harmless(struct cbx_str name)
{
    bool marked =
        name.len > 4 && cbx_str_starts(name, CBX_STR("__")) && cbx_str_ends(name, CBX_STR("__"));
    struct cbx_str bare = marked ? cbx_str_sub(name, 2, name.len - 2) : name;
    for (size_t i = 0; i < sizeof(harmless) / sizeof(harmless[0]); i++) {
        if (cbx_str_is(bare, harmless[i])) {
            return true;
        }
    }
    return false;
}

static bool is_at(const struct cbx_c_tokens *tokens, size_t at, const char *text)
{
    return at < tokens->count && cbx_c_is(&tokens->items[at], text);
}

/* Returns the index behind the attribute that begins at `at`; `at` if there is none, or one that is
 * not harmless. */
static size_t skip_attribute(const struct cbx_c_tokens *tokens, size_t at)
{
    bool begins = is_at(tokens, at, "__attribute__") || is_at(tokens, at, "__attribute");
    int depth = 0;
    for (size_t i = at + 1; begins && i < tokens->count; i++) {
        const struct cbx_c_token *token = &tokens->items[i];
        depth += cbx_c_is(token, "(");
        depth -= cbx_c_is(token, ")");
        if (depth == 0) {
            return i + 1;
        }
        if (depth < 2 ? !cbx_c_is(token, "(") && !cbx_c_is(token, ")")
                      : depth == 2 && token->kind == C_IDENTIFIER && !is_harmless(token->text)) {
            return at;
        }
    }
    return at;
}

void cbx_c_drop_attributes(struct cbx_c_tokens *tokens)
{
    size_t kept = 0;
    for (size_t i = 0; i < tokens->count;) {
        size_t behind = skip_attribute(tokens, i);
        if (behind > i) {
            i = behind;
        } else {
            tokens->items[kept++] = tokens->items[i++];
        }
    }
    tokens->count = kept;
}
