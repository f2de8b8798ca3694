/* SPDX-License-Identifier: MIT
 * The used approvals, until they expire. */
#include "gateway/front/service/approvals.h"

#include "policies/base/time/clock.h"

/* Call it with the lock. */
static int use(struct cbx_used_approval *items, struct cbx_str asked, int64_t expires_ms,
               struct cbx_err *err)
{
    struct cbx_used_approval *room = NULL;
    int64_t now = cbx_clock_ms();
    for (size_t i = 0; i < CBX_SERVICE_APPROVALS; i++) {
        bool expired = items[i].expires_ms <= now;
        if (!expired && cbx_str_is(asked, items[i].asked)) {
            return cbx_fail(err, CBX_ESTATE, "the question was answered before");
        }
        room = expired ? &items[i] : room;
    }
    if (room == NULL) {
        return cbx_fail(err, CBX_EBUSY,
                        "%d questions were answered in the last minutes; try again later",
                        CBX_SERVICE_APPROVALS);
    }
    snprintf(room->asked, sizeof(room->asked), "%.*s", CBX_STR_ARG(asked));
    room->expires_ms = expires_ms;
    return 0;
}

int cbx_service_use_approval(struct cbx_service *service, struct cbx_str asked, int64_t expires_ms,
                             struct cbx_err *err)
{
    if (asked.len != CBX_ID_CHARS || expires_ms <= cbx_clock_ms()) {
        return cbx_fail(err, CBX_ESTATE, "the question is too old");
    }
    pthread_mutex_lock(&service->lock);
    int failed = use(service->approvals, asked, expires_ms, err);
    pthread_mutex_unlock(&service->lock);
    return failed;
}
