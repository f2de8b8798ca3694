/* SPDX-License-Identifier: MIT
 * The contents of a language's image. */
#include "gateway/front/image_contents.h"

#include "gateway/front/executor_client.h"
#include "policies/language.h"

int cbx_contents_ask(struct cbx_flow *flow, struct cbx_str language, struct cbx_str policy,
                     struct cbx_contents *out, struct cbx_err *err)
{
    const struct cbx_language_row *row = cbx_language_find(language);
    *out = (struct cbx_contents){ 0 };
    if (row == NULL) {
        return cbx_fail(err, CBX_EINVAL, "there is no such language");
    }
    struct cbx_contents_args args = { .kernel = cbx_str_of(row->kernel), .policy = policy };
    struct cbx_err own = { 0 };
    CBX_AUTO_DONE(message) answer;
    cbx_message_init(&answer);
    int failed = cbx_call_contents(flow, &args, CBX_STR(""), &answer, err);
    if (!failed && answer.bytes.len == 0) {
        failed = cbx_fail(err, CBX_EENGINE,
                          "what the sandbox image has is not known; the operator renews it with "
                          "'codebox image build'");
    }
    if (!failed && cbx_contents_read(cbx_buf_str(&answer.bytes), out, &own) != 0) {
        /* the operator's failure, not a client's */
        failed = cbx_fail(err, CBX_EENGINE, "%s", own.text);
    }
    return failed;
}

void cbx_contents_advise(struct cbx_flow *flow, struct cbx_advice *advice,
                         struct cbx_contents *storage)
{
    advice->small_images = flow != NULL && flow->small_images;
    if (flow != NULL && cbx_advice_names_contents(advice) &&
        cbx_contents_ask(flow, advice->language, advice->policy, storage, NULL) == 0) {
        advice->contents = storage;
    }
}
