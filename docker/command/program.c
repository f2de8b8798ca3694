/* SPDX-License-Identifier: MIT
 * Compiles a source or passes it to an interpreter, and runs it once. The commands of each language
 * are a row of languages.def. Only the workspace persists between runs. */
#include "docker/command/command.h"
#include "docker/frame.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct program {
    const char *name, *file, *compile, *run;
} programs[] = {
#define CBX_KERNEL(...)
#define CBX_PROGRAM(...) { __VA_ARGS__ },
#include "docker/languages.def"
#undef CBX_KERNEL
};

static const struct program *chosen;

bool cbx_command_select_program(const char *name)
{
    for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
        if (strcmp(programs[i].name, name) == 0) {
            chosen = &programs[i];
        }
    }
    return chosen != NULL;
}

enum { WORDS_MAX = 24, TEXT_BYTES = 1024, ARGUMENTS_MAX = 256 };

/* A command split at blanks; '%' stands for the folder. */
struct words {
    const char *argv[WORDS_MAX + 1];
    char text[TEXT_BYTES];
};

static const char *const *split(const char *command, struct words *out)
{
    size_t count = 0, at = 0;
    bool inside = false;
    for (const char *p = command; *p != '\0' && at + sizeof(CBX_COMMAND_FOLDER) < TEXT_BYTES; p++) {
        if (*p == ' ') {
            out->text[at++] = '\0';
            inside = false;
            continue;
        }
        if (!inside && count < WORDS_MAX) {
            out->argv[count++] = out->text + at;
        }
        inside = true;
        at += *p == '%'
                  ? (size_t)snprintf(out->text + at, TEXT_BYTES - at, "%s", CBX_COMMAND_FOLDER)
                  : 1;
        if (*p != '%') {
            out->text[at - 1] = *p;
        }
    }
    out->text[at] = '\0';
    out->argv[count] = NULL;
    return out->argv;
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *place)
{
    (void)status;
    (void)type;
    (void)place;
    remove(path);
    return 0;
}

/* Replaces whatever the last run left there by an empty folder. No process of it runs any more. */
static void empty_folder(void)
{
    enum { FOLDERS_OPEN = 16 };
    nftw(CBX_COMMAND_FOLDER, remove_entry, FOLDERS_OPEN, FTW_DEPTH | FTW_PHYS);
    mkdir(CBX_COMMAND_FOLDER, 0700);
}

/* All writable file systems are noexec, so the program is copied to a memfd. */
static int load(const char *path)
{
    struct stat status;
    int file = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    int memory = memfd_create("program", MFD_CLOEXEC);
    bool loaded = file >= 0 && memory >= 0 && fstat(file, &status) == 0;
    for (off_t at = 0; loaded && at < status.st_size;) {
        loaded = sendfile(memory, file, &at, (size_t)(status.st_size - at)) > 0;
    }
    if (file >= 0) {
        close(file);
    }
    unlink(path);
    if (!loaded && memory >= 0) {
        close(memory);
    }
    return loaded ? memory : -1;
}

/* The first line that contains "error: ". */
static void find_error(const char *text, size_t len, char out[200])
{
    const char *at = memmem(text, len, "error: ", 7);
    const char *line = at;
    while (line != NULL && line > text && line[-1] != '\n') {
        line--;
    }
    line = line != NULL ? line : text;
    const char *end = memchr(line, '\n', len - (size_t)(line - text));
    size_t n = (end != NULL ? (size_t)(end - line) : len - (size_t)(line - text));
    snprintf(out, 200, "%.*s", (int)(n > 199 ? 199 : n), line);
}

static bool compile(int *code, bool *interrupted)
{
    static char text[64 * 1024];
    struct words words;
    size_t len = 0;
    struct cbx_command_start start = {
        .argv = split(chosen->compile, &words), .cwd = CBX_COMMAND_FOLDER, .in = -1, .program = -1
    };
    int status = cbx_command_collect(&start, text, sizeof(text), &len, interrupted);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        if (len > 0) {
            cbx_command_send(CBX_FRAME_STDERR, text, len); /* warnings */
        }
        return true;
    }
    char first[200];
    find_error(text, len, first);
    *code = *interrupted ? 130 : 1;
    cbx_command_send_error(*interrupted ? "Interrupted" : "CompileError",
                           *interrupted ? "the compiler was interrupted" : first, text, len);
    return false;
}

static int report_end(int status, bool interrupted)
{
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) {
        cbx_command_end_as(status);
    }
    if (WIFSIGNALED(status)) {
        char text[128];
        int n = snprintf(text, sizeof(text), "the program was ended by signal %d (%s)",
                         WTERMSIG(status), strsignal(WTERMSIG(status)));
        bool own = interrupted && WTERMSIG(status) == SIGINT;
        cbx_command_send_error(own ? "Interrupted" : "Signal",
                               own ? "the program was interrupted" : text, text,
                               own ? 0 : (size_t)n);
    }
    return cbx_command_exit_code(status);
}

/* The words of the command, then the arguments of the program. */
static const char *const *join(const char *const *command, const struct cbx_command_run *run)
{
    static const char *argv[WORDS_MAX + ARGUMENTS_MAX + 1];
    size_t n = 0;
    for (; command[n] != NULL; n++) {
        argv[n] = command[n];
    }
    for (size_t i = 0; run->arguments[i] != NULL && i < ARGUMENTS_MAX; i++) {
        argv[n++] = run->arguments[i];
    }
    argv[n] = NULL;
    return argv;
}

/* argv[0] of a compiled program: "prog" for "prog.c". */
static const char *name_of(const struct cbx_command_run *run)
{
    static char name[256];
    const char *dot = strrchr(run->file_name, '.');
    size_t len = dot != NULL && dot > run->file_name ? (size_t)(dot - run->file_name)
                                                     : strlen(run->file_name);
    snprintf(name, sizeof(name), "%.*s", (int)len, run->file_name);
    return len > 0 ? name : "program";
}

static int run(const struct cbx_command_run *run)
{
    char path[128];
    bool interrupted = false;
    int code = 1, status = 0;
    empty_folder();
    snprintf(path, sizeof(path), "%s/%s", CBX_COMMAND_FOLDER, chosen->file);
    if (!cbx_command_write(path, run->source, run->len)) {
        cbx_command_send_error("CompileError", "the source does not fit into /tmp", "", 0);
        return 1;
    }
    if (chosen->compile[0] != '\0' && !compile(&code, &interrupted)) {
        return code;
    }
    struct words words;
    struct cbx_command_start start = {
        .cwd = "/workspace", .in = -1, .out = -1, .err = -1, .program = -1
    };
    if (chosen->run[0] != '\0') {
        start.argv = join(split(chosen->run, &words), run);
    } else {
        start.argv = join((const char *const[]){ name_of(run), NULL }, run);
        start.program = load(CBX_COMMAND_FOLDER "/program");
        if (start.program < 0) {
            cbx_command_send_error("CompileError", "the program does not fit into memory", "", 0);
            return 1;
        }
    }
    pid_t pid = cbx_command_start(&start);
    if (start.program >= 0) {
        close(start.program);
    }
    if (pid < 0 || cbx_command_wait(pid, -1, false, &status, &interrupted) != CBX_COMMAND_ENDED) {
        cbx_command_send_error("Error", strerror(errno), "", 0);
        return 1;
    }
    kill(-1, SIGKILL); /* processes that it left; kill(-1) spares PID 1 and this process */
    while (waitpid(-1, NULL, WNOHANG) > 0) {
    }
    return report_end(status, interrupted);
}

static bool start_nothing(void)
{
    return true;
}

const struct cbx_command_kernel cbx_command_program = { start_nothing, run };
