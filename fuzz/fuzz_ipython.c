/* SPDX-License-Identifier: MIT
 * A cell of a notebook. */
#include "fuzz/judge.h"

#include <assert.h>

CBX_FUZZ_LANGUAGE("ipython");
