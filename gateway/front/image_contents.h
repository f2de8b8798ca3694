/* SPDX-License-Identifier: MIT
 * What the image of a language has: the executor asks the engine, this process reads the answer. Each question goes to the engine (about
 * 2 ms), so the answer is that of the image which new sandboxes are made from. */
#ifndef CBX_GATEWAY_FRONT_IMAGE_CONTENTS_H
#define CBX_GATEWAY_FRONT_IMAGE_CONTENTS_H

#include "docker/contents.h"
#include "gateway/front/denial/advice.h"
#include "gateway/front/review.h"

/* By a language's name, or an alias, under the policy of this name (empty = the default). Errors are the executor's; CBX_EENGINE when the image was built without a list. *out is empty then;
 * free it with cbx_contents_done. */
int cbx_contents_ask(struct cbx_flow *flow, struct cbx_str language, struct cbx_str policy,
                     struct cbx_contents *out, struct cbx_err *err);

/* Lets the advice know the image when it would name what the image has; without an answer, and without a flow, it does not. `storage` is
 * the caller's, empty; it is borrowed by the advice. */
void cbx_contents_advise(struct cbx_flow *flow, struct cbx_advice *advice,
                         struct cbx_contents *storage);

#endif
