/* SPDX-License-Identifier: MIT
 * The entry for a server in the files of clients: text that a user wrote there stays. */
#include "gateway/cli/install/client_entry.h"
#include "tests/unit/unit.h"

#include <string.h>

typedef int set_function(struct cbx_str text, const struct cbx_client_entry *entry,
                         enum cbx_splice *what, struct cbx_buf *out, struct cbx_err *err);

/* box: {command: "run", args: ["mcp", "a \"b\""]}, and {on: true} when it is new. */
static int set_box(set_function *set, const char *text, enum cbx_splice *what, struct cbx_buf *out,
                   struct cbx_err *err)
{
    CBX_AUTO_JSON members =
        json_pack("{s:s,s:s,s:[s,s]}", "name", "box", "command", "run", "args", "mcp", "a \"b\"");
    CBX_AUTO_JSON once = json_pack("{s:b}", "on", 1);
    const struct cbx_client_entry entry = {
        .section = "servers", .name = "box", .members = members, .once = once, .head = "v: 1\n"
    };
    *err = (struct cbx_err){ 0 };
    cbx_buf_init(out, 1 << 20);
    return set(cbx_str_of(text), &entry, what, out, err);
}

static void assert_set(set_function *set, const char *text, enum cbx_splice expected_what,
                       const char *expected)
{
    CBX_AUTO_DONE(buf) out;
    CBX_AUTO_DONE(buf) again;
    struct cbx_err err;
    enum cbx_splice what;
    if (set_box(set, text, &what, &out, &err) != 0) {
        fail_msg("%s: %s", text, err.text);
    }
    assert_string_equal(out.p, expected);
    assert_int_equal(what, expected_what);
    assert_int_equal(set_box(set, out.p, &what, &again, &err), 0);
    assert_string_equal(again.p, out.p);
    assert_int_equal(what, CBX_SPLICE_SAME);
}

static void assert_refused(set_function *set, const char *text, const char *part)
{
    CBX_AUTO_DONE(buf) out;
    struct cbx_err err;
    enum cbx_splice what;
    if (set_box(set, text, &what, &out, &err) != CBX_EINVAL) {
        fail_msg("accepted: %s\nas: %s", text, out.p);
    }
    if (strstr(err.text, part) == NULL) {
        fail_msg("%s: %s", text, err.text);
    }
    assert_int_equal(out.len, 0);
}

/* --- JSON ------------------------------------------------------------------------------------- */

static void json_keeps_what_a_person_set_in_the_entry(void **state)
{
    (void)state;
    assert_set(cbx_client_entry_json,
               "{\"servers\": {\"box\": {\"name\": \"box\", \"command\": \"old\", \"args\": [], "
               "\"env\": {\"A\": \"b\"}, \"disabled\": true, \"on\": false /* off */}}}",
               CBX_SPLICE_REPLACED,
               "{\"servers\": {\"box\": {\"name\": \"box\", \"command\": \"run\", \"args\": "
               "[\"mcp\",\"a \\\"b\\\"\"], \"env\": {\"A\": \"b\"}, \"disabled\": true, \"on\": "
               "false /* off */}}}");
}

static void json_of_a_server_at_a_url_is_refused(void **state)
{
    (void)state;
    assert_refused(cbx_client_entry_json, "{\"servers\": {\"box\": {\"url\": \"http://x\"}}}",
                   "server at a URL ('url'); remove it first");
    assert_refused(cbx_client_entry_json, "{\"servers\": {\"box\": {\"httpUrl\": \"http://x\"}}}",
                   "'httpUrl'");
}

/* --- TOML ------------------------------------------------------------------------------------- */

#define TOML_NEW                                                                                   \
    "[servers.box]\nname = \"box\"\ncommand = \"run\"\nargs = [\"mcp\",\"a \\\"b\\\"\"]\non = "    \
    "true\n"

static void toml_gets_a_table_at_its_end(void **state)
{
    (void)state;
    static const struct {
        const char *text, *before;
    } cases[] = {
        { "", "" },
        { "# mine\nmodel = \"x\" # it\n", "# mine\nmodel = \"x\" # it\n\n" },
        { "a = 1", "a = 1\n\n" },
        { "[servers.other]\ncommand = '''\n[servers.box]\n'''\nenv = { K = \"[x]\" }\n",
          "[servers.other]\ncommand = '''\n[servers.box]\n'''\nenv = { K = \"[x]\" }\n\n" },
        { "[[list]]\na = [\n  1, # [servers.box]\n  2,\n]\n[servers.box2]\n",
          "[[list]]\na = [\n  1, # [servers.box]\n  2,\n]\n[servers.box2]\n\n" },
        { "text = \"\"\"\nservers = \\\"\\\"\\\"\n\"\"\"\n",
          "text = \"\"\"\nservers = \\\"\\\"\\\"\n\"\"\"\n\n" },
        { "[servers]\nother = { command = \"x\" }\n[box]\nservers = 1\n",
          "[servers]\nother = { command = \"x\" }\n[box]\nservers = 1\n\n" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char expected[1000];
        snprintf(expected, sizeof(expected), "%s" TOML_NEW, cases[i].before);
        assert_set(cbx_client_entry_toml, cases[i].text, CBX_SPLICE_ADDED, expected);
    }
    assert_set(cbx_client_entry_toml, "a = 1\r\n", CBX_SPLICE_ADDED,
               "a = 1\r\n\r\n[servers.box]\r\nname = \"box\"\r\ncommand = \"run\"\r\nargs = "
               "[\"mcp\",\"a \\\"b\\\"\"]\r\non = true\r\n");
}

static void toml_keeps_what_a_person_set_in_the_table(void **state)
{
    (void)state;
    assert_set(cbx_client_entry_toml,
               "a = 1\n[ servers . \"box\" ] # ours\n# the program\ncommand = 'old' # path\nargs = "
               "[ # old\n  \"]\",\n]\nenabled = false\nstartup_timeout_sec = 20\n\n"
               "[servers.box.env]\ncommand = \"not this\"\n[other]\nargs = 1\n",
               CBX_SPLICE_REPLACED,
               "a = 1\n[ servers . \"box\" ] # ours\nname = \"box\"\n# the program\ncommand = "
               "\"run\" # path\nargs = [\"mcp\",\"a \\\"b\\\"\"]\nenabled = false\n"
               "startup_timeout_sec = 20\n\n[servers.box.env]\ncommand = \"not this\"\n[other]\n"
               "args = 1\n");
    assert_set(cbx_client_entry_toml,
               "[servers.box]\nargs = [ \"mcp\" ,\n \"a \\\"b\\\"\" ]\ncommand = \"run\"",
               CBX_SPLICE_REPLACED,
               "[servers.box]\nname = \"box\"\nargs = [ \"mcp\" ,\n \"a \\\"b\\\"\" ]\ncommand = "
               "\"run\"");
}

static void toml_in_another_form_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *part;
    } cases[] = {
        { "servers = {}\n", "another form" },
        { "servers.box.command = \"x\"\n", "another form" },
        { "\"servers\" = { box = { command = \"x\" } }\n", "another form" },
        { "[servers]\nbox = { command = \"x\" }\n", "another form" },
        { "[servers]\nbox.command = \"x\"\n", "another form" },
        { "[[servers]]\nname = \"box\"\n", "another form" },
        { "[[servers.box]]\n", "another form" },
        { "[servers.box]\n[servers.box]\n", "another form" },
        { "[servers.box]\nurl = \"http://x\"\n", "server at a URL" },
        { "a = 1\n}\n", "line 2 is not valid TOML" },
        { "[servers.box\n", "line 1 is not valid TOML" },
        { "a =\n", "line 1 is not valid TOML" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_refused(cbx_client_entry_toml, cases[i].text, cases[i].part);
    }
}

/* --- YAML ------------------------------------------------------------------------------------- */

#define YAML_NEW                                                                                   \
    "  box:\n    name: \"box\"\n    command: \"run\"\n    args: [\"mcp\",\"a \\\"b\\\"\"]\n    "   \
    "on: true\n"

static void yaml_gets_the_entry_before_the_others(void **state)
{
    (void)state;
    static const struct {
        const char *before, *after, *expected;
    } cases[] = {
        { "", "", "v: 1\nservers:\n" YAML_NEW },
        { "# mine\n", "", "# mine\nv: 1\nservers:\n" YAML_NEW },
        { "model: x # it", "", "model: x # it\nservers:\n" YAML_NEW },
        { "servers: # all\n", "  # mine\n  other:\n    cmd: x\nz: 1\n",
          "servers: # all\n  # mine\n" YAML_NEW "  other:\n    cmd: x\nz: 1\n" },
        { "servers: {} # none\n", "z: 1\n", "servers: # none\n" YAML_NEW "z: 1\n" },
        { "servers:\n", "z: 1\n", "servers:\n" YAML_NEW "z: 1\n" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[500];
        snprintf(text, sizeof(text), "%s%s", cases[i].before, cases[i].after);
        assert_set(cbx_client_entry_yaml, text, CBX_SPLICE_ADDED, cases[i].expected);
    }
}

static void yaml_keeps_what_a_person_set_in_the_entry(void **state)
{
    (void)state;
    assert_set(cbx_client_entry_yaml,
               "z: &a 1\nservers:\n    box:\n        name: box\n        on: false # off\n        "
               "args:\n        - old\n        # really\n        - older\n        envs: {A: b}\n\n"
               "        # last\n        timeout: 5\n    # the other\n    other: {command: x}\nend: "
               "|\n  servers:\n",
               CBX_SPLICE_REPLACED,
               "z: &a 1\nservers:\n    box:\n        name: box\n        on: false # off\n        "
               "args: [\"mcp\",\"a \\\"b\\\"\"]\n        envs: {A: b}\n\n        # last\n        "
               "timeout: 5\n        command: \"run\"\n    # the other\n    other: {command: x}\n"
               "end: |\n  servers:\n");
}

static void yaml_in_another_form_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *part;
    } cases[] = {
        { "servers: {other: {command: x}}\n", "cannot be edited" },
        { "servers: {box: {command: x}}\n", "cannot be edited" },
        { "{servers: {}}\n", "cannot be edited" },
        { "servers:\n  box: {command: x}\n", "cannot be edited" },
        { "servers:\n  box: x\n", "cannot be edited" },
        { "servers: []\nother: &a\n", "" },
        { "servers:\n- name: box\n", "cannot be edited" },
        { "servers: x\n", "cannot be edited" },
        { "- servers\n", "cannot be edited" },
        { "servers:\n  box:\n    url: http://x\n", "server at a URL" },
        { "servers: !x {}\n", "" },
        { "a: [\n", "" },
        { "a: 1\n...\n", "cannot be edited" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        CBX_AUTO_DONE(buf) out;
        struct cbx_err err;
        enum cbx_splice what;
        if (set_box(cbx_client_entry_yaml, cases[i].text, &what, &out, &err) == 0 &&
            strcmp(cases[i].text, "servers: []\nother: &a\n") != 0) {
            fail_msg("accepted: %s\nas: %s", cases[i].text, out.p);
        }
        assert_true(err.code == 0 || strstr(err.text, cases[i].part) != NULL);
    }
}

static void a_list_of_yaml_gets_an_item_and_keeps_one_of_the_name(void **state)
{
    (void)state;
    assert_set(cbx_client_entry_yaml_list, "", CBX_SPLICE_ADDED,
               "v: 1\nservers:\n  - name: \"box\"\n    command: \"run\"\n    args: [\"mcp\",\"a "
               "\\\"b\\\"\"]\n    on: true\n");
    assert_set(cbx_client_entry_yaml_list,
               "name: me\nservers:\n- name: other # x\n  command: y\nmodels: []\n",
               CBX_SPLICE_ADDED,
               "name: me\nservers:\n- name: \"box\"\n  command: \"run\"\n  args: [\"mcp\",\"a "
               "\\\"b\\\"\"]\n  on: true\n- name: other # x\n  command: y\nmodels: []\n");
    assert_set(
        cbx_client_entry_yaml_list,
        "servers:\n  - command: y\n    name: other\n  - args:\n      - old\n    name: box\n"
        "    env:\n      A: b\n    command: x\nmodels: []\n",
        CBX_SPLICE_REPLACED,
        "servers:\n  - command: y\n    name: other\n  - args: [\"mcp\",\"a \\\"b\\\"\"]\n    "
        "name: box\n    env:\n      A: b\n    command: \"run\"\nmodels: []\n");
    assert_refused(cbx_client_entry_yaml_list, "servers: [{name: other}]\n", "cannot be edited");
    assert_refused(cbx_client_entry_yaml_list, "servers: [{name: box}]\n", "cannot be edited");
    assert_refused(cbx_client_entry_yaml_list, "servers:\n  box: {}\n", "cannot be edited");
    assert_refused(cbx_client_entry_yaml_list, "servers:\n  - {name: box}\n", "cannot be edited");
    assert_refused(cbx_client_entry_yaml_list, "servers:\n  - name: box\n    url: x\n",
                   "server at a URL");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_keeps_what_a_person_set_in_the_entry),
        cmocka_unit_test(json_of_a_server_at_a_url_is_refused),
        cmocka_unit_test(toml_gets_a_table_at_its_end),
        cmocka_unit_test(toml_keeps_what_a_person_set_in_the_table),
        cmocka_unit_test(toml_in_another_form_is_refused),
        cmocka_unit_test(yaml_gets_the_entry_before_the_others),
        cmocka_unit_test(yaml_keeps_what_a_person_set_in_the_entry),
        cmocka_unit_test(yaml_in_another_form_is_refused),
        cmocka_unit_test(a_list_of_yaml_gets_an_item_and_keeps_one_of_the_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
