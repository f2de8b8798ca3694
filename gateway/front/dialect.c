/* SPDX-License-Identifier: MIT
 * What a client means by the name of a language. */
#include "gateway/front/dialect.h"

#include "analyzer/lang.h"
#include "docker/container.h"

#include <string.h>

const char *cbx_dialect_of(struct cbx_str name, struct cbx_err *err)
{
    if (name.len == 0 || cbx_str_is(name, "python")) {
        return "ipython";
    }
    const struct cbx_lang *lang = cbx_lang_find(name);
    if (lang == NULL || cbx_kernel_of(lang->name) == NULL) {
        cbx_fail(err, CBX_EINVAL, "language is '%.*s', allowed is one of those that can run: %s",
                 CBX_STR_ARG(name), cbx_runnable_languages());
        return NULL;
    }
    return lang->name;
}

const char *cbx_dialect_shown(const char *language)
{
    return language == NULL ? "" : strcmp(language, "ipython") == 0 ? "python" : language;
}
