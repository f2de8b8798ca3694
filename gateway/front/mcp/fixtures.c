/* SPDX-License-Identifier: MIT
 * Fixtures of the conformance suite. */
#include "gateway/front/mcp/fixtures.h"

#include "gateway/front/mcp/protocol/jsonrpc.h"
#include "policies/base/clock.h"

#include <unistd.h>

#define RESULT_TYPE    "resultType"
#define INPUT_REQUIRED "input_required"

enum { STATE_MS = 300000, ANSWER_MS = 30000, NOTICE_DELAY_US = 50000 };
enum keep { OPEN, SEALED };
enum notice_kind { PROGRESS, MESSAGE };

static const struct listed {
    const char *list, *json;
} listed[] = {
#define CBX_FIXTURE_LISTED(list, ...) { #list, #__VA_ARGS__ },
#define CBX_FIXTURE(...)
#define CBX_FIXTURE_INPUT(...)
#define CBX_FIXTURE_NOTICE(...)
#include "gateway/front/mcp/fixtures.def"
#undef CBX_FIXTURE_LISTED
#undef CBX_FIXTURE
};

static const struct fixture {
    const char *method, *name;
    enum keep keep;
    const char *json;
} rows[] = {
#define CBX_FIXTURE_LISTED(...)
#define CBX_FIXTURE(method, name, keep, ...) { method, name, keep, #__VA_ARGS__ },
#include "gateway/front/mcp/fixtures.def"
#undef CBX_FIXTURE
#undef CBX_FIXTURE_INPUT
};

static const struct input {
    const char *name;
    int round;
    const char *capability, *key, *json;
} inputs[] = {
#define CBX_FIXTURE(...)
#define CBX_FIXTURE_INPUT(name, round, capability, key, ...)                                       \
    { name, round, capability, key, #__VA_ARGS__ },
#include "gateway/front/mcp/fixtures.def"
#undef CBX_FIXTURE_INPUT
#undef CBX_FIXTURE_NOTICE
};

static const struct notice {
    const char *name;
    enum notice_kind kind;
    const char *json;
} notices[] = {
#define CBX_FIXTURE_INPUT(...)
#define CBX_FIXTURE_NOTICE(name, kind, ...) { name, kind, #__VA_ARGS__ },
#include "gateway/front/mcp/fixtures.def"
#undef CBX_FIXTURE_LISTED
#undef CBX_FIXTURE
#undef CBX_FIXTURE_INPUT
#undef CBX_FIXTURE_NOTICE
};

enum {
    LISTED = sizeof(listed) / sizeof(listed[0]),
    ROWS = sizeof(rows) / sizeof(rows[0]),
    INPUTS = sizeof(inputs) / sizeof(inputs[0]),
    NOTICES = sizeof(notices) / sizeof(notices[0])
};

/* A request on its way to its result. */
struct serving {
    const struct cbx_mcp_fixtures *fixtures;
    const struct cbx_mcp_fixture_request *request;
    const struct fixture *row;
    json_t *variables; /* values for "{NAME}" */
    json_t *answers;   /* the client's answers, by key */
    int round;
};

void cbx_mcp_fixtures_init(struct cbx_mcp_fixtures *fixtures, struct cbx_mcp_sessions *sessions)
{
    cbx_request_key_init(&fixtures->key);
    fixtures->sessions = sessions;
}

json_t *cbx_mcp_fixtures_capabilities(bool stateless)
{
    json_t *all =
        json_pack("{s:{},s:{},s:{},s:{}}", "tools", "resources", "prompts", "completions");
    if (!stateless) {
        json_object_set_new(all, "logging", json_object());
        json_object_set_new(json_object_get(all, "resources"), "subscribe", json_true());
    }
    return all;
}

/* --- texts of the table ----------------------------------------------------------------------- */

static json_t *parse(const char *text)
{
    json_t *value = NULL;
    cbx_json_parse(cbx_str_of(text), strlen(text), &value, &(struct cbx_err){ 0 });
    return value;
}

/* Appends a variable: a string unchanged, another value as JSON. */
static void add_variable(const json_t *value, struct cbx_buf *out)
{
    if (json_is_string(value)) {
        cbx_buf_add(out, cbx_json_str(value));
    } else {
        cbx_json_write(out, value);
    }
}

/* Returns the variable whose name is in braces at p[0]; NULL if there is none. */
static const json_t *find_variable(const json_t *variables, const char *p, const char **end)
{
    char name[64];
    *end = strchr(p, '}');
    size_t len = *end != NULL ? (size_t)(*end - p - 1) : sizeof(name);
    if (len >= sizeof(name)) {
        return NULL;
    }
    memcpy(name, p + 1, len);
    name[len] = '\0';
    return json_object_get(variables, name);
}

static json_t *fill_text(const char *text, const json_t *variables)
{
    CBX_AUTO_DONE(buf) out;
    cbx_buf_init(&out, CBX_RPC_ANSWER_MAX);
    for (const char *p = text, *end; *p != '\0'; p++) {
        const json_t *value = *p == '{' ? find_variable(variables, p, &end) : NULL;
        if (value != NULL) {
            add_variable(value, &out);
            p = end;
        } else {
            cbx_buf_add_char(&out, *p);
        }
    }
    return cbx_json_text(cbx_buf_str(&out));
}

/* Returns the value with variables in its texts (new reference). The tables are shallow. */
static json_t *fill(const json_t *value, const json_t *variables)
{
    const char *key;
    json_t *item;
    size_t i;
    if (json_is_string(value)) {
        return fill_text(json_string_value(value), variables);
    }
    json_t *copy = json_copy((json_t *)value);
    json_object_foreach(copy, key, item)
    {
        json_object_set_new(copy, key, fill(item, variables));
    }
    json_array_foreach(copy, i, item)
    {
        json_array_set_new(copy, i, fill(item, variables));
    }
    return copy;
}

static json_t *fill_row(const char *text, const json_t *variables)
{
    CBX_AUTO_JSON value = parse(text);
    return fill(value, variables);
}

/* --- which fixture ---------------------------------------------------------------------------- */

/* Returns the name, the URI or the reference of a request. */
static struct cbx_str name_of(const struct cbx_mcp_fixture_request *request)
{
    const json_t *ref = json_object_get(request->params, "ref");
    const json_t *from = ref != NULL ? ref : request->params;
    struct cbx_str name = cbx_json_str(json_object_get(from, "name"));
    return name.p != NULL ? name : cbx_json_str(json_object_get(from, "uri"));
}

static bool is_plain(struct cbx_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.p[i], low = (char)(c | 32);
        if (!(low >= 'a' && low <= 'z') && !(c >= '0' && c <= '9') && c != '-' && c != '_') {
            return false;
        }
    }
    return text.len > 0;
}

/* Compares with a name or a URI with one part in braces, which becomes a variable. */
static bool matches(const char *pattern, struct cbx_str name, json_t *variables)
{
    const char *open = strchr(pattern, '{'), *close = strchr(pattern, '}');
    if (open == NULL) {
        return cbx_str_is(name, pattern) || strcmp(pattern, "*") == 0;
    }
    struct cbx_str before = { pattern, (size_t)(open - pattern) }, after = cbx_str_of(close + 1);
    struct cbx_str part =
        cbx_str_sub(name, before.len, name.len > after.len ? name.len - after.len : 0);
    if (!cbx_str_starts(name, before) || !cbx_str_ends(name, after) || !is_plain(part)) {
        return false;
    }
    json_object_set_new(variables, "id", cbx_json_text(part));
    return true;
}

static const struct fixture *find(const struct cbx_mcp_fixture_request *request, json_t *variables)
{
    struct cbx_str name = name_of(request);
    for (size_t i = 0; i < ROWS && name.p != NULL; i++) {
        if (cbx_str_is(request->method, rows[i].method) && matches(rows[i].name, name, variables)) {
            return &rows[i];
        }
    }
    return NULL;
}

static bool can_answer(const struct cbx_mcp_fixture_request *request, const struct input *input)
{
    return json_object_get(request->capabilities, input->capability) != NULL;
}

static bool belongs(const struct input *input, const struct fixture *row, int round)
{
    return input->round == round && strcmp(input->name, row->name) == 0;
}

bool cbx_mcp_fixtures_allow(const struct cbx_mcp_fixture_request *request, json_t **required)
{
    CBX_AUTO_JSON variables = json_object();
    CBX_AUTO_JSON missing = json_object();
    const struct fixture *row = find(request, variables);
    bool asks = false, answers = false;
    for (size_t i = 0; i < INPUTS && row != NULL; i++) {
        if (belongs(&inputs[i], row, 0)) {
            asks = true;
            answers |= can_answer(request, &inputs[i]);
            json_object_set_new(missing, inputs[i].capability, json_object());
        }
    }
    if (asks && !answers) {
        *required = json_incref(missing);
    }
    return !asks || answers;
}

bool cbx_mcp_fixtures_send(const struct cbx_mcp_fixture_request *request)
{
    struct cbx_str name = name_of(request);
    bool sends = false;
    for (size_t i = 0; i < NOTICES; i++) {
        sends |= cbx_str_is(name, notices[i].name);
    }
    for (size_t i = 0; i < INPUTS && !request->stateless; i++) {
        sends |= cbx_str_is(name, inputs[i].name);
    }
    return sends;
}

/* --- arguments -------------------------------------------------------------------------------- */

/* Returns the first argument that the item of the list requires and the request lacks; NULL if
 * all are present. */
static const char *find_missing(const json_t *item, const json_t *arguments, bool *is_prompt)
{
    const json_t *names = json_object_get(json_object_get(item, "inputSchema"), "required");
    const json_t *each;
    size_t i;
    *is_prompt = json_object_get(item, "arguments") != NULL;
    names = *is_prompt ? json_object_get(item, "arguments") : names;
    json_array_foreach(names, i, each)
    {
        const json_t *text = *is_prompt ? json_object_get(each, "name") : each;
        if (!json_is_string(json_object_get(arguments, json_string_value(text)))) {
            return json_string_value(text);
        }
    }
    return NULL;
}

static json_t *make_failure(const char *text)
{
    return json_pack("{s:[{s:s,s:s}],s:b}", "content", "type", "text", "text", text, "isError", 1);
}

/* Mistakes in the call of a tool are results, mistakes in other requests are errors. */
static int fail_call(const struct serving *s, const char *text, json_t **result,
                     struct cbx_err *err)
{
    if (strcmp(s->row->method, "tools/call") == 0) {
        *result = make_failure(text);
        return 0;
    }
    return cbx_fail(err, CBX_EINVAL, "%s", text);
}

static int check_arguments(const struct serving *s, json_t **result, struct cbx_err *err)
{
    char text[128];
    const json_t *arguments = json_object_get(s->request->params, "arguments");
    for (size_t i = 0; i < LISTED; i++) {
        CBX_AUTO_JSON item = parse(listed[i].json);
        bool is_prompt;
        const char *name = json_string_value(json_object_get(item, "name"));
        bool is = strcmp(name, s->row->name) == 0;
        const char *missing = is ? find_missing(item, arguments, &is_prompt) : NULL;
        if (missing != NULL) {
            snprintf(text, sizeof(text), "the argument '%s' is missing or no string", missing);
            return fail_call(s, text, result, err);
        }
    }
    return 0;
}

/* --- notifications ---------------------------------------------------------------------------- */

static void send_notice(const struct serving *s, const struct notice *notice, const json_t *token)
{
    CBX_AUTO_DONE(buf) line;
    cbx_buf_init(&line, 8192);
    json_t *params = parse(notice->json);
    if (notice->kind == PROGRESS) {
        json_object_set(params, "progressToken", (json_t *)token);
    }
    CBX_AUTO_JSON json =
        json_pack("{s:s,s:s,s:o}", "jsonrpc", "2.0", "method",
                  notice->kind == PROGRESS ? "notifications/progress" : "notifications/message",
                  "params", params);
    cbx_json_write(&line, json);
    cbx_buf_add_char(&line, '\n');
    s->request->peer->notify(s->request->peer->context, cbx_buf_str(&line));
}

static void send_notices(const struct serving *s)
{
    const struct cbx_mcp_peer *peer = s->request->peer;
    const json_t *token =
        json_object_get(json_object_get(s->request->params, "_meta"), "progressToken");
    bool listens = peer != NULL && peer->notify != NULL;
    for (size_t i = 0; i < NOTICES; i++) {
        if (strcmp(notices[i].name, s->row->name) != 0) {
            continue;
        }
        if (listens && (notices[i].kind == PROGRESS ? token != NULL : s->request->logs)) {
            send_notice(s, &notices[i], token);
        }
        usleep(NOTICE_DELAY_US);
    }
}

/* --- questions -------------------------------------------------------------------------------- */

/* A client's answer may be used in texts: all of it under the key, and the members of its
 * content. */
static void keep_answer(struct serving *s, const char *key, const json_t *answer)
{
    json_object_set(s->variables, key, (json_t *)answer);
    json_object_update(s->variables, json_object_get(answer, "content"));
}

static int read_state(struct serving *s, const json_t *state, struct cbx_err *err)
{
    CBX_AUTO_JSON opened = NULL;
    int failed = cbx_request_state_open(&s->fixtures->key, cbx_json_str(state),
                                        CBX_STR(CBX_CALLER_LOCAL), cbx_clock_ms(), &opened, err);
    if (failed) {
        return failed;
    }
    if (!cbx_str_is(cbx_json_str(json_object_get(opened, "name")), s->row->name)) {
        return cbx_fail(err, CBX_EINVAL, "requestState is of another request");
    }
    s->round = (int)json_integer_value(json_object_get(opened, "round"));
    json_object_update(s->answers, json_object_get(opened, "answers"));
    return 0;
}

static int read_answers(struct serving *s, struct cbx_err *err)
{
    const json_t *state = json_object_get(s->request->params, "requestState");
    json_t *given = json_object_get(s->request->params, "inputResponses");
    if (given != NULL && !json_is_object(given)) {
        return cbx_fail(err, CBX_EINVAL, "inputResponses must be an object");
    }
    int failed = 0;
    if (state != NULL) {
        failed = read_state(s, state, err);
    }
    if (!failed && (state != NULL || s->row->keep == OPEN)) {
        json_object_update(s->answers, given);
    }
    return failed;
}

/* Returns the unanswered questions of this round (new reference); NULL if there are none. */
static json_t *make_questions(const struct serving *s)
{
    CBX_AUTO_JSON questions = json_object();
    for (size_t i = 0; i < INPUTS; i++) {
        const struct input *input = &inputs[i];
        if (belongs(input, s->row, s->round) && can_answer(s->request, input) &&
            !json_is_object(json_object_get(s->answers, input->key))) {
            json_object_set_new(questions, input->key, fill_row(input->json, s->variables));
        }
    }
    return json_object_size(questions) > 0 ? json_incref(questions) : NULL;
}

static bool has_round(const struct fixture *row, int round)
{
    for (size_t i = 0; i < INPUTS; i++) {
        if (belongs(&inputs[i], row, round)) {
            return true;
        }
    }
    return false;
}

static int seal(const struct serving *s, json_t *result, struct cbx_err *err)
{
    CBX_AUTO_DONE(buf) text;
    CBX_AUTO_JSON state =
        json_pack("{s:s,s:i,s:O}", "name", s->row->name, "round", s->round, "answers", s->answers);
    cbx_buf_init(&text, CBX_REQUEST_STATE_MAX);
    if (cbx_request_state_seal(&s->fixtures->key, state, CBX_STR(CBX_CALLER_LOCAL),
                               cbx_clock_ms() + STATE_MS, &text) != 0) {
        return cbx_fail(err, CBX_EINVAL, "the answers are too long");
    }
    json_object_set_new(result, "requestState", cbx_json_text(cbx_buf_str(&text)));
    return 0;
}

/* Makes the next round of questions as a result; none if all are answered. */
static int ask_by_result(struct serving *s, json_t **result, struct cbx_err *err)
{
    int failed = 0;
    if (has_round(s->row, 0)) {
        failed = read_answers(s, err);
    }
    json_t *questions = failed ? NULL : make_questions(s);
    while (!failed && questions == NULL && has_round(s->row, s->round)) {
        s->round++;
        questions = make_questions(s);
    }
    if (questions == NULL) {
        return failed;
    }
    CBX_AUTO_JSON asked =
        json_pack("{s:s,s:o}", RESULT_TYPE, INPUT_REQUIRED, "inputRequests", questions);
    if (s->row->keep == SEALED) {
        failed = seal(s, asked, err);
    }
    *result = failed ? NULL : json_incref(asked);
    return failed;
}

static int ask_one(struct serving *s, const struct input *input, struct cbx_err *err)
{
    const struct cbx_mcp_peer *peer = s->request->peer;
    CBX_AUTO_JSON question = fill_row(input->json, s->variables);
    json_t *answer = NULL;
    if (peer == NULL || peer->notify == NULL) {
        return cbx_fail(err, CBX_EIO, "the client takes no stream, so it cannot be asked");
    }
    const struct cbx_mcp_asker asker = { .send = peer->notify,
                                         .context = peer->context,
                                         .wait_ms = ANSWER_MS };
    int failed =
        cbx_mcp_session_ask(s->fixtures->sessions, peer->session, question, &asker, &answer, err);
    if (!failed) {
        json_object_set_new(s->answers, input->key, answer);
    }
    return failed;
}

/* Asks all rounds by requests to the client. */
static int ask_by_requests(struct serving *s, json_t **result, struct cbx_err *err)
{
    CBX_AUTO_JSON required = NULL;
    int failed = 0;
    if (!cbx_mcp_fixtures_allow(s->request, &required)) {
        return fail_call(s, "the client declared no capability to answer a question", result, err);
    }
    for (s->round = 0; has_round(s->row, s->round) && !failed; s->round++) {
        for (size_t i = 0; i < INPUTS && !failed; i++) {
            bool asks = belongs(&inputs[i], s->row, s->round) && can_answer(s->request, &inputs[i]);
            if (asks) {
                failed = ask_one(s, &inputs[i], err);
            }
        }
    }
    return failed;
}

/* --- answers ---------------------------------------------------------------------------------- */

static bool answer_list(struct cbx_str method, json_t **result)
{
    static const char *const lists[][2] = { { "tools/list", "tools" },
                                            { "prompts/list", "prompts" },
                                            { "resources/list", "resources" },
                                            { "resources/templates/list", "resourceTemplates" } };
    for (size_t k = 0; k < sizeof(lists) / sizeof(lists[0]); k++) {
        if (!cbx_str_is(method, lists[k][0])) {
            continue;
        }
        json_t *items = json_array();
        for (size_t i = 0; i < LISTED; i++) {
            if (strcmp(listed[i].list, lists[k][1]) == 0) {
                json_array_append_new(items, parse(listed[i].json));
            }
        }
        *result = json_pack("{s:o}", lists[k][1], items);
        return true;
    }
    return false;
}

static int serve(struct serving *s, json_t **result, struct cbx_err *err)
{
    const char *key;
    json_t *answer;
    int failed = check_arguments(s, result, err);
    if (failed || *result != NULL) {
        return failed;
    }
    send_notices(s);
    if (s->request->stateless) {
        failed = ask_by_result(s, result, err);
    } else {
        failed = ask_by_requests(s, result, err);
    }
    if (failed || *result != NULL) {
        return failed;
    }
    json_object_foreach(s->answers, key, answer)
    {
        keep_answer(s, key, answer);
    }
    *result = fill_row(s->row->json, s->variables);
    return 0;
}

int cbx_mcp_fixtures_answer(const struct cbx_mcp_fixtures *fixtures,
                            const struct cbx_mcp_fixture_request *request, json_t **result,
                            struct cbx_err *err)
{
    CBX_AUTO_JSON variables = json_object();
    CBX_AUTO_JSON answers = json_object();
    json_t *made = NULL;
    struct serving s = {
        .fixtures = fixtures, .request = request, .variables = variables, .answers = answers
    };
    if (answer_list(request->method, result)) {
        return 0;
    }
    json_object_update(variables, json_object_get(request->params, "arguments"));
    s.row = find(request, variables);
    if (s.row == NULL) {
        return cbx_fail(err, CBX_ENOTFOUND, "there is no fixture '%.*s'",
                        CBX_STR_SHOWN(cbx_str_sub(name_of(request), 0, 64)));
    }
    int failed = serve(&s, &made, err);
    *result = failed ? *result : made;
    return failed;
}
