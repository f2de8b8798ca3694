/* SPDX-License-Identifier: MIT
 * Declarations shared by the files of kept heads. */
#ifndef CBX_GATEWAY_EXECUTOR_HEADS_AUDIT_HEADS_INTERNAL_H
#define CBX_GATEWAY_EXECUTOR_HEADS_AUDIT_HEADS_INTERNAL_H

#include "gateway/executor/heads/audit_heads.h"

enum cbx_head_source {
    CBX_HEADS_OWN = 0, /* all heads are of the log that is verified */
    CBX_HEADS_FOLDER,  /* heads of other logs may be among them */
    CBX_HEADS_ANCHORS  /* records of another log: all may be of other logs */
};

enum cbx_head_state {
    CBX_HEAD_UNMET = 0, /* the walk has not reached its record */
    CBX_HEAD_MATCHES,
    CBX_HEAD_DIFFERS,
    CBX_HEAD_PRUNED /* its record is before the first one of the log */
};

struct cbx_head_item {
    struct cbx_chain chain;
    int64_t time_ms;
    uint32_t line; /* line in its source, 1-based */
    uint16_t source, key, instance;
    uint8_t state; /* enum cbx_head_state */
};

struct cbx_audit_heads {
    struct cbx_head_item *items; /* capacity: the next power of two */
    size_t count, next, torn;
    struct {
        char *name; /* owned */
        enum cbx_head_source kind;
    } sources[CBX_AUDIT_HEADS_FILES_MAX];
    size_t source_count;
    struct {
        uint8_t bytes[CBX_AUDIT_PUBLIC_BYTES];
        EVP_PKEY *key;
        bool trusted;
    } keys[CBX_AUDIT_HEADS_KEYS_MAX];
    size_t key_count;
    struct {
        char name[CBX_AUDIT_INSTANCE_CHARS + 1];
        bool own;
        bool judged; /* some log was judged that is its own */
    } instances[CBX_AUDIT_HEADS_KEYS_MAX];
    size_t instance_count;
    /* The source that is being read. */
    char line[CBX_AUDIT_HEADS_LINE_MAX];
    size_t line_len;
    uint32_t line_number;
};

#endif
