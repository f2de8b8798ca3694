/* SPDX-License-Identifier: MIT
 * The table of replicas. */
#include "gateway/ipc/replicas.h"

#include <stdio.h>
#include <string.h>

/* --- reading ---------------------------------------------------------------------------------- */

bool cbx_replica_is_name(struct cbx_str name)
{
    bool good = name.len > 0 && name.len <= CBX_REPLICA_NAME_MAX && name.p[0] != '-' &&
                name.p[name.len - 1] != '-';
    for (size_t i = 0; good && i < name.len; i++) {
        char c = name.p[i];
        good = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
    }
    return good;
}

static int check_name(struct cbx_str name, struct cbx_err *err)
{
    if (cbx_replica_is_name(name)) {
        return 0;
    }
    return cbx_fail(err, CBX_EINVAL,
                    "a replica is named '%.*s', allowed are 1 to %d small letters, digits and "
                    "'-', none of them '-' at an end",
                    CBX_STR_SHOWN(name), CBX_REPLICA_NAME_MAX);
}

/* The prefix keeps the tag apart from other hashes of the name. */
static int32_t tag_of(struct cbx_str name)
{
    struct cbx_sha256 hash = cbx_sha256_of2(CBX_STR("replica "), name);
    uint32_t first =
        (uint32_t)hash.bytes[0] << 16 | (uint32_t)hash.bytes[1] << 8 | (uint32_t)hash.bytes[2];
    return (int32_t)(first >> (24 - CBX_TAG_BITS));
}

static bool is_port(struct cbx_str port)
{
    unsigned long value = 0;
    for (size_t i = 0; i < port.len; i++) {
        if (port.p[i] < '0' || port.p[i] > '9') {
            return false;
        }
        value = value * 10 + (unsigned long)(port.p[i] - '0');
    }
    return port.len > 0 && port.len <= 5 && value > 0 && value <= UINT16_MAX;
}

static bool is_host(struct cbx_str host)
{
    bool good = host.len > 0 && host.len <= CBX_REPLICA_HOST_MAX;
    for (size_t i = 0; good && i < host.len; i++) {
        char c = host.p[i], low = (char)(c | 32);
        good = (low >= 'a' && low <= 'z') || (c >= '0' && c <= '9') || strchr("-._:", c) != NULL;
    }
    return good;
}

/* HOST:PORT, or [ADDRESS]:PORT. */
static bool read_address(struct cbx_str text, struct cbx_replica *out)
{
    const char *colon = text.len > 0 ? memrchr(text.p, ':', text.len) : NULL;
    if (colon == NULL) {
        return false;
    }
    struct cbx_str host = cbx_str_sub(text, 0, (size_t)(colon - text.p));
    struct cbx_str port = cbx_str_sub(text, host.len + 1, text.len);
    bool bracketed = host.len > 2 && host.p[0] == '[' && host.p[host.len - 1] == ']';
    host = bracketed ? cbx_str_sub(host, 1, host.len - 1) : host;
    bool has_colon = host.len > 0 && memchr(host.p, ':', host.len) != NULL;
    if (!is_host(host) || !is_port(port) || has_colon != bracketed) {
        return false;
    }
    snprintf(out->host, sizeof(out->host), "%.*s", CBX_STR_ARG(host));
    snprintf(out->port, sizeof(out->port), "%.*s", CBX_STR_ARG(port));
    return true;
}

static int read_row(struct cbx_str row, struct cbx_replica *out, struct cbx_err *err)
{
    const char *sign = row.len > 0 ? memchr(row.p, '=', row.len) : NULL;
    struct cbx_str name = cbx_str_sub(row, 0, sign != NULL ? (size_t)(sign - row.p) : 0);
    if (sign == NULL || !read_address(cbx_str_sub(row, name.len + 1, row.len), out)) {
        return cbx_fail(err, CBX_EINVAL,
                        "a replica is given as '%.*s', allowed is NAME=HOST:PORT, as in "
                        "codebox-1=codebox-1.codebox:8443",
                        CBX_STR_SHOWN(row));
    }
    int failed = check_name(name, err);
    if (failed) {
        return failed;
    }
    snprintf(out->name, sizeof(out->name), "%.*s", CBX_STR_ARG(name));
    out->tag = tag_of(name);
    return 0;
}

/* A tag of 20 bits can be the same for two names. */
static int check_new(const struct cbx_replicas *replicas, const struct cbx_replica *row,
                     struct cbx_err *err)
{
    bool same = row->tag == replicas->own_tag;
    const char *other = replicas->own_name;
    for (size_t i = 0; i < replicas->count && !same; i++) {
        same = replicas->others[i].tag == row->tag;
        other = replicas->others[i].name;
    }
    if (!same) {
        return 0;
    }
    if (strcmp(other, row->name) == 0) {
        return cbx_fail(err, CBX_EINVAL, "the replica '%s' is given twice", row->name);
    }
    return cbx_fail(err, CBX_EINVAL,
                    "the names '%s' and '%s' give identifiers the same tag; rename one of these "
                    "replicas",
                    other, row->name);
}

int cbx_replicas_read(const char *own_name, const char *const *rows, size_t count,
                      struct cbx_replicas *out, struct cbx_err *err)
{
    struct cbx_str own = cbx_str_of(own_name);
    bool seen = false;
    *out = (struct cbx_replicas){ 0 };
    int failed = check_name(own, err);
    if (failed) {
        return failed;
    }
    snprintf(out->own_name, sizeof(out->own_name), "%.*s", CBX_STR_ARG(own));
    out->own_tag = tag_of(own);
    for (size_t i = 0; i < count; i++) {
        struct cbx_replica row = { .name = "" };
        failed = read_row(cbx_str_of(rows[i]), &row, err);
        if (failed) {
            return failed;
        }
        if (!seen && cbx_str_is(own, row.name)) {
            seen = true;
            continue;
        }
        failed = check_new(out, &row, err);
        if (failed) {
            return failed;
        }
        if (out->count == CBX_REPLICAS_MAX) {
            return cbx_fail(err, CBX_EINVAL, "there are more than %d other replicas",
                            CBX_REPLICAS_MAX);
        }
        out->others[out->count++] = row;
    }
    return 0;
}

/* --- finding ---------------------------------------------------------------------------------- */

const struct cbx_replica *cbx_replicas_owner(const struct cbx_replicas *replicas, struct cbx_str id)
{
    int32_t tag = replicas->count > 0 ? cbx_tag_of(id) : CBX_TAG_NONE;
    for (size_t i = 0; i < replicas->count && tag != CBX_TAG_NONE; i++) {
        if (replicas->others[i].tag == tag) {
            return &replicas->others[i];
        }
    }
    return NULL;
}

static struct cbx_sha256 weigh(const char *name, struct cbx_str key)
{
    char text[CBX_REPLICA_NAME_MAX + 2];
    int len = snprintf(text, sizeof(text), "%s ", name);
    return cbx_sha256_of2((struct cbx_str){ .p = text, .len = (size_t)len }, key);
}

const struct cbx_replica *cbx_replicas_of_key(const struct cbx_replicas *replicas,
                                              struct cbx_str key)
{
    const struct cbx_replica *best = NULL;
    if (replicas->count == 0) {
        return NULL;
    }
    struct cbx_sha256 highest = weigh(replicas->own_name, key);
    for (size_t i = 0; i < replicas->count; i++) {
        struct cbx_sha256 weight = weigh(replicas->others[i].name, key);
        if (memcmp(&weight, &highest, sizeof(weight)) > 0) {
            highest = weight;
            best = &replicas->others[i];
        }
    }
    return best;
}

const struct cbx_replica *cbx_replicas_find(const struct cbx_replicas *replicas,
                                            struct cbx_str name)
{
    for (size_t i = 0; i < replicas->count; i++) {
        if (cbx_str_is(name, replicas->others[i].name)) {
            return &replicas->others[i];
        }
    }
    return NULL;
}
