/* SPDX-License-Identifier: MIT
 * Files of MCP clients, in each format: what was edited has the entry, and the same again changes nothing. */
#include "gateway/cli/install/client_entry.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int (*const formats[])(
        struct cbx_str text, const struct cbx_client_entry *entry, enum cbx_splice *what,
        struct cbx_buf *out, struct cbx_err *err) = { cbx_client_entry_json, cbx_client_entry_toml,
                                                      cbx_client_entry_yaml,
                                                      cbx_client_entry_yaml_list };
    CBX_AUTO_JSON members =
        json_pack("{s:s,s:s,s:[s]}", "name", "box", "command", "r", "args", "m");
    CBX_AUTO_JSON once = json_pack("{s:b}", "on", 1);
    const struct cbx_client_entry entry = {
        .section = "servers", .name = "box", .members = members, .once = once
    };
    struct cbx_str text = { .p = (const char *)data, .len = size };
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        CBX_AUTO_DONE(buf) out;
        CBX_AUTO_DONE(buf) again;
        enum cbx_splice what;
        struct cbx_err err = { 0 };
        cbx_buf_init(&out, 1 << 24);
        cbx_buf_init(&again, 1 << 24);
        if (formats[i](text, &entry, &what, &out, &err) == 0 &&
            (formats[i](cbx_buf_str(&out), &entry, &what, &again, &err) != 0 ||
             what != CBX_SPLICE_SAME || !cbx_str_equal(cbx_buf_str(&out), cbx_buf_str(&again)))) {
            abort();
        }
    }
    return 0;
}
