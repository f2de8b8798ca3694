/* SPDX-License-Identifier: MIT
 * Formats syslog messages. */
#include "gateway/forwarder/syslog.h"

#include "gateway/forwarder/forwarder.h"
#include "policies/base/text/json.h"
#include "policies/base/text/printable.h"

#include <stdlib.h>

enum { FACILITY = 13, NOTICE = 5, INFORMATIONAL = 6 };

/* 32473 is the enterprise number that RFC 5612 reserves for documentation: the project has none
 * of its own. */
#define STRUCTURED_ID "codebox@32473"

static const struct {
    const char *prefix;
    enum cbx_syslog_transport transport;
} transports[] = {
    { "udp://", CBX_SYSLOG_UDP },
    { "tcp://", CBX_SYSLOG_TCP },
    { "tls://", CBX_SYSLOG_TLS },
    { "unix://", CBX_SYSLOG_UNIX },
};

static const struct {
    const char *type;
    int severity;
} severities[] = {
#define CBX_SYSLOG_SEVERITY(type, severity) { type, severity },
#include "gateway/forwarder/severities.def"
#undef CBX_SYSLOG_SEVERITY
};

static int fail_url(const char *url, struct cbx_err *err)
{
    return cbx_fail(err, CBX_EINVAL,
                    "--syslog is '%.200s', allowed is udp://HOST:PORT, tcp://HOST:PORT, "
                    "tls://HOST:PORT or unix:///PATH",
                    url);
}

/* Reads "HOST:PORT" or "[IPV6]:PORT". */
static bool read_host(struct cbx_str text, struct cbx_syslog_url *out)
{
    const char *colon = text.len > 0 ? memrchr(text.p, ':', text.len) : NULL;
    if (colon == NULL) {
        return false;
    }
    struct cbx_str host = cbx_str_sub(text, 0, (size_t)(colon - text.p));
    struct cbx_str port = cbx_str_sub(text, host.len + 1, text.len);
    bool bracket = host.len > 2 && host.p[0] == '[' && host.p[host.len - 1] == ']';
    host = bracket ? cbx_str_sub(host, 1, host.len - 1) : host;
    bool ok = host.len > 0 && host.len < sizeof(out->host) && port.len > 0 &&
              port.len < sizeof(out->port) && (bracket || memchr(host.p, ':', host.len) == NULL);
    for (size_t i = 0; ok && i < port.len; i++) {
        ok = port.p[i] >= '0' && port.p[i] <= '9';
    }
    for (size_t i = 0; ok && i < host.len; i++) {
        ok =
            (unsigned char)host.p[i] > ' ' && host.p[i] != 0x7f && strchr("/[]", host.p[i]) == NULL;
    }
    if (ok) {
        memcpy(out->host, host.p, host.len);
        memcpy(out->port, port.p, port.len);
        long number = strtol(out->port, NULL, 10);
        ok = number > 0 && number <= 65535;
    }
    return ok;
}

int cbx_syslog_parse(const char *url, struct cbx_syslog_url *out, struct cbx_err *err)
{
    struct cbx_str text = cbx_str_of(url);
    for (size_t i = 0; i < sizeof(transports) / sizeof(transports[0]); i++) {
        struct cbx_str prefix = cbx_str_of(transports[i].prefix);
        if (!cbx_str_starts(text, prefix)) {
            continue;
        }
        struct cbx_syslog_url found = { .transport = transports[i].transport };
        struct cbx_str rest = cbx_str_sub(text, prefix.len, text.len);
        bool ok = found.transport == CBX_SYSLOG_UNIX
                      ? rest.len > 1 && rest.p[0] == '/' && rest.len < sizeof(found.path)
                      : read_host(rest, &found);
        if (!ok) {
            return fail_url(url, err);
        }
        if (found.transport == CBX_SYSLOG_UNIX) {
            memcpy(found.path, rest.p, rest.len);
        }
        *out = found;
        return 0;
    }
    return fail_url(url, err);
}

static int severity_of(const char *type, const json_t *body)
{
    for (size_t i = 0; i < sizeof(severities) / sizeof(severities[0]); i++) {
        if (strcmp(severities[i].type, type) == 0) {
            return severities[i].severity;
        }
    }
    struct cbx_str verdict = cbx_json_str(json_object_get(body, "verdict"));
    return verdict.len > 0 && !cbx_str_is(verdict, "allow") ? NOTICE : INFORMATIONAL;
}

/* Appends a header field: printable ASCII without spaces, at most `max` characters. */
static void add_field(struct cbx_buf *out, struct cbx_str text, size_t max)
{
    size_t added = 0;
    for (size_t i = 0; i < text.len && added < max; i++, added++) {
        bool plain = text.p[i] > ' ' && text.p[i] < 0x7f;
        cbx_buf_add_char(out, plain ? text.p[i] : '_');
    }
    if (added == 0) {
        cbx_buf_add_char(out, '-');
    }
}

static void add_text(struct cbx_buf *out, struct cbx_str line)
{
    if (!cbx_str_is_ascii(line)) {
        cbx_buf_add_cstr(out, "\xef\xbb\xbf"); /* a text in UTF-8 begins with a byte order mark */
    }
    cbx_buf_add(out, line);
}

static void add_header(struct cbx_buf *out, const json_t *record, const char *host, size_t cut_from)
{
    struct cbx_str type = cbx_json_str(json_object_get(record, "type"));
    cbx_buf_printf(out, "<%d>1 ",
                   8 * FACILITY + severity_of(type.p, json_object_get(record, "body")));
    add_field(out, cbx_json_str(json_object_get(record, "time")), 32);
    cbx_buf_add_char(out, ' ');
    add_field(out, cbx_str_of(host), 255);
    cbx_buf_add_cstr(out, " codebox - ");
    add_field(out, type, 32);
    cbx_buf_printf(out, " [" STRUCTURED_ID " seq=\"%lld\" hash=\"",
                   (long long)json_integer_value(json_object_get(record, "seq")));
    add_field(out, cbx_json_str(json_object_get(record, "hash")), 64);
    if (cut_from > 0) {
        cbx_buf_printf(out, "\" cut=\"%zu", cut_from);
    }
    cbx_buf_add_cstr(out, "\"] ");
}

int cbx_syslog_format(struct cbx_str line, const char *host, size_t max_bytes, struct cbx_buf *out,
                      struct cbx_err *err)
{
    CBX_AUTO_JSON record = NULL;
    int failed = cbx_json_parse(line, CBX_FORWARDER_LINE_MAX, &record, err);
    struct cbx_str hash = cbx_json_str(json_object_get(record, "hash"));
    if (!failed && (!json_is_string(json_object_get(record, "type")) || hash.len != 64)) {
        failed = cbx_fail(err, CBX_EINVAL, "the line is no record");
    }
    if (failed) {
        return failed;
    }
    enum { BOM = 3, DOTS = 3 };
    size_t began = out->len;
    add_header(out, record, host, 0);
    if (max_bytes > 0 && out->len - began + line.len + BOM > max_bytes) {
        out->len = began;
        add_header(out, record, host, line.len);
        size_t used = out->len - began + BOM + DOTS;
        size_t room = used < max_bytes ? max_bytes - used : 0;
        add_text(out, cbx_str_cut(line, room));
        return cbx_buf_add_cstr(out, "...");
    }
    add_text(out, line);
    return out->overflow ? CBX_ETOOBIG : 0;
}

int cbx_syslog_frame(struct cbx_str line, const char *host, struct cbx_buf *out,
                     struct cbx_err *err)
{
    CBX_AUTO_DONE(buf) message;
    cbx_buf_init(&message, CBX_FORWARDER_LINE_MAX + 4096);
    int failed = cbx_syslog_format(line, host, 0, &message, err);
    if (!failed) {
        cbx_buf_printf(out, "%zu ", message.len);
        failed = cbx_buf_add(out, cbx_buf_str(&message));
    }
    return failed;
}
