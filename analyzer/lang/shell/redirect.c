/* SPDX-License-Identifier: MIT
 * Redirections: the files that they write, and their descriptors. */
#include "analyzer/lang/shell/arithmetic.h"

static size_t count_digits(struct cbx_str text)
{
    size_t digits = 0;
    while (digits < text.len && text.p[digits] >= '0' && text.p[digits] <= '9') {
        digits++;
    }
    return digits;
}

/* Returns the rest of a path of /dev/fd or /proc/PID/fd from the number of the descriptor on;
 * empty for other paths. */
static struct cbx_str descriptor_of(struct cbx_str path)
{
    const char *folder = path.len > 0 ? memmem(path.p, path.len, "/fd/", 4) : NULL;
    bool special =
        cbx_str_starts(path, CBX_STR("/dev/")) || cbx_str_starts(path, CBX_STR("/proc/"));
    return folder != NULL && special ? cbx_str_sub(path, (size_t)(folder - path.p) + 4, path.len)
                                     : (struct cbx_str){ 0 };
}

/* Checks 10>x, >&10, <&$x, </dev/fd/10. */
static void check_descriptors(struct cbx_shell *s, TSNode node, struct cbx_shell_text destination)
{
    struct cbx_str text = cbx_shell_source_of(s, node);
    size_t left = count_digits(text),
           right = destination.known ? count_digits(destination.text) : 0;
    struct cbx_str operator= cbx_str_sub(text, left, text.len);
    bool duplicates =
        cbx_str_starts(operator, CBX_STR(">&")) || cbx_str_starts(operator, CBX_STR("<&"));
    bool computed = duplicates && !destination.known;
    struct cbx_str named = destination.known ? descriptor_of(destination.text) : CBX_STR("");
    if (computed || cbx_shell_is_inner_descriptor(cbx_str_sub(named, 0, count_digits(named))) ||
        cbx_shell_is_inner_descriptor(cbx_str_sub(text, 0, left)) ||
        (duplicates && cbx_shell_is_inner_descriptor(cbx_str_sub(destination.text, 0, right)))) {
        cbx_shell_add_fact(s, CBX_FACT_SHELL_UNRESOLVED, CBX_STR("descriptor"), node);
    }
}

void cbx_shell_extract_redirect(struct cbx_shell *s, TSNode node)
{
    TSNode destination = ts_node_child_by_field_name(node, "destination", 11);
    if (ts_node_is_null(destination)) {
        return;
    }
    struct cbx_shell_text path = cbx_shell_fold(s, destination);
    struct cbx_str text = cbx_shell_source_of(s, node);
    struct cbx_str operator= cbx_str_sub(text, count_digits(text), text.len);
    if (cbx_shell_is_string(s, node)) {
        return;
    }
    check_descriptors(s, node, path);
    bool reads = cbx_str_starts(operator, CBX_STR("<")) && !cbx_str_starts(operator, CBX_STR("<>"));
    bool duplicates =
        cbx_shell_type_is(destination, "number") || (path.known && cbx_str_is(path.text, "-"));
    bool known = path.known && !path.pattern && !path.fields;
    bool stays = !known && !reads &&
                 (cbx_shell_traits(s, destination, s->function) & CBX_SHELL_MAY_LEAVE) == 0;
    if (!duplicates && !stays) {
        cbx_shell_check_target(s, path.text, known, !reads, ts_node_start_byte(node),
                               ts_node_end_byte(node));
    }
}
