/* SPDX-License-Identifier: MIT
 * `codebox image build|list|push|prune|host`. The script docker/images/build makes the images; it is
 * installed with the program. */
#include "docker/contents.h"
#include "docker/egress/proxy_config.h"
#include "docker/engine/engine.h"
#include "docker/kernel_names.h"
#include "docker/own_images.h"
#include "docker/packages/package_layers.h"
#include "gateway/cli/cli.h"
#include "gateway/cli/image/image_layers.h"
#include "gateway/cli/image/image_own.h"
#include "gateway/cli/image/image_packages.h"
#include "gateway/cli/image/image_push.h"

#include <errno.h>
#include <limits.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- list ------------------------------------------------------------------------------------- */

struct row {
    const char *kernel; /* NULL: for no kernel */
    char name[CBX_IMAGE_NAME_BYTES];
    bool missing, needed; /* needed: a gateway with these options makes sandboxes from the image */
    /* an image that installs packages for sandboxes; it has no list of its own */
    bool installer;
    bool proxy; /* an image of proxy containers; it has no list either */
    struct cbx_image image;
    struct cbx_contents contents;
    json_t *built_in; /* lines of CBX_LABEL_BUILT_IN, owned; NULL = none */
};

static void print_package(const struct cbx_image_package *package)
{
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, CBX_CONTENTS_MAX_BYTES);
    cbx_image_package_add(package, &text);
    printf("    %s\n", text.p);
}

static void print_row(const struct cbx_options *options, const struct row *row)
{
    if (row->missing) {
        printf("%-38s missing; 'codebox image build%s' makes it\n", row->name,
               strstr(row->name, "-small:") != NULL ? " --images small" : "");
        return;
    }
    printf("%-38s %5lld MB  %s\n", row->name, (long long)(row->image.size_bytes + 500000) / 1000000,
           row->image.id);
    for (size_t i = 0; i < json_array_size(row->built_in); i++) {
        printf("    built in: %s\n", json_string_value(json_array_get(row->built_in, i)));
    }
    if (!options->contents || row->installer || row->proxy) {
        return;
    }
    if (row->contents.json == NULL) {
        printf("    was built without a list; 'codebox image build' renews it\n");
    } else {
        printf("    %.*s %.*s\n", CBX_STR_ARG(row->contents.runtime),
               CBX_STR_ARG(row->contents.runtime_version));
        for (size_t i = 0; i < row->contents.count; i++) {
            print_package(&row->contents.packages[i]);
        }
    }
}

static json_t *row_json(const struct cbx_options *options, const struct row *row)
{
    json_t *json = json_pack("{s:s?,s:s,s:b,s:b,s:b,s:b}", "kernel", row->kernel, "name", row->name,
                             "missing", row->missing, "used", row->needed, "installer",
                             row->installer, "proxy", row->proxy);
    if (!row->missing) {
        json_object_set_new(json, "id", json_string(row->image.id));
        json_object_set_new(json, "size_bytes", json_integer(row->image.size_bytes));
    }
    if (row->built_in != NULL) {
        json_object_set(json, "built_in", row->built_in);
    }
    if (options->contents && row->contents.json != NULL) {
        json_object_set(json, "runtime", json_object_get(row->contents.json, "runtime"));
        json_object_set(json, "packages", json_object_get(row->contents.json, "packages"));
    }
    return json;
}

/* Returns the packages that were built into an image (new reference); NULL = none. */
static json_t *read_built_in(struct cbx_engine *engine, const char *name)
{
    static char text[CBX_PACKAGE_SET_BYTES_MAX];
    if (cbx_engine_image_label(engine, name, CBX_LABEL_BUILT_IN, text, sizeof(text), NULL) != 0 ||
        text[0] == '\0') {
        return NULL;
    }
    return cbx_json_lines(text);
}

/* Asks the engine. An unreadable list is an error of the operator's images. */
static int read_row(struct cbx_engine *engine, struct row *row, struct cbx_err *err)
{
    int failed = cbx_engine_image(engine, row->name, &row->image, err);
    row->missing = failed == CBX_ENOTFOUND;
    if (failed) {
        return row->missing ? 0 : failed;
    }
    row->built_in = row->installer || row->proxy ? NULL : read_built_in(engine, row->name);
    if (row->image.contents != NULL && !row->installer && !row->proxy) {
        failed = cbx_contents_read(cbx_str_of(row->image.contents), &row->contents, err);
    }
    if (failed) {
        return cbx_wrap(err, "%s", row->name);
    }
    return 0;
}

/* Adds the row of an image to `all`, or prints it if `all` is NULL. *status becomes 1 if an
 * image is missing that sandboxes need. */
static void list_row(struct cbx_engine *engine, const struct cbx_options *options, struct row *row,
                     json_t *all, int *status)
{
    struct cbx_err err = { 0 };
    int failed = read_row(engine, row, &err);
    if (failed) {
        cbx_cli_fail(&err);
    } else if (all != NULL) {
        json_array_append_new(all, row_json(options, row));
    } else {
        print_row(options, row);
    }
    *status = failed || (row->missing && row->needed) ? 1 : *status;
    free(row->image.contents);
    json_decref(row->built_in);
    cbx_contents_done(&row->contents);
}

/* Lists the image of a kernel, and the installer that is made from it. */
static void list_image(struct cbx_engine *engine, const struct cbx_options *options,
                       const char *kernel, const char *variant, json_t *all, int *status)
{
    struct row row = { .kernel = kernel }, installer = { .kernel = kernel, .installer = true };
    const char *base;
    row.needed = !cbx_kernel_has_small(kernel) || (variant != NULL) == cbx_options_small(options);
    cbx_image_name(NULL, kernel, variant, row.name);
    list_row(engine, options, &row, all, status);
    if (cbx_installer_image(NULL, kernel, variant, installer.name, &base) &&
        strcmp(base, kernel) == 0) {
        list_row(engine, options, &installer, all, status);
    }
}

static int list(const struct cbx_options *options)
{
    CBX_AUTO(engine) engine = NULL;
    struct cbx_err err = { 0 };
    if (cbx_engine_new(options->docker_host, &engine, &err) != 0) {
        return cbx_cli_fail(&err);
    }
    int status = 0;
    CBX_AUTO_JSON all = options->json ? json_array() : NULL;
    const char *kernel;
    for (size_t i = 0; (kernel = cbx_kernel_at(i)) != NULL; i++) {
        list_image(engine, options, kernel, NULL, all, &status);
        if (cbx_kernel_has_small(kernel)) {
            list_image(engine, options, kernel, CBX_VARIANT_SMALL, all, &status);
        }
    }
    struct row proxy = { .proxy = true };
    cbx_image_name(NULL, CBX_PROXY_IMAGE, NULL, proxy.name);
    list_row(engine, options, &proxy, all, &status);
    if (cbx_image_own_list(engine, all, &err) != 0) {
        status = cbx_cli_fail(&err);
    }
    if (cbx_image_layers_list(engine, all, &err) != 0) {
        status = cbx_cli_fail(&err);
    }
    if (all != NULL) {
        CBX_AUTO_JSON json = json_pack("{s:O}", "images", all);
        json_dumpf(json, stdout, JSON_INDENT(2));
        putchar('\n');
    }
    return status;
}

/* --- the engine, the build -------------------------------------------------------------------- */

/* Prints the engine's address, for scripts that use the docker client. */
static int print_host(const struct cbx_options *options)
{
    CBX_AUTO(engine) engine = NULL;
    struct cbx_err err = { 0 };
    if (cbx_engine_new(options->docker_host, &engine, &err) != 0) {
        return cbx_cli_fail(&err);
    }
    puts(cbx_engine_host(engine));
    return 0;
}

static int prune(const struct cbx_options *options)
{
    CBX_AUTO(engine) engine = NULL;
    struct cbx_err err = { 0 };
    const char *what = options->arguments.count > 1 ? options->arguments.items[1] : "";
    bool all = strcmp(what, "all") == 0;
    if (options->arguments.count > 2 || (what[0] != '\0' && !all)) {
        fprintf(stderr, "codebox: image prune takes nothing, or 'all'\n");
        return 2;
    }
    if (cbx_engine_new(options->docker_host, &engine, &err) != 0) {
        return cbx_cli_fail(&err);
    }
    return cbx_image_layers_prune(engine, all);
}

/* Paths of the source tree (build/release/codebox) and of the installation (bin/codebox,
 * share/codebox). */
bool cbx_image_script(char *script, char *supervisor)
{
    static const struct {
        const char *script, *supervisor;
    } places[] = {
        { "../../docker/images/build", "codebox-supervisor" },
        { "../share/codebox/docker/images/build", "../share/codebox/codebox-supervisor" },
    };
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
    self[n > 0 ? n : 0] = '\0';
    char *slash = strrchr(self, '/');
    for (size_t i = 0; slash != NULL && i < sizeof(places) / sizeof(places[0]); i++) {
        int a = snprintf(script, PATH_MAX, "%.*s/%s", (int)(slash - self), self, places[i].script);
        int b = snprintf(supervisor, PATH_MAX, "%.*s/%s", (int)(slash - self), self,
                         places[i].supervisor);
        if (a > 0 && a < PATH_MAX && b > 0 && b < PATH_MAX && access(script, X_OK) == 0) {
            return true;
        }
    }
    return false;
}

/* Runs the script with these words, at most 16, and this standard input. Returns its exit
 * status; if `waits` is false the script replaces this process. */
static int run_script(const struct cbx_options *options, char *const words[], int input, bool waits)
{
    int status = 0;
    pid_t child = waits ? fork() : 0;
    if (child == 0) {
        dup2(input, STDIN_FILENO);
        /* closes the engine client's connections, and descriptors that the caller left open */
        closefrom(3);
        umask(options->umask); /* other users must be able to read files of images */
        execv(words[0], words);
        fprintf(stderr, "codebox: '%s': %s\n", words[0], strerror(errno));
        _exit(2);
    }
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return child > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 2;
}

/* Makes a file in memory with this text, positioned at its beginning. */
static int open_text(struct cbx_str text)
{
    int fd = memfd_create("packages", MFD_CLOEXEC);
    if (fd >= 0 && (cbx_cli_write(fd, text) != 0 || lseek(fd, 0, SEEK_SET) < 0)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

/* Linux limits the length of one argument of a program, and the docker client takes labels as
 * arguments. */
enum { LABEL_BYTES_MAX = 128 * 1024 - 64 };

/* Installs the packages. *id is the id of their layer; empty if the image has all of them. */
static int install_packages(const struct cbx_image_packages *packages, const char *host,
                            struct cbx_buf *set, char id[CBX_IMAGE_ID_CHARS + 1],
                            char image[CBX_IMAGE_NAME_BYTES])
{
    id[0] = '\0';
    int status = cbx_image_packages_install(packages, set);
    if (status != 0) {
        return status;
    }
    if (set->len == 0) {
        printf("  IMAGE %s\n", packages->lock != NULL
                                   ? "no package of the lock file is for this platform"
                                   : "it has these packages already");
        return 0;
    }
    if (set->len > LABEL_BYTES_MAX) {
        fprintf(stderr,
                "codebox: the names and hashes of the packages have %zu bytes, allowed are %d: "
                "they are a label of the image\n",
                set->len, LABEL_BYTES_MAX);
        return 1;
    }
    return cbx_image_packages_layer(packages, host, cbx_buf_str(set), id, image);
}

/* Runs the script with the text as its standard input, and waits for it. */
static int run_script_with(const struct cbx_options *options, char *const words[],
                           struct cbx_str text)
{
    CBX_AUTO_FD fd = open_text(text);
    if (fd < 0) {
        fprintf(stderr, "codebox: memfd_create: %s\n", strerror(errno));
        return 2;
    }
    return run_script(options, words, fd, true);
}

/* After all images are built: installs the packages, and gives the layer the name of its sandbox
 * image. */
static int build_packages_in(const struct cbx_image_packages *packages, char *script,
                             const char *host)
{
    CBX_AUTO_DONE(buf) set;
    char id[CBX_IMAGE_ID_CHARS + 1], image[CBX_IMAGE_NAME_BYTES];
    cbx_buf_init(&set, CBX_PACKAGE_SET_BYTES_MAX);
    int status = install_packages(packages, host, &set, id, image);
    if (status != 0 || id[0] == '\0') {
        return status;
    }
    char *words[] = { script, (char[]){ "--packages" }, image, id, NULL };
    return run_script_with(packages->options, words, cbx_buf_str(&set));
}

static void print_check(void *context, const struct cbx_check *check)
{
    int *failing = context;
    *failing += check->health == CBX_HEALTH_FAIL;
    if (check->health != CBX_HEALTH_OK || strcmp(check->name, "probe") == 0) {
        printf("  PROBE %s\n", check->found);
    }
}

/* Runs the probe in images of one's own. */
static int probe_own(const struct cbx_options *options, struct cbx_engine *engine)
{
    int failing = 0;
    struct cbx_flow_config flow = cbx_options_flow(options);
    CBX_AUTO(policy) policy = NULL; /* the limits of the probe's sandbox */
    struct cbx_err err = { 0 };
    const struct cbx_doctor doctor = { .take = print_check, .context = &failing };
    struct cbx_sandbox_config config = { .instance = "doctor" };
    if (cbx_policy_load(flow.policies[0], &policy, &err) != 0) {
        return cbx_cli_fail(&err);
    }
    fflush(stdout);
    cbx_image_own_probe(engine, &config, options->image_name, &policy->limits, &doctor);
    if (failing > 0) {
        fprintf(stderr, "codebox: the probe reached what a sandbox must not reach: no policy "
                        "should choose this image before the reason is known\n");
        return 1;
    }
    return 0;
}

/* Images with packages are made under a name that no policy can choose: a failed build leaves
 * nothing, and existing images keep their name. */
static int build_own_with(const struct cbx_options *options, struct cbx_image_packages *packages,
                          char *script, const char *host)
{
    /* docker/images/own.sh has the same prefix */
    static const char unfinished[] = "codebox-unfinished";
    char *name = (char *)(uintptr_t)options->image_name;
    char *kernel = (char *)(uintptr_t)cbx_image_packages_kernel(packages);
    char id[CBX_IMAGE_ID_CHARS + 1], image[CBX_IMAGE_NAME_BYTES];
    char *stage[] = { script, (char[]){ "--stage" }, (char *)(uintptr_t)options->from, name, kernel,
                      NULL };
    char *finish[] = { script, (char[]){ "--finish" }, name, kernel, id, NULL };
    char *drop[] = { script, (char[]){ "--drop-staged" }, name, NULL };
    CBX_AUTO_DONE(buf) set;
    cbx_buf_init(&set, CBX_PACKAGE_SET_BYTES_MAX);
    packages->prefix = unfinished;
    int status = run_script(options, stage, STDIN_FILENO, true);
    if (status == 0) {
        status = install_packages(packages, host, &set, id, image);
    }
    if (status == 0) {
        fflush(stdout);
        status = run_script_with(options, finish, cbx_buf_str(&set));
    }
    if (status != 0) {
        run_script(options, drop, STDIN_FILENO, true);
    }
    return status;
}

/* Makes images of one's own, and runs the probe in them. */
static int build_own(const struct cbx_options *options, struct cbx_image_packages *packages,
                     struct cbx_engine *engine, char *script, const char *host)
{
    char *words[] = { script, (char[]){ "--from" }, (char *)(uintptr_t)options->from,
                      (char *)(uintptr_t)options->image_name, NULL };
    bool goes_into = packages->lock != NULL || options->packages.count > 0;
    int status;
    if (goes_into) {
        status = build_own_with(options, packages, script, host);
    } else {
        status = run_script(options, words, STDIN_FILENO, true);
    }
    if (status != 0) {
        return status;
    }
    return probe_own(options, engine);
}

/* Checks that --name fits --from and the rest of the command. */
static int check_own(const struct cbx_options *options, struct cbx_err *err)
{
    bool goes_into = options->packages.count > 0 || options->lock != NULL;
    if (options->lock != NULL && options->packages.count > 0) {
        return cbx_fail(err, CBX_EINVAL,
                        "--lock and --packages are given, allowed is one of them: a lock file "
                        "says which packages are installed");
    }
    if (options->from != NULL && options->image_name == NULL) {
        return cbx_fail(err, CBX_EINVAL, "--from needs --name NAME, by which policies choose it");
    }
    if (options->from != NULL && (options->from[0] == '-' || options->from[0] == '\0')) {
        return cbx_fail(err, CBX_EINVAL, "--from is '%s', which is no name of an image",
                        options->from);
    }
    if (options->image_name == NULL) {
        return 0;
    }
    if (options->from == NULL && !goes_into) {
        return cbx_fail(err, CBX_EINVAL, "--name needs --from IMAGE, --packages or --lock");
    }
    if (options->arguments.count > 1 || options->update || options->images != NULL) {
        return cbx_fail(err, CBX_EINVAL,
                        "--name goes with --from, --packages, --lock and --language alone");
    }
    return cbx_own_image_check(options->image_name, err);
}

/* Checks that the packages can be installed as they are given. */
static int check_packages(const struct cbx_options *options, struct cbx_err *err)
{
    if (options->packages.count > 0 && options->language != NULL &&
        cbx_packages_manager(cbx_kernel_of(options->language)) == CBX_MANAGER_NONE) {
        return cbx_fail(err, CBX_EINVAL,
                        "packages cannot be built in for '%s', but for python, javascript and "
                        "typescript",
                        options->language);
    }
    for (size_t i = 0; i < options->packages.count; i++) {
        const char *each = options->packages.items[i];
        const char *dot = strrchr(each, '.');
        if (dot != NULL &&
            (strcmp(dot, ".txt") == 0 || strcmp(dot, ".json") == 0 || strcmp(dot, ".lock") == 0)) {
            return cbx_fail(err, CBX_EINVAL,
                            "--packages is '%s', allowed are names of packages; a lock file is "
                            "given by --lock",
                            each);
        }
    }
    return 0;
}

/* The image of the gateway has this program. */
static void name_program(void)
{
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
    if (n > 0) {
        self[n] = '\0';
        setenv("CODEBOX_PROGRAM", self, 1);
    }
}

static int build(const struct cbx_options *options)
{
    char script[PATH_MAX], supervisor[PATH_MAX], host[PATH_MAX];
    if (!cbx_image_script(script, supervisor)) {
        fprintf(stderr, "codebox: the script docker/images/build is missing: it is neither in the "
                        "source tree nor in the installation of this program\n");
        return 2;
    }
    CBX_AUTO(engine) engine = NULL;
    CBX_AUTO_DONE(image_lock) lock = { 0 };
    struct cbx_image_packages packages = { .options = options };
    struct cbx_err err = { 0 };
    if (check_own(options, &err) != 0 || check_packages(options, &err) != 0) {
        return cbx_cli_fail(&err);
    }
    if (options->lock != NULL) {
        int refused = cbx_image_lock_read(options, &lock, &err);
        if (refused) {
            cbx_cli_fail(&err);
            return refused == CBX_EPOLICY ? 1 : 2;
        }
        packages.lock = &lock;
    }
    if (cbx_engine_new(options->docker_host, &engine, &err) != 0) {
        return cbx_cli_fail(&err);
    }
    snprintf(host, sizeof(host), "%s", cbx_engine_host(engine));
    setenv("DOCKER_HOST", host,
           1); /* the docker client builds on the engine that runs the sandboxes */
    setenv("CODEBOX_SUPERVISOR", supervisor, 1);
    name_program();
    if (options->from != NULL) {
        return build_own(options, &packages, engine, script, host);
    }
    if (options->image_name != NULL) {
        return build_packages_in(&packages, script, host);
    }
    bool goes_into = packages.lock != NULL || options->packages.count > 0;
    char *arguments[16] = { script };
    size_t n = 1;
    if (options->update) {
        arguments[n++] = (char *)(uintptr_t) "--update";
    }
    if (cbx_options_small(options)) {
        arguments[n++] = (char *)(uintptr_t) "--small";
    }
    for (size_t i = 1; i < options->arguments.count && n < 15; i++) {
        arguments[n++] = (char *)(uintptr_t)options->arguments.items[i];
    }
    int status = run_script(options, arguments, STDIN_FILENO, goes_into);
    if (status != 0) {
        return status;
    }
    return build_packages_in(&packages, script, host);
}

int cbx_image_command(const struct cbx_options *options)
{
    const char *verb = options->arguments.count > 0 ? options->arguments.items[0] : "";
    if (strcmp(verb, "list") == 0) {
        return list(options);
    }
    if (strcmp(verb, "host") == 0) {
        return print_host(options);
    }
    if (strcmp(verb, "build") == 0) {
        return build(options);
    }
    if (strcmp(verb, "push") == 0) {
        return cbx_image_push(options);
    }
    if (strcmp(verb, "prune") == 0) {
        return prune(options);
    }
    fprintf(stderr,
            "codebox: image takes 'list', 'host', 'prune [all]', 'build [IMAGE ...]' or "
            "'push REGISTRY [IMAGE ...]', not '%s'\n",
            verb);
    return 2;
}
