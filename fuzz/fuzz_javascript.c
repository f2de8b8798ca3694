/* SPDX-License-Identifier: MIT
 * A source in JavaScript. */
#include "fuzz/judge.h"

#include <assert.h>

CBX_FUZZ_LANGUAGE("javascript");
