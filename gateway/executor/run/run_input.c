/* SPDX-License-Identifier: MIT
 * The standard input of a submitted run. It is data and not judged; the audit log has its length
 * and its hash. */
#include "gateway/executor/executor_internal.h"

#include <stdlib.h>

int cbx_executor_read_submitted(const struct cbx_submit_args *args, struct cbx_str bytes,
                                struct cbx_submitted *out, struct cbx_err *err)
{
    *out = (struct cbx_submitted){ .text = bytes };
    if (args->input_bytes.len == 0) {
        return 0;
    }
    char *end;
    unsigned long long count = strtoull(args->input_bytes.p, &end, 10);
    if (*end != '\0' || count > bytes.len) {
        return cbx_fail(err, CBX_EPROTO, "the standard input has another length");
    }
    if (count > CBX_INPUT_WAITING_MAX) {
        return cbx_fail(err, CBX_ETOOBIG, "the standard input has %llu bytes, allowed are %d",
                        count, CBX_INPUT_WAITING_MAX);
    }
    size_t at = bytes.len - (size_t)count;
    out->text = cbx_str_sub(bytes, 0, at);
    out->input = cbx_str_sub(bytes, at, bytes.len);
    out->has_input = true;
    out->streams = args->streams;
    return 0;
}

void cbx_executor_describe_input(const struct cbx_submitted *submitted, json_t *decision)
{
    char hex[CBX_SHA256_HEX + 1];
    if (!submitted->has_input || submitted->streams) {
        return;
    }
    struct cbx_sha256 hash = cbx_sha256_of(submitted->input);
    cbx_sha256_hex(&hash, hex);
    json_object_set_new(decision, "input_bytes", json_integer((json_int_t)submitted->input.len));
    json_object_set_new(decision, "input_sha256", json_string(hex));
}
