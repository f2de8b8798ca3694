/* SPDX-License-Identifier: MIT
 * codebox: options, commands, the only exit(). */
#include "gateway/cli/cli.h"
#include "gateway/ipc/state.h"
#include "policies/release.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
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
      "one file through the whole flow; its output and exit status are ours" },
    { "policy", 'p', cbx_policy_command,
      "check|test|explain|diff|check-mount|list|reference|schema ...",
      "look at policies and run their tests" },
    { "audit", 'a', cbx_audit_command, "verify|tail|acknowledge", "look at the audit log" },
    { "image", 'i', cbx_image_command, "build|list|host",
      "sandbox images, and where the engine is" },
    { "doctor", 'd', cbx_doctor_command, "",
      "whether this machine and its engine hold what the gateway promises" },
};
enum { COMMANDS = sizeof(commands) / sizeof(commands[0]) };

enum option_type { OPTION_STRING, OPTION_LIST, OPTION_INT };
static const struct option {
    const char *name;
    enum option_type type;
    size_t offset;
    const char *commands, *metavar, *help;
} options_table[] = {
#define CBX_OPTION(name, type, member, commands, metavar, help)                                    \
    { name, OPTION_##type, offsetof(struct cbx_options, member), commands, metavar, help },
#include "gateway/cli/options.def"
#undef CBX_OPTION
};
enum { OPTIONS = sizeof(options_table) / sizeof(options_table[0]) };

static void print_options(const struct command *command, FILE *to)
{
    for (size_t i = 0; i < OPTIONS; i++) {
        if (strchr(options_table[i].commands, command->letter) != NULL) {
            char left[64];
            snprintf(left, sizeof(left), "--%s %s", options_table[i].name,
                     options_table[i].metavar);
            fprintf(to, "  %-26s %s\n", left, options_table[i].help);
        }
    }
}

static int print_help(const struct command *command)
{
    if (command != NULL) {
        printf("usage: codebox %s [options] %s\n%s\n\noptions:\n", command->name,
               command->arguments, command->help);
        print_options(command, stdout);
        return 0;
    }
    puts("codebox: a security gateway for code that language models write.\n"
         "Code is judged by a policy, the decision is recorded, and only what is allowed runs, in "
         "a hardened container.\n\n"
         "usage: codebox COMMAND [options]\n");
    for (size_t i = 0; i < COMMANDS; i++) {
        char left[80];
        snprintf(left, sizeof(left), "%s %s", commands[i].name, commands[i].arguments);
        printf("  %-54s %s\n", left, commands[i].help);
    }
    puts("\n'codebox COMMAND --help' lists the options of a command. codebox-lint checks files "
         "without running them.\n"
         "exit status: 0 done; 1 denied, or something is wrong; 2 it could not be tried");
    return 0;
}

__attribute__((format(printf, 1, 2))) static int fail_usage(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    return 2;
}

static const struct option *find_option(const struct command *command, struct cbx_str name)
{
    for (size_t i = 0; i < OPTIONS; i++) {
        if (cbx_str_is(name, options_table[i].name) &&
            strchr(options_table[i].commands, command->letter) != NULL) {
            return &options_table[i];
        }
    }
    return NULL;
}

static int set_option(const struct option *option, const char *value, struct cbx_options *options)
{
    char *member = (char *)options + option->offset;
    if (option->type == OPTION_STRING) {
        *(const char **)(void *)member = value;
        return 0;
    }
    if (option->type == OPTION_LIST) {
        if (options->policies_count == CBX_POLICIES_MAX) {
            return fail_usage("codebox: --%s is given more than %d times", option->name,
                              CBX_POLICIES_MAX);
        }
        options->policies[options->policies_count++] = value;
        return 0;
    }
    char *end;
    errno = 0;
    long long number = strtoll(value, &end, 10);
    if (errno != 0 || *end != '\0' || end == value || number < 1 || number > 1000000) {
        return fail_usage("codebox: --%s is '%s', allowed is a whole number from 1 to 1000000",
                          option->name, value);
    }
    *(int64_t *)(void *)member = number;
    return 0;
}

/* Takes `argv` apart; arguments that are no options keep their order, and nothing after `--` is an
 * option. */
static int parse_options(const struct command *command, int argc, char **argv, const char **rest,
                         struct cbx_options *options)
{
    bool ended = false;
    for (int i = 0; i < argc; i++) {
        struct cbx_str word = cbx_str_of(argv[i]);
        if (ended || word.len < 2 || word.p[0] != '-') {
            rest[options->argument_count++] = argv[i];
            ended =
                ended || command->run == cbx_run_command; /* what follows FILE is the program's */
            continue;
        }
        if (cbx_str_is(word, "--")) {
            ended = true;
            continue;
        }
        if (cbx_str_is(word, "--help") || cbx_str_is(word, "-h")) {
            options->help = true;
            return 0;
        }
        const char *equals = memchr(word.p, '=', word.len);
        size_t name_end = equals != NULL ? (size_t)(equals - word.p) : word.len;
        const struct option *option =
            word.p[1] == '-' ? find_option(command, cbx_str_sub(word, 2, name_end)) : NULL;
        if (option == NULL) {
            return fail_usage("codebox: unknown option '%s'; 'codebox %s --help' lists the options",
                              argv[i], command->name);
        }
        const char *value = equals != NULL ? equals + 1 : i + 1 < argc ? argv[++i] : NULL;
        if (value == NULL) {
            return fail_usage("codebox: --%s needs a value: %s", option->name, option->metavar);
        }
        int failed = set_option(option, value, options);
        if (failed) {
            return failed;
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    signal(SIGPIPE, SIG_IGN);
    closefrom(3); /* what the caller left open is nothing for our processes */
    if (argc < 2 || strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0) {
        print_help(NULL);
        return argc < 2 ? 2 : 0;
    }
    if (strcmp(argv[1], "--version") == 0) {
        puts("codebox " CBX_VERSION);
        return 0;
    }
    const struct command *command = NULL;
    for (size_t i = 0; i < COMMANDS; i++) {
        command = strcmp(commands[i].name, argv[1]) == 0 ? &commands[i] : command;
    }
    if (command == NULL) {
        return fail_usage("codebox: unknown command '%s'; 'codebox --help' lists them", argv[1]);
    }
    static struct cbx_options options;
    const char **rest = calloc((size_t)argc, sizeof(*rest));
    if (rest == NULL) {
        return 2;
    }
    options.arguments = rest;
    int status = parse_options(command, argc - 2, argv + 2, rest, &options);
    if (options.help) {
        free(rest);
        return print_help(command);
    }
    struct cbx_err err = { 0 };
    if (status == 0 && options.state_dir == NULL) {
        options.state_dir = options.state_buffer;
        status = cbx_state_default(options.state_buffer, sizeof(options.state_buffer), &err) != 0
                     ? cbx_cli_fail(&err)
                     : 0;
    }
    status = status != 0 ? status : cbx_options_check(&options);
    status = status != 0 ? status : command->run(&options);
    free(rest);
    return status;
}
