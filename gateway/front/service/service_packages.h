/* SPDX-License-Identifier: MIT
 * Packages beyond the packages of an image: resolved, judged, installed, and cached. */
#ifndef CBX_GATEWAY_FRONT_SERVICE_SERVICE_PACKAGES_H
#define CBX_GATEWAY_FRONT_SERVICE_SERVICE_PACKAGES_H

#include "gateway/front/claims.h"
#include "gateway/front/service/service.h"

/* A client's request for packages. All borrowed. */
struct cbx_package_order {
    struct cbx_str policy;       /* empty = the default */
    const char *language;        /* name in the flow (dialect.h) */
    struct cbx_str requirements; /* one per line, sorted */
    /* for npm: a package-lock.json, which is installed unchanged; empty = `requirements` are
     * resolved */
    struct cbx_str report;
    struct cbx_str origin;           /* the API */
    const char *principal;           /* principal for judgement and record */
    const struct cbx_claims *claims; /* of the client; NULL = none */
    /* Called with each line of progress, "downloading numpy 12.3 MB", "queued: 2 installs are
     * before this one"; NULL = none. */
    void (*progress)(void *context, struct cbx_str line);
    /* Polled a few times a second: true if the client has disconnected; NULL = never. */
    bool (*gone)(void *context);
    void *context;
};

/* Resolves, judges and installs. *set (initialised with CBX_PACKAGE_SET_BYTES_MAX) receives the
 * text of the set, for the subject of a sandbox's decisions. A set resolved for the same
 * requirements within the last day, also by an earlier gateway, whose layer exists, is not
 * resolved again: the call does not wait. Concurrent requests for the same requirements share
 * one install, which continues as long as one of their clients stays. An install ends if all
 * have disconnected, its principal may not run programs any more, `codebox stop` ended it, or
 * the gateway stops. Returns 0 also if the policy denies a package: denial->verdict has the
 * verdict, and nothing was installed then. CBX_EQUOTA if too many requests of the principal, or
 * in total, are unfinished; CBX_ECANCELLED; CBX_EBUSY if the gateway stops; errors of
 * docker/packages/package_layers.h, fit for the client, and of the flow. `denial` is the
 * caller's (cbx_outcome_done). */
int cbx_service_install(struct cbx_service *service, const struct cbx_package_order *order,
                        struct cbx_buf *set, struct cbx_outcome *denial, struct cbx_err *err);

/* Returns "good 1.0" for each package of a set that programs can load, as JSON texts (new
 * reference). */
json_t *cbx_package_names(const char *language, struct cbx_str set);

/* Adds {installed: {packages, duration_ms}} to the results of a run with installed packages;
 * took_ms 0 = none. */
void cbx_package_report(const char *language, struct cbx_str set, int64_t took_ms, json_t *results);

/* Makes a service over a flow for these functions only. End it with cbx_service_forget_packages. */
void cbx_service_init_packages(struct cbx_service *service, struct cbx_flow *flow);

/* Frees the cache in memory, at the end of the service. */
void cbx_service_forget_packages(struct cbx_service *service);

#endif
