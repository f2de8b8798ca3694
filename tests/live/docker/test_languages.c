/* SPDX-License-Identifier: MIT
 * The kernel for commands on the real engine: cells of a persistent shell, compiled programs,
 * TypeScript. Exit 77 without an engine. Nothing here sleeps. */
#include "tests/live/docker/live.h"

/* Runs it; its stdout, stderr and exit status. */
#define GIVES(source, stdout_text, stderr_text, code)                                              \
    do {                                                                                           \
        RUN(source);                                                                               \
        assert_string_equal(seen.out.p, stdout_text);                                              \
        assert_string_equal(seen.err.p, stderr_text);                                              \
        assert_int_equal(seen.result.exit_code, code);                                             \
        assert_int_equal(seen.result.status, (code) == 0 ? CBX_RUN_OK : CBX_RUN_ERROR);            \
        assert_false(seen.result.session_lost);                                                    \
    } while (0)

/* --- shell ------------------------------------------------------------------------------------ */

static void shell_keeps_variables_functions_folder_and_options(void **state)
{
    IN_SANDBOX("shell");
    GIVES("x=41; a=(1 'two words'); declare -A m=([k]=v)\nf() {\n  echo \"f $1\"\n}\n"
          "mkdir -p d; cd d; set -o noglob; shopt -s nullglob",
          "", "", 0);
    GIVES("echo $((x + 1)) ${a[1]} ${m[k]}; f 2; pwd; echo *; shopt -q nullglob && echo on; echo e "
          ">&2",
          "42 two words v\nf 2\n/workspace/d\n*\non\n", "e\n", 0);
}

static void shell_gives_the_status_of_the_last_command(void **state)
{
    IN_SANDBOX("shell");
    GIVES("true; false", "", "", 1);
    GIVES("nosuchcommand", "", "bash: nosuchcommand: command not found\n", 127);
    GIVES("(exit 7)", "", "", 7);
    GIVES("echo on", "on\n", "", 0);
    GIVES("return 5", "", "", 5);
}

static void shell_reads_here_documents_and_no_input(void **state)
{
    IN_SANDBOX("shell");
    GIVES("cat <<E | tr a-z A-Z\nsome\n  lines $((1 + 1))\nE\nread x; echo \"read $?\"",
          "SOME\n  LINES 2\nread 1\n", "", 0);
}

static void shell_outlives_exit_and_errexit_with_its_state(void **state)
{
    IN_SANDBOX("shell");
    GIVES("x=1\nf() { echo f; }\nreadonly r=2\nexport e='a b'\ncd /tmp\nexit 3\necho never", "", "",
          3);
    GIVES("echo $x $r \"$e\" $PWD; f; env | grep ^e=", "1 2 a b /tmp\nf\ne=a b\n", "", 0);
    GIVES("set -eu; y=5; false; echo never", "", "", 1);
    GIVES("echo $y $-", "5 ehiuBs\n", "", 0);
    GIVES("echo $nothing; echo never", "", "bash: nothing: unbound variable\n", 1);
    GIVES("set +eu; false; echo on", "on\n", "", 0);
}

static void shell_runs_the_exit_trap_of_a_cell_at_its_end(void **state)
{
    IN_SANDBOX("shell");
    GIVES("x=3; trap 'echo bye $x; echo e >&2' EXIT; echo in", "in\nbye 3\n", "e\n", 0);
    GIVES("echo $x", "3\n", "", 0);
    RUN("trap 'echo bye' EXIT; exit 4");
    assert_string_equal(seen.out.p, "bye\n");
    assert_int_equal(seen.result.exit_code, 4);
    assert_true(seen.result.session_lost);
}

static void shell_reports_syntax_errors_with_their_line(void **state)
{
    IN_SANDBOX("shell");
    RUN("echo one\nif true; then\n  echo two\n");
    assert_string_equal(seen.out.p, "");
    assert_string_equal(seen.result.ename, "SyntaxError");
    assert_non_null(strstr(seen.result.evalue, "line 4: syntax error"));
    assert_int_equal(seen.result.exit_code, 2);
    GIVES("echo on", "on\n", "", 0);
}

static void shell_continues_after_an_interrupt(void **state)
{
    IN_SANDBOX("shell");
    GIVES("x=1; sleep 100 & echo $!", seen.out.p, "", 0);
    seen.interrupt = sandbox;
    RUN("y=2; echo on; sleep 100; echo never");
    assert_string_equal(seen.out.p, "on\n");
    assert_int_equal(seen.result.exit_code, 130);
    assert_false(seen.result.session_lost);
    GIVES("echo $x $y; kill %1 && echo killed", "1 2\nkilled\n", "", 0);
    seen.interrupt = sandbox;
    RUN("echo on; while true; do :; done; echo never");
    assert_string_equal(seen.out.p, "on\n");
    assert_int_equal(seen.result.exit_code, 130);
    GIVES("echo $x", "1\n", "", 0);
}

static void shell_is_stopped_by_the_clock_and_keeps_its_state(void **state)
{
    IN_SANDBOX("shell");
    GIVES("x=1", "", "", 0);
    run_limited(sandbox, language, "y=2; while true; do :; done", 500, &seen);
    assert_int_equal(seen.result.status, CBX_RUN_TIMEOUT);
    assert_true(seen.result.duration_ms < 3000);
    GIVES("echo $x $y", "1 2\n", "", 0);
    run_limited(sandbox, language, "trap '' INT; while true; do :; done", 500, &seen);
    assert_int_equal(seen.result.status, CBX_RUN_TIMEOUT);
    assert_true(seen.result.session_lost);
    GIVES("echo \"[$x]\"", "[]\n", "", 0);
}

static void shell_reports_a_lost_state(void **state)
{
    IN_SANDBOX("shell");
    RUN("x=1; exec true");
    assert_int_equal(seen.result.exit_code, 0);
    assert_true(seen.result.session_lost);
    RUN("x=1; kill -9 $$");
    assert_true(seen.result.session_lost);
    GIVES("echo \"[$x]\"", "[]\n", "", 0);
}

/* The descriptors of a command: 0, 1 and 2, and those that the command opened. */
static void shell_passes_no_descriptor_to_commands(void **state)
{
    IN_SANDBOX("shell");
    GIVES("ls -l /proc/self/fd | grep -c -- '->'; ls /proc/$PPID/fd 2>/dev/null; { echo forged "
          ">&3; } 2>/dev/null "
          "|| echo closed; alias ls=rm; ls /nothing 2>/dev/null || echo unaliased",
          "4\nclosed\nunaliased\n", "", 0);
}

static void shell_outlives_bombs_and_floods(void **state)
{
    IN_SANDBOX("shell");
    run_limited(sandbox, language, "f() { f | f & }; f; while true; do :; done", 1000, &seen);
    assert_int_equal(seen.result.status, CBX_RUN_TIMEOUT);
    GIVES("echo here", "here\n", "", 0);
    RUN("yes | head -c 3000000");
    assert_int_equal(seen.result.status, CBX_RUN_OK);
    assert_true(seen.result.output_truncated);
    assert_int_equal(seen.out.len, 64 * 1024);
    RUN("x=$(yes | tr -d '\\n' | head -c 900000000); echo never");
    assert_int_equal(seen.result.status, CBX_RUN_OOM);
    GIVES("echo here", "here\n", "", 0);
}

/* --- protection from other processes ---------------------------------------------------------- */

static void shell_keeps_no_file_that_a_program_can_write(void **state)
{
    IN_SANDBOX("shell");
    GIVES("x=1; ls -A /tmp", "", "", 0);
    GIVES("echo $x $1; ls -A /tmp; exit 3", "1\n", "", 3);
    GIVES("echo $x; ls -A /tmp", "1\n", "", 0);
}

/* A process has the user of the shell and of the kernel, its parent. */
static void shell_memory_and_descriptors_are_closed_to_programs(void **state)
{
    IN_SANDBOX("shell");
    GIVES("for p in $$ $PPID; do for f in mem maps environ fd/0 fd/10 fd/12; do\n"
          "head -c 1 /proc/$p/$f >/dev/null 2>&1 && echo read $f\n"
          "dd if=/dev/null of=/proc/$p/$f conv=notrunc 2>/dev/null && echo wrote $f\n"
          "done; done; ls /proc/$$/fd 2>/dev/null; [ -e /proc/self/fd/0 ] && echo own",
          "own\n", "", 0);
}

static void shell_cell_is_sealed(void **state)
{
    IN_SANDBOX("shell");
    GIVES("for n in 11 12 13 14 15; do\n"
          "(echo 'echo forged' >/dev/fd/$n) 2>/dev/null && echo wrote $n\n"
          "(echo 'echo forged' >>/dev/fd/$n) 2>/dev/null && echo added $n\n"
          "(: >|/dev/fd/$n) 2>/dev/null && echo cut $n\ndone; echo end",
          "end\n", "", 0);
    GIVES("echo second", "second\n", "", 0);
}

/* A forked process of the shell has its descriptors; its output on them is no report. */
static void shell_takes_reports_of_the_shell_alone(void **state)
{
    IN_SANDBOX("shell");
    GIVES("printf 's7\\0' >&10 & wait; x=1; echo on", "on\n", "", 0);
    GIVES("while :; do printf 's7\\0B\\0vdeclare -- x=\"forged\"\\n\\0E\\0'; done >&10 2>/dev/null "
          "&\n"
          "y=2; exit 3",
          "", "", 3);
    GIVES("echo $x $y", "1 2\n", "", 0);
    GIVES("kill $! 2>/dev/null; echo $x $y", "1 2\n", "", 0);
}

/* The variable v holds data, as if it was read from a file. */
#define DATA "v='a[$(touch ran)]'\n"

static void shell_restores_values_without_evaluating_them(void **state)
{
    IN_SANDBOX("shell");
    GIVES(
        DATA
        "i=$v; declare -i i; l=(\"$v\"); declare -i l; declare -A m=([\"$v\"]=\"$v\"); "
        "declare -i m\nunset RANDOM SECONDS OPTIND; RANDOM=$v SECONDS=$v OPTIND=$v\n"
        "n=$'line\\n$(touch ran)`touch ran`\"'; r=$v; readonly r; export e=$v; u=$v; declare -u u\n"
        "exit 3",
        "", "", 3);
    GIVES("echo \"$i|${l[0]}|${m[$v]}|${!m[*]}|$r|$e|$u\"; echo \"$n\"; ls",
          "a[$(touch ran)]|a[$(touch ran)]|a[$(touch ran)]|a[$(touch ran)]|a[$(touch ran)]|"
          "a[$(touch ran)]|a[$(touch ran)]\nline\n$(touch ran)`touch ran`\"\n",
          "", 0);
}

static void shell_evaluates_no_prompt(void **state)
{
    IN_SANDBOX("shell");
    RUN("PS0='$(touch ran)' PS1='$(touch ran)' PS2='$(touch ran)' MAILPATH='/tmp/a?$(touch ran)'\n"
        "touch -d yesterday /tmp/a");
    RUN("PROMPT_COMMAND='touch ran'");
    RUN("MAILCHECK=0");
    RUN("echo x >/tmp/a");
    RUN("exit 3");
    assert_int_equal(seen.result.exit_code, 3);
    assert_false(seen.result.session_lost);
    RUN("ls");
    assert_string_equal(seen.out.p, "");
    RUN("PS0= PS1= PS2=");
    GIVES("echo \"${PROMPT_COMMAND-unset} $MAILPATH\"", "unset /tmp/a?$(touch ran)\n", "", 0);
}

static void shell_functions_of_the_kernel_evaluate_no_text(void **state)
{
    IN_SANDBOX("shell");
    GIVES("__codebox_exit='touch ran'; __codebox_cell='touch ran'", "", "", 0);
    RUN("__codebox_report '0; touch ran' 'touch ran'; __codebox_save '$(touch ran)' '$(touch "
        "ran)'");
    GIVES("exit 3", "", "", 3);
    GIVES("ls", "", "", 0);
}

static void shell_restores_functions_and_runs_none(void **state)
{
    IN_SANDBOX("shell");
    GIVES("f() {\n  cat <<E\n}\nls () \n{ \n    touch ran\n}\ntouch ran\nE\n}\n"
          "g() ( echo \"g $1\" ) 2>&1\nh() { echo h; }; export -f h; readonly -f g\n"
          "cd() { echo \"cd $1\"; builtin cd \"$1\"; }; declare() { touch ran; }\nmkdir d; cd d; "
          "exit 3",
          "cd d\n", "", 3);
    GIVES("unset -f declare; f; g 1; bash -c h; bash -c g 2>/dev/null || echo none; pwd; ls; ls ..",
          "}\nls () \n{ \n    touch ran\n}\ntouch ran\ng 1\nh\nnone\n/workspace/d\nd\n", "", 0);
}

static void shell_restores_traps_and_options(void **state)
{
    IN_SANDBOX("shell");
    GIVES("trap 'echo \"it'\\''s err\"' ERR; trap '' USR1; umask 027; shopt -s extglob nullglob; "
          "set -o "
          "pipefail -f\nexit 3",
          "", "", 3);
    GIVES("trap -p USR1; umask; shopt -q extglob && echo ext; shopt -q nullglob && echo null; echo "
          "$-; "
          "false | true; echo end",
          "trap -- '' SIGUSR1\n0027\next\nnull\nfhiBs\nit's err\nend\n", "", 0);
}

static void shell_keeps_a_large_state_and_reports_one_that_is_too_large(void **state)
{
    IN_SANDBOX("shell");
    GIVES("x=$(head -c 3000000 /dev/zero | tr '\\0' x); exit 3", "", "", 3);
    GIVES("echo ${#x}", "3000000\n", "", 0);
    RUN("x=$x$x$x; exit 3");
    assert_int_equal(seen.result.exit_code, 3);
    assert_true(seen.result.session_lost);
    assert_non_null(strstr(seen.err.p, "larger than 8 MiB"));
    GIVES("echo \"[$x]\"", "[]\n", "", 0);
    RUN("x=1; __codebox_save() { printf 'B\\0vx=$(touch ran)\\0E\\0' >&10; }; exit 3");
    assert_true(seen.result.session_lost);
    assert_non_null(strstr(seen.err.p, "cannot be restored"));
    GIVES("echo \"[$x]\"; ls", "[]\n", "", 0);
}

/* --- C ---------------------------------------------------------------------------------------- */

#define MAIN(body) "#include <stdio.h>\n#include <stdlib.h>\nint main(void)\n{\n" body "\n}\n"

static void c_is_compiled_and_runs(void **state)
{
    IN_SANDBOX("c");
    GIVES(MAIN("puts(\"out\"); fputs(\"err\\n\", stderr); return 3;"), "out\n", "err\n", 3);
    GIVES("#include <math.h>\n" MAIN(
              "printf(\"%.1f %d\\n\", sqrt(2.0 * getenv(\"HOME\")[0]), getchar());"),
          "9.7 -1\n", "", 0);
    GIVES(MAIN("FILE *f = fopen(\"a.txt\", \"w\"); fputs(\"kept\", f); return fclose(f);"), "", "",
          0);
    GIVES(MAIN("char b[9] = \"\"; FILE *f = fopen(\"a.txt\", \"r\"); puts(fgets(b, 9, f)); "
               "fclose(f);"),
          "kept\n", "", 0);
}

static void c_reports_the_messages_of_the_compiler(void **state)
{
    IN_SANDBOX("c");
    RUN("int main(void)\n{\n    return x;\n}\n");
    assert_string_equal(seen.result.ename, "CompileError");
    assert_non_null(strstr(seen.result.evalue, "main.c:3:12: error: ‘x’ undeclared"));
    assert_non_null(strstr(seen.result.traceback, "3 |     return x;"));
    assert_int_equal(seen.result.exit_code, 1);
    RUN("int f(void);\nint main(void) { return f(); }\n");
    assert_string_equal(seen.result.ename, "CompileError");
    assert_non_null(strstr(seen.result.traceback, "undefined reference to `f'"));
    RUN(MAIN("int unused; puts(\"on\");"));
    assert_string_equal(seen.out.p, "on\n");
    assert_non_null(strstr(seen.err.p, "unused variable"));
}

static void c_reports_the_signal_that_ended_it(void **state)
{
    IN_SANDBOX("c");
    RUN(MAIN("puts(\"on\"); fflush(stdout); *(volatile int *)0 = 1;"));
    assert_string_equal(seen.out.p, "on\n");
    assert_string_equal(seen.result.ename, "Signal");
    assert_int_equal(seen.result.exit_code, 139);
    assert_false(seen.result.session_lost);
    RUN(MAIN("abort();"));
    assert_int_equal(seen.result.exit_code, 134);
}

static void c_is_interrupted_and_stopped(void **state)
{
    IN_SANDBOX("c");
    seen.interrupt = sandbox;
    RUN(MAIN("puts(\"on\"); fflush(stdout); for (;;) {}"));
    assert_string_equal(seen.result.ename, "Interrupted");
    assert_int_equal(seen.result.exit_code, 130);
    run_limited(sandbox, language, MAIN("for (;;) {}"), 1000, &seen);
    assert_int_equal(seen.result.status, CBX_RUN_TIMEOUT);
    run_limited(sandbox, language, "#include <unistd.h>\nint main(void) { for (;;) fork(); }", 1500,
                &seen);
    assert_int_equal(seen.result.status, CBX_RUN_TIMEOUT);
    RUN(MAIN("for (;;) *(volatile char *)malloc(2000) = 1;"));
    assert_int_equal(seen.result.status, CBX_RUN_OOM);
    RUN(MAIN("for (int i = 0; i < 3000000; i++) putchar('x'); return 0;"));
    assert_true(seen.result.output_truncated);
    assert_int_equal(seen.result.status, CBX_RUN_OK);
    GIVES(MAIN("puts(\"here\");"), "here\n", "", 0);
}

/* The program cannot answer for the kernel: it has no channel and cannot read the process that has
 * one. */
static void c_passes_no_descriptor_to_programs(void **state)
{
    IN_SANDBOX("c");
    GIVES("#include <fcntl.h>\n#include <stdio.h>\n#include <unistd.h>\nint main(void)\n{\n"
          "    char path[64];\n    for (int fd = 3; fd < 64; fd++) if (fcntl(fd, F_GETFD) != -1) "
          "printf(\"%d\\n\", fd);\n"
          "    snprintf(path, sizeof(path), \"/proc/%d/mem\", getppid());\n"
          "    return open(path, O_RDWR) >= 0;\n}\n",
          "", "", 0);
}

/* A program cannot place folders where the kernel writes the next source. */
static void c_replaces_what_an_earlier_program_left(void **state)
{
    IN_SANDBOX("c");
    GIVES("#include <stdio.h>\n#include <sys/stat.h>\nint main(void)\n{\n"
          "    return mkdir(\"/tmp/codebox/sub\", 0700) || mkdir(\"/tmp/codebox/sub/deep\", 0700) "
          "||\n"
          "           rename(\"/tmp/codebox/sub\", \"/tmp/codebox/program\") ||\n"
          "           remove(\"/tmp/codebox/main.c\") || mkdir(\"/tmp/codebox/main.c\", 0700) ||\n"
          "           mkdir(\"/tmp/codebox/main.c/deep\", 0700);\n}\n",
          "", "", 0);
    GIVES(MAIN("puts(\"here\");"), "here\n", "", 0);
}

/* --- JavaScript ------------------------------------------------------------------------------- */

#define SHOWS(code, value)                                                                         \
    RUN(code);                                                                                     \
    assert_string_equal(seen.result.evalue != NULL ? seen.result.evalue : "", "");                 \
    assert_string_equal(seen.plain.p, value)

static void javascript_cells_with_imports_keep_names_and_values(void **state)
{
    IN_SANDBOX("javascript");
    SHOWS("import path, { join as j } from 'path'; const a = 5; a + 1", "6");
    SHOWS("j('a', path.basename('/x/b')) + a", "'a/b5'");
    SHOWS("import * as path from 'node:path'\nimport 'os'\nclass K {}; typeof path.join",
          "'function'");
    SHOWS("export const b = 2; export default function f() { return b; }\nf() + typeof K",
          "'2function'");
    SHOWS("f()", "2");
    SHOWS("const { EOL } = await import('os'); EOL.length", "1");
    SHOWS("import.meta.url.startsWith('file:///workspace/') && import.meta.dirname",
          "'/workspace'");
    SHOWS("export { b as c }; export * from 'os'; const text = `import x from 'y'`; text.length",
          "17");
    RUN("import { nothing } from 'fs'");
    assert_non_null(strstr(seen.result.evalue, "does not provide an export named 'nothing'"));
    RUN("import 'fs'; undeclared = 1");
    assert_string_equal(seen.result.ename, "ReferenceError"); /* a module is strict */
    SHOWS("undeclared = 1", "1");
}

static void javascript_returns_at_the_top_level(void **state)
{
    IN_SANDBOX("javascript");
    SHOWS("const a = 4;\nif (a > 3) {\n  return a * 2;\n}\n'not reached'", "8");
    SHOWS("a", "4");
    SHOWS("function f() { return 1; }\nfor (const x of [1, 2]) if (x === 2) return (() => { return "
          "x + f(); })();",
          "3");
    RUN("return");
    assert_int_equal(seen.result.status, CBX_RUN_OK);
    assert_int_equal(seen.plain.len, 0);
}

/* The rewriting of a cell uses no method of the program's realm. */
static void programs_do_not_choose_what_becomes_of_their_next_cell(void **state)
{
    static const char *const languages[] = { "javascript", "typescript" };
    for (size_t i = 0; i < 2; i++) {
        IN_SANDBOX(languages[i]);
        SHOWS("const slice = String.prototype.slice;\n"
              "String.prototype.slice = function (...a) { const t = slice.apply(this, a); return "
              "t.includes('a + 1') ? 'globalThis.evil = 1' : t };\n"
              "String.prototype.replace = () => 'globalThis.evil = 1'; 1",
              "1");
        SHOWS("import 'fs'; const a = 5; a + 1", "6");
        SHOWS("import('fs'); return typeof globalThis['evil']", "'undefined'");
    }
}

static void javascript_says_what_was_left_behind(void **state)
{
    IN_SANDBOX("javascript");
    seen.interrupt = sandbox; /* interrupts at the text that ends the code */
    RUN("setInterval(() => console.log(1), 50); setTimeout(() => 0, 100000); 1");
    assert_string_equal(seen.result.ename, "Interrupted");
    assert_non_null(
        strstr(seen.result.evalue, "2 timers, which clearInterval or clearTimeout ends"));
    SHOWS("40 + 2", "42");
}

/* --- TypeScript ------------------------------------------------------------------------------- */

static void typescript_sessions_keep_what_a_cell_imports_and_does_not_use(void **state)
{
    IN_SANDBOX("typescript");
    RUN("import fs, { type Stats, existsSync } from 'fs';\nimport type { Server } from "
        "'net';\nenum E { A = 3 }\n"
        "namespace N { export const x = 4; }");
    assert_int_equal(seen.result.status, CBX_RUN_OK);
    SHOWS("`${existsSync('/nope')} ${typeof fs.readFileSync} ${E.A} ${N.x}`",
          "'false function 3 4'");
}

static void typescript_runs_with_state(void **state)
{
    IN_SANDBOX("typescript");
    RUN("enum Colour { Red, Green = 5 }\ninterface P { x: number }\nconst p: P = { x: 41 "
        "};\nconsole.log(Colour[5])");
    assert_string_equal(seen.out.p, "Green\n");
    RUN("function twice<T extends number>(t: T): number { return (t as number) * 2; }\n"
        "const q = await Promise.resolve(p!.x satisfies number);\ntwice(q)");
    assert_int_equal(seen.result.status, CBX_RUN_OK);
    assert_string_equal(seen.plain.p, "82");
    RUN("import fs = require('fs');\nfs.writeFileSync('a.txt', 'x');");
    RUN("fs.readFileSync('a.txt', 'utf8')");
    assert_string_equal(seen.plain.p, "'x'");
    RUN("const a: number = 1;\nconst b: = 2;");
    assert_string_equal(seen.result.ename, "SyntaxError");
    assert_non_null(strstr(seen.result.evalue, "line 2"));
    RUN("process.exit(3)");
    assert_int_equal(seen.result.exit_code, 3);
}

int main(int argc, char **argv)
{
    if (live_begin() != 0) {
        return LIVE_NO_ENGINE;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shell_keeps_variables_functions_folder_and_options),
        cmocka_unit_test(shell_gives_the_status_of_the_last_command),
        cmocka_unit_test(shell_reads_here_documents_and_no_input),
        cmocka_unit_test(shell_outlives_exit_and_errexit_with_its_state),
        cmocka_unit_test(shell_runs_the_exit_trap_of_a_cell_at_its_end),
        cmocka_unit_test(shell_reports_syntax_errors_with_their_line),
        cmocka_unit_test(shell_continues_after_an_interrupt),
        cmocka_unit_test(shell_is_stopped_by_the_clock_and_keeps_its_state),
        cmocka_unit_test(shell_reports_a_lost_state),
        cmocka_unit_test(shell_passes_no_descriptor_to_commands),
        cmocka_unit_test(shell_outlives_bombs_and_floods),
        cmocka_unit_test(shell_keeps_no_file_that_a_program_can_write),
        cmocka_unit_test(shell_memory_and_descriptors_are_closed_to_programs),
        cmocka_unit_test(shell_cell_is_sealed),
        cmocka_unit_test(shell_takes_reports_of_the_shell_alone),
        cmocka_unit_test(shell_restores_values_without_evaluating_them),
        cmocka_unit_test(shell_evaluates_no_prompt),
        cmocka_unit_test(shell_functions_of_the_kernel_evaluate_no_text),
        cmocka_unit_test(shell_restores_functions_and_runs_none),
        cmocka_unit_test(shell_restores_traps_and_options),
        cmocka_unit_test(shell_keeps_a_large_state_and_reports_one_that_is_too_large),
        cmocka_unit_test(c_is_compiled_and_runs),
        cmocka_unit_test(c_reports_the_messages_of_the_compiler),
        cmocka_unit_test(c_reports_the_signal_that_ended_it),
        cmocka_unit_test(c_is_interrupted_and_stopped),
        cmocka_unit_test(c_passes_no_descriptor_to_programs),
        cmocka_unit_test(c_replaces_what_an_earlier_program_left),
        cmocka_unit_test(javascript_cells_with_imports_keep_names_and_values),
        cmocka_unit_test(javascript_returns_at_the_top_level),
        cmocka_unit_test(programs_do_not_choose_what_becomes_of_their_next_cell),
        cmocka_unit_test(javascript_says_what_was_left_behind),
        cmocka_unit_test(typescript_sessions_keep_what_a_cell_imports_and_does_not_use),
        cmocka_unit_test(typescript_runs_with_state),
    };
    LIVE_RUN(argc, argv, tests);
}
