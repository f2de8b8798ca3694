/* SPDX-License-Identifier: MIT
 * The scan for the id: in pieces it finds what it finds in one, in a well-formed line what the
 * parser finds; and the line with its unpaired surrogates replaced has none any more. */
#include "gateway/front/mcp/protocol/jsonrpc.h"

#include <stdlib.h>

static void require(bool holds)
{
    if (!holds) {
        abort();
    }
}

static void scan_in_pieces(struct cbx_str line, size_t piece, struct cbx_request_id *out)
{
    *out = (struct cbx_request_id){ 0 };
    for (size_t at = 0; at < line.len; at += piece) {
        cbx_request_id_feed(out, cbx_str_sub(line, at, at + piece));
    }
}

/* What is found is one JSON string or integer, and the member that a parser finds. */
static void compare_with_parser(struct cbx_str line, struct cbx_str id)
{
    CBX_AUTO_JSON json = NULL;
    struct cbx_err err = { 0 };
    if (cbx_json_parse(line, 1 << 20, &json, &err) != 0 || !json_is_object(json)) {
        return;
    }
    const json_t *member = json_object_get(json, "id");
    CBX_AUTO_JSON found = NULL;
    if (id.len == 0) {
        bool is_id = json_is_integer(member) || json_is_string(member);
        require(!is_id || line.len > CBX_REQUEST_ID_MAX);
        return;
    }
    require(cbx_json_parse(id, 1 << 20, &found, &err) == 0 && json_equal(found, member));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    struct cbx_str line = { .p = (const char *)data + 1, .len = size - 1 };
    struct cbx_request_id whole, pieces;
    scan_in_pieces(line, size, &whole);
    scan_in_pieces(line, 1 + data[0] % 17, &pieces);
    struct cbx_str id = cbx_request_id_value(&whole);
    require(cbx_str_equal(id, cbx_request_id_value(&pieces)));
    require(cbx_str_equal(cbx_request_id_to_answer(&whole), cbx_request_id_to_answer(&pieces)));
    compare_with_parser(line, id);

    char *copy = malloc(size);
    require(copy != NULL);
    memcpy(copy, line.p, line.len);
    struct cbx_unpaired first, again;
    cbx_unpaired_replace(copy, line.len, &first);
    require(!cbx_unpaired_replace(copy, line.len, &again));
    free(copy);
    return 0;
}
