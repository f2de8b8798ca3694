/* SPDX-License-Identifier: MIT
 * Packages of `codebox run`. */
#include "gateway/cli/run/run_packages.h"

#include "gateway/front/service/dependencies.h"
#include "gateway/front/service/service_packages.h"
#include "policies/packages.h"

#include <stdio.h>
#include <unistd.h>

static void show_progress(void *context, struct cbx_str line)
{
    (void)context;
    fprintf(stderr, "codebox: %.*s\n", CBX_STR_ARG(line));
}

/* Adds the packages of the list to the request. */
static int install(struct cbx_service *service, const struct cbx_request *request,
                   const json_t *list, struct cbx_asked *asked, struct cbx_outcome *denial,
                   struct cbx_err *err)
{
    CBX_AUTO_DONE(buf) set;
    cbx_buf_init(&set, CBX_PACKAGE_SET_BYTES_MAX);
    char language[32];
    snprintf(language, sizeof(language), "%.*s", CBX_STR_ARG(request->subject.language));
    const struct cbx_dependencies d = { .list = list,
                                        .policy = request->policy,
                                        .language = language,
                                        .origin = request->subject.origin,
                                        .principal = request->subject.principal.p,
                                        .progress = isatty(STDERR_FILENO) ? show_progress : NULL };
    int failed = cbx_service_have_dependencies(service, &d, &set, denial, err);
    cbx_asked_set_packages(asked, cbx_buf_str(&set));
    return failed;
}

static int judge(struct cbx_service *service, const json_t *with, struct cbx_request *request,
                 struct cbx_asked *asked, struct cbx_judgement *judgement,
                 struct cbx_outcome *denial, struct cbx_err *err)
{
    int failed = install(service, request, with, asked, denial, err);
    if (failed || denial->verdict != CBX_ALLOW) {
        return failed;
    }
    failed = cbx_review_judge(service->flow, request, judgement, err);
    bool installs = !failed && judgement->verdict == CBX_ALLOW && judgement->installs != NULL;
    if (!installs || asked->packages != NULL) {
        return failed;
    }
    CBX_AUTO_JSON list = json_incref(judgement->installs);
    failed = install(service, request, list, asked, denial, err);
    if (!failed && denial->verdict == CBX_ALLOW && asked->packages != NULL) {
        cbx_judgement_done(judgement);
        failed = cbx_review_judge(service->flow, request, judgement, err);
    }
    return failed;
}

int cbx_run_packages(struct cbx_flow *flow, const struct cbx_words *with,
                     struct cbx_request *request, struct cbx_asked *asked,
                     struct cbx_judgement *judgement, struct cbx_outcome *denial,
                     struct cbx_err *err)
{
    static struct cbx_service service;
    CBX_AUTO_JSON list = json_array();
    for (size_t i = 0; i < with->count; i++) {
        json_t *text = json_string(with->items[i]);
        json_array_append_new(list, text != NULL ? text : json_string("?"));
    }
    denial->verdict = CBX_ALLOW;
    cbx_service_init_packages(&service, flow);
    int failed = judge(&service, list, request, asked, judgement, denial, err);
    cbx_service_forget_packages(&service);
    return failed;
}
