/* SPDX-License-Identifier: MIT
 * What a denial tells its reader, of any bytes in any language: the first byte chooses it. A syntax
 * error that is named lies in the source, the verdict is the same with and without hints, and the text
 * is short, printable UTF-8. */
#include "analyzer/analyze.h"
#include "analyzer/report/report.h"
#include "analyzer/syntax/syntax_error.h"
#include "gateway/front/denial/denial.h"
#include "policies/base/arena.h"

static const struct cbx_policy *default_policy(void)
{
    static struct cbx_policy *policy;
    if (policy == NULL && cbx_policy_load("default", &policy, NULL) != 0) {
        abort();
    }
    return policy;
}

static void explain(const struct cbx_lang *lang, struct cbx_str text)
{
    CBX_AUTO_DONE(arena) arena;
    cbx_arena_init(&arena, 1 << 20);
    struct cbx_syntax_source source = { lang, text, ~0u, 0, false };
    struct cbx_syntax_error error;
    if (cbx_syntax_explain(&source, &arena, &error) &&
        (error.start >= error.end || error.end > text.len + 1 || error.name.len == 0 ||
         error.hint.len == 0)) {
        abort();
    }
}

static void check_text(const struct cbx_decision *decision, struct cbx_str source)
{
    CBX_AUTO_JSON json = NULL;
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, 2 * CBX_DENIAL_BYTES_MAX);
    if (cbx_decision_json(decision, &json, NULL) != 0) {
        abort();
    }
    struct cbx_denial denial = { .decision = json, .source = source, .audit_id = "01A" };
    cbx_denial_add(&denial, &text);
    if (text.len > CBX_DENIAL_BYTES_MAX || !cbx_str_is_utf8(cbx_buf_str(&text), NULL) ||
        !cbx_str_ends(cbx_buf_str(&text), CBX_STR("\naudit id 01A\n"))) {
        abort();
    }
    for (size_t i = 0; i < text.len; i++) {
        if ((unsigned char)text.p[i] < ' ' && text.p[i] != '\n') {
            abort();
        }
    }
}

static void judge(const struct cbx_lang *lang, struct cbx_str text)
{
    CBX_AUTO_DONE(arena) arena;
    cbx_arena_init(&arena, CBX_ANALYSIS_ARENA_MAX);
    struct cbx_analysis request = { .source = text, .language = cbx_str_of(lang->name) };
    struct cbx_decision with, without;
    if (cbx_analyze(default_policy(), &request, &arena, &with, NULL) != 0) {
        abort();
    }
    if (with.verdict == CBX_ALLOW) {
        return;
    }
    check_text(&with, text);
    request.no_hints = true;
    if (cbx_analyze(default_policy(), &request, &arena, &without, NULL) != 0 ||
        without.verdict != with.verdict) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t languages = 0;
    while (cbx_lang_at(languages) != NULL) {
        languages++;
    }
    if (size == 0 || size > 65536) {
        return 0;
    }
    struct cbx_str text = { (const char *)data + 1, size - 1 };
    const struct cbx_lang *lang = cbx_lang_at(data[0] % languages);
    explain(lang, text);
    judge(lang, text);
    return 0;
}
