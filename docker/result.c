/* SPDX-License-Identifier: MIT
 * Results of runs. */
#include "docker/result.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static const char *const status_names[] = {
    [CBX_RUN_FAILED] = "failed",   [CBX_RUN_OK] = "ok",           [CBX_RUN_ERROR] = "error",
    [CBX_RUN_TIMEOUT] = "timeout", [CBX_RUN_OOM] = "oom",         [CBX_RUN_KILLED] = "killed",
    [CBX_RUN_CPU] = "cpu",         [CBX_RUN_REFUSED] = "refused", [CBX_RUN_LOST] = "lost",
};

static const char *const silent_parts[CBX_SILENTS] = {
    [CBX_SILENT_NONE] = "engine unreachable",
    [CBX_SILENT_ENGINE] = "engine unreachable",
    [CBX_SILENT_SANDBOX] = "sandbox silent",
    [CBX_SILENT_TAKEN] = "sandbox evicted or removed by its cluster, silent",
};

const char *cbx_run_status_name(enum cbx_run_status status)
{
    return status < CBX_RUN_STATUSES ? status_names[status] : "failed";
}

const char *cbx_result_loss(const struct cbx_result *result, char out[CBX_RESULT_LOSS_BYTES])
{
    time_t seconds = (time_t)(result->lost_since_ms / 1000);
    struct tm utc;
    gmtime_r(&seconds, &utc);
    char since[64];
    strftime(since, sizeof(since), "since %Y-%m-%dT%H:%M:%SZ, outcome unknown", &utc);
    snprintf(out, CBX_RESULT_LOSS_BYTES, "%s %s", silent_parts[result->silent], since);
    return out;
}

void cbx_result_done(struct cbx_result *result)
{
    free(result->ename);
    free(result->evalue);
    free(result->traceback);
    *result = (struct cbx_result){ 0 };
}
