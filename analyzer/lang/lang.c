/* SPDX-License-Identifier: MIT
 * The table of languages. */
#include "analyzer/lang/lang.h"

#include <pthread.h>

#define CBX_LANGUAGE(id, word, ...) extern const struct cbx_lang_code cbx_lang_code_##word;
#define CBX_DIALECT                 CBX_LANGUAGE
#include "policies/languages.def"
#undef CBX_LANGUAGE
#undef CBX_DIALECT

#define CBX_WORDS(...)                                                                             \
    (const char *const[])                                                                          \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }
static const struct cbx_lang languages[] = {
#define CBX_LANGUAGE(id, word, display, kernel, like, aliases, endings)                            \
    { #word, CBX_##id, endings, &cbx_lang_code_##word },
#define CBX_DIALECT CBX_LANGUAGE
#include "policies/languages.def"
#undef CBX_LANGUAGE
#undef CBX_DIALECT
};
enum { LANGUAGES = sizeof(languages) / sizeof(languages[0]) };

const struct cbx_lang *cbx_lang_at(size_t index)
{
    return index < LANGUAGES ? &languages[index] : NULL;
}

static const struct cbx_lang *lang_of(const struct cbx_language_row *row)
{
    size_t i = 0;
    while (row != NULL && i < LANGUAGES && strcmp(languages[i].name, row->name) != 0) {
        i++;
    }
    return row != NULL ? cbx_lang_at(i) : NULL;
}

const struct cbx_lang *cbx_lang_find(struct cbx_str name)
{
    return lang_of(cbx_language_find(name));
}

bool cbx_lang_are_like(const struct cbx_lang *a, const struct cbx_lang *b)
{
    return ((cbx_language_likes(a->policy) >> b->policy |
             cbx_language_likes(b->policy) >> a->policy) &
            1) != 0;
}

const struct cbx_lang *cbx_lang_of_file(const char *path)
{
    return lang_of(cbx_language_of_file(cbx_str_of(path)));
}

const struct cbx_lang *cbx_lang_of_notebooks(void)
{
    size_t i = 0;
    while (i < LANGUAGES && !cbx_lang_is_notebook(&languages[i])) {
        i++;
    }
    return cbx_lang_at(i);
}

const TSLanguage *cbx_lang_grammar(enum cbx_language language)
{
    size_t i = 0;
    while (i + 1 < LANGUAGES && languages[i].policy != language) {
        i++;
    }
    return languages[i].code->grammar();
}

static char names[256];
static pthread_once_t names_once = PTHREAD_ONCE_INIT;

static void join_names(void)
{
    cbx_language_list(", ", names, sizeof(names));
}

const char *cbx_lang_names(void)
{
    pthread_once(&names_once, join_names);
    return names;
}
