/* SPDX-License-Identifier: MIT
 * codebox: options, commands, the only exit(). */
#include "gateway/cli/cli.h"
#include "gateway/ipc/master/state.h"
#include "policies/release.h"

#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct command {
    const char *name;
    char letter;
    int (*run)(const struct cbx_options *);
    const char *arguments, *help;
} commands[] = {
    { "serve", 's', cbx_serve_command, "", "REST API over HTTP" },
    { "mcp", 'm', cbx_mcp_command, "", "MCP server over stdio" },
    { "run", 'r', cbx_run_command, "FILE [ARGUMENT ...]",
      "run one program; codebox has its input, output and exit status" },
    { "policy", 'p', cbx_policy_command,
      "check|test|explain|diff|check-mount|list|reference|schema ...",
      "check, test, explain and compare policies" },
    { "config", 'c', cbx_config_command, "check|explain|example [FILE]",
      "check and explain the configuration of serve and mcp" },
    { "token", 't', cbx_token_command, "create|list|revoke ...",
      "make, list and revoke the tokens that callers of `serve` show" },
    { "stop", 'x', cbx_stop_command, "--principal NAME|--token ID|--all",
      "end what callers of `serve` have begun: what runs and what waits" },
    { "audit", 'a', cbx_audit_command,
      "verify|tail|show ID|export|report|replay|prune|keygen|acknowledge",
      "verify, show and keep the audit log" },
    { "image", 'i', cbx_image_command,
      "build [IMAGE ...]|list|push REGISTRY [IMAGE ...]|prune [all]|host",
      "build, list and push the sandbox images; print the engine's address" },
    { "doctor", 'd', cbx_doctor_command, "",
      "check whether this machine and its engine keep what the gateway promises" },
    { "install", 'n', cbx_install_command, "--client NAME",
      "register 'codebox mcp' with an MCP client" },
};
enum { COMMANDS = sizeof(commands) / sizeof(commands[0]) };

static void print(const struct cbx_buf *text)
{
    fwrite(text->p, 1, text->len, stdout);
}

static int print_command_help(const struct command *command)
{
    CBX_AUTO_DONE(buf) options;
    cbx_buf_init(&options, 64 * 1024);
    cbx_cli_options_help(command->letter, &options);
    printf("usage: codebox %s [options] %s\n%s\n\noptions:\n", command->name, command->arguments,
           command->help);
    print(&options);
    return 0;
}

static int print_help(FILE *to)
{
    fputs("codebox: a security gateway for code that language models write.\n"
          "Code is judged by a policy, the decision is recorded, and only what is allowed runs, in "
          "a hardened container.\n\n"
          "usage: codebox COMMAND [options]\n\n",
          to);
    for (size_t i = 0; i < COMMANDS; i++) {
        char left[96];
        snprintf(left, sizeof(left), "%s %s", commands[i].name, commands[i].arguments);
        if (strlen(left) > 30) {
            fprintf(to, "  %s\n  %-30s %s\n", left, "", commands[i].help);
        } else {
            fprintf(to, "  %-30s %s\n", left, commands[i].help);
        }
    }
    fputs(
        "\n'codebox COMMAND --help' lists the options of a command; 'man codebox' describes them.\n"
        "codebox-lint checks files without running them.\n"
        "exit status: 0 done; 1 denied, or a check failed; 2 the command could not be carried "
        "out\n",
        to);
    return 0;
}

static int fail_usage(const char *text, const char *found, const char *advice)
{
    fprintf(stderr, "codebox: %s '%s'; %s\n", text, found, advice);
    return 2;
}

/* Prints the options of all commands, for `make install` and the man page. */
static int print_completion(const char *shell)
{
    CBX_AUTO_DONE(buf) text;
    cbx_buf_init(&text, 256 * 1024);
    if (shell == NULL || !cbx_cli_options_complete(shell, &text)) {
        return fail_usage("no completion for", shell != NULL ? shell : "",
                          "allowed are: " CBX_OPTION_SHELLS);
    }
    print(&text);
    return 0;
}

static mode_t caller_umask;

static int run_command(const struct command *command, int argc, char **argv)
{
    static struct cbx_options options;
    struct cbx_err err = { 0 };
    int failed = cbx_cli_options_read(command->letter, argc, argv, 2, &options, &err);
    options.umask = caller_umask;
    if (!failed && options.help) {
        return print_command_help(command);
    }
    if (!failed && options.state_dir == NULL) {
        options.state_dir = options.state_buffer;
        failed = cbx_state_default(options.state_buffer, sizeof(options.state_buffer), &err);
    }
    /* serve and config make this check as one of their steps. */
    bool has_steps = strchr("sc", command->letter) != NULL;
    if (!failed && !has_steps) {
        failed = cbx_options_check(&options, &err);
    }
    int status;
    if (failed) {
        status = cbx_cli_fail(&err);
    } else {
        status = command->run(&options);
    }
    cbx_cli_options_done(&options);
    return status;
}

int main(int argc, char **argv)
{
    caller_umask = umask(077); /* for all processes: only their user may read what they create */
    signal(SIGPIPE, SIG_IGN);
    closefrom(3); /* no process of the gateway inherits descriptors that the caller left open */
    const char *word = argc > 1 ? argv[1] : NULL;
    if (word == NULL) {
        print_help(stderr);
        return 2;
    }
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0) {
        return print_help(stdout);
    }
    if (strcmp(word, "--version") == 0) {
        puts("codebox " CBX_VERSION);
        return 0;
    }
    if (strcmp(word, "--completion") == 0) {
        return print_completion(argc > 2 ? argv[2] : NULL);
    }
    for (size_t i = 0; i < COMMANDS; i++) {
        if (strcmp(commands[i].name, word) == 0) {
            return run_command(&commands[i], argc, argv);
        }
    }
    return fail_usage("unknown command", word, "'codebox --help' lists them");
}
