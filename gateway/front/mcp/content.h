/* SPDX-License-Identifier: MIT
 * The outcome of a review as a CallToolResult. The text stands alone, for some clients hand only
 * that to the model; its first line is the status. What a program wrote is stripped of control
 * characters and capped. */
#ifndef CBX_GATEWAY_FRONT_MCP_CONTENT_H
#define CBX_GATEWAY_FRONT_MCP_CONTENT_H

#include "gateway/front/review.h"

/* What a result takes at most, so that a whole answer stays below the 10 MiB that clients accept.
 */
enum {
    CBX_CONTENT_STREAM_MAX = 128 * 1024,
    CBX_CONTENT_IMAGE_MAX = 1024 * 1024,      /* bytes of one picture */
    CBX_CONTENT_IMAGES_MAX = 5 * 1024 * 1024, /* of all, as base64 */
    CBX_CONTENT_IMAGE_COUNT = 20,
    CBX_CONTENT_FILES_MAX = 100,
    CBX_CONTENT_FINDINGS_MAX = 10,
};

/* A program that ran, however it ended. `items` are those of cbx_collected. New reference. */
json_t *cbx_content_of_run(const struct cbx_outcome *outcome, const json_t *items);

/* A denial of `source`: its text is that of denial.h. New reference. */
json_t *cbx_content_of_denial(const struct cbx_outcome *outcome, struct cbx_str source);

/* Anything that came before, or instead of, a run: `status` is one of the words of the output
 * schema. New reference. */
json_t *cbx_content_of_failure(const char *status, const struct cbx_outcome *outcome,
                               const char *text);

/* The schema of structuredContent (new reference). */
json_t *cbx_content_schema(void);

#endif
