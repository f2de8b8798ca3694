/* SPDX-License-Identifier: MIT
 * Results of executions as JSON. */
#ifndef CBX_GATEWAY_FRONT_JOBS_RESULTS_H
#define CBX_GATEWAY_FRONT_JOBS_RESULTS_H

#include "gateway/front/review.h"

/* Makes the stored and returned result of a run: `items` are cbx_collected's. An error
 * (err->code != 0) replaces the run's own. If the program misses a module, the flow is queried
 * for the image's contents; NULL: no query. New reference. */
json_t *cbx_results(json_t *items, const struct cbx_outcome *outcome, struct cbx_flow *flow,
                    const struct cbx_err *err);

/* Adds {approved_by: {client, version}} if a client accepted the run, {approved_by: {principal}}
 * if a principal did. */
void cbx_results_approved(json_t *results, const struct cbx_outcome *outcome,
                          const struct cbx_approval *by);

/* Removes output, and then files, from results with more than `max` bytes of JSON, from their
 * ends, and marks this: `truncated` or `files_truncated` is true, an item 'cut' has the size of
 * the output, and `left_out` is {bytes, reason}. */
void cbx_results_shorten(json_t *results, size_t max, const char *reason);

/* Return a stored execution as /v1 returns it, and its results as clients of CodeBox-AI read
 * them (new references). */
json_t *cbx_results_legacy(const json_t *results);
json_t *cbx_execution_json(const json_t *execution);

/* Returns the media type of a file by its name; "application/octet-stream" for an unknown
 * ending. Static. */
const char *cbx_media_type(const char *path);

/* Returns the type of its download: text/plain instead of a type that a browser would execute.
 * Static. */
const char *cbx_media_type_served(const char *path);

#endif
