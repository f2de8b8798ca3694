/* SPDX-License-Identifier: MIT
 * Lines of the proxy's log: thirteen fields, one blank between them. */
#include "docker/egress/proxy_log.h"

#define FORMAT "codebox2" /* format of docker/egress/proxy_config.c */

enum field {
    FIELD_FORMAT,
    FIELD_RESULT,
    FIELD_STATUS,
    FIELD_PAGE,
    FIELD_DETAIL,
    FIELD_METHOD,
    FIELD_HOST,
    FIELD_PORT,
    FIELD_ADDRESS,
    FIELD_RECEIVED,
    FIELD_SENT,
    FIELD_DURATION,
    FIELD_TLS_NAME,
    FIELDS
};

static const struct reason {
    struct cbx_str page, detail;
    enum cbx_proxy_outcome outcome;
    struct cbx_str reason;
} reasons[] = {
#define CBX_PROXY_REASON(page, detail, outcome, reason)                                            \
    { CBX_STR(page), CBX_STR(detail), CBX_PROXY_##outcome, CBX_STR(reason) },
#include "docker/egress/proxy_reasons.def"
#undef CBX_PROXY_REASON
};

static int fail(struct cbx_err *err)
{
    return cbx_fail(err, CBX_EPROTO, "a line of the proxy's log is malformed");
}

static bool split(struct cbx_str line, struct cbx_str fields[FIELDS])
{
    size_t count = 0, from = 0;
    if (line.len > CBX_PROXY_LINE_MAX_BYTES) {
        return false;
    }
    for (size_t i = 0; i <= line.len; i++) {
        if (i < line.len && line.p[i] != ' ') {
            if (line.p[i] < '!' || line.p[i] > '~') {
                return false;
            }
            continue;
        }
        if (count == FIELDS || i == from) {
            return false;
        }
        fields[count++] = cbx_str_sub(line, from, i);
        from = i + 1;
    }
    return count == FIELDS && cbx_str_is(fields[FIELD_FORMAT], FORMAT);
}

static struct cbx_str text_of(struct cbx_str field)
{
    return cbx_str_is(field, "-") ? CBX_STR("") : field;
}

static bool read_number(struct cbx_str field, uint64_t max, uint64_t *out)
{
    uint64_t value = 0;
    field = text_of(field);
    if (field.len > 19) {
        return false;
    }
    for (size_t i = 0; i < field.len; i++) {
        if (field.p[i] < '0' || field.p[i] > '9') {
            return false;
        }
        value = value * 10 + (uint64_t)(field.p[i] - '0');
    }
    *out = value;
    return value <= max;
}

static void judge(const struct cbx_str fields[FIELDS], struct cbx_proxy_event *event)
{
    struct cbx_str page = text_of(fields[FIELD_PAGE]), result = fields[FIELD_RESULT];
    bool refused = cbx_str_starts(result, CBX_STR("TCP_DENIED"));
    event->outcome = refused ? CBX_PROXY_REFUSED : CBX_PROXY_FAILED;
    event->reason = refused ? CBX_STR("not-granted") : CBX_STR("failed");
    /* An open tunnel, and a reply that had begun, count as served, with any end. */
    bool reached = event->address.len > 0 && event->status >= 100 && event->status < 400;
    if (!refused && (reached || cbx_str_starts(result, CBX_STR("TCP_TUNNEL")))) {
        event->outcome = CBX_PROXY_SERVED;
        event->reason = CBX_STR("");
        return;
    }
    if (page.len == 0) {
        bool error = event->status >= 400 && event->address.len == 0;
        if (!refused && event->status == 0) {
            event->reason = CBX_STR("client-gone");
        } else if (!refused && error) {
            event->reason = CBX_STR("invalid-request");
        } else if (!refused) { /* an error of the host's own, or a reply of the proxy (TRACE) */
            event->outcome = CBX_PROXY_SERVED;
            event->reason = CBX_STR("");
        }
        return;
    }
    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++) {
        const struct reason *row = &reasons[i];
        if (cbx_str_equal(row->page, page) &&
            (row->detail.len == 0 || cbx_str_equal(row->detail, fields[FIELD_DETAIL]))) {
            event->outcome = row->outcome;
            event->reason = row->reason;
            return;
        }
    }
}

int cbx_proxy_log_read(struct cbx_str line, struct cbx_proxy_event *out, struct cbx_err *err)
{
    struct cbx_str fields[FIELDS];
    uint64_t port, status, duration;
    struct cbx_proxy_event event = { 0 };
    if (!split(line, fields) || !read_number(fields[FIELD_PORT], UINT16_MAX, &port) ||
        !read_number(fields[FIELD_STATUS], 999, &status) ||
        !read_number(fields[FIELD_RECEIVED], UINT64_MAX, &event.received_bytes) ||
        !read_number(fields[FIELD_SENT], UINT64_MAX, &event.sent_bytes) ||
        !read_number(fields[FIELD_DURATION], UINT32_MAX, &duration)) {
        return fail(err);
    }
    event.port = (uint16_t)port;
    event.status = (uint32_t)status;
    event.duration_ms = (uint32_t)duration;
    event.method = text_of(fields[FIELD_METHOD]);
    event.host = text_of(fields[FIELD_HOST]);
    event.address = text_of(fields[FIELD_ADDRESS]);
    event.tls_name = text_of(fields[FIELD_TLS_NAME]);
    judge(fields, &event);
    *out = event;
    return 0;
}
