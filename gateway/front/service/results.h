/* SPDX-License-Identifier: MIT
 * Results of executions as JSON. */
#ifndef CBX_GATEWAY_FRONT_SERVICE_RESULTS_H
#define CBX_GATEWAY_FRONT_SERVICE_RESULTS_H

#include "gateway/front/review.h"

/* What is stored and answered of a run: `items` are cbx_collected's. An error (err->code != 0)
 * stands in the place of the run's own. The flow is asked what the image has when the program misses a module; NULL: nobody is. New
 * reference. */
json_t *cbx_results(json_t *items, const struct cbx_outcome *outcome, struct cbx_flow *flow,
                    const struct cbx_err *err);

/* Adds {approved_by: {client, version}} when the run began because a client accepted it, {approved_by: {principal}} when a
 * principal did. */
void cbx_results_approved(json_t *results, const struct cbx_outcome *outcome,
                          const struct cbx_approval *by);

/* Leaves output, and then files, out of results that have more than `max` bytes of JSON, from their
 * ends. They say so: `truncated` or `files_truncated` is true, an item 'cut' has the size of the output,
 * and `left_out` is {bytes, reason}. */
void cbx_results_shorten(json_t *results, size_t max, const char *reason);

/* The media type of a file by its name; "application/octet-stream" for an unknown ending.
 * Static. */
const char *cbx_media_type(const char *path);

/* The type that a download of it has: text/plain in place of a type that a browser would run. Static. */
const char *cbx_media_type_served(const char *path);

#endif
