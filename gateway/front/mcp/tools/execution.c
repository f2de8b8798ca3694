/* SPDX-License-Identifier: MIT
 * An execution as the result of a tool. */
#include "gateway/front/mcp/protocol/trace.h"
#include "gateway/front/mcp/tools/clean.h"
#include "gateway/front/mcp/tools/content_internal.h"
#include "gateway/front/mcp/tools/parts.h"
#include "gateway/front/uri.h"
#include "policies/base/text/base64.h"

enum { TEXT_MAX = 256 * 1024 * 1024 };

/* An execution while its result is built. */
struct shown {
    struct cbx_content c;
    const json_t *execution;
    const char *id, *session, *outcome; /* session: empty for a one-shot */
    bool running, is_error;             /* running: it has not ended, and may not have begun */
    size_t room;                        /* characters left for the program's texts */
    int64_t omitted;                    /* bytes of the output that the gateway did not keep */
    struct cbx_buf kept; /* the last lines: notes about texts that are not shown completely */
    json_t *notes, *pictures;
    size_t picture_bytes;
};

static const char *text_of(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text != NULL ? text : "";
}

static int64_t number_of(const json_t *object, const char *name)
{
    return json_integer_value(json_object_get(object, name));
}

static bool is(const char *text, const char *other)
{
    return strcmp(text, other) == 0;
}

static void add_note(struct shown *s, const char *text)
{
    json_array_append_new(s->notes, json_string(text));
}

/* --- the program's texts ---------------------------------------------------------------------- */

/* Adds "stdout: 1.0 of 5.2 MB kept, URI". */
static void add_kept(struct shown *s, const char *name, const char *part, size_t stored,
                     int64_t omitted)
{
    double total = (double)stored + (double)omitted;
    const struct cbx_content_unit *unit = cbx_content_unit_of(total);
    cbx_buf_printf(&s->kept, "%s: ", name);
    if (omitted > 0) {
        cbx_buf_printf(&s->kept, "%.1f of ", (double)stored / unit->bytes);
    }
    cbx_buf_printf(&s->kept, "%.1f %s kept, " CBX_EXECUTION_URI "%s/%s\n", total / unit->bytes,
                   unit->name, s->id, part);
}

/* Returns the bytes beyond the policy's limit of output. */
static int64_t count_omitted(const json_t *execution)
{
    int64_t omitted = 0;
    size_t i;
    const json_t *item;
    json_array_foreach(json_object_get(execution, "output"), i, item)
    {
        omitted += is(text_of(item, "kind"), "cut") ? number_of(item, "size") : 0;
    }
    return omitted;
}

/* Adds one of the texts: as a block and in the structured part, cut to `max`, which is
 * subtracted from the room. */
static void add_part(struct shown *s, const char *name, const char *part, struct cbx_str clean,
                     size_t max)
{
    char where[192];
    bool incomplete = s->omitted > 0 && strcmp(name, "stdout") == 0;
    CBX_AUTO_DONE(buf) cut;
    cbx_buf_init(&cut, 4 * CBX_CONTENT_MAX);
    if (clean.len == 0) {
        return;
    }
    snprintf(where, sizeof(where), "sandbox_read_file with path " CBX_EXECUTION_URI "%s/%s has %s",
             s->id, part, incomplete ? "what was kept" : "all of it");
    max = max < s->room ? max : s->room;
    if (cbx_clean_cut(&cut, clean, max, where) || incomplete) {
        add_kept(s, name, part, clean.len, incomplete ? s->omitted : 0);
    }
    struct cbx_str text = cbx_buf_str(&cut);
    size_t cost = cbx_clean_cost(text);
    s->room -= cost < s->room ? cost : s->room;
    cbx_buf_printf(&s->c.text, "--- %s ---\n", name);
    cbx_buf_add(&s->c.text, text);
    cbx_buf_add_cstr(&s->c.text, cbx_str_ends(text, CBX_STR("\n")) ? "" : "\n");
    cbx_content_set(&s->c, name, text);
}

/* --- pictures --------------------------------------------------------------------------------- */

/* Writes "640x480" for a PNG (its IHDR comes first), "" if it is not known. */
static void measure_png(struct cbx_str base64, char out[32])
{
    enum { CHARS = 32, HEADER = 24 };
    CBX_AUTO_DONE(buf) header;
    cbx_buf_init(&header, CHARS);
    out[0] = '\0';
    bool read = base64.len >= CHARS && cbx_base64_decode(cbx_str_sub(base64, 0, CHARS), &header);
    const unsigned char *bytes = (const unsigned char *)header.p;
    if (read && header.len == HEADER && memcmp(bytes + 1, "PNG", 3) == 0) {
        snprintf(out, 32, "%ux%u", (unsigned)bytes[18] << 8 | bytes[19],
                 (unsigned)bytes[22] << 8 | bytes[23]);
    }
}

static void add_picture(struct shown *s, const struct cbx_picture *picture, size_t number)
{
    size_t bytes = picture->base64.len / 4 * 3;
    char size[32], uri[128];
    bool fits = bytes <= CBX_CONTENT_IMAGE_MAX && number <= CBX_CONTENT_IMAGE_COUNT &&
                s->picture_bytes + picture->base64.len <= CBX_CONTENT_IMAGES_MAX;
    measure_png(picture->base64, size);
    snprintf(uri, sizeof(uri), CBX_EXECUTION_URI "%s/pictures/%zu", s->id, number);
    if (fits) {
        s->picture_bytes += picture->base64.len;
        json_array_append_new(s->c.blocks,
                              json_pack("{s:s,s:o,s:s}", "type", "image", "data",
                                        cbx_json_text(picture->base64), "mimeType", picture->type));
    }
    cbx_buf_printf(&s->c.text, "[picture %zu: %s%s%s, ", number, picture->name,
                   size[0] != '\0' ? " " : "", size);
    cbx_content_add_size(&s->c.text, bytes);
    cbx_buf_printf(&s->c.text, "%s, %s]\n", fits ? "" : ", too large to be shown", uri);
    json_t *shown =
        json_pack("{s:s,s:I,s:s}", "type", picture->type, "size", (json_int_t)bytes, "uri", uri);
    if (size[0] != '\0') {
        json_object_set_new(shown, "pixels", json_string(size));
    }
    if (!fits) {
        json_object_set_new(shown, "shown", json_false());
    }
    json_array_append_new(s->pictures, shown);
}

static void add_pictures(struct shown *s)
{
    enum { MOST = 100 };
    struct cbx_picture picture;
    for (size_t n = 1; n <= MOST && cbx_part_picture_at(s->execution, n, &picture); n++) {
        add_picture(s, &picture, n);
    }
    if (json_array_size(s->pictures) > 0) {
        json_object_set(s->c.structured, "pictures", s->pictures);
    }
}

/* --- the error -------------------------------------------------------------------------------- */

/* Adds the exception on one line, and its traceback; its URI has all frames. */
static void add_exception(struct shown *s)
{
    enum { LINE_MAX_COST = 500, TRACEBACK_MAX = 6000 };
    const json_t *error = json_object_get(s->execution, "error");
    CBX_AUTO_DONE(buf) line;
    CBX_AUTO_DONE(buf) clean;
    CBX_AUTO_DONE(buf) cut;
    CBX_AUTO_DONE(buf) folded;
    cbx_buf_init(&line, TEXT_MAX);
    cbx_buf_init(&clean, TEXT_MAX);
    cbx_buf_init(&folded, 2 * TEXT_MAX);
    cbx_buf_init(&cut, 4 * CBX_CONTENT_MAX);
    if (!json_is_object(error)) {
        return;
    }
    cbx_content_add_escaped(&line, "", json_object_get(error, "ename"));
    cbx_content_add_escaped(&line, ": ", json_object_get(error, "evalue"));
    cbx_clean_cut(&cut, cbx_buf_str(&line), LINE_MAX_COST, NULL);
    cbx_content_set(&s->c, "error", cbx_buf_str(&cut));
    cbx_part_traceback(s->execution, &clean);
    if (clean.len == 0) {
        cbx_buf_printf(&s->c.text, "%s\n", cut.p);
    }
    cbx_trace_fold(cbx_buf_str(&clean), &folded);
    add_part(s, "traceback", "traceback", cbx_buf_str(&folded), TRACEBACK_MAX);
}

/* --- files, blocked attempts, notes ----------------------------------------------------------- */

static void add_file(struct shown *s, json_t *files, const json_t *file)
{
    CBX_AUTO_DONE(buf) path;
    CBX_AUTO_DONE(buf) uri;
    cbx_buf_init(&path, 8192);
    cbx_buf_init(&uri, 3 * 4096 + 128);
    json_int_t size = number_of(file, "size");
    const char *type = text_of(file, "type");
    cbx_content_add_escaped(&path, "", json_object_get(file, "path"));
    json_t *shown = json_pack("{s:o,s:I,s:s}", "path", cbx_json_text(cbx_buf_str(&path)), "size",
                              size, "type", type);
    cbx_buf_printf(&s->c.text, "[file %s, ", path.p);
    cbx_content_add_size(&s->c.text, (size_t)size);
    cbx_buf_printf(&s->c.text, ", %s", type);
    if (s->session[0] != '\0') {
        cbx_buf_printf(&uri, "session://%s/files/", s->session);
        cbx_uri_add(&uri, cbx_json_str(json_object_get(file, "path")));
        cbx_buf_printf(&s->c.text, ", %s", uri.p);
        json_object_set_new(shown, "uri", json_string(uri.p));
    }
    cbx_buf_add_cstr(&s->c.text, "]\n");
    json_array_append_new(files, shown);
}

static void add_files(struct shown *s)
{
    CBX_AUTO_JSON files = json_array();
    const json_t *all = json_object_get(s->execution, "files");
    size_t i;
    json_t *file;
    json_array_foreach((json_t *)(uintptr_t)all, i, file)
    {
        if (i < CBX_CONTENT_FILES_MAX) {
            add_file(s, files, file);
        }
    }
    if (json_array_size(files) > 0) {
        json_object_set(s->c.structured, "files", files);
    }
    if (json_array_size(all) > CBX_CONTENT_FILES_MAX) {
        char note[96];
        snprintf(note, sizeof(note), "%zu more files are new or changed",
                 json_array_size(all) - CBX_CONTENT_FILES_MAX);
        add_note(s, note);
    }
    if (json_array_size(files) > 0 && s->session[0] == '\0') {
        add_note(s,
                 "the files were removed with the sandbox; a session keeps them (session \"new\")");
    }
}

/* True if the guard refused a file that the C library reads before it requests an address: the
 * refused socket is reported already. */
static bool is_of_resolver(const json_t *item)
{
    static const char *const files[] = { "/etc/resolv.conf", "/etc/hosts",    "/etc/nsswitch.conf",
                                         "/etc/host.conf",   "/etc/gai.conf", "/etc/services" };
    bool found = false;
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        found = found || is(text_of(item, "what"), files[i]);
    }
    return found;
}

static bool has_socket(const json_t *blocked)
{
    bool found = false;
    size_t i;
    const json_t *item;
    json_array_foreach((json_t *)(uintptr_t)blocked, i, item)
    {
        found = found || is(text_of(item, "capability"), "socket");
    }
    return found;
}

/* Adds the guard's refusals. */
static void add_blocked(struct shown *s)
{
    enum { MOST = 10 };
    static const char *const kept[] = { "capability", "rule", "what", "message", "hint" };
    CBX_AUTO_JSON blocked = json_array();
    const json_t *all = json_object_get(s->execution, "blocked");
    bool socket = has_socket(all);
    size_t i;
    json_t *item;
    json_array_foreach((json_t *)(uintptr_t)all, i, item)
    {
        if (json_array_size(blocked) >= MOST || (socket && is_of_resolver(item))) {
            continue;
        }
        cbx_content_add_escaped(&s->c.text, "blocked by rule ", json_object_get(item, "rule"));
        cbx_content_add_escaped(&s->c.text, ": ", json_object_get(item, "message"));
        cbx_content_add_escaped(&s->c.text, " (", json_object_get(item, "what"));
        cbx_buf_add_char(&s->c.text, ')');
        if (number_of(item, "count") > 1) {
            cbx_buf_printf(&s->c.text, ", %lld times", (long long)number_of(item, "count"));
        }
        cbx_content_add_escaped(&s->c.text, "\n  hint: ", json_object_get(item, "hint"));
        cbx_buf_add_char(&s->c.text, '\n');
        json_t *shown = json_object();
        for (size_t k = 0; k < sizeof(kept) / sizeof(kept[0]); k++) {
            json_object_set_new(shown, kept[k], cbx_content_escape(json_object_get(item, kept[k])));
        }
        json_object_set(shown, "count", json_object_get(item, "count"));
        json_array_append_new(blocked, shown);
    }
    if (json_array_size(blocked) > 0) {
        json_object_set(s->c.structured, "blocked", blocked);
    }
}

/* Adds advice for the reader of a failed run. */
static void add_advice(struct shown *s)
{
    json_t *advice = json_object_get(s->execution, "advice");
    size_t i;
    json_t *line;
    json_array_foreach(advice, i, line)
    {
        cbx_buf_printf(&s->c.text, "advice: %s\n", json_string_value(line));
    }
    if (json_array_size(advice) > 0) {
        json_object_set(s->c.structured, "advice", advice);
    }
}

/* The approval names the client that accepted; the person is not known. */
static void add_approval(struct shown *s)
{
    char note[320];
    const json_t *by = json_object_get(s->execution, "approved_by");
    const char *version = text_of(by, "version");
    if (by != NULL) {
        snprintf(note, sizeof(note), "approved: client %s%s%s accepted", text_of(by, "client"),
                 version[0] != '\0' ? " " : "", version);
        add_note(s, note);
    }
}

static void add_installed(struct shown *s)
{
    enum { NAMED = 20 };
    const json_t *installed = json_object_get(s->execution, "installed"),
                 *packages = json_object_get(installed, "packages");
    size_t i, count = json_array_size(packages);
    const json_t *name;
    CBX_AUTO_DONE(buf) note;
    cbx_buf_init(&note, 16 * 1024);
    if (count == 0) {
        return;
    }
    cbx_buf_add_cstr(&note, "installed ");
    json_array_foreach(packages, i, name)
    {
        if (i < NAMED) {
            cbx_buf_printf(&note, "%s%s", i > 0 ? ", " : "", json_string_value(name));
        }
    }
    if (count > NAMED) {
        cbx_buf_printf(&note, " and %zu more", count - NAMED);
    }
    cbx_buf_printf(&note, " in %.1f s", (double)number_of(installed, "duration_ms") / 1000);
    add_note(s, note.p);
}

static void add_notes(struct shown *s)
{
    static const struct {
        const char *flag, *note;
    } flags[] = {
        { "truncated", "the output was cut at the policy's limit" },
        { "files_truncated", "pictures, values or files are left out at the limit" },
        { "session_lost", "the session's variables are lost: its process was ended" },
        { "session_restarted",
          "the session's sandbox was lost before this ran: variables and files are gone" },
    };
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
        bool of_session = cbx_str_starts(cbx_str_of(flags[i].flag), CBX_STR("session"));
        if ((!of_session || s->session[0] != '\0') &&
            json_is_true(json_object_get(s->execution, flags[i].flag))) {
            add_note(s, flags[i].note);
        }
    }
    add_approval(s);
    add_installed(s);
    size_t i;
    json_t *note;
    json_array_foreach(s->notes, i, note)
    {
        cbx_buf_printf(&s->c.text, "[%s]\n", json_string_value(note));
    }
    if (json_array_size(s->notes) > 0) {
        json_object_set(s->c.structured, "notes", s->notes);
    }
}

static void add_session(struct shown *s, int64_t idle_ms)
{
    if (s->session[0] == '\0') {
        return;
    }
    char idle[96] = "";
    if (idle_ms > 0) {
        snprintf(idle, sizeof(idle), ", and is closed after %lld s without a call",
                 (long long)(idle_ms / 1000));
    }
    cbx_content_set(&s->c, "session", cbx_str_of(s->session));
    cbx_buf_printf(&s->c.text, "session %s keeps variables and files%s\n", s->session, idle);
}

/* --- the status ------------------------------------------------------------------------------- */

/* Adds the first line, and `message` of the structured part if the status alone is not enough. */
static void add_status(struct shown *s)
{
    char message[512] = "";
    const char *stopped = text_of(s->execution, "message"); /* "oom: stopped, ..." */
    const json_t *error = json_object_get(s->execution, "error");
    int64_t code = number_of(s->execution, "exit_code");
    const char *word = s->running ? "running" : s->outcome;
    if (stopped[0] != '\0' && (is(s->outcome, "ok") || is(s->outcome, "error"))) {
        add_note(s, stopped); /* its standard input was not complete */
    }
    if (is(text_of(s->execution, "status"), "queued")) {
        word = "queued";
        snprintf(message, sizeof(message),
                 "%lld before it; sandbox_read_file with path " CBX_EXECUTION_URI
                 "%s waits for its result",
                 (long long)number_of(s->execution, "ahead"), s->id);
    } else if (s->running) {
        snprintf(message, sizeof(message),
                 "the program still runs; sandbox_read_file with path " CBX_EXECUTION_URI
                 "%s waits for its "
                 "result",
                 s->id);
    } else if (is(text_of(s->execution, "status"), "cancelled")) {
        word = "cancelled";
        snprintf(message, sizeof(message), "%s",
                 json_is_string(error) ? json_string_value(error) : "it was cancelled");
    } else if (is(s->outcome, "ok")) {
        cbx_buf_add_cstr(&s->c.text, "ok\n");
        return;
    } else if (is(s->outcome, "error")) {
        cbx_buf_printf(&s->c.text, "exit code %lld\n", code > 0 ? (long long)code : 1);
        return;
    } else if (strchr(stopped, ' ') != NULL) {
        snprintf(message, sizeof(message), "%s", strchr(stopped, ' ') + 1);
    } else if (is(s->outcome, "refused")) {
        snprintf(message, sizeof(message),
                 "stopped, the policy ends a run when the sandbox refuses something");
    } else {
        snprintf(message, sizeof(message), "%.400s",
                 json_is_string(error) ? json_string_value(error)
                                       : "the program did not run, or its end was not seen");
    }
    cbx_buf_printf(&s->c.text, "%s: %s\n", word, message);
    cbx_content_set(&s->c, "status", cbx_str_of(word));
    cbx_content_set(&s->c, "message", cbx_str_of(message));
}

static void add_numbers(struct shown *s)
{
    const json_t *code = json_object_get(s->execution, "exit_code"),
                 *number = json_object_get(s->execution, "signal");
    bool failed = is(s->outcome, "error");
    if (is(s->outcome, "ok") || failed) {
        json_int_t shown = json_integer_value(code);
        json_object_set_new(s->c.structured, "exit_code",
                            json_integer(failed && shown <= 0 ? 1 : shown));
    }
    if (json_is_integer(number)) {
        json_object_set(s->c.structured, "signal", (json_t *)(uintptr_t)number);
    }
}

/* The error gets its room first, then values: results are at the end of the output, which gets
 * the rest. */
static void add_texts(struct shown *s)
{
    enum { ERROR_ROOM = 7000, VALUES_MAX = 8000, STDERR_MAX = 6000 };
    CBX_AUTO_DONE(buf) out;
    CBX_AUTO_DONE(buf) err;
    cbx_buf_init(&out, TEXT_MAX);
    cbx_buf_init(&err, TEXT_MAX);
    CBX_AUTO_DONE(buf) shown;
    cbx_buf_init(&shown, TEXT_MAX);
    cbx_part_stream(s->execution, "stdout", &out);
    cbx_part_stream(s->execution, "stderr", &err);
    cbx_part_values(s->execution, &shown);
    size_t errors = json_is_object(json_object_get(s->execution, "error")) ? ERROR_ROOM : 0,
           values = cbx_clean_cost(cbx_buf_str(&shown)),
           written = cbx_clean_cost(cbx_buf_str(&err));
    errors = errors < s->room / 2 ? errors : s->room / 2;
    values = values < VALUES_MAX ? values : VALUES_MAX;
    values = values < s->room / 4 ? values : s->room / 4;
    written = written < STDERR_MAX ? written : STDERR_MAX;
    written = written < s->room / 4 ? written : s->room / 4;
    add_part(s, "stdout", "stdout", cbx_buf_str(&out), s->room - errors - values - written);
    add_part(s, "stderr", "stderr", cbx_buf_str(&err), s->room - errors - values);
    add_part(s, "result", "result", cbx_buf_str(&shown), s->room - errors);
    add_exception(s);
}

json_t *cbx_content_of_execution(const json_t *execution, int64_t idle_ms)
{
    struct shown s = { .execution = execution,
                       .id = text_of(execution, "execution_id"),
                       .session = text_of(execution, "session_id"),
                       .outcome = text_of(execution, "outcome"),
                       .running = is(text_of(execution, "status"), "running") ||
                                  is(text_of(execution, "status"), "queued") };
    s.outcome = s.outcome[0] != '\0' ? s.outcome : "failed";
    s.is_error = !s.running && !is(s.outcome, "ok") && !is(s.outcome, "error");
    s.room = (s.is_error ? CBX_CONTENT_ERROR_MAX : CBX_CONTENT_MAX) - CBX_CONTENT_ROOM;
    const json_t *warnings = json_object_get(execution, "warnings");
    s.room -= cbx_content_warnings_cost(warnings);
    s.notes = json_array();
    s.pictures = json_array();
    s.omitted = count_omitted(execution);
    cbx_buf_init(&s.kept, 4096);
    cbx_content_init(&s.c, s.running ? "running" : s.outcome);
    add_numbers(&s);
    add_status(&s);
    add_texts(&s);
    add_pictures(&s);
    add_files(&s);
    add_blocked(&s);
    add_advice(&s);
    cbx_content_add_warnings(&s.c, warnings);
    add_notes(&s);
    add_session(&s, idle_ms);
    cbx_content_set(&s.c, "execution_id", cbx_str_of(s.id));
    if (!s.running) {
        json_object_set_new(s.c.structured, "duration_ms",
                            json_integer(number_of(execution, "duration_ms")));
    }
    if (json_array_size(s.pictures) > 0) { /* then the text has all contents */
        cbx_buf_printf(&s.c.text, "execution %s ran for %lld ms\n", s.id,
                       (long long)number_of(execution, "duration_ms"));
    }
    cbx_content_add_audit(&s.c, cbx_str_of(text_of(execution, "decision")));
    cbx_buf_add(&s.c.text, cbx_buf_str(&s.kept));
    cbx_buf_done(&s.kept);
    json_decref(s.notes);
    json_decref(s.pictures);
    return cbx_content_finish(&s.c, s.is_error);
}
