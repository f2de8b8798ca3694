/* SPDX-License-Identifier: MIT
 * Prompts. */
#include "gateway/front/mcp/prompts.h"

static const struct prompt {
    const char *name, *title, *argument, *help, *description, *text;
    bool required;
} prompts[] = {
#define CBX_PROMPT(name, title, argument, required, help, description, text)                       \
    { name, title, argument, help, description, text, required },
#include "gateway/front/mcp/prompts.def"
#undef CBX_PROMPT
};
enum { PROMPTS = sizeof(prompts) / sizeof(prompts[0]) };

json_t *cbx_prompts_list(void)
{
    json_t *list = json_array();
    for (size_t i = 0; i < PROMPTS; i++) {
        const struct prompt *p = &prompts[i];
        json_array_append_new(list, json_pack("{s:s,s:s,s:s,s:[{s:s,s:s,s:b}]}", "name", p->name,
                                              "title", p->title, "description", p->description,
                                              "arguments", "name", p->argument, "description",
                                              p->help, "required", (int)p->required));
    }
    return list;
}

/* Returns the text with the argument in place of its "%s". */
static json_t *fill(const char *text, struct cbx_str argument)
{
    const char *mark = strstr(text, "%s");
    CBX_AUTO_DONE(buf) all;
    cbx_buf_init(&all, strlen(text) + argument.len + 1);
    cbx_buf_add(&all, (struct cbx_str){ .p = text, .len = (size_t)(mark - text) });
    cbx_buf_add(&all, argument);
    cbx_buf_add_cstr(&all, mark + 2);
    return cbx_json_text(cbx_buf_str(&all));
}

static int fail_unknown(struct cbx_str name, struct cbx_err *err)
{
    CBX_AUTO_DONE(buf) known;
    cbx_buf_init(&known, 1024);
    for (size_t i = 0; i < PROMPTS; i++) {
        cbx_buf_printf(&known, "%s%s", i > 0 ? ", " : "", prompts[i].name);
    }
    return cbx_fail(err, CBX_EINVAL, "unknown prompt '%.*s', there are: %s",
                    CBX_STR_SHOWN(cbx_str_sub(name, 0, 64)), known.p);
}

int cbx_prompt_get(const json_t *params, json_t **out, struct cbx_err *err)
{
    struct cbx_str name = cbx_json_str(json_object_get(params, "name"));
    const struct prompt *p = NULL;
    for (size_t i = 0; i < PROMPTS; i++) {
        p = cbx_str_is(name, prompts[i].name) ? &prompts[i] : p;
    }
    if (p == NULL) {
        return fail_unknown(name, err);
    }
    struct cbx_str argument =
        cbx_json_str(json_object_get(json_object_get(params, "arguments"), p->argument));
    if (argument.p == NULL) {
        return cbx_fail(err, CBX_EINVAL, "the prompt needs the argument '%s', a string",
                        p->argument);
    }
    *out = json_pack("{s:s,s:[{s:s,s:{s:s,s:o}}]}", "description", p->description, "messages",
                     "role", "user", "content", "type", "text", "text", fill(p->text, argument));
    return 0;
}
