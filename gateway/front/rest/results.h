/* SPDX-License-Identifier: MIT
 * Results of executions as JSON. */
#ifndef CBX_GATEWAY_FRONT_REST_RESULTS_H
#define CBX_GATEWAY_FRONT_REST_RESULTS_H

#include "gateway/front/review.h"

/* What is stored and answered of a run: `items` are cbx_collected's. An error (err->code != 0)
 * stands in the place of the run's own. New reference. */
json_t *cbx_rest_results(json_t *items, const struct cbx_outcome *outcome,
                         const struct cbx_err *err);

/* The media type of a file by its name; "application/octet-stream" for an unknown ending.
 * Static. */
const char *cbx_rest_file_type(const char *path);

/* The type that a download of it has: text/plain in place of a type that a browser would run. Static. */
const char *cbx_rest_served_type(const char *path);

#endif
