/* SPDX-License-Identifier: MIT
 * GET /openapi.json: the routes as OpenAPI 3.1 (JSON Schema 2020-12), generated from the API's
 * own tables; and GET /docs, the same as a page. */
#include "gateway/front/page/docs.h"
#include "gateway/front/rest/rest.h"
#include "gateway/identity/caller.h"

#include "policies/limits.h"
#include "policies/release.h"

#include <stdio.h>

enum { DOCS_MAX_BYTES = 1 << 20 };

const struct cbx_rest_input cbx_rest_input_none = { NULL, 0 }, cbx_rest_input_bytes = { NULL, 0 };

/* --- schemas of answers ----------------------------------------------------------------------- */

enum presence { ALWAYS, NULLABLE, SOMETIMES, MAYBE };
enum kind { STRING, INTEGER, NUMBER, BOOLEAN, OBJECT, ANY, STRINGS, REFERENCES, REFERENCE };

struct type {
    enum kind kind;
    const char *schema; /* schema of REFERENCES and REFERENCE */
};

/* A schema, or one of its members: `member` is then its name. */
static const struct row {
    const char *schema, *member;
    struct type type;
    enum presence presence;
    const char *sentence;
} rows[] = {
#define TYPE_STRING                                                                                \
    {                                                                                              \
        STRING, NULL                                                                               \
    }
#define TYPE_INTEGER                                                                               \
    {                                                                                              \
        INTEGER, NULL                                                                              \
    }
#define TYPE_NUMBER                                                                                \
    {                                                                                              \
        NUMBER, NULL                                                                               \
    }
#define TYPE_BOOLEAN                                                                               \
    {                                                                                              \
        BOOLEAN, NULL                                                                              \
    }
#define TYPE_OBJECT                                                                                \
    {                                                                                              \
        OBJECT, NULL                                                                               \
    }
#define TYPE_ANY                                                                                   \
    {                                                                                              \
        ANY, NULL                                                                                  \
    }
#define TYPE_STRINGS                                                                               \
    {                                                                                              \
        STRINGS, NULL                                                                              \
    }
#define TYPE_LIST(schema)                                                                          \
    {                                                                                              \
        REFERENCES, schema                                                                         \
    }
#define TYPE_ONE(schema)                                                                           \
    {                                                                                              \
        REFERENCE, schema                                                                          \
    }
#define CBX_SCHEMA(name, sentence)                 { name, NULL, { ANY, NULL }, ALWAYS, sentence },
#define CBX_MEMBER(name, type, presence, sentence) { NULL, name, TYPE_##type, presence, sentence },
#include "gateway/front/rest/schemas.def"
#undef CBX_SCHEMA
#undef CBX_MEMBER
};
enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

static json_t *reference(const char *schema)
{
    return json_pack("{s:o}", "$ref", json_sprintf("#/components/schemas/%s", schema));
}

static const char *name_of(enum kind kind)
{
    static const char *const names[] = {
        [STRING] = "string", [INTEGER] = "integer", [NUMBER] = "number",    [BOOLEAN] = "boolean",
        [OBJECT] = "object", [STRINGS] = "array",   [REFERENCES] = "array",
    };
    return names[kind];
}

static json_t *make_member(const struct row *row)
{
    if (row->type.kind == REFERENCE) { /* OpenAPI 3.1: a description may accompany it */
        json_t *one = reference(row->type.schema);
        json_object_set_new(one, "description", json_string(row->sentence));
        return one;
    }
    json_t *member = json_object();
    bool nullable = row->presence == NULLABLE || row->presence == MAYBE;
    const char *name = row->type.kind != ANY ? name_of(row->type.kind) : NULL;
    if (name != NULL) {
        json_object_set_new(member, "type",
                            nullable ? json_pack("[s,s]", name, "null") : json_string(name));
    }
    if (row->type.kind == STRINGS) {
        json_object_set_new(member, "items", json_pack("{s:s}", "type", "string"));
    } else if (row->type.kind == REFERENCES) {
        json_object_set_new(member, "items", reference(row->type.schema));
    }
    json_object_set_new(member, "description", json_string(row->sentence));
    return member;
}

static json_t *make_schemas(void)
{
    json_t *schemas = json_object(), *schema = NULL;
    for (size_t i = 0; i < ROWS; i++) {
        if (rows[i].schema != NULL) {
            schema = json_pack("{s:s,s:s,s:{},s:[]}", "type", "object", "description",
                               rows[i].sentence, "properties", "required");
            json_object_set_new(schemas, rows[i].schema, schema);
            continue;
        }
        json_object_set_new(json_object_get(schema, "properties"), rows[i].member,
                            make_member(&rows[i]));
        if (rows[i].presence == ALWAYS || rows[i].presence == NULLABLE) {
            json_array_append_new(json_object_get(schema, "required"), json_string(rows[i].member));
        }
    }
    return schemas;
}

/* --- what requests have ----------------------------------------------------------------------- */

static json_t *make_limits(void)
{
    json_t *properties = json_object();
    const struct cbx_limit_row *row;
    for (size_t i = 0; (row = cbx_limit_row(i)) != NULL; i++) {
        json_t *limit = NULL;
        if (row->words == NULL) {
            limit = json_pack("{s:s,s:I,s:I}", "type", "integer", "minimum", (json_int_t)row->lo,
                              "maximum", (json_int_t)row->hi);
        } else {
            json_t *words = json_array();
            for (size_t k = 0; row->words[k] != NULL; k++) {
                json_array_append_new(words, json_string(row->words[k]));
            }
            limit = json_pack("{s:o}", "enum", words);
        }
        json_object_set_new(limit, "description", json_sprintf("Limit of %s.", row->title));
        json_object_set_new(properties, row->name, limit);
    }
    return json_pack("{s:s,s:o,s:b}", "type", "object", "properties", properties,
                     "additionalProperties", 0);
}

static json_t *make_input(const struct cbx_rest_input *input);

/* Adds bounds by their names in JSON Schema for this type. A text has at most as many characters
 * as bytes. */
static void add_bounds(json_t *schema, const struct cbx_json_field *field)
{
    static const struct {
        const char *least, *most;
    } names[] = {
        [CBX_JSON_STR] = { "minLength", "maxLength" },
        [CBX_JSON_INT] = { "minimum", "maximum" },
        [CBX_JSON_NUMBER] = { "minimum", "maximum" },
        [CBX_JSON_ARRAY] = { "minItems", "maxItems" },
        [CBX_JSON_OBJECT] = { NULL, NULL },
        [CBX_JSON_BOOL] = { NULL, NULL },
        [CBX_JSON_ANY] = { NULL, NULL },
    };
    if (names[field->type].least == NULL || (field->min == 0 && field->max == 0)) {
        return;
    }
    /* A text of so many bytes may have a quarter as many characters. */
    int64_t min = field->type == CBX_JSON_STR ? (field->min + 3) / 4 : field->min;
    json_object_set_new(schema, names[field->type].least, json_integer((json_int_t)min));
    if (field->max < INT64_MAX) {
        json_object_set_new(schema, names[field->type].most, json_integer((json_int_t)field->max));
    }
}

static const char *describe(const char *field)
{
    static const struct {
        const char *name, *sentence;
    } inputs[] = {
#define CBX_INPUT(name, sentence) { name, sentence },
#include "gateway/front/rest/inputs.def"
#undef CBX_INPUT
    };
    for (size_t i = 0; i < sizeof(inputs) / sizeof(inputs[0]); i++) {
        if (strcmp(inputs[i].name, field) == 0) {
            return inputs[i].sentence;
        }
    }
    return NULL;
}

static json_t *make_field(const struct cbx_json_field *field)
{
    static const char *const names[] = {
        [CBX_JSON_STR] = "string",   [CBX_JSON_INT] = "integer", [CBX_JSON_NUMBER] = "number",
        [CBX_JSON_BOOL] = "boolean", [CBX_JSON_ARRAY] = "array", [CBX_JSON_OBJECT] = "object",
        [CBX_JSON_ANY] = NULL,
    };
    json_t *schema = strcmp(field->name, "limits") == 0 ? make_limits()
                     : strcmp(field->name, "execution_options") == 0
                         ? make_input(&cbx_rest_input_options)
                         : json_object();
    const char *name = names[field->type];
    if (name != NULL) {
        json_object_set_new(schema, "type",
                            field->nullable ? json_pack("[s,s]", name, "null") : json_string(name));
    }
    add_bounds(schema, field);
    const char *sentence = describe(field->name);
    if (sentence != NULL) {
        json_object_set_new(schema, "description", json_string(sentence));
    }
    return schema;
}

static json_t *make_input(const struct cbx_rest_input *input)
{
    json_t *properties = json_object(), *required = json_array();
    for (size_t i = 0; i < input->count; i++) {
        const struct cbx_json_field *field = &input->fields[i];
        json_object_set_new(properties, field->name, make_field(field));
        if (field->required) {
            json_array_append_new(required, json_string(field->name));
        }
    }
    return json_pack("{s:s,s:o,s:o,s:b}", "type", "object", "properties", properties, "required",
                     required, "additionalProperties", 0);
}

/* --- routes ----------------------------------------------------------------------------------- */

struct route {
    const char *method, *path, *handler;
    bool legacy;
    enum cbx_right right;
    const struct cbx_rest_input *input;
    int status;
    const char *answer, *sentence;
};
static const struct route routes[] = {
#define CBX_ROUTE(method, path, handler, legacy, right, input, status, answer, sentence)           \
    { method, path,   #handler, legacy, CBX_RIGHT_##right, &cbx_rest_input_##input,                \
      status, answer, sentence },
#include "gateway/front/rest/routes.def"
#undef CBX_ROUTE
};
enum { ROUTES = sizeof(routes) / sizeof(routes[0]) };

static bool takes_bytes_too(const struct route *route)
{
    return route->input == &cbx_rest_input_answer;
}

static const struct cbx_rest_input *query_of(const struct route *route)
{
    if (takes_bytes_too(route)) {
        return &cbx_rest_input_feeding;
    }
    return strcmp(route->method, "GET") == 0 ? route->input : &cbx_rest_input_none;
}

static void add_parameters(const struct route *route, json_t *parameters)
{
    if (strstr(route->path, "{id}") != NULL) {
        json_array_append_new(parameters, json_pack("{s:s,s:s,s:b,s:{s:s,s:s}}", "name", "id", "in",
                                                    "path", "required", 1, "schema", "type",
                                                    "string", "pattern", "^[A-Za-z0-9-]{1,63}$"));
    }
    if (strstr(route->path, "{path}") != NULL) {
        json_array_append_new(
            parameters,
            json_pack("{s:s,s:s,s:b,s:s,s:{s:s}}", "name", "path", "in", "path", "required", 1,
                      "description", "A path in the workspace; its slashes are sent as they are.",
                      "schema", "type", "string"));
    }
    const struct cbx_rest_input *query = query_of(route);
    for (size_t i = 0; i < query->count; i++) {
        const struct cbx_json_field *field = &query->fields[i];
        json_array_append_new(parameters,
                              json_pack("{s:s,s:s,s:b,s:o}", "name", field->name, "in", "query",
                                        "required", field->required, "schema", make_field(field)));
    }
}

static json_t *make_content(const char *type, json_t *schema)
{
    return json_pack("{s:{s:o}}", type, "schema", schema);
}

static json_t *make_answers(const struct route *route)
{
    char status[8];
    json_t *answers = json_object(), *answer = json_pack("{s:s}", "description", "Done.");
    bool is_text = route->answer[0] == '\0', is_file = strcmp(route->answer, "Files") == 0;
    json_t *content = is_text ? make_content("text/plain", json_pack("{s:s}", "type", "string"))
                              : make_content("application/json", reference(route->answer));
    if (strcmp(route->handler, "get_openapi") == 0) {
        json_decref(content);
        content = make_content("application/json", json_pack("{s:s}", "type", "object"));
    } else if (strcmp(route->handler, "get_docs") == 0) {
        json_decref(content);
        content = make_content("text/html", json_pack("{s:s}", "type", "string"));
    } else if (is_file) { /* a file's type follows from its name */
        json_object_set_new(content, "*/*", json_pack("{s:{s:s}}", "schema", "type", "string"));
    } else if (strcmp(route->handler, "create_execution") == 0) {
        json_object_set_new(content, "text/event-stream",
                            json_pack("{s:{s:s}}", "schema", "type", "string"));
        json_object_set_new(answers, "202",
                            json_pack("{s:s,s:o}", "description", "It runs: `async` was true.",
                                      "content",
                                      make_content("application/json", reference("Execution"))));
    }
    json_object_set_new(answer, "content", content);
    snprintf(status, sizeof(status), "%d", route->status);
    json_object_set_new(answers, status, answer);
    json_object_set_new(answers, "default",
                        json_pack("{s:s,s:o}", "description", "It was refused, denied, or failed.",
                                  "content",
                                  make_content("application/problem+json", reference("Problem"))));
    return answers;
}

static json_t *make_operation(const struct route *route)
{
    CBX_AUTO_JSON parameters = json_array();
    add_parameters(route, parameters);
    json_t *operation =
        json_pack("{s:o,s:s,s:[s],s:o}", "operationId",
                  json_sprintf("%s%s", route->legacy ? "legacy_" : "", route->handler), "summary",
                  route->sentence, "tags", route->legacy ? "CodeBox-AI" : "codebox", "responses",
                  make_answers(route));
    if (json_array_size(parameters) > 0) {
        json_object_set(operation, "parameters", parameters);
    }
    if (route->right == CBX_RIGHT_PUBLIC) {
        json_object_set_new(operation, "description", json_string("Needs no token."));
        json_object_set_new(operation, "security", json_array());
    } else {
        json_object_set_new(operation, "description",
                            route->right == CBX_RIGHT_ANY
                                ? json_string("Where callers are authenticated, it needs a right, "
                                              "whichever.")
                                : json_sprintf("Where callers are authenticated, it needs the "
                                               "right %s.",
                                               cbx_right_name(route->right)));
    }
    if (route->input == &cbx_rest_input_bytes) {
        json_object_set_new(operation, "requestBody",
                            json_pack("{s:{s:{s:{}}}}", "content", "*/*", "schema"));
    } else if (route->input->count > 0 && strcmp(route->method, "GET") != 0) {
        json_object_set_new(operation, "requestBody",
                            json_pack("{s:o}", "content",
                                      make_content("application/json", make_input(route->input))));
    }
    if (takes_bytes_too(route)) {
        json_object_set_new(json_object_get(json_object_get(operation, "requestBody"), "content"),
                            "application/octet-stream", json_pack("{s:{}}", "schema"));
    }
    return operation;
}

static json_t *make_paths(void)
{
    json_t *paths = json_object();
    for (size_t i = 0; i < ROUTES; i++) {
        char method[8] = "";
        for (size_t k = 0; k + 1 < sizeof(method) && routes[i].method[k] != '\0'; k++) {
            method[k] = (char)(routes[i].method[k] | 32);
        }
        if (json_object_get(paths, routes[i].path) == NULL) {
            json_object_set_new(paths, routes[i].path, json_object());
        }
        json_object_set_new(json_object_get(paths, routes[i].path), method,
                            make_operation(&routes[i]));
    }
    return paths;
}

/* Adds the limits that the policies of this gateway permit: the largest ones, as callers may use
 * any policy. */
static void add_policy_limits(json_t *paths, const struct cbx_policies *policies)
{
    int64_t source = 0, file = 0;
    const char *path, *method;
    json_t *operations, *operation;
    for (size_t i = 0; i < policies->count; i++) {
        const struct cbx_limits *limits = &policies->items[i]->limits;
        source = limits->source_bytes > source ? limits->source_bytes : source;
        file = limits->files_bytes > file ? limits->files_bytes : file;
    }
    json_object_foreach(paths, path, operations)
    {
        json_object_foreach(operations, method, operation)
        {
            json_t *body = json_object_get(operation, "requestBody");
            json_t *content = json_object_get(body, "content");
            json_t *schema =
                json_object_get(json_object_get(content, "application/json"), "schema");
            json_t *code = json_object_get(json_object_get(schema, "properties"), "code");
            if (code != NULL) {
                json_object_set_new(code, "maxLength", json_integer((json_int_t)source));
            }
            if (json_object_get(content, "*/*") != NULL) {
                json_object_set_new(body, "description",
                                    json_sprintf("The bytes of the file, at most %lld: the limit "
                                                 "`files` of the policy.",
                                                 (long long)file));
            }
        }
    }
}

/* Makes the document (new reference). A gateway without identities accepts requests without a
 * token: the second alternative of `security`. */
static json_t *make_document(const struct cbx_policies *policies)
{
    json_t *paths = make_paths();
    add_policy_limits(paths, policies);
    return json_pack(
        "{s:s,s:{s:s,s:s,s:s},s:[{s:[]},{}],s:o,s:{s:o,s:{s:{s:s,s:s,s:s}}}}", "openapi", "3.1.0",
        "info", "title", "codebox", "version", CBX_VERSION, "description",
        "Runs code of language models under a policy, in hardened containers.", "security",
        "bearer", "paths", paths, "components", "schemas", make_schemas(), "securitySchemes",
        "bearer", "type", "http", "scheme", "bearer", "description",
        "A token of `codebox token create`, or a JSON Web Token of a configured issuer.");
}

void cbx_rest_get_openapi(struct cbx_rest_call *call)
{
    cbx_rest_answer(call, 200, make_document(cbx_flow_policies(call->service->flow)));
}

void cbx_rest_get_docs(struct cbx_rest_call *call)
{
    CBX_AUTO_JSON document = make_document(cbx_flow_policies(call->service->flow));
    struct cbx_buf text;
    cbx_buf_init(&text, DOCS_MAX_BYTES);
    cbx_docs_write(document, &text);
    call->response->status = 200;
    call->response->type = "text/html; charset=utf-8";
    call->response->security = "default-src 'none'; style-src 'self'; base-uri 'none'; "
                               "form-action 'none'; frame-ancestors 'none'";
    call->response->bytes_len = text.len;
    call->response->bytes = cbx_buf_take(&text);
}
