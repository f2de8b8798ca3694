/* SPDX-License-Identifier: MIT
 * Packages on a real engine: resolving, refusals, and layers. A container of this test serves pip's
 * index; npm's is the real one. */
#include "docker/contents.h"
#include "docker/engine/docker/docker_http.h"
#include "docker/packages/package_layers.h"
#include "docker/sandbox/container.h"
#include "docker/sandbox/sandbox_stream.h"
#include "policies/base/text/json.h"
#include "policies/base/time/clock.h"
#include "tests/live/docker/live.h"

#include <sys/wait.h>

enum { PORT = 8000, OTHER_PORT = 8001, ANSWER_MS = 20000, TEXT_MAX = 64 * 1024 };

static struct cbx_packages_config packages = { .sandbox = &config, .answer_timeout_ms = 1000 };
static char index_url[64], index_container[CBX_CONTAINER_ID_CHARS + 1];
static char npm_url[64]; /* this test's index for npm, with the failing packages */
static char *index_program, *certificates;

/* --- containers of this test -------------------------------------------------------------------- */

/* Creates and starts one that runs `command` (ends with NULL) in an image, with the hardening of
 * its role. */
static struct cbx_attach *start_container(enum cbx_container_role role, const char *image,
                                          const char *const command[],
                                          char id[CBX_CONTAINER_ID_CHARS + 1])
{
    struct cbx_err err;
    CBX_AUTO_DONE(container_spec)
    spec = (struct cbx_container_spec){ .role = role,
                                        .kernel = "python",
                                        .image = image,
                                        .instance = config.instance,
                                        .limits = live_limits,
                                        .network = packages.network };
    for (size_t i = 0; command[i] != NULL; i++) {
        spec.command[i] = command[i];
    }
    struct cbx_attach *attach = NULL;
    if (cbx_engine_container_begin(engine, &spec, id, &attach, &err) != 0) {
        fail_msg("%s: %s", err.text, err.detail);
    }
    return attach;
}

/* Reads the output up to and including `until`, or to its end. */
static void read_output(struct cbx_attach *attach, const char *until, struct cbx_buf *out)
{
    int64_t deadline = cbx_clock_ms() + ANSWER_MS;
    struct cbx_err err;
    char bytes[4096];
    struct cbx_attach_bytes got = { .bytes = CBX_STR("begin") };
    while (got.bytes.len > 0 && (until == NULL || strstr(out->p, until) == NULL)) {
        int64_t left = deadline - cbx_clock_ms();
        assert_int_equal(
            cbx_attach_receive(attach, bytes, sizeof(bytes), left > 0 ? (int)left : 0, &got, &err),
            0);
        cbx_buf_add(out, got.bytes);
    }
}

static void start_index(void)
{
    char image[CBX_IMAGE_NAME_BYTES];
    cbx_image_name(config.image_prefix, "python", false, image);
    char port[16], other_port[16];
    snprintf(port, sizeof(port), "%d", PORT);
    snprintf(other_port, sizeof(other_port), "%d", OTHER_PORT);
    const char *const command[] = { "/usr/bin/python3", "-I", "-c", index_program, port,
                                    other_port,         NULL };
    CBX_AUTO(attach) attach = start_container(CBX_ROLE_INSTALLER, image, command, index_container);
    CBX_AUTO_DONE(buf) out;
    cbx_buf_init(&out, TEXT_MAX);
    read_output(attach, "\n", &out);
    char address[40];
    assert_int_equal(sscanf(out.p, "ready %39[0-9.]\n", address), 1);
    snprintf(index_url, sizeof(index_url), "http://%s:%d/simple/", address, PORT);
    snprintf(npm_url, sizeof(npm_url), "http://%s:%d/", address, PORT);
    packages.index[CBX_MANAGER_PIP] = index_url;
}

/* Returns the output of a program in a sandbox of this image without a network. */
static void assert_prints(const char *image, const char *const command[], const char *want)
{
    char id[CBX_CONTAINER_ID_CHARS + 1];
    CBX_AUTO(attach) attach = start_container(CBX_ROLE_SANDBOX, image, command, id);
    CBX_AUTO_DONE(buf) out;
    cbx_buf_init(&out, TEXT_MAX);
    read_output(attach, NULL, &out);
    /* The engine removes it now. Each question is one round trip. */
    struct cbx_container_state left;
    struct cbx_err err;
    int found = 0;
    for (time_t until = time(NULL) + 10; found == 0 && time(NULL) < until;) {
        found = cbx_engine_container_state(engine, id, 0, &left, &err);
    }
    assert_int_equal(found, CBX_ENOTFOUND);
    assert_string_equal(out.p, want);
}

/* --- reports and sets --------------------------------------------------------------------------- */

static int resolve_at(const char *kernel, const char *index, const char *requirements,
                      json_t **report, struct cbx_err *err)
{
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, CBX_REPORT_BYTES_MAX);
    int failed = cbx_packages_resolve(engine, &packages, kernel, cbx_str_of(requirements), index,
                                      NULL, &text, err);
    if (!failed) {
        assert_int_equal(cbx_json_parse(cbx_buf_str(&text), CBX_REPORT_BYTES_MAX, report, err), 0);
    }
    return failed;
}

static int resolve(const char *kernel, const char *requirements, json_t **report,
                   struct cbx_err *err)
{
    return resolve_at(kernel, NULL, requirements, report, err);
}

/* `index` NULL: by pip, from the index of this test. */
static void assert_not_resolved_at(const char *index, const char *requirements, int code,
                                   const char *words)
{
    struct cbx_err err = { 0 };
    CBX_AUTO_JSON report = NULL;
    int failed =
        resolve_at(index != NULL ? "javascript" : "python", index, requirements, &report, &err);
    if (failed != code || strstr(err.text, words) == NULL) {
        fail_msg("%s: %d '%s' (%s)", requirements, failed, err.text, err.detail);
    }
}

static void assert_not_resolved(const char *requirements, int code, const char *words)
{
    assert_not_resolved_at(NULL, requirements, code, words);
}

/* The set of all that pip reports. */
static void add_pip_set(const json_t *report, struct cbx_buf *set)
{
    size_t i;
    const json_t *entry;
    json_array_foreach(json_object_get(report, "install"), i, entry)
    {
        const json_t *metadata = json_object_get(entry, "metadata");
        const json_t *info = json_object_get(entry, "download_info");
        const json_t *hashes = json_object_get(json_object_get(info, "archive_info"), "hashes");
        cbx_buf_printf(set, "%s %s sha256:%s\n",
                       json_string_value(json_object_get(metadata, "name")),
                       json_string_value(json_object_get(metadata, "version")),
                       json_string_value(json_object_get(hashes, "sha256")));
    }
}

/* Checks npm's lock file in the same way. */
static void add_npm_set(json_t *report, struct cbx_buf *set)
{
    const char *path;
    json_t *entry;
    json_object_foreach(json_object_get(report, "packages"), path, entry)
    {
        if (path[0] != '\0') {
            cbx_buf_printf(set, "%s %s %s %s -\n", path, path + strlen("node_modules/"),
                           json_string_value(json_object_get(entry, "version")),
                           json_string_value(json_object_get(entry, "integrity")));
        }
    }
}

static void resolve_set(const char *requirements, struct cbx_buf *set)
{
    struct cbx_err err = { 0 };
    CBX_AUTO_JSON report = NULL;
    cbx_buf_init(set, TEXT_MAX);
    if (resolve("python", requirements, &report, &err) != 0) {
        fail_msg("%s: %s", err.text, err.detail);
    }
    add_pip_set(report, set);
}

static void take_progress(void *context, struct cbx_str text)
{
    struct cbx_buf *lines = context;
    cbx_buf_printf(lines, "%.*s\n", CBX_STR_ARG(text));
}

/* A layer of an earlier run of these tests. */
static void forget_layer(const char *kernel, const struct cbx_buf *set)
{
    struct cbx_layer layer;
    struct cbx_err err;
    if (cbx_layer_find(engine, &packages, kernel, cbx_buf_str(set), &layer, &err) == 0) {
        assert_int_equal(cbx_layer_remove(engine, layer.id, &err), 0);
    }
}

static void assert_installs(const char *kernel, const struct cbx_buf *set, struct cbx_layer *out)
{
    struct cbx_err err = { 0 };
    if (cbx_layer_install(engine, &packages, kernel, cbx_buf_str(set), NULL, NULL, out, &err) !=
        0) {
        fail_msg("%s: %s", err.text, err.detail);
    }
}

static void assert_not_installed(const char *kernel, struct cbx_str set, int code,
                                 const char *words)
{
    struct cbx_err err = { 0 };
    struct cbx_layer layer;
    int failed = cbx_layer_install(engine, &packages, kernel, set, NULL, NULL, &layer, &err);
    if (failed != code || strstr(err.text, words) == NULL) {
        fail_msg("%d '%s' (%s)", failed, err.text, err.detail);
    }
    assert_int_equal(cbx_layer_find(engine, &packages, kernel, set, &layer, &err), CBX_ENOTFOUND);
}

static size_t count_containers(void)
{
    char label[128];
    CBX_AUTO_JSON ids = NULL;
    snprintf(label, sizeof(label), CBX_LABEL_INSTANCE "=%s", config.instance);
    assert_int_equal(cbx_engine_container_old(engine, label, 0, &ids, NULL), 0);
    return json_array_size(ids);
}

/* --- tests -------------------------------------------------------------------------------------- */

/* Found without a path: where Python looks before the packages of the image. */
#define SHOW_GOOD                                                                                  \
    "import good, good_part, os; at = os.path.dirname(good.__path__[0]); "                         \
    "print(good.VALUE, good_part.VALUE, oct(os.stat(at + '/good/setuid').st_mode), "               \
    "os.stat(at).st_uid, os.access(at, os.W_OK), os.path.exists(at + '/bin'))"

static void a_set_becomes_a_layer_that_sandboxes_import_from(void **state)
{
    (void)state;
    CBX_AUTO_DONE(buf) set;
    CBX_AUTO_DONE(buf) progress;
    cbx_buf_init(&progress, TEXT_MAX);
    resolve_set("good", &set);
    forget_layer("python", &set);
    struct cbx_packages_progress listener = { .line = take_progress, .context = &progress };
    struct cbx_layer layer, again;
    struct cbx_err err = { 0 };
    if (cbx_layer_install(engine, &packages, "python", cbx_buf_str(&set), NULL, &listener, &layer,
                          &err) != 0) {
        fail_msg("%s: %s", err.text, err.detail);
    }
    assert_non_null(strstr(progress.p, "collecting good\n"));
    assert_non_null(strstr(progress.p, "installing 2 packages\n"));
    /* The layer has neither the wheel's files for the start of Python, nor its setuid bit. */
    assert_prints(layer.id,
                  (const char *const[]){ "/usr/bin/python3", "-I", "-c", SHOW_GOOD, NULL },
                  "1.0 2.0 0o100755 0 False False\n");
    struct cbx_image image;
    assert_int_equal(cbx_engine_image(engine, layer.id, &image, &err), 0);
    CBX_AUTO_DONE(contents) contents = { 0 };
    assert_int_equal(cbx_contents_read(cbx_str_of(image.contents), &contents, &err), 0);
    assert_true(cbx_str_is(cbx_contents_find(&contents, CBX_STR("Good_Part"))->version, "2.0"));
    assert_non_null(cbx_contents_find(&contents, CBX_STR("numpy")));
    free(image.contents);
    /* The second time there is nothing to do, so an index that is none is not missed. */
    assert_int_equal(cbx_layer_install(engine, &packages, "python", cbx_buf_str(&set),
                                       "http://127.0.0.1:1/", NULL, &again, &err),
                     0);
    assert_string_equal(again.id, layer.id);
    assert_int_equal(cbx_layer_remove(engine, layer.id, &err), 0);
    assert_int_equal(cbx_layer_find(engine, &packages, "python", cbx_buf_str(&set), &again, &err),
                     CBX_ENOTFOUND);
    assert_int_equal(count_containers(), 1); /* the index */
}

static void what_the_image_has_is_not_installed_again(void **state)
{
    (void)state;
    struct cbx_err err = { 0 };
    CBX_AUTO_JSON report = NULL;
    assert_int_equal(resolve("python", "numpy\ngood-part", &report, &err), 0);
    CBX_AUTO_DONE(buf) set;
    cbx_buf_init(&set, TEXT_MAX);
    add_pip_set(report, &set);
    assert_null(strstr(set.p, "numpy"));
    assert_non_null(strstr(set.p, "good"));
}

static void a_yanked_release_is_reported_as_such(void **state)
{
    (void)state;
    struct cbx_err err = { 0 };
    CBX_AUTO_JSON report = NULL;
    assert_int_equal(resolve("python", "retracted==1.0", &report, &err), 0);
    const json_t *entry = json_array_get(json_object_get(report, "install"), 0);
    assert_true(json_is_true(json_object_get(entry, "is_yanked")));
}

static void what_cannot_be_resolved_is_explained(void **state)
{
    (void)state;
    assert_not_resolved("nosuch", CBX_EINVAL, "no package for 'nosuch'");
    assert_not_resolved("only-source", CBX_EINVAL, "'only-source' has no wheel");
    assert_not_resolved("foreign", CBX_EINVAL, "'foreign' has no wheel");
    assert_not_resolved("needs-first\nneeds-second", CBX_EINVAL, "contradict each other");
    assert_not_resolved("altered", CBX_EINDEX, "'altered' do not have the hash");
}

static void an_index_that_does_not_answer_ends_the_call(void **state)
{
    (void)state;
    assert_not_resolved("hangs", CBX_ETIMEDOUT, "did not answer in time");
    assert_not_resolved_at(npm_url, "hangs", CBX_ETIMEDOUT, "did not answer in time");
}

static void redirects_to_another_host_are_refused(void **state)
{
    (void)state;
    assert_not_resolved("moved", CBX_EINDEX, ":8001, which is another host");
    assert_not_resolved("moved-file", CBX_EINDEX, ":8001, which is another host");
    assert_not_resolved_at(npm_url, "moved", CBX_EINDEX, ":8001, which is another host");
}

static void a_requirement_that_is_an_option_reaches_no_engine(void **state)
{
    (void)state;
    CBX_AUTO_DONE(buf) report;
    struct cbx_err err;
    cbx_buf_init(&report, CBX_REPORT_BYTES_MAX);
    assert_int_equal(cbx_packages_resolve(NULL, &packages, "python",
                                          CBX_STR("--index-url=http://x/"), NULL, NULL, &report,
                                          &err),
                     CBX_EINVAL);
}

static void a_wheel_with_another_hash_makes_no_layer(void **state)
{
    (void)state;
    assert_not_installed("python",
                         CBX_STR("good-part 2.0 sha256:"
                                 "00000000000000000000000000000000"
                                 "00000000000000000000000000000000\n"),
                         CBX_EINDEX, "'good-part' do not have the hash");
}

static void what_unpacks_to_more_than_allowed_makes_no_layer(void **state)
{
    (void)state;
    CBX_AUTO_DONE(buf) set;
    resolve_set("large", &set);
    packages.unpacked_bytes = 4 << 20;
    assert_not_installed("python", cbx_buf_str(&set), CBX_ETOOBIG, "more than 4 MiB");
    packages.unpacked_bytes = 0;
}

static void assert_takes_over(const char *requirements, const char *text)
{
    CBX_AUTO_DONE(buf) set;
    resolve_set(requirements, &set);
    assert_not_installed("python", cbx_buf_str(&set), CBX_EINVAL, text);
}

static void a_package_does_not_take_over_what_the_kernel_imports(void **state)
{
    (void)state;
    assert_takes_over("squatter", "'IPython', which belongs to 'ipython'");
    assert_takes_over("start-up", "'_distutils_hack', which belongs to 'setuptools'");
    assert_takes_over("within\nsix>1.17", "'six', which belongs to 'six'");
    assert_takes_over("disguised", "'good_part-2.0.dist-info'");
}

static bool cancel(void *context)
{
    (void)context;
    return true;
}

static void a_cancelled_call_leaves_no_container(void **state)
{
    (void)state;
    CBX_AUTO_DONE(buf) report;
    struct cbx_err err;
    cbx_buf_init(&report, CBX_REPORT_BYTES_MAX);
    struct cbx_packages_progress progress = { .cancelled = cancel };
    assert_int_equal(cbx_packages_resolve(engine, &packages, "python", CBX_STR("hangs"), NULL,
                                          &progress, &report, &err),
                     CBX_ESTATE);
    assert_int_equal(count_containers(), 1);
}

static void die(void *context, struct cbx_str text)
{
    (void)context;
    (void)text;
    kill(getpid(), SIGKILL);
}

/* Runs pip in a process that is killed when pip begins. */
static void install_and_die(struct cbx_str set)
{
    CBX_AUTO(engine) own = NULL;
    struct cbx_err err;
    struct cbx_layer layer;
    struct cbx_packages_progress progress = { .line = die };
    if (cbx_engine_new(NULL, &own, &err) == 0) {
        cbx_layer_install(own, &packages, "python", set, NULL, &progress, &layer, &err);
    }
    _exit(1);
}

static void a_gateway_that_is_killed_in_the_middle_leaves_nothing_for_long(void **state)
{
    (void)state;
    CBX_AUTO_DONE(buf) set;
    CBX_AUTO_JSON ids = NULL;
    struct cbx_err err;
    char own[64], label[128];
    resolve_set("good", &set);
    forget_layer("python", &set);
    const char *instance = config.instance;
    snprintf(own, sizeof(own), "%s-killed", instance);
    snprintf(label, sizeof(label), CBX_LABEL_INSTANCE "=%s", own);
    config.instance = own;
    pid_t child = fork();
    if (child == 0) {
        install_and_die(cbx_buf_str(&set));
    }
    config.instance = instance;
    int status;
    size_t removed;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(cbx_engine_container_old(engine, label, 0, &ids, &err), 0);
    assert_int_equal(json_array_size(ids), 1);
    const char *id = json_string_value(json_array_get(ids, 0));
    struct cbx_container_state ended;
    assert_int_equal(cbx_engine_container_ended(engine, id, NULL, ANSWER_MS / 1000, &ended, &err),
                     0);
    struct cbx_layer layer;
    assert_int_equal(cbx_layer_find(engine, &packages, "python", cbx_buf_str(&set), &layer, &err),
                     CBX_ENOTFOUND);
    /* While a gateway that runs reaps, an installer has its lease; one that starts reaps all. */
    struct cbx_reap reap = { .instance = own, .age_s = 1 };
    assert_int_equal(cbx_sandbox_reap(engine, &reap, &removed, &err), 0);
    assert_int_equal(removed, 0);
    char temporary[CBX_IMAGE_ID_CHARS + 1];
    assert_int_equal(cbx_docker_commit(engine, id, NULL, temporary, &err), 0);
    reap.age_s = 0;
    assert_int_equal(cbx_sandbox_reap(engine, &reap, &removed, &err), 0);
    assert_int_equal(removed, 1);
    assert_int_equal(cbx_packages_reap(engine, own, 0, &removed, &err), 0);
    assert_int_equal(removed, 1);
    assert_int_equal(cbx_engine_image_id(engine, temporary, temporary, &err), CBX_ENOTFOUND);
}

static void npm_packages_become_a_layer(void **state)
{
    (void)state;
    struct cbx_err err = { 0 };
    CBX_AUTO_JSON report = NULL;
    int failed = resolve("javascript", "is-odd@3.0.1", &report, &err);
    if (failed == CBX_EIO || failed == CBX_ETIMEDOUT) {
        print_message("skipped: npm's registry: %s\n", err.text);
        skip();
    }
    assert_string_equal(err.text, "");
    CBX_AUTO_DONE(buf) set;
    cbx_buf_init(&set, TEXT_MAX);
    add_npm_set(report, &set);
    forget_layer("javascript", &set);
    struct cbx_layer layer;
    assert_installs("javascript", &set, &layer);
    assert_prints(layer.id,
                  (const char *const[]){ "/codebox/node", "-p",
                                         "const odd = require('is-odd');"
                                         "`${odd(3)} ${odd(4)} ${process.getuid()}`",
                                         NULL },
                  "true false 65532\n");
    assert_int_equal(cbx_layer_remove(engine, layer.id, &err), 0);
    /* Another hash: one digit of the set is changed. */
    char *hash = strstr(set.p, "sha512-");
    hash[7] = hash[7] == 'A' ? 'B' : 'A';
    assert_not_installed("javascript", cbx_buf_str(&set), CBX_EINDEX, "do not have the hash");
    CBX_AUTO_JSON none = NULL;
    assert_int_equal(resolve("javascript", "is-odd@99", &none, &err), CBX_EINVAL);
    assert_string_equal(err.text, "the index has no version for 'is-odd@99'");
}

/* A file up to `max` bytes; NULL when there is none. */
static char *read_text(const char *path, size_t max)
{
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return NULL;
    }
    char *text = calloc(1, max + 1);
    size_t len = fread(text, 1, max, file);
    fclose(file);
    assert_true(len > 0 && len < max);
    return text;
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_set_becomes_a_layer_that_sandboxes_import_from),
        cmocka_unit_test(what_the_image_has_is_not_installed_again),
        cmocka_unit_test(a_yanked_release_is_reported_as_such),
        cmocka_unit_test(what_cannot_be_resolved_is_explained),
        cmocka_unit_test(an_index_that_does_not_answer_ends_the_call),
        cmocka_unit_test(redirects_to_another_host_are_refused),
        cmocka_unit_test(a_requirement_that_is_an_option_reaches_no_engine),
        cmocka_unit_test(a_wheel_with_another_hash_makes_no_layer),
        cmocka_unit_test(what_unpacks_to_more_than_allowed_makes_no_layer),
        cmocka_unit_test(a_package_does_not_take_over_what_the_kernel_imports),
        cmocka_unit_test(a_cancelled_call_leaves_no_container),
        cmocka_unit_test(a_gateway_that_is_killed_in_the_middle_leaves_nothing_for_long),
        cmocka_unit_test(npm_packages_become_a_layer),
    };
    int status = live_begin();
    if (status != 0) {
        return status;
    }
    index_program = read_text("tests/live/docker/package_index.py", TEXT_MAX);
    certificates = read_text("/etc/ssl/certs/ca-certificates.crt", CBX_CA_BUNDLE_BYTES_MAX);
    packages.ca_bundle =
        certificates; /* of this machine: its registry may have a private certificate */
    packages.network = getenv("CODEBOX_NETWORK"); /* in place of the engine's default */
    start_index();
    LIVE_RUN(argc, argv, tests);
}
