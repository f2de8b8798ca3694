/* SPDX-License-Identifier: MIT
 * The OpenAPI document as HTML. */
#include "gateway/front/page/docs.h"

#include "policies/base/text/html.h"

static const char prefix[] = "#/components/schemas/";

static const json_t *at(const json_t *object, const char *name)
{
    return json_object_get(object, name);
}

/* --- types ------------------------------------------------------------------------------------ */

/* Returns the name of the schema of a reference; empty for other types. */
static struct cbx_str referenced(const json_t *schema)
{
    struct cbx_str text = cbx_json_str(at(schema, "$ref"));
    return cbx_str_starts(text, cbx_str_of(prefix))
               ? cbx_str_sub(text, sizeof(prefix) - 1, text.len)
               : CBX_STR("");
}

/* A link to the schema's section. Names of schemas are letters. */
static void add_link(struct cbx_buf *out, struct cbx_str name)
{
    cbx_html_add(out, "<a href=\"#%.*s\">%.*s</a>", CBX_STR_ARG(name), CBX_STR_ARG(name));
}

static void add_bound(struct cbx_buf *out, const json_t *schema, const char *name, const char *text)
{
    const json_t *bound = at(schema, name);
    if (json_is_integer(bound)) {
        cbx_html_add(out, ", %s %lld", text, json_integer_value(bound));
    }
}

static void add_words(struct cbx_buf *out, const json_t *words, const char *between)
{
    size_t i;
    const json_t *word;
    json_array_foreach(words, i, word)
    {
        cbx_html_add(out, "%s%.*s", i > 0 ? between : "", CBX_STR_ARG(cbx_json_str(word)));
    }
}

/* Adds "integer or null, at least 1", "list of Session", a link, or "any". */
static void add_type(struct cbx_buf *out, const json_t *schema)
{
    const json_t *type = at(schema, "type"), *items = at(schema, "items");
    struct cbx_str name = referenced(schema), of = referenced(items);
    if (name.len > 0) {
        add_link(out, name);
    } else if (json_is_array(at(schema, "enum"))) {
        add_words(out, at(schema, "enum"), " or ");
    } else if (of.len > 0) {
        cbx_html_add(out, "list of ");
        add_link(out, of);
    } else if (json_is_array(type)) {
        add_words(out, type, " or ");
    } else {
        cbx_html_add(out, "%s", type != NULL ? json_string_value(type) : "any");
    }
    add_bound(out, schema, "minimum", "at least");
    add_bound(out, schema, "maximum", "at most");
    add_bound(out, schema, "maxLength", "characters at most");
    add_bound(out, schema, "maxItems", "items at most");
}

static bool has_text(const json_t *list, const char *text)
{
    size_t i;
    const json_t *item;
    json_array_foreach(list, i, item)
    {
        if (cbx_str_is(cbx_json_str(item), text)) {
            return true;
        }
    }
    return false;
}

static void add_member(struct cbx_buf *out, const char *name, const json_t *schema, bool required)
{
    cbx_html_add(out, "<li><code>%s</code> <span class=\"dim\">", name);
    add_type(out, schema);
    cbx_html_add(out, "%s</span> %.*s", required ? ", required" : "",
                 CBX_JSON_ARG(schema, "description"));
}

/* Adds the members of an object, and the members of nested objects one level deeper. */
static void add_members(struct cbx_buf *out, const json_t *schema)
{
    const char *name, *inner;
    json_t *member, *deeper;
    cbx_html_add(out, "<ul class=\"members\">");
    json_object_foreach(json_object_get(schema, "properties"), name, member)
    {
        add_member(out, name, member, has_text(at(schema, "required"), name));
        if (json_object_size(at(member, "properties")) > 0) {
            cbx_html_add(out, "<ul class=\"members\">");
            json_object_foreach(json_object_get(member, "properties"), inner, deeper)
            {
                add_member(out, inner, deeper, has_text(at(member, "required"), inner));
                cbx_html_add(out, "</li>");
            }
            cbx_html_add(out, "</ul>");
        }
        cbx_html_add(out, "</li>");
    }
    cbx_html_add(out, "</ul>");
}

/* --- operations ------------------------------------------------------------------------------- */

static void add_parameters(struct cbx_buf *out, const json_t *parameters)
{
    size_t i;
    const json_t *parameter;
    if (json_array_size(parameters) == 0) {
        return;
    }
    cbx_html_add(out, "<h3>Parameters</h3><ul class=\"members\">");
    json_array_foreach(parameters, i, parameter)
    {
        cbx_html_add(out, "<li><code>%.*s</code> <span class=\"dim\">in the %.*s, ",
                     CBX_JSON_ARG(parameter, "name"), CBX_JSON_ARG(parameter, "in"));
        add_type(out, at(parameter, "schema"));
        cbx_html_add(out, "</span> %.*s%.*s</li>", CBX_JSON_ARG(parameter, "description"),
                     CBX_JSON_ARG(at(parameter, "schema"), "description"));
    }
    cbx_html_add(out, "</ul>");
}

static void add_body(struct cbx_buf *out, const json_t *body)
{
    const json_t *content = at(body, "content"), *json = at(content, "application/json");
    if (json != NULL) {
        cbx_html_add(out, "<h3>Body: a JSON object</h3>");
        add_members(out, at(json, "schema"));
    } else if (content != NULL) {
        cbx_html_add(out, "<h3>Body: bytes</h3>");
    }
}

static void add_answers(struct cbx_buf *out, const json_t *answers)
{
    const char *status, *type;
    json_t *answer, *content;
    cbx_html_add(out, "<h3>Answers</h3><ul class=\"members\">");
    json_object_foreach((json_t *)(uintptr_t)answers, status, answer)
    {
        cbx_html_add(out, "<li><code>%s</code> %.*s",
                     strcmp(status, "default") == 0 ? "other" : status,
                     CBX_JSON_ARG(answer, "description"));
        json_object_foreach(json_object_get(answer, "content"), type, content)
        {
            cbx_html_add(out, " <span class=\"dim\">%s: ", type);
            add_type(out, at(content, "schema"));
            cbx_html_add(out, "</span>");
        }
        cbx_html_add(out, "</li>");
    }
    cbx_html_add(out, "</ul>");
}

static void add_operation(struct cbx_buf *out, const char *method, const char *path,
                          const json_t *operation)
{
    char upper[8] = "";
    for (size_t i = 0; method[i] != '\0' && i < sizeof(upper) - 1; i++) {
        upper[i] = (char)(method[i] & ~32);
    }
    cbx_html_add(out,
                 "<details><summary><span class=\"tag method\">%s</span><code>%s</code>"
                 "<span class=\"dim\">%.*s</span></summary><p class=\"note\">%.*s</p>",
                 upper, path, CBX_JSON_ARG(operation, "summary"),
                 CBX_JSON_ARG(operation, "description"));
    add_parameters(out, at(operation, "parameters"));
    add_body(out, at(operation, "requestBody"));
    add_answers(out, at(operation, "responses"));
    cbx_html_add(out, "</details>\n");
}

static void add_operations(struct cbx_buf *out, const json_t *openapi, const char *tag,
                           const char *title)
{
    const char *path, *method;
    json_t *methods, *operation;
    cbx_html_add(out, "<section><h2>%s</h2>", title);
    json_object_foreach(json_object_get(openapi, "paths"), path, methods)
    {
        json_object_foreach(methods, method, operation)
        {
            if (has_text(at(operation, "tags"), tag)) {
                add_operation(out, method, path, operation);
            }
        }
    }
    cbx_html_add(out, "</section>");
}

static void add_schemas(struct cbx_buf *out, const json_t *schemas)
{
    const char *name;
    json_t *schema;
    cbx_html_add(out, "<section><h2>What answers have</h2>");
    json_object_foreach((json_t *)(uintptr_t)schemas, name, schema)
    {
        cbx_html_add(out, "<div class=\"schema\" id=\"%s\"><h3>%s</h3><p class=\"note\">%.*s</p>",
                     name, name, CBX_JSON_ARG(schema, "description"));
        add_members(out, schema);
        cbx_html_add(out, "</div>");
    }
    cbx_html_add(out, "</section>");
}

void cbx_docs_write(const json_t *openapi, struct cbx_buf *out)
{
    cbx_html_add(out,
                 "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>"
                 "codebox: REST API</title><meta name=\"viewport\" "
                 "content=\"width=device-width,initial-scale=1\"><link rel=\"stylesheet\" "
                 "href=\"/page.css\"></head><body><header><h1>REST API</h1><span>codebox %.*s"
                 "</span></header><main>",
                 CBX_JSON_ARG(at(openapi, "info"), "version"));
    cbx_html_add(
        out,
        "<section><h2>First steps</h2><pre class=\"text\">"
        "B=http://127.0.0.1:8000; J='Content-Type: application/json'\n"
        "curl -s -H \"$J\" -d '{\"code\": \"print(6 * 7)\", \"language\": \"python\"}' "
        "$B/v1/executions\n"
        "S=$(curl -s -H \"$J\" -d '{\"language\": \"python\"}' $B/v1/sessions | jq -r "
        ".session_id)\n"
        "curl -s -H \"$J\" -d \"{\\\"code\\\": \\\"x = 1\\\", \\\"session_id\\\": \\\"$S\\\"}\" "
        "$B/v1/executions\n"
        "curl -s -H \"$J\" -d '{\"code\": \"import subprocess\", \"language\": \"python\"}' "
        "$B/v1/check</pre>"
        "<p class=\"note\">A gateway that authenticates needs <code>-H \"Authorization: Bearer "
        "TOKEN\"</code>. With <code>Idempotency-Key: TEXT</code> a POST of /v1/executions or "
        "/v1/sessions can be repeated for a day. Errors are problem documents (RFC 9457). For "
        "programs: <a href=\"/openapi.json\">/openapi.json</a>.</p></section>");
    add_operations(out, openapi, "codebox", "Routes");
    add_operations(out, openapi, "CodeBox-AI", "Routes of CodeBox-AI's clients");
    add_schemas(out, at(at(openapi, "components"), "schemas"));
    cbx_html_add(out, "</main></body></html>\n");
}
