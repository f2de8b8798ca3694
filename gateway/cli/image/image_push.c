/* SPDX-License-Identifier: MIT
 * `codebox image push`. All images are read from the engine before the first one is pushed, and
 * the images file is written after the last one, so a failure leaves an earlier file unchanged. */
#include "gateway/cli/image/image_push.h"

#include "docker/engine/engine.h"
#include "docker/kernel_names.h"
#include "docker/own_images.h"
#include "docker/packages/package_layers.h"
#include "gateway/cli/cli.h"
#include "policies/base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* A repository name of a registry has at most 255 bytes; the name of the image is a part of it. */
enum { REGISTRY_MAX = 255 - CBX_IMAGE_NAME_BYTES / 2, REFERENCE_BYTES = 512 };
enum { SCRIPT_OUTPUT_MAX = 256 * 1024 };
/* The image of the gateway itself: no sandbox is made from it, so the images file lacks it. */
static const char gateway[] = "gateway";

/* --- arguments -------------------------------------------------------------------------------- */

static bool is_word_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

/* Returns the length of the separator at `p`: '.', '_', '__' or any number of '-'; 0 if there is
 * none. */
static size_t separator_len(const char *p)
{
    size_t dashes = strspn(p, "-");
    if (dashes > 0) {
        return dashes;
    }
    if (p[0] == '_' && p[1] == '_') {
        return 2;
    }
    return p[0] == '.' || p[0] == '_' ? 1 : 0;
}

/* Returns the length of the component at `p`: words of small letters and digits, with a separator
 * between them; 0 if there is none. */
static size_t component_len(const char *p)
{
    size_t len = 0, next = 0;
    while (is_word_char(p[next])) {
        while (is_word_char(p[next])) {
            next++;
        }
        len = next;
        next += separator_len(p + next);
    }
    return len;
}

/* Returns the length of ":PORT", 0 if there is none. */
static size_t port_len(const char *p)
{
    size_t digits = p[0] == ':' ? strspn(p + 1, "0123456789") : 0;
    long port = digits > 0 && digits < 6 ? strtol(p + 1, NULL, 10) : 0;
    return port > 0 && port < 65536 ? 1 + digits : 0;
}

/* True for HOST[:PORT][/PATH]. The docker client takes a first part without a dot and a port for
 * a path at its default registry, unless the part is localhost. */
static bool is_registry(const char *text)
{
    size_t host = component_len(text), at = host + port_len(text + host);
    bool named = at > host || memchr(text, '.', host) != NULL ||
                 (host == strlen("localhost") && memcmp(text, "localhost", host) == 0);
    if (host == 0 || !named || memchr(text, '_', host) != NULL || strlen(text) > REGISTRY_MAX) {
        return false;
    }
    while (text[at] == '/') {
        size_t part = component_len(text + at + 1);
        if (part == 0) {
            return false;
        }
        at += 1 + part;
    }
    return text[at] == '\0';
}

static int check_registry(const char *text, struct cbx_err *err)
{
    if (is_registry(text)) {
        return 0;
    }
    return cbx_fail(err, CBX_EINVAL,
                    "REGISTRY is '%.60s', allowed is HOST[:PORT][/PATH] without a scheme, a tag or "
                    "a digest: small letters, digits, '.', '-' and '_'; HOST has a dot or a port, "
                    "or is localhost",
                    text);
}

/* Writes the engine's name of an image that is given as KERNEL, KERNEL-small or KERNEL-NAME. */
static int name_image(const char *given, char out[CBX_IMAGE_NAME_BYTES], struct cbx_err *err)
{
    size_t len = strcspn(given, "-");
    const char *kernel, *variant = given[len] == '-' ? given + len + 1 : NULL;
    if (strcmp(given, gateway) == 0) {
        cbx_image_name(NULL, gateway, NULL, out);
        return 0;
    }
    for (size_t i = 0; (kernel = cbx_kernel_at(i)) != NULL; i++) {
        if (strlen(kernel) != len || memcmp(kernel, given, len) != 0) {
            continue;
        }
        bool small = variant != NULL && strcmp(variant, CBX_VARIANT_SMALL) == 0;
        if (variant == NULL || (small && cbx_kernel_has_small(kernel)) ||
            (!small && cbx_own_image_check(variant, NULL) == 0)) {
            cbx_image_name(NULL, kernel, variant, out);
            return 0;
        }
    }
    return cbx_fail(err, CBX_EINVAL,
                    "there is no image '%.60s', allowed are kernels (python, c, ...), "
                    "python-small, KERNEL-NAME for images of one's own, and gateway",
                    given);
}

/* --- the images of the engine ----------------------------------------------------------------- */

/* Says how the image is built. */
static int fail_missing(const char *name, struct cbx_err *err)
{
    const char *dash = strchr(name + strlen("codebox-"), '-');
    if (strncmp(name + strlen("codebox-"), gateway, strlen(gateway)) == 0) {
        return cbx_fail(err, CBX_ENOTFOUND,
                        "the image '%s' is not built; 'codebox image build gateway' builds it",
                        name);
    }
    if (dash == NULL) {
        return cbx_fail(err, CBX_ENOTFOUND,
                        "the image '%s' is not built; 'codebox image build' builds it", name);
    }
    size_t len = strcspn(dash + 1, ":");
    if (len == strlen(CBX_VARIANT_SMALL) && memcmp(dash + 1, CBX_VARIANT_SMALL, len) == 0) {
        return cbx_fail(err, CBX_ENOTFOUND,
                        "the image '%s' is not built; 'codebox image build --images small' "
                        "builds it",
                        name);
    }
    return cbx_fail(err, CBX_ENOTFOUND,
                    "the image '%s' is not built; 'codebox image build --from IMAGE --name %.*s' "
                    "builds it",
                    name, (int)len, dash + 1);
}

/* Adds the entry of an image to `file`, with its name as the reference. */
static int add_image(struct cbx_engine *engine, const char *name, json_t *file, struct cbx_err *err)
{
    struct cbx_image image;
    CBX_AUTO_JSON labels = NULL;
    int failed = cbx_engine_image_labels(engine, name, &image, &labels, err);
    if (failed) {
        return failed == CBX_ENOTFOUND ? fail_missing(name, err) : failed;
    }
    json_t *entry = json_pack("{s:s,s:s,s:I}", "reference", name, "id", image.id, "size",
                              (json_int_t)image.size_bytes);
    json_t *copy = json_is_object(labels) ? json_incref(labels) : json_object();
    json_object_set_new(entry, "labels", copy);
    json_object_set_new(file, name, entry);
    return 0;
}

/* Adds the images that --from made with this name. */
static int add_own(struct cbx_engine *engine, const char *own, json_t *file, struct cbx_err *err)
{
    CBX_AUTO_JSON images = NULL;
    int failed = cbx_own_images_list(engine, &images, err);
    if (failed) {
        return failed;
    }
    size_t i, before = json_object_size(file);
    const json_t *image;
    json_array_foreach(images, i, image)
    {
        if (!cbx_str_is(cbx_json_str(json_object_get(image, "own")), own)) {
            continue;
        }
        failed = add_image(engine, json_string_value(json_object_get(image, "name")), file, err);
        if (failed) {
            return failed;
        }
    }
    if (json_object_size(file) == before) {
        return cbx_fail(err, CBX_ENOTFOUND,
                        "no image has the name '%s'; 'codebox image build --from IMAGE --name %s' "
                        "builds them",
                        own, own);
    }
    return 0;
}

/* Adds the chosen images; without a choice the images of all kernels, and of --name. */
static int add_images(const struct cbx_options *options, struct cbx_engine *engine, size_t first,
                      json_t *file, struct cbx_err *err)
{
    const char *kernel, *variant = cbx_options_small(options) ? CBX_VARIANT_SMALL : NULL;
    char name[CBX_IMAGE_NAME_BYTES];
    int failed = 0;
    for (size_t i = first; !failed && i < options->arguments.count; i++) {
        failed = name_image(options->arguments.items[i], name, err);
        if (!failed) {
            failed = add_image(engine, name, file, err);
        }
    }
    if (failed || first < options->arguments.count) {
        return failed;
    }
    for (size_t i = 0; !failed && (kernel = cbx_kernel_at(i)) != NULL; i++) {
        cbx_image_name(NULL, kernel, variant, name);
        failed = add_image(engine, name, file, err);
    }
    if (failed || options->image_name == NULL) {
        return failed;
    }
    return add_own(engine, options->image_name, file, err);
}

/* Writes the name of the installer for an image of this name ("codebox-python-small:latest"); false
 * if it has none. */
static bool name_installer(const char *image, char out[CBX_IMAGE_NAME_BYTES])
{
    char text[CBX_IMAGE_NAME_BYTES];
    if (strncmp(image, "codebox-", strlen("codebox-")) != 0) {
        return false;
    }
    snprintf(text, sizeof(text), "%s", image + strlen("codebox-"));
    text[strcspn(text, ":")] = '\0';
    char *dash = strchr(text, '-');
    if (dash != NULL) {
        *dash = '\0';
    }
    return cbx_installer_image(NULL, text, dash != NULL ? dash + 1 : NULL, out, NULL);
}

/* Adds the installers of the images, those that are built: only a cluster that installs packages
 * needs them. */
static int add_installers(struct cbx_engine *engine, json_t *file, struct cbx_err *err)
{
    const char *image;
    json_t *entry;
    char name[CBX_IMAGE_NAME_BYTES];
    struct cbx_image found;
    CBX_AUTO_JSON more = json_object();
    json_object_foreach(file, image, entry)
    {
        if (!name_installer(image, name)) {
            continue;
        }
        int failed = cbx_engine_image(engine, name, &found, err);
        if (failed == CBX_ENOTFOUND) {
            continue;
        }
        free(found.contents);
        if (!failed) {
            failed = add_image(engine, name, more, err);
        }
        if (failed) {
            return failed;
        }
    }
    json_object_update(file, more);
    return 0;
}

/* --- the push --------------------------------------------------------------------------------- */

static bool find_script(char script[PATH_MAX])
{
    char supervisor[PATH_MAX];
    if (!cbx_image_script(script, supervisor)) {
        return false;
    }
    char *name = strrchr(script, '/') + 1; /* docker/images/build */
    memcpy(name, "push", sizeof("push"));
    return access(script, X_OK) == 0;
}

/* Runs the script; *out gets its standard output. Returns its exit status. */
static int run_script(char *const words[], struct cbx_buf *out)
{
    int ends[2], status = 0;
    struct cbx_err err = { 0 };
    fflush(NULL);
    if (pipe2(ends, O_CLOEXEC) < 0) {
        cbx_fail(&err, CBX_EIO, "pipe: %s", strerror(errno));
        return cbx_cli_fail(&err);
    }
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        closefrom(3);
        execv(words[0], words);
        fprintf(stderr, "codebox: '%s': %s\n", words[0], strerror(errno));
        _exit(2);
    }
    close(ends[1]);
    if (child < 0) {
        close(ends[0]);
        cbx_fail(&err, CBX_EIO, "fork: %s", strerror(errno));
        return cbx_cli_fail(&err);
    }
    int failed = cbx_cli_read(ends[0], words[0], out, &err);
    close(ends[0]);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (failed) {
        return cbx_cli_fail(&err);
    }
    if (!WIFEXITED(status)) {
        cbx_fail(&err, CBX_EIO, "'%s' was ended by a signal", words[0]);
        return cbx_cli_fail(&err);
    }
    return WEXITSTATUS(status);
}

/* True for "sha256:" and 64 hexadecimal digits. */
static bool is_digest(struct cbx_str text)
{
    static const char start[] = "sha256:";
    size_t at = sizeof(start) - 1;
    if (text.len != CBX_IMAGE_ID_CHARS || memcmp(text.p, start, at) != 0) {
        return false;
    }
    while (at < text.len && strchr("0123456789abcdef", text.p[at]) != NULL) {
        at++;
    }
    return at == text.len;
}

/* Pushes an image by its id, so the pushed image is the one in the file. */
static int push(char *script, const char *registry, const char *name, json_t *entry)
{
    char reference[REFERENCE_BYTES];
    int len = (int)strcspn(name, ":");
    char *id = (char *)(uintptr_t)json_string_value(json_object_get(entry, "id"));
    long long size = json_integer_value(json_object_get(entry, "size"));
    CBX_AUTO_DONE(buf) out;
    cbx_buf_init(&out, SCRIPT_OUTPUT_MAX);
    snprintf(reference, sizeof(reference), "%s/%s", registry, name);
    printf("  IMAGE %.*s: pushing to %s (%lld MB)\n", len, name, registry,
           (size + 500000) / 1000000);
    char *words[] = { script, id, reference, NULL };
    int status = run_script(words, &out);
    if (status != 0) {
        return status;
    }
    struct cbx_str digest = cbx_buf_str(&out);
    digest.len -= digest.len > 0 && digest.p[digest.len - 1] == '\n';
    if (!is_digest(digest)) {
        struct cbx_err err = { 0 };
        cbx_fail(&err, CBX_EENGINE, "the digest of '%s' at the registry is not known", reference);
        return cbx_cli_fail(&err);
    }
    snprintf(reference, sizeof(reference), "%s/%.*s@%.*s", registry, len, name,
             CBX_STR_ARG(digest));
    json_object_set_new(entry, "reference", json_string(reference));
    return 0;
}

/* Prints the reference of the gateway's image, for manifests, and removes it from the file. */
static void take_gateway(json_t *file)
{
    char name[CBX_IMAGE_NAME_BYTES];
    cbx_image_name(NULL, gateway, NULL, name);
    const json_t *entry = json_object_get(file, name);
    if (entry != NULL) {
        printf("  IMAGE %s\n", json_string_value(json_object_get(entry, "reference")));
        json_object_del(file, name);
    }
}

/* Pushes all images of `file`, and sets their references. */
static int push_all(char *script, struct cbx_engine *engine, const char *registry, json_t *file)
{
    const char *name;
    json_t *entry;
    /* the docker client pushes from the engine that runs the sandboxes */
    setenv("DOCKER_HOST", cbx_engine_host(engine), 1);
    json_object_foreach(file, name, entry)
    {
        int status = push(script, registry, name, entry);
        if (status != 0) {
            return status;
        }
    }
    return 0;
}

/* --- the images file -------------------------------------------------------------------------- */

/* Returns the folder of a path; the caller frees it. */
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL) {
        return cbx_str_copy(CBX_STR("."));
    }
    return cbx_str_copy((struct cbx_str){ .p = path, .len = (size_t)(slash - path) + 1 });
}

/* Finds a file that cannot be written before the first image is pushed. */
static int check_file(const char *path, struct cbx_err *err)
{
    CBX_AUTO_MEM char *folder = folder_of(path);
    struct stat status;
    if (path[0] == '\0' || strlen(path) > PATH_MAX - sizeof(".codebox-XXXXXX")) {
        return cbx_fail(err, CBX_EINVAL, "--images-file is empty or too long");
    }
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
        return cbx_fail(err, CBX_EINVAL, "'%s' is not a regular file", path);
    }
    if (faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) != 0) {
        return cbx_fail(err, CBX_EIO, "'%s' cannot be written: %s", path, strerror(errno));
    }
    return 0;
}

/* Writes a temporary file and renames it. */
static int write_file(const char *path, const json_t *file, struct cbx_err *err)
{
    char temporary[PATH_MAX];
    CBX_AUTO_MEM char *text = json_dumps(file, JSON_INDENT(2));
    snprintf(temporary, sizeof(temporary), "%s.codebox-XXXXXX", path);
    CBX_AUTO_FD fd = mkostemp(temporary, O_CLOEXEC);
    if (fd < 0) {
        return cbx_fail(err, CBX_EIO, "'%s' cannot be written: %s", path, strerror(errno));
    }
    if (cbx_cli_write(fd, cbx_str_of(text)) != 0 || cbx_cli_write(fd, CBX_STR("\n")) != 0 ||
        fchmod(fd, 0644) != 0 || fsync(fd) != 0 || rename(temporary, path) != 0) {
        cbx_fail(err, CBX_EIO, "'%s' cannot be written: %s", path, strerror(errno));
        unlink(temporary);
        return CBX_EIO;
    }
    return 0;
}

/* --- the command ------------------------------------------------------------------------------ */

static int check(const struct cbx_options *options, struct cbx_err *err)
{
    size_t first = options->local ? 1 : 2;
    char name[CBX_IMAGE_NAME_BYTES];
    if (options->arguments.count < first) {
        return cbx_fail(err, CBX_EINVAL,
                        "image push needs a REGISTRY (HOST[:PORT][/PATH]), or --local");
    }
    int failed = options->local ? 0 : check_registry(options->arguments.items[1], err);
    if (failed) {
        return failed;
    }
    if (options->arguments.count > first &&
        (options->images != NULL || options->image_name != NULL)) {
        return cbx_fail(err, CBX_EINVAL,
                        "images are given, and --images or --name, allowed is one of them");
    }
    for (size_t i = first; i < options->arguments.count; i++) {
        failed = name_image(options->arguments.items[i], name, err);
        if (failed) {
            return failed;
        }
        if (options->local && strcmp(options->arguments.items[i], gateway) == 0) {
            return cbx_fail(err, CBX_EINVAL,
                            "--local writes the images file, which has no image 'gateway'");
        }
    }
    return options->image_name != NULL ? cbx_own_image_check(options->image_name, err) : 0;
}

int cbx_image_push(const struct cbx_options *options)
{
    const char *path = options->images_file != NULL ? options->images_file : "images.json";
    char script[PATH_MAX];
    CBX_AUTO(engine) engine = NULL;
    CBX_AUTO_JSON file = json_object();
    struct cbx_err err = { 0 };
    if (check(options, &err) != 0 || check_file(path, &err) != 0) {
        return cbx_cli_fail(&err);
    }
    if (!options->local && !find_script(script)) {
        cbx_fail(&err, CBX_ENOTFOUND,
                 "the script docker/images/push is missing: it is neither in the source tree nor "
                 "in the installation of this program");
        return cbx_cli_fail(&err);
    }
    if (cbx_engine_new(options->docker_host, &engine, &err) != 0 ||
        add_images(options, engine, options->local ? 1 : 2, file, &err) != 0 ||
        add_installers(engine, file, &err) != 0) {
        return cbx_cli_fail(&err);
    }
    int status = options->local ? 0 : push_all(script, engine, options->arguments.items[1], file);
    if (status != 0) {
        return status;
    }
    take_gateway(file);
    if (json_object_size(file) == 0) {
        return 0;
    }
    if (write_file(path, file, &err) != 0) {
        return cbx_cli_fail(&err);
    }
    printf("  IMAGE %s written, images: %zu\n", path, json_object_size(file));
    return 0;
}
