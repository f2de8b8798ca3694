/* SPDX-License-Identifier: MIT
 * Lock files to install from: the installed packages of each kind, and refusals with their line. */
#include "analyzer/manifest/locks/lockfile.h"
#include "tests/unit/analyzer/manifest/manifest_rig.h"

#include <stdlib.h>

#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))
#define A64         "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define B64         "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define HASH_A      " --hash=sha256:" A64
#define HASH_B      " --hash=sha256:" B64
#define SHA512                                                                                     \
    "sha512-Wu1VHeILBK8KAWJUAiSZQX94GmOE45Rg6/"                                                    \
    "538fKwiloUu21KncEkYGPqob2oSZ5mUT73vLGrHQjKw3KMPwfDzg=="

static struct cbx_lockfile lockfile;

static bool read_file(const char *name, const char *text, struct cbx_buf *out)
{
    struct cbx_err err = { 0 };
    cbx_arena_reset(&arena);
    if (cbx_lockfile_read(cbx_str_of(name), cbx_str_of(text), &arena, &lockfile, &err) != 0) {
        cbx_buf_add_cstr(out, err.text);
        return false;
    }
    return true;
}

/* The text that is installed, or the error. */
static void show(const char *name, const char *text, struct cbx_buf *out)
{
    if (read_file(name, text, out)) {
        cbx_buf_add(out, lockfile.text);
    }
}

static void installs(const char *name, const struct expected *cases, size_t count)
{
    check_each(show, name, cases, count);
}

static void requirements_with_hashes_are_installed_as_they_are_locked(void **state)
{
    (void)state;
    static const struct expected cases[] = {
        { "b==2.0" HASH_B "\na==1.0" HASH_A "\n", "a==1.0" HASH_A "\nb==2.0" HASH_B "\n" },
        { "# by pip-compile\na==1.0 \\\n    --hash=sha256:" A64 " \\\n    --hash=sha256:" B64
          "\n    # via b\n",
          "a==1.0" HASH_A HASH_B "\n" },
        { "a[x,y] == 1.0 --hash sha256:" A64, "a==1.0" HASH_A "\n" },
        { "a==1.0; python_version >= '3.8' and sys_platform != \"win32\"" HASH_A,
          "a==1.0 ; python_version >= \"3.8\" and sys_platform != \"win32\"" HASH_A "\n" },
        { "--require-hashes\n--only-binary :all:\na==1.0" HASH_A, "a==1.0" HASH_A "\n" },
        { "a==1.0" HASH_A "\na==1.0" HASH_A, "a==1.0" HASH_A "\n" },
    };
    installs("requirements.txt", cases, COUNT(cases));
}

static void requirements_that_leave_something_open_are_refused_with_their_line(void **state)
{
    (void)state;
#define OPEN(text)                                                                                 \
    "line 2, column 1: '" text "' does not say which version is installed, allowed "               \
    "is NAME==VERSION --hash=sha256:HEX"
    static const struct expected cases[] = {
        { "\na" HASH_A, OPEN("a") },
        { "\na>=1.0" HASH_A, OPEN("a>=1.0") },
        { "\na==1.*" HASH_A, OPEN("a==1.*") },
        { "\na==1.0,<2" HASH_A, OPEN("a==1.0,<2") },
        { "\na===1.0" HASH_A, OPEN("a===1.0") },
        { "\na==1.0",
          "line 2, column 1: 'a==1.0' has no hash, allowed is NAME==VERSION --hash=sha256:HEX "
          "('pip-compile --generate-hashes' writes it)" },
        { "a==1.0 --hash=sha512:00",
          "line 1, column 1: 'a' has '--hash sha512:00', allowed is --hash=sha256: with 64 "
          "hexadecimal digits" },
        { "a==1.0 --hash=sha256:0g",
          "line 1, column 1: 'a' has '--hash sha256:0g', allowed is --hash=sha256: with 64 "
          "hexadecimal digits" },
        { "a==1.0" HASH_A " --global-option=x",
          "line 1, column 1: 'a' has '--global-option x', allowed is --hash=sha256: with 64 "
          "hexadecimal digits" },
        { "a @ https://example.org/a-1-py3-none-any.whl" HASH_A,
          "line 1, column 1: 'a @ https://example.org/a-1-py3-none-any.whl' is no package of an "
          "index, allowed is NAME==VERSION --hash=sha256:HEX" },
        { "./a" HASH_A, "line 1, column 1: './a' is no package of an index, allowed is "
                        "NAME==VERSION --hash=sha256:HEX" },
        { "a==1.0\x01" HASH_A, "line 1, column 1: 'a==1.0?' is no package of an index, allowed is "
                               "NAME==VERSION --hash=sha256:HEX" },
        { "a==1.0; python_version > 'a$b'" HASH_A,
          "line 1, column 1: 'python_version > 'a$b'' is no marker, allowed are markers of PEP 508 "
          "of letters, digits and punctuation" },
        { "-r base.txt", "line 1, column 1: the option '-r base.txt', allowed are --index-url, "
                         "--extra-index-url, --require-hashes, --only-binary and --prefer-binary" },
        { "--find-links https://example.org/",
          "line 1, column 1: the option '--find-links https://example.org/', allowed are "
          "--index-url, --extra-index-url, --require-hashes, --only-binary and --prefer-binary" },
        { "# nothing\n", "the lock file names no package to install" },
    };
    installs("requirements-prod.txt", cases, COUNT(cases));
}

#define UV "version = 1\nrevision = 3\nrequires-python = \">=3.11\"\n"
#define ROOT(dependencies)                                                                         \
    "[[package]]\nname = \"me\"\nversion = \"0.1\"\nsource = { virtual = \".\" }\n"                \
    "dependencies = [" dependencies "]\n"
#define WHEEL(name, version, platform, hash)                                                       \
    "{ url = \"https://pypi.example/f/" name "-" version "-py3-none-" platform                     \
    ".whl\", hash = \"sha256:" hash "\", size = 1 },"
#define PACKAGE(name, version, more)                                                               \
    "[[package]]\nname = \"" name "\"\nversion = \"" version                                       \
    "\"\nsource = { registry = \"https://pypi.example/simple\" }\n" more
#define ANY(name, version)                                                                         \
    PACKAGE(name, version, "wheels = [" WHEEL(name, version, "any", A64) "]\n")

static void a_lock_of_uv_becomes_requirements_with_markers(void **state)
{
    (void)state;
    static const struct expected cases[] = {
        { UV ROOT("{ name = \"a\" }") ANY("a", "1.0") ANY("unused", "1.0"), "a==1.0" HASH_A "\n" },
        /* foreign platforms: by wheels, by markers */
        { UV ROOT("{ name = \"a\" }, { name = \"w\", marker = \"sys_platform == 'win32'\" }")
              PACKAGE("a", "1.0",
                      "wheels = [" WHEEL("a", "1.0", "win_amd64", A64) WHEEL(
                          "a", "1.0", "manylinux_2_17_x86_64.manylinux2014_x86_64", B64) "]\n")
                  PACKAGE("w", "1.0", "sdist = { url = \"https://pypi.example/w.tar.gz\" }\n"),
          "a==1.0" HASH_B "\n" },
        /* ways: an alternative of conjunctions; one without a marker implies all */
        { UV ROOT("{ name = \"a\", marker = \"python_full_version < '3.12'\" }, { name = \"b\" }")
              PACKAGE("a", "1.0",
                      "dependencies = [{ name = \"c\", marker = \"platform_machine == 'x'\" }]\n"
                      "wheels = [" WHEEL("a", "1.0", "any", A64) "]\n")
                  PACKAGE("b", "1.0",
                          "dependencies = [{ name = \"d\" }, { name = \"c\", marker = "
                          "\"platform_machine == 'y'\" }]\n"
                          "wheels = [" WHEEL("b", "1.0", "any", A64) "]\n")
                      PACKAGE("c", "1.0",
                              "dependencies = [{ name = \"d\" }]\n"
                              "wheels = [" WHEEL("c", "1.0", "any", A64) "]\n") ANY("d", "1.0"),
          "a==1.0 ; python_full_version < \"3.12\"" HASH_A "\nb==1.0" HASH_A
          "\nc==1.0 ; (python_full_version < \"3.12\") and (platform_machine == \"x\") or "
          "(platform_machine == \"y\")" HASH_A "\nd==1.0" HASH_A "\n" },
        /* extras, the group dev, cycles, versions for each platform */
        { UV ROOT(
              "{ name = \"a\", extra = [\"x\"] }") "[package.dev-dependencies]\ndev = [{ name "
                                                   "= \"t\" }]\nother = [{ name = \"o\" "
                                                   "}]\n" PACKAGE(
                                                       "a", "1.0",
                                                       "dependencies = [{ name = \"b\" }]\nwheels "
                                                       "= [" WHEEL(
                                                           "a", "1.0", "any",
                                                           A64) "]\n[package.optional-dependencies]"
                                                                "\nx = [{ name = \"e\" }]\ny = [{ "
                                                                "name = \"o\" }]\n")
                                                       PACKAGE("b", "1.0",
                                                               "dependencies = [{ name = \"a\" "
                                                               "}]\nwheels = [" WHEEL(
                                                                   "b", "1.0", "any", A64) "]\n")
                                                           ANY("e", "1.0") ANY("o", "1.0")
                                                               ANY("t", "1.0"),
          "a==1.0" HASH_A "\nb==1.0" HASH_A "\ne==1.0" HASH_A "\nt==1.0" HASH_A "\n" },
        { UV ROOT("{ name = \"a\", version = \"1.0\", marker = \"python_version < '3.12'\" }, "
                  "{ name = \"a\", version = \"2.0\", marker = \"python_version >= '3.12'\" }")
              ANY("a", "1.0") ANY("a", "2.0"),
          "a==1.0 ; python_version < \"3.12\"" HASH_A "\na==2.0 ; python_version >= \"3.12\"" HASH_A
          "\n" },
    };
    installs("uv.lock", cases, COUNT(cases));
}

static void a_lock_of_uv_that_is_not_of_wheels_of_an_index_is_refused(void **state)
{
    (void)state;
    static const struct expected cases[] = {
        { UV ROOT("{ name = \"a\" }")
              PACKAGE("a", "1.0", "sdist = { url = \"https://pypi.example/a.tar.gz\" }\n"),
          "line 9, column 3: 'a' has a source distribution alone, which would run code of its own "
          "to be installed; allowed are wheels" },
        { UV ROOT("{ name = \"a\" }")
              PACKAGE("a", "1.0", "wheels = [" WHEEL("a", "1.0", "macosx_11_0_arm64", A64) "]\n"),
          "line 9, column 3: 'a' has no wheel for Linux, allowed are packages with one" },
        { UV ROOT("{ name = \"a\" }")
              PACKAGE("a", "1.0", "wheels = [{ url = \"https://x/a-1.0-py3-none-any.whl\" }]\n"),
          "line 13, column 11: a wheel of 'a' has the SHA-256 '', allowed are 64 hexadecimal "
          "digits" },
        { UV ROOT("{ name = \"a\" }") "[[package]]\nname = \"a\"\nversion = \"1\"\nsource = { git "
                                      "= \"https://example.org/a?rev=1#0\" }\n",
          "line 9, column 3: 'a' comes from 'https://example.org/a?rev=1#0', allowed are packages "
          "of an index (source = { registry = \"https://...\" })" },
        { UV ROOT("{ name = \"a\" }") "[[package]]\nname = \"a\"\nversion = \"1\"\nsource = { "
                                      "editable = \"members/a\" }\n",
          "line 9, column 3: 'a' comes from 'members/a', allowed are packages of an index (source "
          "= { registry = \"https://...\" })" },
        { UV ROOT("{ name = \"a\" }"),
          "line 8, column 17: a package needs 'a' , which the lock file has 0 times, allowed is "
          "once ('uv lock' renews the file)" },
        { UV ROOT("{ name = \"a\", marker = \"python_version\" }") ANY("a", "1.0"),
          "line 8, column 41: 'python_version' is no marker, allowed are markers of PEP 508 of "
          "letters, digits and punctuation" },
        { UV ANY("a", "1.0"),
          "the lock file is of no project: no package has a source 'virtual' or 'editable', "
          "allowed is what 'uv lock' writes for a project" },
        { "version = 2\n", "version is '2', allowed is 1: what uv.lock has" },
        { UV ROOT(""), "the lock file names no package to install" },
    };
    installs("uv.lock", cases, COUNT(cases));
}

#define PYLOCK             "lock-version = \"1.0\"\ncreated-by = \"pip\"\n"
#define LOCKED(name, more) "[[packages]]\nname = \"" name "\"\nversion = \"1.0\"\n" more
#define FILE_OF(name, platform, hash)                                                              \
    "[[packages.wheels]]\nname = \"" name "-1.0-py3-none-" platform ".whl\"\n"                     \
    "url = \"https://pypi.example/f/" name "-1.0-py3-none-" platform ".whl\"\n"                    \
    "[packages.wheels.hashes]\nsha256 = \"" hash "\"\n"

static void a_pylock_becomes_requirements_with_its_markers(void **state)
{
    (void)state;
    static const struct expected cases[] = {
        { PYLOCK LOCKED("a",
                        FILE_OF("a", "win_amd64", A64) FILE_OF("a", "manylinux_2_17_x86_64", B64))
              LOCKED("b", "marker = \"python_version < '3.12'\"\nwheels = [{ path = "
                          "\"./b-1.0-py3-none-any.whl\", hashes = { sha256 = \"" A64 "\" } }]\n")
                  LOCKED("w",
                         "marker = \"sys_platform == 'win32'\"\n") "[[packages]]\nname = "
                                                                   "\"me\"\ndirectory = { path = "
                                                                   "\".\", editable = true }\n",
          "a==1.0" HASH_B "\nb==1.0 ; python_version < \"3.12\"" HASH_A "\n" },
        /* one name for several platforms */
        { PYLOCK "[[packages]]\nname = \"a\"\nversion = \"2.0\"\nmarker = \"python_version >= "
                 "'3.12'\"\n" FILE_OF("a", "any", B64)
                     LOCKED("a", "marker = \"python_version < '3.12'\"\n" FILE_OF("a", "any", A64)),
          "a==1.0 ; python_version < \"3.12\"" HASH_A "\na==2.0 ; python_version >= \"3.12\"" HASH_B
          "\n" },
    };
    installs("pylock.toml", cases, COUNT(cases));
    installs("pylock.lab.toml", cases, COUNT(cases));
    installs("frozen.txt", cases, COUNT(cases));
}

static void a_pylock_that_is_not_of_wheels_of_an_index_is_refused(void **state)
{
    (void)state;
    static const struct expected cases[] = {
        { PYLOCK LOCKED("a", "[packages.sdist]\nurl = \"https://pypi.example/a.tar.gz\"\n"),
          "line 3, column 3: 'a' has a source distribution alone, which would run code of its own "
          "to be installed; allowed are wheels" },
        { PYLOCK LOCKED("a", FILE_OF("a", "macosx_11_0_arm64", A64)),
          "line 3, column 3: 'a' has no wheel for Linux, allowed are packages with one" },
        { PYLOCK LOCKED("a", "wheels = [{ url = \"https://x/a-1.0-py3-none-any.whl\", hashes = { "
                             "sha512 = \"00\" } }]\n"),
          "line 6, column 11: a wheel of 'a' has the SHA-256 '', allowed are 64 hexadecimal "
          "digits" },
        { PYLOCK LOCKED("a", "vcs = { type = \"git\", url = \"https://example.org/a\" }\n"),
          "line 3, column 3: 'a' has a source 'vcs', allowed are packages of an index with "
          "wheels" },
        { PYLOCK LOCKED("a", "directory = { path = \"../a\" }\n"),
          "line 3, column 3: 'a' has a source 'directory', allowed are packages of an index with "
          "wheels" },
        { PYLOCK LOCKED("a", "archive = { url = \"https://example.org/a.zip\" }\n"),
          "line 3, column 3: 'a' has a source 'archive', allowed are packages of an index with "
          "wheels" },
        { PYLOCK LOCKED("a", "marker = \"'dev' in dependency_groups\"\n" FILE_OF("a", "any", A64)),
          "line 6, column 11: the marker ''dev' in dependency_groups' depends on "
          "dependency_groups, allowed is a lock file of one set of packages" },
        { PYLOCK LOCKED("a; x", FILE_OF("a", "any", A64)),
          "line 3, column 3: 'a; x==1.0 --hash=sha256:" A64
          "' is no package with one version and hashes; allowed is NAME==VERSION "
          "--hash=sha256:HEX" },
        { "lock-version = \"2.0\"\n" LOCKED("a", FILE_OF("a", "any", A64)),
          "lock-version is '2.0', allowed is \"1.0\" (PEP 751)" },
        { "packages = 1\nlock-version = \"1.0\"\n",
          "line 1, column 1: 'packages' is a value that is no text, allowed is a list" },
        { PYLOCK, "the lock file names no package to install" },
    };
    installs("pylock.toml", cases, COUNT(cases));
}

static void conditions_of_a_hostile_lock_stay_bounded(void **state)
{
    (void)state;
    CBX_AUTO_DONE(buf) text;
    CBX_AUTO_DONE(buf) out;
    cbx_buf_init(&text, 1 << 20);
    cbx_buf_init(&out, 1 << 20);
    cbx_buf_add_cstr(&text, UV ROOT("{ name = \"p0\" }"));
    for (int i = 0; i < 40; i++) { /* each doubles the ways */
        cbx_buf_printf(&text, "[[package]]\nname = \"p%d\"\nversion = \"1\"\ndependencies = [", i);
        for (int k = 0; k < 2; k++) {
            cbx_buf_printf(&text, "{ name = \"p%d\", marker = \"platform_machine == '%d'\" },",
                           i + 1, 2 * i + k);
        }
        cbx_buf_add_cstr(&text, "]\n");
    }
    cbx_buf_add_cstr(&text, "[[package]]\nname = \"p40\"\nversion = \"1\"\n");
    show("uv.lock", text.p, &out);
    assert_non_null(strstr(out.p, "is needed under more than 32 conditions"));
}

#define NPM(version, packages)                                                                     \
    "{\"name\": \"me\", \"lockfileVersion\": " version                                             \
    ", \"packages\": {\"\": {\"dependencies\": {\"a\": \"1\"}}" packages "}}"
#define ENTRY(path, more)                                                                          \
    ",\n\"" path "\": {\"version\": \"1.0.0\", \"integrity\": \"" SHA512 "\"" more "}"

static void a_package_lock_is_installed_from_the_index(void **state)
{
    (void)state;
    static const char installed[] =
        "{\"lockfileVersion\":3,\"name\":\"me\",\"packages\":{\"\":{\"dependencies\":{\"a\":\"1\"}}"
        ",\"node_modules/a\":{\"integrity\":\"" SHA512 "\",\"version\":\"1.0.0\"}}}";
    static const struct expected cases[] = {
        { NPM("3", ENTRY("node_modules/a", "")), installed },
        { NPM("2", ENTRY("node_modules/a", ", \"resolved\": \"https://x.example/a.tgz\"")),
          installed },
    };
    installs("package-lock.json", cases, COUNT(cases));
}

static void entries_that_are_of_no_registry_are_refused_with_their_line(void **state)
{
    (void)state;
#define WANTED ", allowed are packages of the registry with an integrity 'sha512-...'"
    static const struct expected cases[] = {
        { NPM("3", ",\n\"node_modules/a\": {\"version\": \"1.0.0\"}"),
          "line 2, column 1: 'node_modules/a' has no integrity" WANTED },
        { NPM("3", ",\n\"node_modules/a\": {\"version\": \"1.0.0\", \"integrity\": \"sha1-00\"}"),
          "line 2, column 1: 'node_modules/a' has the integrity sha1-00" WANTED },
        { NPM("3", ENTRY("node_modules/a", ", \"resolved\": \"git+ssh://git@example.org/a.git\"")),
          "line 2, column 1: 'node_modules/a' comes from git+ssh://git@example.org/a.git" WANTED },
        { NPM("3", ENTRY("node_modules/a", ", \"resolved\": \"file:../a\"")),
          "line 2, column 1: 'node_modules/a' comes from file:../a" WANTED },
        { NPM("3", ",\n\"node_modules/a\": {\"resolved\": \"a\", \"link\": true}"),
          "line 2, column 1: 'node_modules/a' is a folder of the project" WANTED },
        { NPM("3", ",\n\"a\": {\"version\": \"1.0.0\"}"),
          "line 2, column 1: 'a' is a folder of the project" WANTED },
        { NPM("3", ",\n\"node_modules/a\": {\"version\": \"1.0.0\", \"inBundle\": true}"),
          "line 2, column 1: 'node_modules/a' lies in the archive of another package "
          "(inBundle)" WANTED },
        { NPM("1", ENTRY("node_modules/a", "")),
          "lockfileVersion is '1', allowed are 2 and 3 ('npm install --package-lock-only' renews "
          "the file)" },
        { NPM("3", ""), "the lock file names no package to install" },
        { "{", "line 1, column 1: not valid JSON: string or '}' expected near end of file" },
    };
    installs("package-lock.json", cases, COUNT(cases));
}

static void a_kind_is_known_by_its_name_or_else_by_its_content(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text;
        enum cbx_manager manager;
    } cases[] = {
        { "frozen.json", NPM("3", ENTRY("node_modules/a", "")), CBX_MANAGER_NPM },
        { "a/npm-shrinkwrap.json", NPM("3", ENTRY("node_modules/a", "")), CBX_MANAGER_NPM },
        { "frozen", UV ROOT("{ name = \"a\" }") ANY("a", "1.0"), CBX_MANAGER_PIP },
        { "frozen.txt", "a==1.0" HASH_A, CBX_MANAGER_PIP },
        { "poetry.lock", "a==1.0" HASH_A, CBX_MANAGER_NONE },
        { "package.json", "{}", CBX_MANAGER_NONE },
        { "frozen.txt", "a==1.0", CBX_MANAGER_NONE },
        { "", "", CBX_MANAGER_NONE },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        CBX_AUTO_DONE(buf) out;
        cbx_buf_init(&out, 4096);
        bool read = read_file(cases[i].name, cases[i].text, &out);
        if (read != (cases[i].manager != CBX_MANAGER_NONE) ||
            (read && lockfile.manager != cases[i].manager) ||
            (!read && strstr(out.p, "allowed are requirements.txt with hashes, uv.lock, "
                                    "pylock.toml and package-lock.json") == NULL)) {
            fail_msg("%s: %s", cases[i].name, out.p);
        }
    }
}

/* The rules of the sources' findings, with their lines. */
static void judge_sources(const char *name, const char *text, const char *index,
                          const char *expected)
{
    CBX_AUTO_DONE(buf) out;
    struct cbx_decision decision;
    struct cbx_err err = { 0 };
    cbx_buf_init(&out, 4096);
    if (read_file(name, text, &out)) {
        assert_int_equal(
            cbx_lockfile_judge_sources(&lockfile, policy, index, &arena, &decision, &err), 0);
        for (size_t i = 0; i < decision.finding_count; i++) {
            cbx_buf_printf(&out, "%.*s %u;", CBX_STR_ARG(decision.findings[i].rule->id),
                           decision.findings[i].span.line);
        }
    }
    assert_string_equal(out.p, expected);
}

static void indexes_and_files_are_judged_by_the_policy(void **state)
{
    (void)state;
    static const char named[] = "a==1.0" HASH_A "\n--index-url https://example.org/simple\n";
    judge_sources("requirements.txt", named, NULL, "pkg.source 2;");
    judge_sources("requirements.txt", named, "https://example.org/simple/", "");
    judge_sources("requirements.txt", named, "https://example.org.evil/simple/", "pkg.source 2;");
    judge_sources("requirements.txt", "a==1.0" HASH_A, NULL, "");
    judge_sources("uv.lock", UV ROOT("{ name = \"a\" }") ANY("a", "1.0"), NULL, "pkg.source 12;");
    judge_sources("uv.lock", UV ROOT("{ name = \"a\" }") ANY("a", "1.0"),
                  "https://pypi.example/simple", "");
    static const char elsewhere[] =
        NPM("3", ENTRY("node_modules/a", ", \"resolved\": \"https://example.org/a.tgz\""));
    judge_sources("package-lock.json", elsewhere, NULL, "pkg.source 2;");
    judge_sources("package-lock.json", elsewhere, "https://example.org/", "");
    /* packages are judged when they are installed, with a record */
    judge_sources("requirements.txt", "paramiko==1.0" HASH_A, NULL, "");
}

static void compare_set(const char *name, const char *text, const char *set, const char *expected)
{
    CBX_AUTO_DONE(buf) out;
    struct cbx_err err = { .text = "" };
    cbx_buf_init(&out, 4096);
    assert_true(read_file(name, text, &out));
    cbx_lockfile_compare(&lockfile, cbx_str_of(set), &err);
    assert_string_equal(err.text, expected);
}

static void what_was_installed_is_what_is_locked(void **state)
{
    (void)state;
    static const char locked[] = "a_b==1.0" HASH_A HASH_B "\nc==1 ; python_version < '4'" HASH_A;
    compare_set("requirements.txt", locked, "a-b 1.0 sha256:" B64 "\nc 1.0 sha256:" A64 "\n", "");
    compare_set("requirements.txt", locked, "a-b 1.0 sha256:" B64 "\n", "");
    compare_set("requirements.txt", locked, "c 1.0 sha256:" A64 "\n",
                "'a_b' 1.0 is in the lock file and was not installed");
    compare_set("requirements.txt", locked, "a-b 1.1 sha256:" A64 "\n",
                "'a-b' 1.1 was resolved, which the lock file does not have with this version and "
                "hash");
    compare_set("requirements.txt", locked, "a-b 1.0 sha256:" A64 "\nc 1 sha256:" B64 "\n",
                "'c' 1 was resolved, which the lock file does not have with this version and hash");
    compare_set("requirements.txt", locked, "a-b 1.0 sha256:" A64 "\nd 1 sha256:" B64 "\n",
                "'d' 1 was resolved, which the lock file does not have with this version and hash");
    static const char npm[] = NPM("3", ENTRY("node_modules/a", ""));
    compare_set("package-lock.json", npm, "node_modules/a a 1.0.0 " SHA512 " -\n", "");
    compare_set("package-lock.json", npm, "node_modules/a a 1.0.1 " SHA512 " -\n",
                "other packages were installed than the lock file has");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requirements_with_hashes_are_installed_as_they_are_locked),
        cmocka_unit_test(requirements_that_leave_something_open_are_refused_with_their_line),
        cmocka_unit_test(a_lock_of_uv_becomes_requirements_with_markers),
        cmocka_unit_test(a_lock_of_uv_that_is_not_of_wheels_of_an_index_is_refused),
        cmocka_unit_test(a_pylock_becomes_requirements_with_its_markers),
        cmocka_unit_test(a_pylock_that_is_not_of_wheels_of_an_index_is_refused),
        cmocka_unit_test(conditions_of_a_hostile_lock_stay_bounded),
        cmocka_unit_test(a_package_lock_is_installed_from_the_index),
        cmocka_unit_test(entries_that_are_of_no_registry_are_refused_with_their_line),
        cmocka_unit_test(a_kind_is_known_by_its_name_or_else_by_its_content),
        cmocka_unit_test(indexes_and_files_are_judged_by_the_policy),
        cmocka_unit_test(what_was_installed_is_what_is_locked),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
