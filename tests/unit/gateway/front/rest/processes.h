/* SPDX-License-Identifier: MIT
 * Helpers of fake_worker.h and fake_executor.h, the two processes of a front. */
#ifndef CBX_TESTS_UNIT_GATEWAY_FRONT_REST_PROCESSES_H
#define CBX_TESTS_UNIT_GATEWAY_FRONT_REST_PROCESSES_H

#include "policies/base/text/json.h"
#include "tests/unit/unit.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

enum { SEEN_MAX = 512, PEER_SESSIONS_MAX = 80 };

static inline void *take_memory(size_t bytes)
{
    void *p = calloc(1, bytes);
    assert_non_null(p);
    return p;
}

static inline void copy_text(const json_t *header, const char *field, char *out, size_t size)
{
    const char *text = json_string_value(json_object_get(header, field));
    snprintf(out, size, "%s", text != NULL ? text : "");
}

#endif
