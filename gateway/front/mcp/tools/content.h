/* SPDX-License-Identifier: MIT
 * Results of tools: CallToolResult. The text is complete, because clients pass a model either
 * the text or the structured part: the status first, then the program's output, then notes about
 * it, the audit id, and of a long output the kept amount. The structured part has the same
 * contents; a result with pictures has none. Its member `status` is ok, error (the program
 * failed), timeout, cpu, oom, killed, refused (the policy ends a run when the sandbox refuses an
 * action), lost (its end is unknown), running, queued (it has not begun), cancelled, denied,
 * needs-approval, invalid (arguments), busy, or failed (a failure of the gateway). */
#ifndef CBX_GATEWAY_FRONT_MCP_TOOLS_CONTENT_H
#define CBX_GATEWAY_FRONT_MCP_TOOLS_CONTENT_H

#include "gateway/front/review.h"

/* Maximum size of a result. Clients cut errors at 10,000 characters and put results of more than
 * 50,000 into a file that the model does not see; messages may have 10 MiB. */
enum {
    CBX_CONTENT_MAX = 40000,             /* characters (cbx_clean_cost) of either half */
    CBX_CONTENT_ERROR_MAX = 9000,        /* characters of a result that is an error */
    CBX_CONTENT_ROOM = 3000,             /* part of these for all text that is not the program's */
    CBX_CONTENT_IMAGE_MAX = 1024 * 1024, /* bytes of one picture */
    CBX_CONTENT_IMAGES_MAX = 5 * 1024 * 1024, /* bytes of all pictures, as base64 */
    CBX_CONTENT_IMAGE_COUNT = 20,
    CBX_CONTENT_FILES_MAX = 20,
    CBX_CONTENT_FINDINGS_MAX = 10,
};

/* Makes the result of an ended or running execution, from cbx_execution_json. `idle_ms`: time
 * after which its session is closed without a further run (0 = not reported). New reference. */
json_t *cbx_content_of_execution(const json_t *execution, int64_t idle_ms);

/* Makes the result of a denial of `source`: its text is that of denial.h. `approval` is a
 * sentence on how to get an approval, if it needs one; NULL = not by this client. New reference. */
json_t *cbx_content_of_denial(const struct cbx_outcome *outcome, struct cbx_str source,
                              const char *approval);

/* Makes the result of an event before, or instead of, a run: `status` is one of the words above.
 * New reference. */
json_t *cbx_content_of_failure(const char *status, const struct cbx_outcome *outcome,
                               const char *text);

/* The same for an error: "invalid" if the caller can correct it, "busy" if it is temporary, else
 * "failed". New reference. */
json_t *cbx_content_of_error(const struct cbx_err *err, const struct cbx_outcome *outcome);

/* Makes a result of one text, with the status "ok" and this member of the structured part. New
 * reference. */
json_t *cbx_content_of_text(const char *member, struct cbx_str text);

#endif
