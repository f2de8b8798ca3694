/* SPDX-License-Identifier: MIT
 * An engine other than Docker: the table of functions, implemented in memory. Sandboxes run on it
 * unchanged; behaviour that is common to all engines is tested on it. */
#include "docker/engine/engine_ops.h"
#include "docker/sandbox/sandbox.h"
#include "tests/unit/docker/fake_engine.h"

#include <poll.h>
#include <time.h>

/* --- the engine ------------------------------------------------------------------------------- */

struct stream {
    struct cbx_attach attach;
    int fd;
};

static struct {
    struct cbx_engine engine;
    enum cbx_container_role role; /* role of the last container */
    char command[64];
    pthread_t threads[FAKE_CONTAINERS];
    int fds[FAKE_CONTAINERS];
    const struct cbx_container_entry *listed;
    size_t listed_count;
} memory;

static void free_stream(struct cbx_attach *attach)
{
    struct stream *stream = (struct stream *)attach;
    close(stream->fd);
    free(stream);
}

static int send_some(struct cbx_attach *attach, const void *bytes, size_t len, int timeout_ms,
                     size_t *sent, struct cbx_err *err)
{
    ssize_t n = send(((struct stream *)attach)->fd, bytes, len, MSG_NOSIGNAL);
    (void)timeout_ms;
    *sent = n > 0 ? (size_t)n : 0;
    return n > 0 ? 0 : cbx_fail(err, CBX_EIO, "gone");
}

static int receive(struct cbx_attach *attach, void *to, size_t size, int timeout_ms,
                   struct cbx_attach_bytes *out, struct cbx_err *err)
{
    struct pollfd ready = { .fd = ((struct stream *)attach)->fd, .events = POLLIN };
    if (poll(&ready, 1, timeout_ms) == 0) {
        return cbx_fail(err, CBX_ETIMEDOUT, "silent");
    }
    ssize_t n = read(ready.fd, to, size);
    *out = (struct cbx_attach_bytes){ CBX_CHANNEL_STDOUT, { to, n > 0 ? (size_t)n : 0 } };
    return n >= 0 ? 0 : cbx_fail(err, CBX_EIO, "gone");
}

static int64_t silent_ms(struct cbx_attach *attach)
{
    (void)attach;
    return 0;
}

static const struct cbx_attach_ops stream_ops = {
    .free = free_stream, .send_some = send_some, .receive = receive, .silent_ms = silent_ms
};

static void *supervise(void *context)
{
    struct fake_container *c = context;
    fake_supervise(c, c->fd);
    return NULL;
}

static int begin(struct cbx_engine *engine, const struct cbx_container_spec *spec,
                 char id[CBX_CONTAINER_ID_CHARS + 1], struct cbx_attach **attach,
                 struct cbx_err *err)
{
    int ends[2];
    (void)engine;
    (void)err;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    struct fake_container *c = &fake.containers[fake.count];
    snprintf(c->id, sizeof(c->id), "%064x", 1 + fake.count);
    snprintf(id, sizeof(c->id), "%s", c->id);
    cbx_buf_init(&c->payload, 1 << 20);
    cbx_buf_init(&c->log, 1 << 20);
    cbx_buf_init(&c->fed, 1 << 20);
    c->running = true;
    c->fd = memory.fds[fake.count] = ends[1];
    memory.role = spec->role;
    snprintf(memory.command, sizeof(memory.command), "%s %s", spec->command[0], spec->command[1]);
    pthread_create(&memory.threads[fake.count++], NULL, supervise, c);
    struct stream *stream = calloc(1, sizeof(*stream));
    *stream = (struct stream){ { &stream_ops }, ends[0] };
    *attach = &stream->attach;
    return 0;
}

static int image(struct cbx_engine *engine, const char *name, struct cbx_image *out,
                 json_t **labels, struct cbx_err *err)
{
    (void)engine;
    (void)err;
    snprintf(out->id, sizeof(out->id), "sha256:%064x", 7);
    *labels = json_pack("{s:s}", "name", name);
    return 0;
}

static int remove_container(struct cbx_engine *engine, const char *id, struct cbx_err *err)
{
    (void)engine;
    (void)err;
    for (int i = 0; i < fake.count; i++) {
        fake.containers[i].removed =
            fake.containers[i].removed || strcmp(id, fake.containers[i].id) == 0;
    }
    return 0;
}

static int list(struct cbx_engine *engine, const char *label, struct cbx_container_entry **out,
                size_t *count, struct cbx_err *err)
{
    (void)engine;
    (void)label;
    (void)err;
    *count = memory.listed_count;
    *out = calloc(*count + 1, sizeof(**out));
    memcpy(*out, memory.listed, *count * sizeof(**out));
    return 0;
}

static void free_nothing(struct cbx_engine *engine)
{
    (void)engine;
}

static const struct cbx_engine_ops ops = {
    .free = free_nothing, .begin = begin, .image = image, .remove = remove_container, .list = list
};

static int set_up(void **state)
{
    (void)state;
    memset(&memory, 0, sizeof(memory));
    memory.engine.ops = &ops;
    fake_init();
    fake.no_chunks = true;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    for (int i = 0; i < fake.count; i++) {
        shutdown(memory.fds[i], SHUT_RDWR);
        pthread_join(memory.threads[i], NULL);
        close(memory.fds[i]);
        cbx_buf_done(&fake.containers[i].payload);
        cbx_buf_done(&fake.containers[i].log);
        cbx_buf_done(&fake.containers[i].fed);
    }
    pthread_cond_destroy(&fake.changed);
    pthread_mutex_destroy(&fake.lock);
    return 0;
}

/* --- tests ------------------------------------------------------------------------------------ */

static int count_text(void *context, const struct cbx_event *event)
{
    size_t *len = context;
    *len += event->kind == CBX_EVENT_STDOUT ? event->text.len : 0;
    return 0;
}

static void a_sandbox_runs_on_any_engine_that_has_the_table(void **state)
{
    (void)state;
    const struct cbx_sandbox_config config = { .instance = "unit", .secret = "secret" };
    struct cbx_permit permit = { .decision = "d1",
                                 .session = "s1",
                                 .principal = "ann",
                                 .policy = "strict",
                                 .language = "ipython",
                                 .action = CBX_ACTION_RUN };
    struct cbx_sandbox *sandbox = NULL;
    struct cbx_result result = { 0 };
    struct cbx_err err;
    size_t printed = 0;
    const struct cbx_sink sink = { .event = count_text, .context = &printed };
    cbx_limits_default(&permit.limits);
    permit.limits.isolation = CBX_ISOLATION_CONTAINER;
    permit.source_sha256 = cbx_sha256_of(CBX_STR("1"));
    assert_int_equal(cbx_sandbox_prepare(&memory.engine, &config, "python", &permit.limits, NULL,
                                         &sandbox, &err),
                     0);
    assert_int_equal(memory.role, CBX_ROLE_SANDBOX);
    assert_string_equal(memory.command, "/codebox/supervisor python");
    assert_int_equal(cbx_sandbox_claim(sandbox, &permit, &err), 0);
    permit.ledger = *cbx_sandbox_ledger(sandbox);
    const struct cbx_run_options options = { .sink = &sink };
    if (cbx_sandbox_run(sandbox, &permit, CBX_STR("1"), &options, &result, &err) != 0) {
        fail_msg("%s: %s", err.text, err.detail);
    }
    assert_int_equal(printed, 3);
    cbx_result_done(&result);
    cbx_sandbox_free(sandbox);
    assert_true(fake.containers[0].removed);
}

static void a_container_without_a_role_an_image_or_a_command_is_refused(void **state)
{
    (void)state;
    static const struct cbx_container_spec specs[] = {
        { 0 },
        { .image = "sha256:1", .command = { "/bin/true" } },
        { .role = CBX_ROLE_SANDBOX, .command = { "/bin/true" } },
        { .role = CBX_ROLE_SANDBOX, .image = "sha256:1" },
    };
    for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
        char id[CBX_CONTAINER_ID_CHARS + 1] = "unset";
        struct cbx_attach *attach = NULL;
        struct cbx_err err;
        assert_int_equal(cbx_engine_container_begin(&memory.engine, &specs[i], id, &attach, &err),
                         CBX_EINVAL);
        assert_null(attach);
        assert_string_equal(id, "");
    }
    assert_int_equal(fake.count, 0);
}

static size_t count_old(int64_t age_s)
{
    CBX_AUTO_JSON ids = NULL;
    struct cbx_err err;
    assert_int_equal(
        cbx_engine_container_old(&memory.engine, "codebox.sandbox=1", age_s, &ids, &err), 0);
    return json_array_size(ids);
}

static void a_container_is_old_when_its_age_and_its_lease_have_passed(void **state)
{
    (void)state;
    int64_t now = time(NULL);
    const struct cbx_container_entry entries[] = {
        { .id = "young", .running = true, .created_s = now - 10 },
        { .id = "old", .created_s = now - 100 },
        { .id = "leased", .running = true, .created_s = now - 100, .lease_s = 1000 },
        { .id = "expired", .running = true, .created_s = now - 2000, .lease_s = 1000 },
        /* Labels of another program: no lease is longer than a day, and none is negative. */
        { .id = "forged", .created_s = now - 100, .lease_s = -1 },
        { .id = "endless", .created_s = now - 25 * 3600, .lease_s = INT64_MAX },
    };
    memory.listed = entries;
    memory.listed_count = sizeof(entries) / sizeof(entries[0]);
    assert_int_equal(count_old(0), 6);
    assert_int_equal(count_old(60), 3); /* old, expired, endless */
    CBX_AUTO_JSON running = NULL;
    struct cbx_err err;
    assert_int_equal(
        cbx_engine_container_running(&memory.engine, "codebox.sandbox=1", &running, &err), 0);
    assert_int_equal(json_array_size(running), 3);
}

static void a_label_of_an_image_that_has_it_not_is_empty(void **state)
{
    (void)state;
    char value[40] = "unset";
    struct cbx_err err;
    assert_int_equal(
        cbx_engine_image_label(&memory.engine, "a:b", "name", value, sizeof(value), &err), 0);
    assert_string_equal(value, "a:b");
    assert_int_equal(
        cbx_engine_image_label(&memory.engine, "a:b", "other", value, sizeof(value), &err), 0);
    assert_string_equal(value, "");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_sandbox_runs_on_any_engine_that_has_the_table),
        TEST(a_container_without_a_role_an_image_or_a_command_is_refused),
        TEST(a_container_is_old_when_its_age_and_its_lease_have_passed),
        TEST(a_label_of_an_image_that_has_it_not_is_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
