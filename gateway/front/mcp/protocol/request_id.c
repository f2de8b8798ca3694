/* SPDX-License-Identifier: MIT
 * The id of a message, which may be malformed. */
#include "gateway/front/mcp/protocol/request_id.h"

/* Tokens that may come next. */
enum {
    AT_KEY = 1 << 0,
    AT_VALUE = 1 << 1,
    AT_COLON = 1 << 2,
    AT_COMMA = 1 << 3,
    AT_CLOSE = 1 << 4,
};

enum { BETWEEN_TOKENS = 0, IN_STRING, IN_ESCAPE, IN_CODE_POINT, IN_WORD };

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool is_structure(char c)
{
    return c == '{' || c == '}' || c == '[' || c == ']' || c == ',' || c == ':' || c == '"';
}

/* --- levels ----------------------------------------------------------------------------------- */

static bool is_object(const struct cbx_request_id *s)
{
    size_t level = s->depth - 1;
    return (s->objects[level / 64] >> (level % 64) & 1) != 0;
}

static void open_level(struct cbx_request_id *s, bool object)
{
    size_t level = s->depth++;
    if (level < CBX_REQUEST_ID_LEVELS) {
        uint64_t bit = (uint64_t)1 << (level % 64);
        s->objects[level / 64] = (s->objects[level / 64] & ~bit) | (object ? bit : 0);
    }
    s->expected = AT_CLOSE | (object ? AT_KEY : AT_VALUE);
}

static void close_level(struct cbx_request_id *s, bool object)
{
    bool matches = s->depth > CBX_REQUEST_ID_LEVELS || is_object(s) == object;
    s->depth--;
    s->expected = AT_COMMA | AT_CLOSE;
    s->ended = !matches || s->depth == 0;
}

/* Returns the tokens after a comma: the kind of a very deep level is not known. */
static unsigned after_comma(const struct cbx_request_id *s)
{
    return s->depth > CBX_REQUEST_ID_LEVELS ? AT_KEY | AT_VALUE | AT_CLOSE
           : is_object(s)                   ? AT_KEY | AT_CLOSE
                                            : AT_VALUE | AT_CLOSE;
}

/* --- members of the top ----------------------------------------------------------------------- */

static void begin_token(struct cbx_request_id *s)
{
    s->name_len = 0;
    s->value_bytes = 0;
}

/* Adds a byte of a string or word of the line. The next token overwrites the bytes of values
 * other than the id's. */
static void add_raw(struct cbx_request_id *s, char c)
{
    if (s->value_bytes < CBX_REQUEST_ID_MAX) {
        s->value[s->value_bytes] = c;
    }
    s->value_bytes++;
}

/* Adds a decoded character of a string. An unknown name is stored as too long. */
static void add_decoded(struct cbx_request_id *s, unsigned c)
{
    if (s->name_len < sizeof(s->name) && c < 0x80) {
        s->name[s->name_len++] = (char)c;
    } else {
        s->name_len = sizeof(s->name);
    }
}

static bool name_is(const struct cbx_request_id *s, const char *name)
{
    return cbx_str_is((struct cbx_str){ .p = s->name, .len = s->name_len }, name);
}

static void end_key(struct cbx_request_id *s)
{
    s->expected = AT_COLON;
    if (s->depth == 1) {
        s->is_id = name_is(s, "id");
        s->has_method |= name_is(s, "method");
        s->has_outcome |= name_is(s, "result") || name_is(s, "error");
    }
}

static void keep_id(struct cbx_request_id *s)
{
    size_t kept = s->value_bytes < CBX_REQUEST_ID_MAX ? s->value_bytes : CBX_REQUEST_ID_MAX;
    bool same = s->id_bytes == s->value_bytes && memcmp(s->id, s->value, kept) == 0;
    s->conflict |= s->has_id && !same;
    s->has_id = true;
    s->id_bytes = s->value_bytes;
    memcpy(s->id, s->value, kept);
}

static void end_value(struct cbx_request_id *s)
{
    s->expected = AT_COMMA | AT_CLOSE;
    if (s->depth == 1 && s->is_id) {
        keep_id(s);
    }
}

static void end_string(struct cbx_request_id *s)
{
    bool either = (s->expected & AT_KEY) != 0 && (s->expected & AT_VALUE) != 0;
    s->where = BETWEEN_TOKENS;
    if (either) {
        s->expected = AT_COLON | AT_COMMA | AT_CLOSE;
    } else if ((s->expected & AT_KEY) != 0) {
        end_key(s);
    } else {
        end_value(s);
    }
}

/* --- tokens ----------------------------------------------------------------------------------- */

static unsigned token_of(char c)
{
    switch (c) {
    case '}':
    case ']':
        return AT_CLOSE;
    case ',':
        return AT_COMMA;
    case ':':
        return AT_COLON;
    case '"':
        return AT_KEY | AT_VALUE;
    default:
        return AT_VALUE;
    }
}

/* An id that is an object or an array is stored as its bracket, which is no id. */
static void begin_container(struct cbx_request_id *s, char c)
{
    if (s->depth == 1 && s->is_id) {
        begin_token(s);
        add_raw(s, c);
        keep_id(s);
    }
    open_level(s, c == '{');
}

/* A byte order mark before the message is skipped. */
static void begin_message(struct cbx_request_id *s, char c)
{
    if (c == '{') {
        open_level(s, true);
    } else {
        s->ended = !is_space(c) && c != '\xef' && c != '\xbb' && c != '\xbf';
    }
}

static void take_token(struct cbx_request_id *s, char c)
{
    if ((s->expected & token_of(c)) == 0 || c == '\'') {
        s->ended = true;
    } else if (c == '{' || c == '[') {
        begin_container(s, c);
    } else if (c == '}' || c == ']') {
        close_level(s, c == '}');
    } else if (c == ',') {
        s->expected = after_comma(s);
    } else if (c == ':') {
        s->expected = AT_VALUE;
    } else {
        begin_token(s);
        add_raw(s, c);
        s->where = c == '"' ? IN_STRING : IN_WORD;
    }
}

/* --- strings ---------------------------------------------------------------------------------- */

static void take_string(struct cbx_request_id *s, char c)
{
    add_raw(s, c);
    if (c == '"') {
        end_string(s);
    } else if (c == '\\') {
        s->where = IN_ESCAPE;
    } else {
        add_decoded(s, (unsigned char)c);
    }
}

static void take_escape(struct cbx_request_id *s, char c)
{
    add_raw(s, c);
    s->where = c == 'u' ? IN_CODE_POINT : IN_STRING;
    s->escape = s->escape_digits = 0;
    if (c != 'u') {
        add_decoded(s, 0x80); /* no letter of a known name has a short escape */
    }
}

static int hex_value(char c)
{
    return c >= '0' && c <= '9'                     ? c - '0'
           : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10
                                                    : -1;
}

/* An escape with too few digits ends at the first other byte, which may end the string. */
static void take_code_point(struct cbx_request_id *s, char c)
{
    int digit = hex_value(c);
    if (digit < 0) {
        s->where = IN_STRING;
        add_decoded(s, 0x80);
        take_string(s, c);
        return;
    }
    add_raw(s, c);
    s->escape = s->escape << 4 | (unsigned)digit;
    if (++s->escape_digits == 4) {
        s->where = IN_STRING;
        add_decoded(s, s->escape);
    }
}

static void take_byte(struct cbx_request_id *s, char c)
{
    if (s->where == IN_WORD) {
        if (!is_space(c) && !is_structure(c)) {
            add_raw(s, c);
            return;
        }
        s->where = BETWEEN_TOKENS;
        end_value(s);
    }
    switch (s->where) {
    case IN_STRING:
        take_string(s, c);
        break;
    case IN_ESCAPE:
        take_escape(s, c);
        break;
    case IN_CODE_POINT:
        take_code_point(s, c);
        break;
    default:
        if (s->depth == 0) {
            begin_message(s, c);
        } else if (!is_space(c)) {
            take_token(s, c);
        }
    }
}

/* Returns the number of bytes up to the next one with a meaning in a string: most of a long
 * line. */
static size_t plain_bytes(struct cbx_str bytes)
{
    size_t n = 0;
    while (n < bytes.len && bytes.p[n] != '"' && bytes.p[n] != '\\') {
        n++;
    }
    return n;
}

void cbx_request_id_feed(struct cbx_request_id *s, struct cbx_str bytes)
{
    for (size_t at = 0; at < bytes.len && !s->ended;) {
        bool is_long = s->where == IN_STRING && s->value_bytes > CBX_REQUEST_ID_MAX;
        size_t skipped = is_long ? plain_bytes(cbx_str_sub(bytes, at, bytes.len)) : 0;
        s->value_bytes += skipped;
        at += skipped;
        if (skipped == 0) {
            take_byte(s, bytes.p[at++]);
        }
    }
}

/* --- the id ----------------------------------------------------------------------------------- */

static bool is_integer(struct cbx_str text)
{
    size_t at = text.len > 0 && text.p[0] == '-' ? 1 : 0, digits = text.len - at;
    if (digits == 0 || (digits > 1 && text.p[at] == '0')) {
        return false;
    }
    while (at < text.len && text.p[at] >= '0' && text.p[at] <= '9') {
        at++;
    }
    return at == text.len;
}

/* Returns the number of bytes after a backslash that belong to its escape; 0 if it is none. */
static size_t escape_bytes(struct cbx_str rest)
{
    if (rest.len == 0) {
        return 0;
    }
    if (rest.p[0] != 'u') {
        return memchr("\"\\/bfnrt", rest.p[0], 8) != NULL ? 1 : 0;
    }
    size_t n = 1;
    while (n < 5 && n < rest.len && hex_value(rest.p[n]) >= 0) {
        n++;
    }
    return n == 5 ? n : 0;
}

/* `text` is from quote to quote. A response repeats it, and must be JSON. */
static bool is_string(struct cbx_str text)
{
    if (text.len < 2 || text.p[0] != '"' || !cbx_str_is_utf8(text, NULL)) {
        return false;
    }
    for (size_t at = 1; at < text.len - 1; at++) {
        if ((unsigned char)text.p[at] < 0x20) {
            return false;
        }
        if (text.p[at] == '\\') {
            size_t bytes = escape_bytes(cbx_str_sub(text, at + 1, text.len - 1));
            if (bytes == 0) {
                return false;
            }
            at += bytes;
        }
    }
    return true;
}

struct cbx_str cbx_request_id_value(const struct cbx_request_id *s)
{
    struct cbx_str text = { .p = s->id, .len = s->id_bytes };
    bool fits = s->has_id && !s->conflict && text.len <= CBX_REQUEST_ID_MAX;
    return fits && (is_integer(text) || is_string(text)) ? text : (struct cbx_str){ 0 };
}

struct cbx_str cbx_request_id_to_answer(const struct cbx_request_id *s)
{
    return s->has_outcome && !s->has_method ? (struct cbx_str){ 0 } : cbx_request_id_value(s);
}
