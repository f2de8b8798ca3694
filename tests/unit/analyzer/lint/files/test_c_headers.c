/* SPDX-License-Identifier: MIT
 * Headers of a project: where they are searched for, and which files are none. */
#include "analyzer/lint/files/c_headers.h"
#include "policies/ledger.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <sys/stat.h>

static char folder[] = "/tmp/cbx-headers-XXXXXX";

/* The folder's contents, in the order in which they can be made. */
static const struct {
    const char *name, *text; /* NULL: a folder */
} contents[] = {
    { "src", NULL },
    { "src/deep", NULL },
    { "include", NULL },
    { "include/lab", NULL },
    { "src/own.h", "#include \"next.h\"\n" },
    { "src/next.h", "#include \"own.h\"\n#define NEXT 1\n" },
    { "include/lab/public.h", "#define PUBLIC\n" },
    { "src/notes.txt", "#define NOTES\n" },
};
enum { CONTENTS = sizeof(contents) / sizeof(contents[0]) };

static const char *in_folder(const char *name)
{
    static char path[256];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

static int make_folder(void **state)
{
    (void)state;
    if (mkdtemp(folder) == NULL) {
        return -1;
    }
    for (size_t i = 0; i < CONTENTS; i++) {
        const char *path = in_folder(contents[i].name);
        FILE *f = contents[i].text != NULL ? fopen(path, "we") : NULL;
        if (f != NULL) {
            fputs(contents[i].text, f);
            fclose(f);
        } else if (mkdir(path, 0700) != 0) {
            return -1;
        }
    }
    return symlink("own.h", in_folder("src/link.h"));
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(in_folder("src/link.h"));
    for (size_t i = CONTENTS; i > 0; i--) {
        remove(in_folder(contents[i - 1].name));
    }
    return rmdir(folder);
}

/* Returns the names of the headers of a text in the file `path` of the folder, each with a blank. */
static const char *names_of(const char *path, const char *text)
{
    static char names[512];
    CBX_AUTO_DONE(buf) out;
    char whole[256];
    struct cbx_entry entry;
    snprintf(whole, sizeof(whole), "%s/%s", folder, path);
    cbx_buf_init(&out, CBX_HEADERS_MAX_BYTES * 2);
    cbx_headers_collect(cbx_str_of(whole), cbx_str_of(text), &out);
    struct cbx_str rest = cbx_buf_str(&out);
    names[0] = '\0';
    for (size_t n = 0; cbx_entry_next(&rest, &entry);) {
        n += (size_t)snprintf(names + n, sizeof(names) - n, "%.*s ", (int)entry.name.len,
                              entry.name.p);
    }
    return names;
}

static void finds_headers_beside_and_around_a_file(void **state)
{
    (void)state;
    assert_string_equal(names_of("src/a.c", "#include \"own.h\"\n"), "own.h next.h ");
    assert_string_equal(names_of("src/a.c", "  #  include  <lab/public.h> /* x */\n"),
                        "lab/public.h ");
    assert_string_equal(names_of("src/deep/a.c", "#include \"own.h\"\n"), "own.h next.h ");
    assert_string_equal(names_of("src/deep/a.c", "#include \"../next.h\"\n"), "../next.h own.h ");
}

static void leaves_out_what_is_no_header_of_the_project(void **state)
{
    (void)state;
    assert_string_equal(names_of("src/a.c", "#include \"notes.txt\"\n#include \"link.h\"\n"), "");
    assert_string_equal(names_of("src/a.c", "#include \"/etc/passwd\"\n#include NAME\n"), "");
    assert_string_equal(names_of("src/a.c", "#include \"missing.h\"\n#include \"\n#include"), "");
    assert_string_equal(names_of("src/a.c", "x #include \"own.h\"\n"), "");
}

static void knows_headers_of_another_language(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool cplusplus;
    } rows[] = {
        { "#ifndef X_H\n#define X_H\nclass Adapter : public QObject {\n};\n#endif\n", true },
        { "#pragma once\nnamespace lab { int f(); }\n", true },
        { "template <typename T> T f(T x);\n", true },
        { "/* a\n class of things */\nint f(void);\n", false },
        { "#ifdef __cplusplus\nclass X;\n#endif\nint f(void);\n", false },
        { "#ifndef X_H\n#ifdef __cplusplus\nnamespace x {}\n#endif\n#endif\n", false },
        { "int class_of(int x);\nint template;\n", false },
        { "", false },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(cbx_headers_is_cplusplus(cbx_str_of(rows[i].text)), rows[i].cplusplus);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_headers_beside_and_around_a_file),
        cmocka_unit_test(leaves_out_what_is_no_header_of_the_project),
        cmocka_unit_test(knows_headers_of_another_language),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
