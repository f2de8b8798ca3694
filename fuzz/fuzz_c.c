/* SPDX-License-Identifier: MIT
 * C that somebody wants to run. */
#include "fuzz/judge.h"

#include <assert.h>

CBX_FUZZ_LANGUAGE("c");
