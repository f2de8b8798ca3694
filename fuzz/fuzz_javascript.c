/* SPDX-License-Identifier: MIT
 * JavaScript that somebody wants to run. */
#include "fuzz/judge.h"

#include <assert.h>

CBX_FUZZ_LANGUAGE("javascript");
