/* SPDX-License-Identifier: MIT
 * Records of a shell that become commands for the next shell. Lines that bash does not print, and
 * text that it would evaluate, are refused. */
#include "docker/inside/command/shell_state.c"

#include "tests/unit/unit.h"

static bool is_accepted(const char *record)
{
    struct cbx_shell_restore restore = { 0 };
    bool accepted = cbx_shell_restore_read(record, strlen(record) + 1, &restore);
    cbx_shell_restore_done(&restore);
    return accepted;
}

static void assert_script(const char *record, const char *script)
{
    struct cbx_shell_restore restore = { 0 };
    assert_true(cbx_shell_restore_read(record, strlen(record) + 1, &restore));
    assert_string_equal(restore.script, script);
    cbx_shell_restore_done(&restore);
}

static void assigns_values_before_attributes(void **state)
{
    (void)state;
    assert_script("vdeclare -i n=\"a[\\$(id)]\"\ndeclare -rx s=$'a\\'b'\n",
                  "\\builtin declare +i -- n=\"a[\\$(id)]\"\n\\builtin declare +i -- s=$'a\\'b'\n"
                  "\\builtin declare -i n\n\\builtin declare -rx s\n");
    assert_script("vdeclare -ai l=([0]=\"x\" [12]=$'y')\n",
                  "\\builtin declare -a l\nl=([0]=\"x\" [12]=$'y')\n\\builtin declare -ai l\n");
    assert_script(
        "vdeclare -A m=([k]=\"v\" [\"a b\"]=\"w\" )\n",
        "\\builtin declare -A m\nm=([k]=\"v\" [\"a b\"]=\"w\" )\n\\builtin declare -A m\n");
    assert_script("vdeclare -n r=\"x\"\ndeclare -x e\nlocal -\n",
                  "\\builtin declare -n r=\"x\"\n\\builtin declare -x e\n");
}

static void leaves_out_what_each_shell_sets_itself(void **state)
{
    (void)state;
    assert_script(
        "vdeclare -r SHELLOPTS=\"xtrace\"\ndeclare -- __codebox_x=\"1\"\ndeclare -- _=\"x\"\n", "");
    assert_script(
        "ttrap -- 'a' EXIT\ntrap -- 'a' DEBUG\ntrap -- 'a' RETURN\ntrap -- 'it'\\''s' SIGINT\n",
        "\\builtin trap -- 'it'\\''s' SIGINT\n");
}

static void refuses_values_that_bash_would_expand(void **state)
{
    (void)state;
    static const char *const refused[] = {
        "vdeclare -- x=\"$(id)\"\n",
        "vdeclare -- x=\"`id`\"\n",
        "vdeclare -- x=\"\\a\"\n",
        "vdeclare -- x=\"a\n",
        "vdeclare -- x=\"a\\",
        "vdeclare -- x=$'a\n",
        "vdeclare -- x=$'a\\",
        "vdeclare -- x=\"a\";id\n",
        "vdeclare -- x=\"a\"$(id)\n",
        "vdeclare -- x=id\n",
        "vdeclare -- x=$(id)\n",
        "vdeclare -- x[a]=\"1\"\n",
        "vdeclare -- 1x=\"1\"\n",
        "vdeclare -- x=\"1\"",
        "vdeclare -f x=\"1\"\n",
        "vdeclare -- \n",
        "vdeclare x=\"1\"\n",
        "vid\n",
        "vdeclare -a x=([a]=\"1\")\n",
        "vdeclare -a x=([\"$(id)\"]=\"1\")\n",
        "vdeclare -a x=([0]=\"1\"\n",
        "vdeclare -a x=([0]=1)\n",
        "vdeclare -a x=(\"1\")\n",
        "vdeclare -A x=([$(id)]=\"1\" )\n",
        "vdeclare -A x=([\"`id`\"]=\"1\" )\n",
        "vdeclare -A x=([a]=\"1\" id)\n",
        "vdeclare -A x=([]=\"1\" )\n",
    };
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        if (is_accepted(refused[i])) {
            fail_msg("accepted: %s", refused[i]);
        }
    }
}

static void refuses_other_malformed_records(void **state)
{
    (void)state;
    static const char *const refused[] = {
        "",
        "x",
        "ttrap -- id SIGINT\n",
        "ttrap -- 'a' SIGINT; id\n",
        "ttrap -- 'a'$(id) INT\n",
        "ttrap -- 'a' INT",
        "m0022; id\n",
        "m$(id)\n",
        "m\n",
        "onoglob:$(id)",
        "sextglob;id",
        "adeclare -f\n",
        "adeclare -x f\n",
        "adeclare -f f",
        "fid",
        "fls \n{ \n}\n",
        "f () \n{ \n}\n",
        "fa\nb () \n{ \n}\n",
    };
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        if (is_accepted(refused[i])) {
            fail_msg("accepted: %s", refused[i]);
        }
    }
    struct cbx_shell_restore restore = { 0 };
    assert_false(cbx_shell_restore_read("d/tmp", 5, &restore)); /* not terminated */
}

static void passes_functions_through_the_environment(void **state)
{
    (void)state;
    static const char records[] = "ff () \n{ \n    echo f\n}\n\0"
                                  "fa/b () \n{ \n    echo f\n}\n\0"
                                  "f__codebox_save () \n{ \n    echo f\n}\n\0"
                                  "adeclare -f f\ndeclare -frx it's\n";
    struct cbx_shell_restore restore = { 0 };
    assert_true(cbx_shell_restore_read(records, sizeof(records), &restore));
    assert_string_equal(restore.env[0], "BASH_FUNC_f%%=() { \n    echo f\n}\n");
    assert_null(restore.env[1]);
    assert_string_equal(restore.script,
                        "\\builtin export -nf -- 'f'\n\\builtin readonly -f -- 'it'\\''s'\n");
    cbx_shell_restore_done(&restore);
}

static void quotes_the_folder_and_orders_the_parts(void **state)
{
    (void)state;
    static const char records[] =
        "onoglob:pipefail\0ttrap -- '' SIGINT\n\0m0027\n\0sextglob\0d/it's $(id)";
    struct cbx_shell_restore restore = { 0 };
    assert_true(cbx_shell_restore_read(records, sizeof(records), &restore));
    assert_string_equal(restore.script,
                        "\\builtin shopt -u ${BASHOPTS//:/ }\n\\builtin shopt -s extglob\n"
                        "\\builtin cd -- '/it'\\''s $(id)'\n\\builtin umask 0027\n"
                        "\\builtin trap -- '' SIGINT\n\\builtin set +BCEHPTabefhkmtuvx\n"
                        "\\builtin set -o noglob\n\\builtin set -o pipefail\n");
    cbx_shell_restore_done(&restore);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(assigns_values_before_attributes),
        cmocka_unit_test(leaves_out_what_each_shell_sets_itself),
        cmocka_unit_test(refuses_values_that_bash_would_expand),
        cmocka_unit_test(refuses_other_malformed_records),
        cmocka_unit_test(passes_functions_through_the_environment),
        cmocka_unit_test(quotes_the_folder_and_orders_the_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
