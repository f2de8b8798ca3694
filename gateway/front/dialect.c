/* SPDX-License-Identifier: MIT
 * The meaning of a language name from a client. */
#include "gateway/front/dialect.h"

#include "analyzer/lang/lang.h"
#include "docker/kernel_names.h"

#include <ctype.h>
#include <string.h>

static void fail_language(struct cbx_str name, struct cbx_err *err)
{
    const char *known;
    CBX_AUTO_DONE(buf) names;
    cbx_buf_init(&names, 1024);
    for (size_t i = 0; (known = cbx_language_at(i)) != NULL; i++) {
        cbx_buf_printf(&names, "%s%s", i > 0 ? ", " : "", known);
    }
    cbx_fail(err, CBX_EINVAL, "language is '%.*s', allowed is one of those that can run: %s",
             CBX_STR_SHOWN(cbx_str_sub(name, 0, 64)), names.p);
}

const char *cbx_dialect_of(struct cbx_str name, struct cbx_err *err)
{
    const struct cbx_lang *cells = cbx_lang_of_notebooks();
    char lower[32]; /* models write "Python" */
    for (size_t i = 0; i < name.len && i < sizeof(lower); i++) {
        lower[i] = (char)tolower((unsigned char)name.p[i]);
    }
    struct cbx_str known = { .p = lower, .len = name.len < sizeof(lower) ? name.len : 0 };
    const struct cbx_lang *lang = name.len == 0   ? cells
                                  : known.len > 0 ? cbx_lang_find(known)
                                                  : NULL;
    if (lang == NULL || cbx_kernel_of(lang->name) == NULL) {
        fail_language(name, err);
        return NULL;
    }
    return lang->policy == cells->policy ? cells->name : lang->name;
}

const char *cbx_dialect_default(void)
{
    return cbx_lang_of_notebooks()->name;
}

const char *cbx_dialect_shown(const char *language)
{
    const struct cbx_lang *cells = cbx_lang_of_notebooks();
    bool is_cells = language != NULL && strcmp(language, cells->name) == 0;
    return language == NULL ? "" : is_cells ? cbx_language_name(cells->policy) : language;
}

const char *cbx_dialect_at(size_t index)
{
    for (size_t i = 0; cbx_language_names[i] != NULL; i++) {
        if (cbx_kernel_of(cbx_language_names[i]) != NULL && index-- == 0) {
            return cbx_language_names[i];
        }
    }
    return NULL;
}

void cbx_dialect_list(const char *separator, struct cbx_buf *out)
{
    const char *name;
    for (size_t i = 0; (name = cbx_dialect_at(i)) != NULL; i++) {
        cbx_buf_printf(out, "%s%s", i > 0 ? separator : "", name);
    }
}
