/* SPDX-License-Identifier: MIT
 * Vouchers, as the front requests them. */
#include "gateway/front/vouch.h"

#include "gateway/front/executor_client.h"

int cbx_vouch(struct cbx_flow *flow, enum cbx_voucher_kind kind, const char *principal,
              const struct cbx_claims *claims, const char *subject, char out[CBX_VOUCHER_CHARS + 1],
              struct cbx_err *err)
{
    const struct cbx_vouch_args args = { .kind = cbx_str_of(cbx_voucher_kind_name(kind)),
                                         .principal = cbx_str_of(principal),
                                         .credential = cbx_str_of(claims->credential),
                                         .subject = cbx_str_of(subject),
                                         .proof = claims->proof };
    CBX_AUTO_DONE(message) answer;
    cbx_message_init(&answer);
    out[0] = '\0';
    if (flow->identity == NULL) {
        return 0;
    }
    int failed = cbx_call_vouch(flow, &args, CBX_STR(""), &answer, err);
    if (failed) {
        return failed;
    }
    struct cbx_str voucher = cbx_json_str(json_object_get(answer.header, "voucher"));
    if (voucher.len != CBX_VOUCHER_CHARS) {
        return cbx_fail(err, CBX_EPROTO, "the executor's voucher is malformed");
    }
    memcpy(out, voucher.p, voucher.len + 1);
    return 0;
}
