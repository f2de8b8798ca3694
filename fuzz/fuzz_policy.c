/* SPDX-License-Identifier: MIT
 * A hostile policy. A policy that loads has one identity, can be explained, and can judge a
 * source. */
#include "analyzer/analyze.h"
#include "policies/texts/explain.h"

/* tree-sitter 0.25.0 forgets a few bytes for a query that does not compile; fuzz_source watches
 * everything else of it. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:ts_malloc_default\n";
}

static struct cbx_policy *load(struct cbx_str text, struct cbx_err *err)
{
    struct cbx_policy *policy = NULL;
    if (cbx_policy_parse(text, "fuzz", &policy, err) != 0 &&
        (err->code == 0 || err->text[0] == '\0' || policy != NULL)) {
        abort();
    }
    return policy;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cbx_str text = { .p = (const char *)data, .len = size };
    struct cbx_err err = { 0 };
    CBX_AUTO(policy) policy = load(text, &err);
    if (policy == NULL) {
        return 0;
    }
    CBX_AUTO(policy) again = load(text, &err);
    if (again == NULL || !cbx_sha256_equal(&policy->sha256, &again->sha256)) {
        abort();
    }
    CBX_AUTO_DONE(buf) words;
    CBX_AUTO_DONE(arena) arena;
    cbx_buf_init(&words, 16 << 20);
    cbx_arena_init(&arena, CBX_ANALYSIS_ARENA_MAX);
    cbx_policy_explain(policy, &words);
    struct cbx_analysis request = {
        .source =
            CBX_STR("import os as o\no.system('pip install x==1')\nopen('/etc/passwd', 'w')\n"),
        .language = CBX_STR("python")
    };
    struct cbx_decision decision;
    if (cbx_analyze(policy, &request, &arena, &decision, &err) != 0) {
        abort();
    }
    return 0;
}
