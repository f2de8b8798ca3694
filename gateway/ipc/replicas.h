/* SPDX-License-Identifier: MIT
 * The replicas of a gateway: gateways that share callers and have each their own sandboxes, store
 * and audit log. A replica's tag (policies/base/hash.h) is in every identifier that it makes, so
 * any replica knows the owner of a session, an execution or a decision from its identifier. */
#ifndef CBX_GATEWAY_IPC_REPLICAS_H
#define CBX_GATEWAY_IPC_REPLICAS_H

#include "policies/base/err.h"
#include "policies/base/hash.h"

enum { CBX_REPLICAS_MAX = 64, CBX_REPLICA_NAME_MAX = 63, CBX_REPLICA_HOST_MAX = 253 };

/* A replica other than this one. */
struct cbx_replica {
    char name[CBX_REPLICA_NAME_MAX + 1]; /* label of DNS (RFC 1123): small letters, digits, '-' */
    char host[CBX_REPLICA_HOST_MAX + 1]; /* name or address, without brackets */
    char port[6];
    int32_t tag;
};

/* True for the name of a replica: a label of DNS (RFC 1123) in small letters. */
bool cbx_replica_is_name(struct cbx_str name);

/* Zeroed: this gateway has no other replicas. */
struct cbx_replicas {
    char own_name[CBX_REPLICA_NAME_MAX + 1];
    int32_t own_tag;
    struct cbx_replica others[CBX_REPLICAS_MAX];
    size_t count; /* of `others` */
};

/* Reads this replica's name, and rows "NAME=HOST:PORT" of all replicas: the row of this one is
 * left out, so each replica may have the same rows. CBX_EINVAL for a malformed or repeated name,
 * for a row that is malformed, and for two names with the same tag. */
int cbx_replicas_read(const char *own_name, const char *const *rows, size_t count,
                      struct cbx_replicas *out, struct cbx_err *err);

/* Returns the replica whose tag the identifier has, borrowed; NULL if it is this replica's, or no
 * replica's. */
const struct cbx_replica *cbx_replicas_owner(const struct cbx_replicas *replicas,
                                             struct cbx_str id);

/* Returns the replica that serves requests with this key, borrowed; NULL if this replica does.
 * Replicas with the same names choose the same one (highest random weight, Thaler and
 * Ravishankar 1998), and a further name moves only keys of its own. */
const struct cbx_replica *cbx_replicas_of_key(const struct cbx_replicas *replicas,
                                              struct cbx_str key);

/* Returns the replica with this name, borrowed; NULL if there is none among the others. */
const struct cbx_replica *cbx_replicas_find(const struct cbx_replicas *replicas,
                                            struct cbx_str name);

#endif
