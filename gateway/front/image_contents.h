/* SPDX-License-Identifier: MIT
 * The contents of a language's image: the executor queries the engine, this process reads the
 * reply. Each query goes to the engine (about 2 ms), so the reply is for the image of new
 * sandboxes. */
#ifndef CBX_GATEWAY_FRONT_IMAGE_CONTENTS_H
#define CBX_GATEWAY_FRONT_IMAGE_CONTENTS_H

#include "docker/contents.h"
#include "gateway/front/denial/advice.h"
#include "gateway/front/review.h"

/* Queries by a language's name, or an alias, under the policy of this name (empty = the
 * default). Errors are the executor's; CBX_EENGINE if the image was built without a list. *out
 * is empty then; free it with cbx_contents_done. */
int cbx_contents_ask(struct cbx_flow *flow, struct cbx_str language, struct cbx_str policy,
                     struct cbx_contents *out, struct cbx_err *err);

/* Adds the image's contents to the advice if the advice would name them; without a reply, and
 * without a flow, it adds none. `storage` is the caller's, empty; the advice borrows it. */
void cbx_contents_advise(struct cbx_flow *flow, struct cbx_advice *advice,
                         struct cbx_contents *storage);

#endif
