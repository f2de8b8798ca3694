/* SPDX-License-Identifier: MIT
 * The client of an image registry: what it asks, and a registry that lies, refuses or breaks. */
#include "docker/engine/kubernetes/registry.h"

#include "policies/base/text/json.h"
#include "tests/unit/docker/engine/kubernetes/fake_registry.h"

#include <sys/stat.h>

static struct cbx_registry *client;
static struct cbx_reference at;
static struct cbx_err err;
static char credentials[64];

static int begin_test(void **state)
{
    (void)state;
    char text[256];
    registry_start();
    snprintf(text, sizeof(text), "127.0.0.1:%d/" REGISTRY_NAME "@sha256:%064d", registry.port, 7);
    assert_true(cbx_reference_read(text, &at));
    client = cbx_registry_new(&(struct cbx_registry_access){ .credentials = NULL });
    err = (struct cbx_err){ 0 };
    credentials[0] = '\0';
    return 0;
}

static int end_test(void **state)
{
    (void)state;
    cbx_registry_free(client);
    registry_stop();
    if (credentials[0] != '\0') {
        unlink(credentials);
    }
    return 0;
}

/* A client with a Docker configuration file that has this member "auths". */
static void log_in(const char *auths)
{
    char text[512];
    snprintf(credentials, sizeof(credentials), "/tmp/codebox-registry-XXXXXX");
    int fd = mkstemp(credentials);
    int n =
        snprintf(text, sizeof(text), "{\"auths\": {\"127.0.0.1:%d\": %s}}", registry.port, auths);
    assert_int_equal(write(fd, text, (size_t)n), n);
    close(fd);
    cbx_registry_free(client);
    client = cbx_registry_new(&(struct cbx_registry_access){ .credentials = credentials });
}

/* A source of these bytes, three at a time. */
struct text {
    struct cbx_str rest, all;
    bool fails;
};

static int64_t read_text(void *context, char *to, size_t size)
{
    struct text *text = context;
    if (text->fails && text->rest.len < text->all.len) {
        return -1;
    }
    struct cbx_str part = cbx_str_take(&text->rest, size < 3 ? size : 3);
    memcpy(to, cbx_str_bytes(part), part.len);
    return (int64_t)part.len;
}

static void digest_text(void *context, char out[CBX_DIGEST_CHARS + 1])
{
    const struct text *text = context;
    registry_digest(text->all, out);
}

static int push_text(const char *words, bool fails)
{
    struct text text = { .rest = cbx_str_of(words), .all = cbx_str_of(words), .fails = fails };
    const struct cbx_registry_source source = { read_text, &text };
    return cbx_registry_push(client, &at, &source, digest_text, &err);
}

static void assert_detail(const char *part)
{
    if (strstr(err.detail, part) == NULL) {
        fail_msg("'%s' is not in '%s: %s'", part, err.text, err.detail);
    }
}

static void assert_called(const char *part)
{
    if (strstr(registry.calls, part) == NULL) {
        fail_msg("'%s' is not in '%s'", part, registry.calls);
    }
}

/* --- references ------------------------------------------------------------------------------- */

static void a_reference_has_a_host_a_name_and_a_digest(void **state)
{
    (void)state;
#define ZEROS "0000000000000000000000000000000000000000000000000000000000000000"
    static const char *const wrong[] = {
        "codebox-python:latest",
        "codebox-python@sha256:" ZEROS,
        "registry.example.com/a:latest",
        "registry.example.com/a@sha256:00",
        "registry.example.com/a/../b@sha256:" ZEROS,
        "registry.example.com//a@sha256:" ZEROS,
        "user@registry.example.com/a@sha512:" ZEROS,
        "registry.example.com?x/a@sha256:" ZEROS,
        "registry.example.com/a b@sha256:" ZEROS,
        "/a@sha256:" ZEROS,
        "",
    };
    struct cbx_reference out;
    assert_true(cbx_reference_read("registry.example.com:5000/team/a-b_c@sha256:" ZEROS, &out));
    assert_string_equal(out.host, "registry.example.com:5000");
    assert_string_equal(out.name, "team/a-b_c");
    assert_string_equal(out.digest, "sha256:" ZEROS);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        if (cbx_reference_read(wrong[i], &out)) {
            fail_msg("accepted: %s", wrong[i]);
        }
    }
}

/* --- blobs and manifests ---------------------------------------------------------------------- */

static void a_blob_of_unknown_length_is_pushed(void **state)
{
    (void)state;
    char digest[72];
    assert_int_equal(push_text("the bytes of a layer", false), 0);
    registry_digest(CBX_STR("the bytes of a layer"), digest);
    assert_non_null(registry_find(digest, strlen(digest), false));
}

static void a_manifest_is_read_by_its_tag_and_its_digest(void **state)
{
    (void)state;
    char digest[72];
    CBX_AUTO_DONE(manifest) by_tag = { .json = NULL }, by_digest = { .json = NULL };
    assert_int_equal(cbx_registry_push_manifest(client, &at, "layer-1", "application/x",
                                                CBX_STR("{\"a\":1}"), digest, &err),
                     0);
    assert_int_equal(cbx_registry_manifest(client, &at, "layer-1", &by_tag, &err), 0);
    assert_int_equal(cbx_registry_manifest(client, &at, digest, &by_digest, &err), 0);
    assert_string_equal(by_tag.digest, digest);
    assert_string_equal(by_tag.type, "application/x");
    assert_true(json_equal(by_tag.json, by_digest.json));
    CBX_AUTO_DONE(manifest) none = { .json = NULL };
    assert_int_equal(cbx_registry_manifest(client, &at, "layer-2", &none, &err), CBX_ENOTFOUND);
}

static void an_index_gives_the_manifest_of_this_platform(void **state)
{
    (void)state;
    char text[1024];
    CBX_AUTO_DONE(manifest) manifest = { .json = NULL };
    struct registry_stored *image = registry_store(CBX_STR("{\"image\":1}"), "", "application/x");
    snprintf(text, sizeof(text),
             "{\"manifests\":[{\"digest\":\"sha256:" ZEROS
             "\",\"platform\":{\"os\":\"linux\",\"architecture\":\"s390x\"}},{\"digest\":\"%s\","
             "\"platform\":{\"os\":\"linux\",\"architecture\":\"%s\"}}]}",
             image->digest, sizeof(void *) == 8 && __x86_64__ ? "amd64" : "arm64");
    registry_store(cbx_str_of(text), "v1", "application/vnd.oci.image.index.v1+json");
    assert_int_equal(cbx_registry_manifest(client, &at, "v1", &manifest, &err), 0);
    assert_string_equal(manifest.digest, image->digest);
}

static void bytes_with_another_digest_are_not_used(void **state)
{
    (void)state;
    CBX_AUTO_JSON json = NULL;
    CBX_AUTO_DONE(manifest) manifest = { .json = NULL };
    const struct registry_stored *blob = registry_store(CBX_STR(" {\"a\":1}"), NULL, NULL);
    assert_int_equal(cbx_registry_json(client, &at, cbx_str_of(blob->digest), &json, &err), 0);
    registry.manifest = "{\"a\":2}";
    assert_int_equal(cbx_registry_manifest(client, &at, blob->digest, &manifest, &err), CBX_EPROTO);
    CBX_AUTO_JSON other = NULL;
    free(registry.stored[0].bytes);
    registry.stored[0].bytes = cbx_str_copy(CBX_STR(" {\"a\":2}"));
    assert_int_equal(cbx_registry_json(client, &at, cbx_str_of(blob->digest), &other, &err),
                     CBX_EPROTO);
    assert_string_equal(err.text,
                        "the registry of the cluster's images sent a blob with another digest");
}

static void tags_are_listed_page_by_page(void **state)
{
    (void)state;
    CBX_AUTO_JSON tags = NULL;
    registry.page = 2;
    registry_store(CBX_STR("{\"a\":1}"), "latest", NULL);
    registry_store(CBX_STR("{\"a\":2}"), "layer-a", NULL);
    registry_store(CBX_STR("{\"a\":3}"), "layer-b", NULL);
    registry_store(CBX_STR("{\"a\":4}"), "layer-c", NULL);
    registry_store(CBX_STR("{\"a\":5}"), "v2", NULL);
    assert_int_equal(cbx_registry_tags(client, &at, "layer-", &tags, &err), 0);
    assert_int_equal(json_array_size(tags), 3);
    assert_string_equal(json_string_value(json_array_get(tags, 2)), "layer-c");
}

static void a_removed_manifest_is_gone_and_a_registry_may_refuse(void **state)
{
    (void)state;
    char digest[72];
    snprintf(digest, sizeof(digest), "%s", registry_store(CBX_STR("{}"), "x", NULL)->digest);
    registry.delete_status = 405;
    assert_int_equal(cbx_registry_remove(client, &at, digest, &err), CBX_EBUSY);
    registry.delete_status = 0;
    assert_int_equal(cbx_registry_remove(client, &at, digest, &err), 0);
    assert_int_equal(cbx_registry_remove(client, &at, digest, &err), 0);
}

/* --- authentication --------------------------------------------------------------------------- */

static void basic_credentials_are_sent_when_they_are_asked_for(void **state)
{
    (void)state;
    registry.challenge = "Basic realm=\"r\"";
    registry.pass = "Basic YW5uOnNlY3JldA==";
    log_in("{\"username\": \"ann\", \"password\": \"secret\"}");
    assert_int_equal(push_text("bytes", false), 0);
    log_in("{\"auth\": \"YW5uOnNlY3JldA==\"}");
    assert_int_equal(push_text("bytes", false), 0);
}

static void a_token_is_asked_for_with_the_credentials_and_used_again(void **state)
{
    (void)state;
    char challenge[256];
    CBX_AUTO_JSON tags = NULL;
    snprintf(challenge, sizeof(challenge),
             "Bearer realm=\"http://127.0.0.1:%d/token\",service=\"reg\",scope=\"x\"",
             registry.port);
    registry.challenge = challenge;
    registry.pass = "Bearer t1";
    log_in("{\"auth\": \"YW5uOnNlY3JldA==\"}");
    assert_int_equal(push_text("bytes", false), 0);
    assert_int_equal(cbx_registry_tags(client, &at, "", &tags, &err), 0);
    const char *first =
        strstr(registry.calls, "/token?service=reg&scope=repository%3Ateam%2Fcodebox"
                               "-python%3Apull%2Cpush%2Cdelete");
    assert_non_null(first);
    assert_null(strstr(first + 1, "/token"));
}

static void a_token_that_has_expired_is_asked_for_again(void **state)
{
    (void)state;
    char challenge[256];
    CBX_AUTO_JSON tags = NULL;
    snprintf(challenge, sizeof(challenge), "Bearer realm=\"http://127.0.0.1:%d/token\"",
             registry.port);
    registry.challenge = challenge;
    registry.pass = "Bearer t1";
    log_in("{\"auth\": \"YW5uOnNlY3JldA==\"}");
    assert_int_equal(push_text("bytes", false), 0);
    registry.pass = "Bearer t2";
    registry.token = "t2";
    assert_int_equal(push_text("others", false), 0);
    assert_int_equal(cbx_registry_tags(client, &at, "", &tags, &err), 0);
}

static void credentials_that_are_missing_or_wrong_name_the_setting(void **state)
{
    (void)state;
    registry.challenge = "Basic realm=\"r\"";
    registry.pass = "Basic YW5uOnNlY3JldA==";
    assert_int_equal(push_text("bytes", false), CBX_EENGINE);
    assert_detail("registry-credentials");
    log_in("{\"auth\": \"Ym9iOm5vCg==\"}");
    assert_int_equal(push_text("bytes", false), CBX_EENGINE);
    assert_detail("registry-credentials");
    log_in("{}");
    assert_int_equal(push_text("bytes", false), CBX_EENGINE);
    assert_detail("\"auths\" has no");
}

static void credentials_go_to_no_address_without_tls(void **state)
{
    (void)state;
    static const char *const realms[] = {
        "Bearer realm=\"http://token.example.com/t\"",
        "Bearer realm=\"http://127.0.0.1@token.example.com/t\"",
        "Bearer realm=\"http://127.token.example.com/t\"",
        "Bearer realm=\"http://localhost.example.com/t\"",
        "Bearer realm=\"file:///etc/passwd\"",
        "Bearer service=\"x\"",
        "Negotiate",
    };
    log_in("{\"auth\": \"YW5uOnNlY3JldA==\"}");
    registry.pass = "none";
    for (size_t i = 0; i < sizeof(realms) / sizeof(realms[0]); i++) {
        registry.challenge = realms[i];
        assert_int_equal(push_text("bytes", false), CBX_EENGINE);
        assert_null(strstr(registry.authorization, "Basic"));
    }
}

/* --- faults ----------------------------------------------------------------------------------- */

static void an_upload_stays_at_the_registry(void **state)
{
    (void)state;
    static const char *const elsewhere[] = { "https://evil.example.com/upload",
                                             "//evil.example.com/x", "http://127.0.0.1/v2/x", "" };
    for (size_t i = 0; i < sizeof(elsewhere) / sizeof(elsewhere[0]); i++) {
        registry.location = elsewhere[i];
        assert_int_not_equal(push_text("bytes", false), 0);
        assert_string_equal(
            err.text, "the registry of the cluster's images sent the upload to another address");
    }
}

static void a_source_that_fails_ends_the_push(void **state)
{
    (void)state;
    assert_int_equal(push_text("many bytes", true), CBX_EIO);
    assert_int_equal(registry.count, 0);
}

static void a_refused_or_broken_upload_stores_nothing(void **state)
{
    (void)state;
    registry.upload_status = 507;
    assert_int_equal(push_text("bytes", false), CBX_EENGINE);
    assert_detail("507");
    registry.upload_status = 0;
    registry.ends_upload = true;
    assert_int_equal(push_text("bytes", false), CBX_EENGINE);
    assert_int_equal(registry.count, 0);
}

static void what_a_registry_refuses_has_its_words(void **state)
{
    (void)state;
    char digest[72];
    registry.manifest_status = 403;
    assert_int_equal(
        cbx_registry_push_manifest(client, &at, "x", "application/x", CBX_STR("{}"), digest, &err),
        CBX_EENGINE);
    assert_detail("no such thing");
    assert_detail("may push there");
}

static void a_check_of_the_right_to_push_leaves_no_upload(void **state)
{
    (void)state;
    assert_int_equal(cbx_registry_may_push(client, &at, &err), 0);
    assert_called("DELETE /v2/" REGISTRY_NAME "/blobs/uploads/1");
    snprintf(at.host, sizeof(at.host), "127.0.0.1:1");
    assert_int_equal(cbx_registry_may_push(client, &at, &err), CBX_EENGINE);
    assert_string_equal(err.text, "the registry of the cluster's images does not answer");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin_test, end_test)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_reference_has_a_host_a_name_and_a_digest),
        TEST(a_blob_of_unknown_length_is_pushed),
        TEST(a_manifest_is_read_by_its_tag_and_its_digest),
        TEST(an_index_gives_the_manifest_of_this_platform),
        TEST(bytes_with_another_digest_are_not_used),
        TEST(tags_are_listed_page_by_page),
        TEST(a_removed_manifest_is_gone_and_a_registry_may_refuse),
        TEST(basic_credentials_are_sent_when_they_are_asked_for),
        TEST(a_token_is_asked_for_with_the_credentials_and_used_again),
        TEST(a_token_that_has_expired_is_asked_for_again),
        TEST(credentials_that_are_missing_or_wrong_name_the_setting),
        TEST(credentials_go_to_no_address_without_tls),
        TEST(an_upload_stays_at_the_registry),
        TEST(a_source_that_fails_ends_the_push),
        TEST(a_refused_or_broken_upload_stores_nothing),
        TEST(what_a_registry_refuses_has_its_words),
        TEST(a_check_of_the_right_to_push_leaves_no_upload),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
