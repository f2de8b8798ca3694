/* SPDX-License-Identifier: MIT
 * What replicas that take over from each other store: signs of life, and who has what. The clock is
 * the database's, and the database is the arbiter: of several survivors one takes a replica over,
 * and a replica that reaches the database is not taken over. Only for cbx_store_open_shared. */
#ifndef CBX_GATEWAY_FRONT_STORE_STORE_TAKEOVER_H
#define CBX_GATEWAY_FRONT_STORE_STORE_TAKEOVER_H

#include "gateway/front/store/store.h"
#include "gateway/ipc/replicas.h"

/* Time without a sign of life after which a replica is dead (statements.def has the same number). */
enum { CBX_REPLICA_DEAD_MS = 6000 };

/* This gateway lives: it has what an earlier gateway of its name had and no other replica took over.
 * *generation is that of its instance. From now on runs that begin are noted in their rows. */
int cbx_store_claim(struct cbx_store *store, uint64_t *generation, struct cbx_err *err);

/* A sign of life. CBX_ESTATE if another replica has taken over what this generation had. */
int cbx_store_beat(struct cbx_store *store, uint64_t generation, struct cbx_err *err);

/* Lists the instances that this replica holds, as texts "NAME GENERATION EPOCH", and the names of
 * replicas that others took something over from (new references). */
int cbx_store_list_held(struct cbx_store *store, json_t **out, struct cbx_err *err);
int cbx_store_list_moved(struct cbx_store *store, json_t **out, struct cbx_err *err);

/* Forgets an instance of cbx_store_list_held that has no sandboxes. */
int cbx_store_forget_instance(struct cbx_store *store, const char *instance, struct cbx_err *err);

/* Lists dead replicas: {name, generation} (new reference). */
int cbx_store_list_dead(struct cbx_store *store, json_t **out, struct cbx_err *err);

/* Takes over all sessions and unfinished executions of a dead replica, in one transaction; *rows are
 * these executions, as of cbx_store_list_running. CBX_ESTATE, without an effect, if it lives, or
 * another replica was first. After CBX_EIO of the commit this replica may have them:
 * cbx_store_list_held and cbx_store_list_running tell. */
int cbx_store_take_over(struct cbx_store *store, const char *replica, uint64_t generation,
                        json_t **rows, struct cbx_err *err);

/* What the audit logs have to record. Lists takeovers by this replica that are not noted: {replica,
 * epoch, sessions}; and of its runs by others: {replica, epoch}. `from` is the replica that lost the
 * runs, whose decisions cbx_store_list_taken lists as texts (new references). */
int cbx_store_list_unnoted(struct cbx_store *store, json_t **out, struct cbx_err *err);
int cbx_store_list_unreleased(struct cbx_store *store, json_t **out, struct cbx_err *err);
int cbx_store_list_taken(struct cbx_store *store, const char *from, const char *epoch, json_t **out,
                         struct cbx_err *err);
int cbx_store_set_noted(struct cbx_store *store, const char *from, const char *epoch,
                        struct cbx_err *err);
int cbx_store_set_released(struct cbx_store *store, const char *epoch, struct cbx_err *err);

/* Finds the replica that has a session or an execution. CBX_ENOTFOUND. */
int cbx_store_find_holder(struct cbx_store *store, const char *id,
                          char out[CBX_REPLICA_NAME_MAX + 1], struct cbx_err *err);

#endif
