/* SPDX-License-Identifier: MIT
 * Packages on a cluster: an installer's Pod, its archive, and the layer at the registry. */
#include "docker/contents.h"
#include "docker/engine/kubernetes/kube.h"
#include "docker/packages/package_layers.h"
#include "policies/base/memory.h"
#include "tests/unit/docker/engine/kubernetes/fake_cluster.h"
#include "tests/unit/docker/engine/kubernetes/fake_registry.h"

#include <sys/wait.h>
#include <zlib.h>

#define SUCCESS "{\"status\":\"Success\"}"
#define FAILURE(code)                                                                              \
    "{\"status\":\"Failure\",\"details\":{\"causes\":[{\"reason\":\"ExitCode\",\"message\":"       \
    "\"" code "\"}]}}"
#define HASH  "sha256:1111111111111111111111111111111111111111111111111111111111111111"
#define SET   "attrs 25.1.0 " HASH "\n"
#define OCI   "application/vnd.oci.image.manifest.v1+json"
#define BASE  "sha256:00000000000000000000000000000000000000000000000000000000000feed1"
#define SETUP "sha256:00000000000000000000000000000000000000000000000000000000000feed2"
#define PLACE "usr/local/lib/python3.13/dist-packages"
enum { MOST = 1 << 20 };

static struct cbx_engine *engine;
static struct cbx_sandbox_config config = { .instance = "unit", .secret = "secret" };
static struct cbx_packages_config packages = { .sandbox = &config };
static struct cbx_err err;
static struct cbx_buf archive;
static const char contents[] = "{\"version\":1,\"runtime\":{\"name\":\"Python\",\"version\":"
                               "\"3.13.5\"},\"packages\":[]}";

/* --- the cluster, the registry, and an installer's archive ------------------------------------- */

static void write_file(const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/%s", cluster.folder, name);
    FILE *to = fopen(path, "w");
    assert_non_null(to);
    fputs(text, to);
    fclose(to);
}

/* Pushes the sandbox image as the registry has it, and returns the digest of its manifest. */
static const char *push_base(void)
{
    char text[2048];
    json_t *labels = json_pack("{s:s}", CBX_LABEL_CONTENTS, contents);
    CBX_AUTO_JSON image =
        json_pack("{s:s,s:s,s:{s:s,s:o},s:{s:s,s:[s]},s:[{s:s}]}", "architecture", "amd64", "os",
                  "linux", "config", "User", "65532:65532", "Labels", labels, "rootfs", "type",
                  "layers", "diff_ids", HASH, "history", "created_by", "base");
    CBX_AUTO_MEM char *bytes = json_dumps(image, 0);
    const struct registry_stored *blob = registry_store(cbx_str_of(bytes), NULL, NULL);
    snprintf(text, sizeof(text),
             "{\"schemaVersion\":2,\"config\":{\"mediaType\":\"application/"
             "vnd.oci.image.config.v1+json\",\"digest\":\"%s\",\"size\":%zu},\"layers\":[{"
             "\"mediaType\":\"x\",\"digest\":\"" HASH "\",\"size\":5}]}",
             blob->digest, strlen(bytes));
    return registry_store(cbx_str_of(text), "latest", OCI)->digest;
}

static void write_images(const char *digest)
{
    char reference[256];
    snprintf(reference, sizeof(reference), "127.0.0.1:%d/" REGISTRY_NAME "@%s", registry.port,
             digest);
    CBX_AUTO_JSON images =
        json_pack("{s:{s:s,s:s,s:i,s:{s:s}},s:{s:s,s:s,s:i,s:{s:s}}}", "codebox-python:latest",
                  "reference", reference, "id", BASE, "size", 1000, "labels", CBX_LABEL_CONTENTS,
                  contents, "codebox-installer-python:latest", "reference", "r/installer", "id",
                  SETUP, "size", 1, "labels", CBX_LABEL_BASE, BASE);
    CBX_AUTO_MEM char *text = json_dumps(images, 0);
    write_file("images.json", text);
}

/* Replaces the archive by that of a shell command in a folder with the packages. */
static void pack(const char *command)
{
    char line[2048], bytes[4096];
    int ends[2], status;
    ssize_t n;
    snprintf(line, sizeof(line),
             "cd %s && mkdir -p python/attrs && echo 'x = 1' >python/attrs/__init__.py && %s; "
             "rm -rf python",
             cluster.folder, command);
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        execl("/bin/sh", "sh", "-c", line, NULL);
        _exit(127);
    }
    close(ends[1]);
    cbx_buf_done(&archive);
    cbx_buf_init(&archive, MOST);
    while ((n = read(ends[0], bytes, sizeof(bytes))) > 0) {
        cbx_buf_add_bytes(&archive, bytes, (size_t)n);
    }
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
}

#define TAR                                                                                        \
    "tar --create --format=gnu --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner "        \
    "--transform=s,^python," PLACE ", python"

static void set_programs(struct cbx_str tar, const char *tar_status, const char *setup_status)
{
    cluster.programs[0] = (struct cluster_program){ "%2Fusr%2Fbin%2Ftar", tar, tar_status };
    cluster.programs[1] =
        (struct cluster_program){ "%2Fusr%2Fbin%2Fpython3", CBX_STR("done\n"), setup_status };
}

static void open_engine(const char *settings)
{
    write_file("settings.yaml", settings);
    cbx_engine_free(engine);
    engine = NULL;
    assert_int_equal(cbx_engine_new(cluster.host, &engine, &err), 0);
}

static int begin_test(void **state)
{
    (void)state;
    cluster_start();
    registry_start();
    write_images(push_base());
    memset(&err, 0, sizeof(err));
    open_engine("namespace: boxes\nimages: images.json\npackages: true\n");
    pack(TAR);
    set_programs(cbx_buf_str(&archive), SUCCESS, SUCCESS);
    return 0;
}

static int end_test(void **state)
{
    (void)state;
    cbx_engine_free(engine);
    engine = NULL;
    cluster_stop();
    registry_stop();
    cbx_buf_done(&archive);
    return 0;
}

static int install(struct cbx_layer *out)
{
    return cbx_layer_install(engine, &packages, "python", CBX_STR(SET), NULL, NULL, out, &err);
}

static void assert_no_layer(int code, const char *text)
{
    struct cbx_layer layer;
    assert_int_equal(install(&layer), code);
    if (strstr(err.text, text) == NULL) {
        fail_msg("'%s' is not in '%s: %s'", text, err.text, err.detail);
    }
    assert_null(registry_find("layer-", 6, true));
    assert_int_equal(cbx_layer_find(engine, &packages, "python", CBX_STR(SET), &layer, &err),
                     CBX_ENOTFOUND);
    FAKE_AWAIT(json_object_size(cluster.pods) == 0);
}

/* The body of the Pod that was asked for as number `i` (new reference). */
static json_t *read_pod(int i)
{
    return json_loads(fake.containers[i].create_body, 0, NULL);
}

static const json_t *container_of(const json_t *pod)
{
    const json_t *spec = json_object_get(pod, "spec");
    return json_array_get(json_object_get(spec, "containers"), 0);
}

/* The blob is the archive, compressed by gzip. */
static void assert_same_when_unzipped(const struct registry_stored *blob)
{
    enum { GZIP_WINDOW = 15 + 16 };
    CBX_AUTO_MEM char *plain = cbx_new(MOST);
    z_stream zip = { .next_in = (Bytef *)blob->bytes,
                     .avail_in = (uInt)blob->len,
                     .next_out = (Bytef *)plain,
                     .avail_out = MOST };
    assert_int_equal(inflateInit2(&zip, GZIP_WINDOW), Z_OK);
    assert_int_equal(inflate(&zip, Z_FINISH), Z_STREAM_END);
    assert_int_equal(zip.total_out, archive.len);
    assert_memory_equal(plain, archive.p, archive.len);
    inflateEnd(&zip);
}

/* --- layers ----------------------------------------------------------------------------------- */

static void a_layer_is_the_sandbox_image_with_one_more_blob(void **state)
{
    (void)state;
    struct cbx_layer layer;
    CBX_AUTO_JSON manifest = NULL;
    CBX_AUTO_JSON image = NULL;
    char digest[72];
    if (install(&layer) != 0) {
        fail_msg("%s: %s", err.text, err.detail);
    }
    const char *tag = strstr(layer.name, "layer:");
    char wanted[80];
    snprintf(wanted, sizeof(wanted), "layer-%s", tag + 6);
    const struct registry_stored *stored = registry_find(wanted, strlen(wanted), true);
    assert_non_null(stored);
    assert_string_equal(stored->type, OCI);
    manifest = json_loadb(stored->bytes, stored->len, 0, NULL);
    const json_t *layers = json_object_get(manifest, "layers");
    assert_int_equal(json_array_size(layers), 2);
    const json_t *last = json_array_get(layers, 1);
    assert_string_equal(json_string_value(json_object_get(last, "mediaType")),
                        "application/vnd.oci.image.layer.v1.tar+gzip");
    const char *name = json_string_value(json_object_get(last, "digest"));
    const struct registry_stored *zipped = registry_find(name, strlen(name), false);
    assert_non_null(zipped);
    assert_int_equal(json_integer_value(json_object_get(last, "size")), zipped->len);
    assert_same_when_unzipped(zipped);
    registry_digest(cbx_buf_str(&archive), digest);
    const struct registry_stored *blob = registry_find(layer.id, strlen(layer.id), false);
    image = json_loadb(blob->bytes, blob->len, 0, NULL);
    const json_t *hashes = json_object_get(json_object_get(image, "rootfs"), "diff_ids");
    assert_string_equal(json_string_value(json_array_get(hashes, 1)), digest);
    const json_t *labels = json_object_get(json_object_get(image, "config"), "Labels");
    assert_string_equal(json_string_value(json_object_get(labels, CBX_LABEL_BASE)), BASE);
    const char *list = json_string_value(json_object_get(labels, CBX_LABEL_CONTENTS));
    assert_non_null(strstr(list, "\"attrs\""));
    FAKE_AWAIT(json_object_size(cluster.pods) == 0);
}

static void an_installer_has_a_network_and_what_a_sandbox_has(void **state)
{
    (void)state;
    struct cbx_layer layer;
    assert_int_equal(install(&layer), 0);
    CBX_AUTO_JSON pod = read_pod(0);
    const json_t *spec = json_object_get(pod, "spec"), *container = container_of(pod);
    const json_t *labels = json_object_get(json_object_get(pod, "metadata"), "labels");
    const json_t *security = json_object_get(container, "securityContext");
    assert_string_equal(json_string_value(json_object_get(container, "image")), "r/installer");
    assert_string_equal(json_string_value(json_object_get(spec, "dnsPolicy")), "ClusterFirst");
    assert_string_equal(json_string_value(json_object_get(labels, CBX_LABEL_NETWORK)), "1");
    assert_true(json_is_false(json_object_get(security, "readOnlyRootFilesystem")));
    assert_true(json_is_false(json_object_get(security, "allowPrivilegeEscalation")));
    assert_int_equal(json_integer_value(json_object_get(security, "runAsUser")), 65532);
    assert_true(json_is_false(json_object_get(spec, "hostUsers")));
    const json_t *limits = json_object_get(json_object_get(container, "resources"), "limits");
    assert_string_equal(json_string_value(json_object_get(limits, "ephemeral-storage")),
                        "2147483648");
    const json_t *command = json_object_get(container, "command");
    assert_string_equal(json_string_value(json_array_get(command, 0)), "/usr/bin/sleep");
}

static void a_sandbox_starts_from_the_layer_by_its_digest(void **state)
{
    (void)state;
    struct cbx_layer layer;
    struct cbx_limits limits;
    struct cbx_sandbox_layer of_sandbox = { 0 };
    assert_int_equal(install(&layer), 0);
    cbx_limits_default(&limits);
    limits.isolation = CBX_ISOLATION_CONTAINER;
    memcpy(of_sandbox.image, layer.id, sizeof(layer.id));
    CBX_AUTO(sandbox) sandbox = NULL;
    if (cbx_sandbox_prepare(engine, &config, "python", &limits, &of_sandbox, &sandbox, &err) != 0) {
        fail_msg("%s: %s", err.text, err.detail);
    }
    CBX_AUTO_JSON pod = read_pod(1);
    const char *reference = json_string_value(json_object_get(container_of(pod), "image"));
    assert_non_null(strstr(reference, "/" REGISTRY_NAME "@sha256:"));
    assert_null(strstr(reference, "feed1"));
}

static void an_installer_of_a_killed_gateway_is_removed_and_never_adopted(void **state)
{
    (void)state;
    size_t removed = 0;
    char id[CBX_CONTAINER_ID_CHARS + 1];
    CBX_AUTO(attach) attach = NULL;
    CBX_AUTO_JSON running = NULL;
    const struct cbx_container_spec spec = { .role = CBX_ROLE_INSTALLER,
                                             .kernel = "python",
                                             .image = SETUP,
                                             .instance = "unit",
                                             .command = { "/usr/bin/python3" },
                                             .lease_s = 100 };
    assert_int_equal(cbx_engine_container_begin(engine, &spec, id, &attach, &err), 0);
    assert_int_equal(
        cbx_engine_container_running(engine, CBX_LABEL_INSTANCE "=unit", &running, &err), 0);
    assert_int_equal(json_array_size(running), 0);
    struct cbx_reap reap = { .instance = "unit" };
    assert_int_equal(cbx_sandbox_reap(engine, &reap, &removed, &err), 0);
    assert_int_equal(removed, 1);
}

static void another_replica_finds_the_layer_and_installs_nothing(void **state)
{
    (void)state;
    struct cbx_layer layer, again;
    assert_int_equal(install(&layer), 0);
    cluster.programs[0].word = cluster.programs[1].word = NULL;
    open_engine("namespace: boxes\nimages: images.json\npackages: true\n");
    assert_int_equal(install(&again), 0);
    assert_string_equal(layer.id, again.id);
    assert_int_equal(fake.count, 1);
}

static void layers_are_listed_with_their_size_and_removed(void **state)
{
    (void)state;
    struct cbx_layer layer;
    CBX_AUTO_JSON list = NULL;
    CBX_AUTO_JSON rest = NULL;
    assert_int_equal(install(&layer), 0);
    assert_int_equal(cbx_layer_list(engine, &packages, &list, &err), 0);
    assert_int_equal(json_array_size(list), 1);
    const json_t *entry = json_array_get(list, 0);
    assert_string_equal(json_string_value(json_object_get(entry, "name")), layer.name);
    int64_t own = json_integer_value(json_object_get(entry, "own_bytes"));
    assert_true(own > 0 && own < (int64_t)archive.len);
    assert_int_equal(cbx_layer_remove(engine, layer.id, &err), 0);
    assert_int_equal(cbx_layer_list(engine, &packages, &rest, &err), 0);
    assert_int_equal(json_array_size(rest), 0);
    assert_int_equal(cbx_layer_find(engine, &packages, "python", CBX_STR(SET), &layer, &err),
                     CBX_ENOTFOUND);
}

static void a_docker_image_gets_a_layer_of_dockers_type(void **state)
{
    (void)state;
    static const char docker[] = "application/vnd.docker.distribution.manifest.v2+json";
    struct cbx_layer layer;
    for (size_t i = 0; i < registry.count; i++) {
        if (registry.stored[i].manifest) {
            snprintf(registry.stored[i].type, sizeof(registry.stored[i].type), "%s", docker);
        }
    }
    assert_int_equal(install(&layer), 0);
    const struct registry_stored *last = &registry.stored[registry.count - 1];
    assert_string_equal(last->type, docker);
    assert_non_null(strstr(last->bytes, "application/vnd.docker.image.rootfs.diff.tar.gzip"));
}

/* --- what fails ------------------------------------------------------------------------------- */

static void an_archive_with_files_elsewhere_makes_no_layer(void **state)
{
    (void)state;
    pack("tar --create --format=gnu --owner=0 --group=0 --transform=s,^python,codebox, python");
    set_programs(cbx_buf_str(&archive), SUCCESS, SUCCESS);
    assert_no_layer(CBX_EPROTO, "not below the folder of packages");
}

static void an_archive_that_breaks_makes_no_layer(void **state)
{
    (void)state;
    set_programs(cbx_str_sub(cbx_buf_str(&archive), 0, 1000), SUCCESS, SUCCESS);
    assert_no_layer(CBX_EPROTO, "no end");
    set_programs(cbx_buf_str(&archive), FAILURE("2"), SUCCESS);
    assert_no_layer(CBX_EENGINE, "could not pack");
    set_programs(cbx_buf_str(&archive), NULL, SUCCESS);
    assert_no_layer(CBX_EENGINE, "did not run to its end");
}

static void an_installer_that_fails_makes_no_layer(void **state)
{
    (void)state;
    set_programs(cbx_buf_str(&archive), SUCCESS, FAILURE("1"));
    assert_no_layer(CBX_EINVAL, "");
    set_programs(cbx_buf_str(&archive), SUCCESS, FAILURE("137"));
    assert_no_layer(CBX_ETOOBIG, "more memory");
    set_programs(cbx_buf_str(&archive), SUCCESS, NULL);
    assert_no_layer(CBX_EENGINE, "did not run to its end");
}

static void a_registry_that_fails_makes_no_layer(void **state)
{
    (void)state;
    registry.upload_status = 500;
    assert_no_layer(CBX_EENGINE, "refused a request");
    registry.upload_status = 0;
    registry.manifest_status = 500;
    assert_no_layer(CBX_EENGINE, "refused a request");
    registry.manifest_status = 0;
    registry.ends_upload = true;
    assert_no_layer(CBX_EENGINE, "does not answer");
}

static void a_base_that_is_at_no_registry_names_the_remedy(void **state)
{
    (void)state;
    write_images("latest");
    open_engine("namespace: boxes\nimages: images.json\npackages: true\n");
    assert_no_layer(CBX_EENGINE, "at no registry");
    assert_int_not_equal(install(&(struct cbx_layer){ 0 }), 0);
    assert_non_null(strstr(err.detail, "codebox image push REGISTRY"));
}

static void without_the_setting_no_package_is_installed(void **state)
{
    (void)state;
    open_engine("namespace: boxes\nimages: images.json\n");
    struct cbx_layer layer;
    assert_int_equal(install(&layer), CBX_ESTATE);
    assert_non_null(strstr(err.text, "install no packages"));
    assert_int_equal(fake.count, 0);
}

static void a_network_by_name_is_refused(void **state)
{
    (void)state;
    struct cbx_layer layer;
    packages.network = "build";
    assert_int_equal(install(&layer), CBX_ESTATE);
    assert_string_equal(err.text, "a cluster has no network 'build' for installers");
    packages.network = NULL;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin_test, end_test)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_layer_is_the_sandbox_image_with_one_more_blob),
        TEST(an_installer_has_a_network_and_what_a_sandbox_has),
        TEST(a_sandbox_starts_from_the_layer_by_its_digest),
        TEST(an_installer_of_a_killed_gateway_is_removed_and_never_adopted),
        TEST(another_replica_finds_the_layer_and_installs_nothing),
        TEST(layers_are_listed_with_their_size_and_removed),
        TEST(a_docker_image_gets_a_layer_of_dockers_type),
        TEST(an_archive_with_files_elsewhere_makes_no_layer),
        TEST(an_archive_that_breaks_makes_no_layer),
        TEST(an_installer_that_fails_makes_no_layer),
        TEST(a_registry_that_fails_makes_no_layer),
        TEST(a_base_that_is_at_no_registry_names_the_remedy),
        TEST(without_the_setting_no_package_is_installed),
        TEST(a_network_by_name_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
