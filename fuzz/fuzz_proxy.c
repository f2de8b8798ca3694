/* SPDX-License-Identifier: MIT
 * The proxy's rules and its log: the first byte chooses between a line of the log, and hosts with ranges of addresses, one a line. */
#include "docker/egress/proxy_config.h"
#include "docker/egress/proxy_log.h"
#include "policies/egress.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LISTS = 3, LIST_MAX = 64 };

static void check_text(struct cbx_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.p[i] <= ' ' || text.p[i] > '~') {
            abort();
        }
    }
}

static void read_line(struct cbx_str line)
{
    struct cbx_proxy_event event;
    struct cbx_err err = { 0 };
    if (cbx_proxy_log_read(line, &event, &err) != 0) {
        if (err.code != CBX_EPROTO) {
            abort();
        }
        return;
    }
    check_text(event.host);
    check_text(event.method);
    check_text(event.address);
    if ((event.outcome == CBX_PROXY_SERVED) != (event.reason.len == 0) || event.status > 999) {
        abort();
    }
}

/* Every line is one of ours: a word of the language of squid.conf, and as many of them as the rules
 * ask for. */
static void check_config(const struct cbx_proxy_rules *rules, struct cbx_str text)
{
    size_t hosts = 0, access = 0;
    while (text.len > 0) {
        const char *end = memchr(text.p, '\n', text.len);
        struct cbx_str line = cbx_str_sub(text, 0, end != NULL ? (size_t)(end - text.p) : 0);
        if (end == NULL || line.len == 0 || line.p[0] < 'a' || line.p[0] > 'z') {
            abort();
        }
        for (size_t i = 0; i < line.len; i++) {
            if (line.p[i] < ' ' || line.p[i] > '~') {
                abort();
            }
        }
        hosts += cbx_str_starts(line, CBX_STR("acl host")) && line.p[8] >= '0' && line.p[8] <= '9';
        access += cbx_str_starts(line, CBX_STR("http_access "));
        text = cbx_str_sub(text, line.len + 1, text.len);
    }
    if (hosts != rules->hosts->count || access != 6) {
        abort();
    }
}

static void configure(struct cbx_str text)
{
    struct cbx_str items[LISTS][LIST_MAX];
    struct cbx_strs lists[LISTS] = { { .items = items[0] },
                                     { .items = items[1] },
                                     { .items = items[2] } };
    struct cbx_proxy_rules rules = { .hosts = &lists[0],
                                     .allowed = &lists[1],
                                     .denied = &lists[2] };
    struct cbx_err err = { 0 };
    while (text.len > 0) {
        const char *end = memchr(text.p, '\n', text.len);
        size_t len = end != NULL ? (size_t)(end - text.p) : text.len;
        struct cbx_str line = cbx_str_sub(text, 0, len);
        size_t of = cbx_str_starts(line, CBX_STR("+"))   ? 1
                    : cbx_str_starts(line, CBX_STR("-")) ? 2
                                                         : 0;
        if (lists[of].count < LIST_MAX) {
            items[of][lists[of].count++] = cbx_str_sub(line, of > 0, line.len);
        }
        text = cbx_str_sub(text, len + 1, text.len);
    }
    CBX_AUTO_DONE(buf) out;
    cbx_buf_init(&out, CBX_PROXY_CONFIG_MAX_BYTES);
    if (cbx_proxy_config(&rules, &out, &err) == 0) {
        check_config(&rules, cbx_buf_str(&out));
    } else if (err.text[0] == '\0') {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2) {
        return 0;
    }
    struct cbx_str text = { .p = (const char *)data + 1, .len = size - 1 };
    if ((data[0] & 1) != 0) {
        configure(text);
    } else {
        read_line(text);
    }
    return 0;
}
