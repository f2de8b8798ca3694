/* SPDX-License-Identifier: MIT
 * A cell of a notebook that somebody wants to run. */
#include "fuzz/judge.h"

#include <assert.h>

CBX_FUZZ_LANGUAGE("ipython");
