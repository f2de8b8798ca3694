/* SPDX-License-Identifier: MIT
 * The parts of an execution (cbx_execution_json): the program's output, its values, its
 * pictures, the traceback. Texts are clean (clean.h) and complete. */
#ifndef CBX_GATEWAY_FRONT_MCP_TOOLS_PARTS_H
#define CBX_GATEWAY_FRONT_MCP_TOOLS_PARTS_H

#include "gateway/front/mcp/resources.h"

/* Appends the output to "stdout" or "stderr", with a line for each omitted part. */
void cbx_part_stream(const json_t *execution, const char *stream, struct cbx_buf *out);

/* Appends the values of display() and of the last expression, except pictures. */
void cbx_part_values(const json_t *execution, struct cbx_buf *out);

void cbx_part_traceback(const json_t *execution, struct cbx_buf *out);

/* A picture, borrowed. */
struct cbx_picture {
    const char *type, *name; /* "image/png", "PNG"; static */
    struct cbx_str base64;
};

/* Returns the name of a media type of pictures ("PNG"), NULL for any other type. Static. */
const char *cbx_picture_name(const char *type);

/* Finds the picture with this number, from 1 on; false if there is none. */
bool cbx_part_picture_at(const json_t *execution, size_t number, struct cbx_picture *out);

/* Reads "stdout", "stderr", "result", "traceback" as a resource; and the picture whose number is
 * the text. CBX_ENOTFOUND. */
int cbx_part_text(const json_t *execution, struct cbx_str part, struct cbx_resource *out);
int cbx_part_picture(const json_t *execution, struct cbx_str number, struct cbx_resource *out);

#endif
