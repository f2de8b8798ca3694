/* SPDX-License-Identifier: MIT
 * The redactor's streams. Each view of the output is followed twice: unchanged, and, from an
 * escape on, with escapes decoded. A follower looks up each window of eight characters; a window
 * that is in a text of the index begins a run, which ends at the first character that no text
 * continues with. */
#include "gateway/executor/redact/redact.h"

#include "gateway/executor/redact/redact_escape.h"
#include "gateway/executor/redact/redact_index.h"
#include "policies/base/memory.h"

#include <stdlib.h>
#include <string.h>

enum {
    /* number of recent characters that a follower stores: more than CBX_REDACT_DEPTH */
    RING = 256,
    NAME_CHARS = 64, /* maximum length of a secret's name in its placeholder */
    /* the decoded view is followed for so many bytes after the last escape */
    AFTER_ESCAPE_MAX = 1024,
    ENDS = 4,            /* number of replaced runs that a later run may continue, */
    CONTINUED_MAX = 512, /* within so many bytes */
    CONTINUED_BACK = 3,  /* characters that may match by chance before the continuation */
    MIDDLE_MIN = 4,      /* characters from the middle of a text that are held back */
};
_Static_assert(RING > CBX_REDACT_DEPTH + CBX_REDACT_WINDOW, "a run that is not met is remembered");

struct cbx_redactor {
    struct cbx_redact_index indexes[CBX_REDACT_VIEWS];
    char (*names)[NAME_CHARS + 1];
    size_t count;
};

/* --- secrets ---------------------------------------------------------------------------------- */

static size_t count_reduced(enum cbx_redact_view view, struct cbx_str value)
{
    size_t count = 0;
    for (size_t i = 0; i < value.len; i++) {
        count += cbx_redact_reduced[view][(uint8_t)value.p[i]] != 0;
    }
    return count;
}

static size_t count_different(struct cbx_str value)
{
    bool seen[256] = { false };
    size_t count = 0;
    for (size_t i = 0; i < value.len; i++) {
        count += !seen[(uint8_t)value.p[i]];
        seen[(uint8_t)value.p[i]] = true;
    }
    return count;
}

int cbx_redact_check(const struct cbx_redact_secret *secret, struct cbx_err *err)
{
    struct cbx_str value = secret->value;
    if (value.len < CBX_REDACT_BYTES_MIN || value.len > CBX_REDACT_BYTES_MAX) {
        return cbx_fail(err, CBX_EINVAL,
                        "the secret '%.*s' has %zu bytes, allowed are %d..%d: a shorter one would "
                        "cut ordinary output",
                        CBX_STR_SHOWN(secret->name), value.len, CBX_REDACT_BYTES_MIN,
                        CBX_REDACT_BYTES_MAX);
    }
    if (count_different(value) < CBX_REDACT_DIFFERENT_MIN ||
        (count_reduced(CBX_REDACT_WORDS, value) < CBX_REDACT_WINDOW &&
         count_reduced(CBX_REDACT_MARKS, value) < CBX_REDACT_WINDOW)) {
        return cbx_fail(err, CBX_EINVAL,
                        "the secret '%.*s' has too few different characters (at least %d), or "
                        "consists of blanks and quotes: redacting it would cut ordinary output",
                        CBX_STR_SHOWN(secret->name), CBX_REDACT_DIFFERENT_MIN);
    }
    return 0;
}

struct cbx_redactor *cbx_redactor_new(const struct cbx_redact_secret *secrets, size_t count)
{
    struct cbx_redactor *redactor = cbx_new(sizeof(*redactor));
    char(*names)[NAME_CHARS + 1] = cbx_new_array(count + 1, sizeof(*names));
    redactor->names = names;
    for (enum cbx_redact_view view = 0; view < CBX_REDACT_VIEWS; view++) {
        cbx_redact_index_init(&redactor->indexes[view]);
    }
    for (size_t i = 0; i < count; i++) {
        if (cbx_redact_check(&secrets[i], NULL) == 0) {
            snprintf(names[redactor->count], NAME_CHARS + 1, "%.*s", CBX_STR_ARG(secrets[i].name));
            cbx_redact_add_forms(redactor->indexes, secrets[i].value, (uint32_t)redactor->count);
            redactor->count++;
        }
    }
    for (enum cbx_redact_view view = 0; view < CBX_REDACT_VIEWS; view++) {
        cbx_redact_index_seal(&redactor->indexes[view]);
    }
    if (redactor->count == 0) {
        cbx_redactor_free(redactor);
        return NULL;
    }
    return redactor;
}

void cbx_redactor_free(struct cbx_redactor *redactor)
{
    if (redactor == NULL) {
        return;
    }
    for (enum cbx_redact_view view = 0; view < CBX_REDACT_VIEWS; view++) {
        cbx_redact_index_done(&redactor->indexes[view]);
    }
    free(redactor->names);
    free(redactor);
}

/* --- marks: ranges to replace ----------------------------------------------------------------- */

/* A range of the stream's bytes, counted from its beginning. */
struct mark {
    uint64_t from, to;
    uint32_t secret;
};

struct marks {
    struct mark *items; /* sorted, and not adjacent */
    size_t count;
};

static void add_mark(struct marks *marks, struct mark mark)
{
    size_t at = marks->count;
    while (at > 0 &&
           marks->items[at - 1].to >= mark.from) { /* it touches this mark, or is before it */
        struct mark *last = &marks->items[at - 1];
        if (last->from <= mark.to) {
            mark.secret = last->from <= mark.from ? last->secret : mark.secret;
            mark.from = last->from < mark.from ? last->from : mark.from;
            mark.to = last->to > mark.to ? last->to : mark.to;
            memmove(last, last + 1, (marks->count - at) * sizeof(*last));
            marks->count--;
        }
        at--;
    }
    marks->items = cbx_grow(marks->items, marks->count, sizeof(*marks->items));
    memmove(marks->items + at + 1, marks->items + at, (marks->count - at) * sizeof(mark));
    marks->items[at] = mark;
    marks->count++;
}

/* --- following one view ----------------------------------------------------------------------- */

struct follower {
    uint64_t key; /* the last characters */
    uint64_t n;   /* number of characters since the last gap */
    uint64_t end; /* end of the last character, in the stream */
    /* the last binary digits, and the number of binary digits at the end */
    uint32_t digits, binary;
    /* A run: the characters from number `first` on are in a text of the index. */
    bool running;
    uint64_t first, from; /* `from`: start of the run in the stream */
    struct cbx_redact_range range;
    /* Ends of the last replaced runs: position in the text of the index, and in the stream. */
    struct {
        uint32_t text;
        uint64_t at;
    } ends[ENDS];
    unsigned next_end;
    struct {
        uint64_t from, to;
        uint8_t c;
    } ring[RING];
};

static void reset(struct follower *f)
{
    f->n = f->key = f->binary = 0;
    f->running = false;
}

/* Finds the range of the characters from number `first` on; false if no text has them. */
static bool search(const struct cbx_redact_index *index, const struct follower *f, uint64_t first,
                   struct cbx_redact_range *range)
{
    *range = (struct cbx_redact_range){ .hi = (uint32_t)index->places };
    for (uint64_t i = first; i < f->n; i++) {
        if (range->hi == 0 || !cbx_redact_narrow(index, range, f->ring[i % RING].c)) {
            return false;
        }
    }
    return true;
}

/* A run that is too short a piece of a longer secret may contain a whole short secret: marks it. */
static void mark_short(const struct cbx_redact_index *index, const struct follower *f,
                       uint64_t last, struct marks *marks)
{
    uint8_t run[RING];
    size_t len = (size_t)(last - f->first);
    for (size_t i = 0; i < len; i++) {
        run[i] = f->ring[(f->first + i) % RING].c;
    }
    for (size_t i = 0; i < index->count; i++) {
        const struct cbx_redact_piece *piece = &index->pieces[i];
        if (piece->need != piece->len || piece->len > len) {
            continue;
        }
        const uint8_t *found = memmem(run, len, index->text.p + piece->at, piece->len);
        if (found != NULL) {
            uint64_t at = f->first + (uint64_t)(found - run);
            add_mark(marks, (struct mark){ .from = f->ring[at % RING].from,
                                           .to = f->ring[(at + piece->len - 1) % RING].to,
                                           .secret = piece->secret });
        }
    }
}

static void note_end(const struct cbx_redact_index *index, struct follower *f, uint64_t at)
{
    f->ends[f->next_end % ENDS].text = index->order[f->range.lo] + f->range.depth;
    f->ends[f->next_end++ % ENDS].at = at;
}

/* True if the run continues a replaced run, as in the lines of a dump, with addresses between
 * them. */
static bool continues(const struct cbx_redact_index *index, const struct follower *f)
{
    enum { LOOK_MAX = 64 };
    for (uint32_t i = f->range.lo; i < f->range.hi && i < f->range.lo + LOOK_MAX; i++) {
        for (size_t k = 0; k < ENDS; k++) {
            if (f->ends[k].at != 0 && f->from - f->ends[k].at <= CONTINUED_MAX &&
                f->ends[k].text - index->order[i] <= CONTINUED_BACK) {
                return true;
            }
        }
    }
    return false;
}

/* Ends the run before character number `last`. True if the run is replaced. */
static bool end_run(const struct cbx_redact_index *index, struct follower *f, uint64_t last,
                    struct marks *marks)
{
    uint64_t to = f->ring[(last - 1) % RING].to;
    const struct cbx_redact_piece *met = cbx_redact_met(index, &f->range);
    if (met == NULL && continues(index, f)) {
        met = cbx_redact_first(index, &f->range);
    }
    f->running = false;
    if (met != NULL) {
        note_end(index, f, to);
        add_mark(marks, (struct mark){ .from = f->from, .to = to, .secret = met->secret });
    } else {
        mark_short(index, f, last, marks);
    }
    return met != NULL;
}

/* Ends a run that no text continues. The following output is not held back with the run's last
 * characters. */
static void end_complete_run(const struct cbx_redact_index *index, struct follower *f,
                             struct marks *marks)
{
    if (cbx_redact_is_complete(index, &f->range) && end_run(index, f, f->n, marks)) {
        reset(f);
    }
}

/* Begins the longest run of at least a window that ends with the last character and starts at or
 * after number `first`. */
static void begin_run(const struct cbx_redact_index *index, struct follower *f, uint64_t first,
                      uint32_t window, struct marks *marks)
{
    struct cbx_redact_range range;
    for (; first + window <= f->n; first++) {
        if (search(index, f, first, &range)) {
            f->running = true;
            f->first = first;
            f->from = f->ring[first % RING].from;
            f->range = range;
            end_complete_run(index, f, marks);
            return;
        }
    }
}

/* Takes the next character, bytes [from, to) of the stream. */
static inline void take(const struct cbx_redact_index *index, struct follower *f, uint8_t c,
                        uint64_t from, uint64_t to, struct marks *marks)
{
    if (from - f->end > CBX_REDACT_GAP_MAX && f->n > 0) {
        if (f->running) {
            end_run(index, f, f->n, marks);
        }
        reset(f);
    }
    f->end = to;
    f->ring[f->n % RING].from = from;
    f->ring[f->n % RING].to = to;
    f->ring[f->n % RING].c = c;
    f->n++;
    f->key = f->key << 8 | c;
    f->digits = f->digits << 1 | (c & 1);
    f->binary = (c | 1) == '1' ? f->binary + 1 : 0;
    uint32_t window = f->binary < CBX_REDACT_WINDOW ? CBX_REDACT_WINDOW : CBX_REDACT_BINARY_WINDOW;
    uint64_t first = f->n - window;
    if (f->running) {
        if (cbx_redact_narrow(index, &f->range, c)) {
            end_complete_run(index, f, marks);
            return;
        }
        first = end_run(index, f, f->n - 1, marks) ? first : f->first + 1;
    }
    uint64_t key = window == CBX_REDACT_WINDOW ? f->key : cbx_redact_binary_key(f->digits);
    bool full = window == CBX_REDACT_WINDOW ? f->n >= window : f->binary >= window;
    if (full && cbx_redact_has_window(index, key)) {
        begin_run(index, f, first, window, marks);
    }
}

/* True if a text begins with the last k characters, fewer than MIDDLE_MIN. */
static bool begins_text(const struct cbx_redact_index *index, const struct follower *f, uint64_t k)
{
    return cbx_redact_is_start(index, (uint32_t)(f->key & ((UINT32_C(1) << 8 * k) - 1)));
}

/* True if the last k characters continue a replaced run. */
static bool may_continue(const struct cbx_redact_index *index, const struct follower *f, uint64_t k)
{
    uint64_t from = f->ring[(f->n - k) % RING].from;
    for (size_t i = 0; i < ENDS; i++) {
        bool same = f->ends[i].at != 0 && from - f->ends[i].at <= CONTINUED_MAX;
        for (uint64_t at = 0; same && at < k; at++) {
            same =
                (uint8_t)index->text.p[f->ends[i].text + at] == f->ring[(f->n - k + at) % RING].c;
        }
        if (same) {
            return true;
        }
    }
    return false;
}

/* Returns the start of the bytes that may become a secret with the next bytes; UINT64_MAX =
 * none. */
static uint64_t find_hold(const struct cbx_redact_index *index, const struct follower *f, bool line)
{
    struct cbx_redact_range range;
    if (f->running) {
        return f->from;
    }
    uint64_t most = f->binary < CBX_REDACT_WINDOW          ? CBX_REDACT_WINDOW - 1
                    : f->binary < CBX_REDACT_BINARY_WINDOW ? f->binary
                                                           : CBX_REDACT_BINARY_WINDOW - 1;
    for (uint64_t k = f->n < most ? f->n : most; k > 0; k--) {
        bool held = k >= MIDDLE_MIN ? search(index, f, f->n - k, &range)
                                    : begins_text(index, f, k) || may_continue(index, f, k);
        /* One character at the end of a line would hold back every second line. */
        if (held && (k > 1 || !line)) {
            return f->ring[(f->n - k) % RING].from;
        }
    }
    return UINT64_MAX;
}

/* --- streams ---------------------------------------------------------------------------------- */

struct cbx_redact_stream {
    const struct cbx_redactor *redactor;
    struct follower plain[CBX_REDACT_VIEWS], decoded[CBX_REDACT_VIEWS];
    bool decodes;                        /* true while the decoded views are followed */
    uint64_t escape_end;                 /* end of the last escape */
    uint8_t half[CBX_REDACT_ESCAPE_MAX]; /* bytes that may be an escape */
    size_t half_len;
    uint64_t base,
        read; /* positions in the stream: of the first byte of `held`, and after its last */
    struct cbx_buf held;
    struct marks marks;
    bool line; /* true if the last byte ended a line */
};

enum { HELD_MAX = 1 << 30 };

struct cbx_redact_stream *cbx_redact_stream_new(const struct cbx_redactor *redactor)
{
    struct cbx_redact_stream *s = cbx_new(sizeof(*s));
    s->redactor = redactor;
    cbx_buf_init(&s->held, HELD_MAX);
    return s;
}

void cbx_redact_stream_free(struct cbx_redact_stream *s)
{
    if (s == NULL) {
        return;
    }
    explicit_bzero(s->held.p, s->held.size);
    cbx_buf_done(&s->held);
    free(s->marks.items);
    explicit_bzero(s, sizeof(*s));
    free(s);
}

/* Takes a decoded byte, bytes [from, to) of the stream. */
static void take_decoded(struct cbx_redact_stream *s, uint8_t byte, uint64_t from, uint64_t to)
{
    for (enum cbx_redact_view view = 0; s->decodes && view < CBX_REDACT_VIEWS; view++) {
        uint8_t c = cbx_redact_reduced[view][byte];
        if (c != 0) {
            take(&s->redactor->indexes[view], &s->decoded[view], c, from, to, &s->marks);
        }
    }
}

/* The bytes before `end` may be an escape. Decodes from the first one on, until more bytes are
 * needed to decide; with `last`, no more bytes follow, and all of them are decoded. */
static void decode(struct cbx_redact_stream *s, uint64_t end, bool last)
{
    while (s->half_len > 0) {
        uint8_t out[4];
        size_t len = 0, used = 1;
        uint64_t from = end - s->half_len;
        enum cbx_redact_escape found =
            cbx_redact_begins_escape[s->half[0]] != 0
                ? cbx_redact_unescape(s->half, s->half_len, out, &len, &used)
                : CBX_REDACT_NO_ESCAPE;
        if (found == CBX_REDACT_HALF_ESCAPE && s->half_len < sizeof(s->half) && !last) {
            return;
        }
        if (found == CBX_REDACT_ESCAPED) {
            s->escape_end = from + used;
            for (size_t i = 0; i < len; i++) {
                take_decoded(s, out[i], from, from + used);
            }
        } else {
            used = 1;
            take_decoded(s, s->half[0], from, from + 1);
        }
        s->half_len -= used;
        memmove(s->half, s->half + used, s->half_len);
    }
    s->decodes = s->decodes && end - s->escape_end <= AFTER_ESCAPE_MAX;
}

/* True if an escape begins here, or may begin here. */
static bool is_escape(const uint8_t *p, size_t len)
{
    uint8_t out[4];
    size_t out_len, used;
    return cbx_redact_begins_escape[p[0]] != 0 &&
           cbx_redact_unescape(p, len < CBX_REDACT_ESCAPE_MAX ? len : CBX_REDACT_ESCAPE_MAX, out,
                               &out_len, &used) != CBX_REDACT_NO_ESCAPE;
}

/* The decoded views continue from the plain ones, as no escape was read recently. */
static void begin_decoding(struct cbx_redact_stream *s, uint64_t at)
{
    memcpy(s->decoded, s->plain, sizeof(s->decoded));
    s->decodes = true;
    s->escape_end = at;
}

static void follow(struct cbx_redact_stream *s, const uint8_t *p, size_t len)
{
    const uint8_t *words = cbx_redact_reduced[CBX_REDACT_WORDS],
                  *marks = cbx_redact_reduced[CBX_REDACT_MARKS];
    const struct cbx_redact_index *indexes = s->redactor->indexes;
    for (size_t i = 0; i < len; i++) {
        uint64_t at = s->read + i;
        if (!s->decodes && is_escape(p + i, len - i)) {
            begin_decoding(s, at);
        }
        if (s->decodes) {
            s->half[s->half_len++] = p[i];
            decode(s, at + 1, false);
        }
        if (words[p[i]] != 0) {
            take(&indexes[CBX_REDACT_WORDS], &s->plain[CBX_REDACT_WORDS], words[p[i]], at, at + 1,
                 &s->marks);
        }
        if (marks[p[i]] != 0) {
            take(&indexes[CBX_REDACT_MARKS], &s->plain[CBX_REDACT_MARKS], marks[p[i]], at, at + 1,
                 &s->marks);
        }
    }
    s->read += len;
}

/* Returns the held bytes [from, to) of the stream. */
static struct cbx_str held_part(const struct cbx_redact_stream *s, uint64_t from, uint64_t to)
{
    return cbx_str_sub(cbx_buf_str(&s->held), from - s->base, to - s->base);
}

/* Appends the held bytes before this position; a mark that crosses it stays, and so do the bytes
 * from its start on. */
static void release(struct cbx_redact_stream *s, uint64_t to, struct cbx_buf *out)
{
    size_t done = 0;
    uint64_t at = s->base;
    for (; done < s->marks.count && s->marks.items[done].from < to; done++) {
        const struct mark *mark = &s->marks.items[done];
        if (mark->to > to) {
            to = mark->from;
            break;
        }
        if (mark->to <= at) {
            continue; /* another mark covered it */
        }
        cbx_buf_add(out, held_part(s, at, mark->from > at ? mark->from : at));
        cbx_buf_printf(out, "[secret %s]", s->redactor->names[mark->secret]);
        at = mark->to;
    }
    if (done > 0) {
        memmove(s->marks.items, s->marks.items + done,
                (s->marks.count - done) * sizeof(struct mark));
    }
    s->marks.count -= done;
    if (to > at) {
        cbx_buf_add(out, held_part(s, at, to));
        at = to;
    }
    cbx_buf_consume(&s->held, at - s->base);
    s->base = at;
}

void cbx_redact_feed(struct cbx_redact_stream *s, struct cbx_str chunk, struct cbx_buf *out)
{
    if (chunk.len == 0) {
        return;
    }
    cbx_buf_add(&s->held, chunk);
    follow(s, (const uint8_t *)chunk.p, chunk.len);
    s->line = chunk.p[chunk.len - 1] == '\n';
    uint64_t to = s->read;
    for (enum cbx_redact_view view = 0; view < CBX_REDACT_VIEWS; view++) {
        const struct cbx_redact_index *index = &s->redactor->indexes[view];
        uint64_t plain = find_hold(index, &s->plain[view], s->line);
        uint64_t decoded = s->decodes ? find_hold(index, &s->decoded[view], s->line) : UINT64_MAX;
        to = plain < to ? plain : to;
        to = decoded < to ? decoded : to;
    }
    release(s, to, out);
}

void cbx_redact_flush(struct cbx_redact_stream *s, struct cbx_buf *out)
{
    decode(s, s->read, true);
    for (enum cbx_redact_view view = 0; view < CBX_REDACT_VIEWS; view++) {
        struct follower *both[] = { &s->plain[view], s->decodes ? &s->decoded[view] : NULL };
        for (size_t i = 0; i < 2 && both[i] != NULL; i++) {
            if (both[i]->running) {
                end_run(&s->redactor->indexes[view], both[i], both[i]->n, &s->marks);
            }
        }
        reset(&s->plain[view]);
        reset(&s->decoded[view]);
    }
    s->decodes = false;
    release(s, s->read, out);
}

void cbx_redact_text(const struct cbx_redactor *redactor, struct cbx_str text, struct cbx_buf *out)
{
    if (redactor == NULL) {
        cbx_buf_add(out, text);
        return;
    }
    CBX_AUTO(redact_stream) s = cbx_redact_stream_new(redactor);
    cbx_redact_feed(s, text, out);
    cbx_redact_flush(s, out);
}

bool cbx_redact_finds(const struct cbx_redactor *redactor, struct cbx_str text)
{
    if (redactor == NULL) {
        return false;
    }
    CBX_AUTO(redact_stream) s = cbx_redact_stream_new(redactor);
    follow(s, (const uint8_t *)text.p, text.len);
    decode(s, s->read, true);
    bool found = s->marks.count > 0;
    for (enum cbx_redact_view view = 0; view < CBX_REDACT_VIEWS && !found; view++) {
        struct follower *both[] = { &s->plain[view], &s->decoded[view] };
        for (size_t i = 0; i < 2; i++) {
            if (both[i]->running) {
                end_run(&s->redactor->indexes[view], both[i], both[i]->n, &s->marks);
            }
        }
        found = s->marks.count > 0;
    }
    return found;
}
