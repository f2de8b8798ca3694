/* SPDX-License-Identifier: MIT
 * Packages beyond those of an image: resolved, judged, installed, and remembered. */
#ifndef CBX_GATEWAY_FRONT_SERVICE_SERVICE_PACKAGES_H
#define CBX_GATEWAY_FRONT_SERVICE_SERVICE_PACKAGES_H

#include "gateway/front/claims.h"
#include "gateway/front/service/service.h"

/* What a client asks for. All borrowed. */
struct cbx_package_order {
    struct cbx_str policy;       /* empty = the default */
    const char *language;        /* as the flow names it (dialect.h) */
    struct cbx_str requirements; /* one per line, sorted */
    struct cbx_str
        report; /* of npm: a package-lock.json, which is installed as it is; empty = `requirements` are resolved */
    struct cbx_str origin;           /* the API */
    const char *principal;           /* in whose name it is judged and recorded */
    const struct cbx_claims *claims; /* of the client; NULL = none */
    /* Called with each line of progress, "downloading numpy 12.3 MB", "queued: 2 installs are before this one"; NULL = nobody listens. */
    void (*progress)(void *context, struct cbx_str line);
    /* Polled a few times a second: true when the client has left; NULL = it stays. */
    bool (*gone)(void *context);
    void *context;
};

/* Resolves, judges and installs. *set (initialised with CBX_PACKAGE_SET_BYTES_MAX) gets the text of the set, for the subject of a sandbox's
 * decisions. What was resolved for the same requirements within the last day, also by a gateway before this one, and whose layer is there, is not resolved
 * again: it waits for nothing. Requests for the same requirements at the same time wait for one of them, which goes on as long as one of their clients stays. An
 * install ends when all have left, its principal may not run programs any more, `codebox stop` ended what it began, or the gateway stops.
 * Returns 0 also when the policy denies a package: denial->verdict says so, and nothing was installed then. CBX_EQUOTA when too many of the
 * principal, or in all, are not done; CBX_ECANCELLED; CBX_EBUSY when the gateway stops; errors of docker/packages/package_layers.h, fit for the client, and
 * of the flow. `denial` is the caller's (cbx_outcome_done). */
int cbx_service_install(struct cbx_service *service, const struct cbx_package_order *order,
                        struct cbx_buf *set, struct cbx_outcome *denial, struct cbx_err *err);

/* "good 1.0" for each package of a set that programs can load, as JSON texts (new reference). */
json_t *cbx_package_names(const char *language, struct cbx_str set);

/* Adds {installed: {packages, duration_ms}} to the results of a run that packages were installed for; took_ms 0 = none were. */
void cbx_package_report(const char *language, struct cbx_str set, int64_t took_ms, json_t *results);

/* Makes a service over a flow that does nothing but this. End it with cbx_service_forget_packages. */
void cbx_service_init_packages(struct cbx_service *service, struct cbx_flow *flow);

/* Forgets what was resolved, in memory alone: at the end of the service. */
void cbx_service_forget_packages(struct cbx_service *service);

#endif
