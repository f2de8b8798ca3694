/* SPDX-License-Identifier: MIT
 * Compiles a source or passes it to an interpreter, and runs it once. The commands of each language
 * are a row of languages.def. Only the workspace persists between runs. */
#include "docker/inside/command/command.h"
#include "docker/inside/confine/filter.h"
#include "docker/inside/wire/frame.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const struct program {
    const char *name, *file, *inputs, *compile, *run;
} programs[] = {
#define CBX_KERNEL(...)
#define CBX_PROGRAM(...) { __VA_ARGS__ },
#include "docker/kernels.def"
#undef CBX_KERNEL
};

static const struct program *chosen;

#define WORKSPACE "/workspace/"
#define INCLUDE   CBX_COMMAND_FOLDER "/include/"

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

/* Replaces the remains of the last run by an empty folder. No process of that run exists any
 * more. An entry that cannot be removed, such as an unreadable folder, is moved away: a compiler
 * could read it. */
static bool empty_folder(void)
{
    enum { FOLDERS_OPEN = 16 };
    static unsigned moved;
    char away[64];
    nftw(CBX_COMMAND_FOLDER, remove_entry, FOLDERS_OPEN, FTW_DEPTH | FTW_PHYS);
    snprintf(away, sizeof(away), "%s.%ld.%u", CBX_COMMAND_FOLDER, (long)time(NULL), moved++);
    return mkdir(CBX_COMMAND_FOLDER, 0700) == 0 ||
           (rename(CBX_COMMAND_FOLDER, away) == 0 && mkdir(CBX_COMMAND_FOLDER, 0700) == 0);
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

/* Finds the first line that contains "error: ". */
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

/* --- files of the workspace that the compiler reads ------------------------------------------- */

/* Creates the folders of a path, from `from` on. */
static void make_folders(char *path, size_t from)
{
    for (char *p = path + from; (p = strchr(p, '/')) != NULL; p++) {
        *p = '\0';
        mkdir(path, 0700);
        *p = '/';
    }
}

/* Copies an accepted file of the workspace to the folder "include". */
static void include(const char *name)
{
    char real[PATH_MAX], to[PATH_MAX + sizeof(INCLUDE)];
    size_t len = 0;
    if (realpath(name, real) == NULL || strncmp(real, WORKSPACE, sizeof(WORKSPACE) - 1) != 0) {
        return;
    }
    char *bytes = cbx_command_read_accepted(real, &len);
    if (bytes != NULL) {
        snprintf(to, sizeof(to), "%s%s", INCLUDE, real + sizeof(WORKSPACE) - 1);
        make_folders(to, sizeof(CBX_COMMAND_FOLDER));
        cbx_command_write(to, bytes, len);
    }
    free(bytes);
}

/* Takes the next word of a rule of make: blanks in it are escaped, as are line ends between
 * words. */
static const char *next_word(const char *at, const char *end, char word[PATH_MAX])
{
    size_t n = 0;
    for (; at < end && n + 1 < PATH_MAX; at++) {
        bool blank = *at == ' ' || *at == '\n';
        if (blank && n > 0) {
            break;
        }
        if (*at == '\\' && at + 1 < end && (at[1] == ' ' || at[1] == '\n' || at[1] == '#')) {
            at++;
            blank = *at == '\n';
        } else if (*at == '$' && at + 1 < end && at[1] == '$') {
            at++;
        }
        if (!blank) {
            word[n++] = *at;
        }
    }
    word[n] = '\0';
    return at;
}

/* Copies the files in the compiler's list of includes. The list decides nothing: the compiler
 * later fails to find a file that the list lacks. */
static void include_accepted(bool *interrupted)
{
    enum { LIST_BYTES = 1024 * 1024 };
    struct words words;
    char word[PATH_MAX];
    size_t len = 0;
    if (chosen->inputs[0] == '\0' || !cbx_command_has_accepted()) {
        return;
    }
    char *list = malloc(LIST_BYTES);
    struct cbx_command_start start = {
        .argv = split(chosen->inputs, &words), .cwd = CBX_COMMAND_FOLDER, .in = -1, .program = -1
    };
    if (list != NULL) {
        cbx_command_collect(&start, list, LIST_BYTES, &len, interrupted);
    }
    for (const char *at = list; len > 0 && at < list + len;) {
        at = next_word(at, list + len, word);
        if (strncmp(word, WORKSPACE, sizeof(WORKSPACE) - 1) == 0) {
            include(word);
        }
    }
    free(list);
}

/* Writes advice about a file that the compiler did not find, if the file is in the workspace;
 * else "". */
static void explain(const char *text, size_t len, char *out, size_t size)
{
    static const char fatal[] = "fatal error: ";
    char path[PATH_MAX];
    const char *name = memmem(text, len, fatal, sizeof(fatal) - 1);
    const char *end = name != NULL ? memmem(name, len - (size_t)(name - text), ": ", 2) : NULL;
    name = name != NULL ? name + sizeof(fatal) - 1 : NULL;
    end = end != NULL ? memmem(name, len - (size_t)(name - text), ": ", 2) : NULL;
    out[0] = '\0';
    if (end == NULL || end - name > 255) {
        return;
    }
    snprintf(path, sizeof(path), "%s%.*s", *name == '/' ? "" : WORKSPACE, (int)(end - name), name);
    if (access(path, F_OK) == 0) {
        snprintf(
            out, size,
            "%.*s was not judged, so it is not included: upload it, and include it by its name "
            "in the workspace\n",
            (int)(end - name), name);
    }
}

static bool compile(int *code, bool *interrupted)
{
    static char text[64 * 1024];
    static char folder[] = "TMPDIR=" CBX_COMMAND_FOLDER;
    static char *const env[] = { folder, NULL };
    struct words words;
    size_t len = 0;
    include_accepted(interrupted);
    int confinement = cbx_command_confinement();
    if (confinement < 0) {
        cbx_command_send_error("CompileError",
                               "this host's Linux has no Landlock, which keeps data of the "
                               "workspace out of programs",
                               "", 0);
        return false;
    }
    struct cbx_command_start start = { .argv = split(chosen->compile, &words),
                                       .env = env,
                                       .cwd = CBX_COMMAND_FOLDER,
                                       .in = -1,
                                       .program = -1,
                                       .confinement = &confinement };
    int status = cbx_command_collect(&start, text, sizeof(text), &len, interrupted);
    close(confinement);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        if (len > 0) {
            cbx_command_send(CBX_FRAME_STDERR, text, len); /* warnings */
        }
        return true;
    }
    char first[512];
    explain(text, len, first, sizeof(first));
    size_t explained = strlen(first);
    len = len < sizeof(text) - explained ? len : sizeof(text) - explained;
    memmove(text + explained, text, len);
    memcpy(text, first, explained);
    len += explained;
    first[explained > 0 ? explained - 1 : 0] = '\0';
    if (explained == 0) {
        find_error(text, len, first);
    }
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
        if (interrupted && WTERMSIG(status) == SIGINT) {
            cbx_command_send_error("Interrupted", "the program was interrupted", text, 0);
        } else {
            cbx_command_send_error("Signal", text, text, (size_t)n);
        }
    }
    return cbx_command_exit_code(status);
}

/* Joins the words of the command and the arguments of the program. */
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

/* Returns argv[0] of a compiled program: "prog" for "prog.c". */
static const char *name_of(const struct cbx_command_run *run)
{
    static char name[256];
    const char *dot = strrchr(run->file_name, '.');
    size_t len = dot != NULL && dot > run->file_name ? (size_t)(dot - run->file_name)
                                                     : strlen(run->file_name);
    snprintf(name, sizeof(name), "%.*s", (int)len, run->file_name);
    return len > 0 ? name : "program";
}

static bool refuses_code(const struct cbx_command_run *run)
{
    return (run->refused >> CBX_GUARD_NATIVE & 1) != 0;
}

static int run(const struct cbx_command_run *run)
{
    char path[128];
    bool interrupted = false;
    int code = 1, status = 0;
    bool is_empty = empty_folder();
    snprintf(path, sizeof(path), "%s/%s", CBX_COMMAND_FOLDER, chosen->file);
    if (!is_empty || !cbx_command_write(path, run->source, run->len)) {
        cbx_command_send_error("CompileError", "the source does not fit into /tmp", "", 0);
        return 1;
    }
    if (chosen->compile[0] != '\0' && !compile(&code, &interrupted)) {
        return code;
    }
    struct words words;
    struct cbx_command_start start = { .cwd = "/workspace",
                                       .in = STDIN_FILENO,
                                       .out = -1,
                                       .err = -1,
                                       .program = -1,
                                       .guard = CBX_NATIVE_BIT,
                                       .needs_guard = (run->refused & CBX_GUARD_NEEDED) != 0,
                                       .keeps_code = refuses_code(run) };
    if (chosen->run[0] != '\0') {
        start.argv = join(split(chosen->run, &words), run);
    } else {
        start.argv = join((const char *const[]){ name_of(run), NULL }, run);
        start.program = load(CBX_COMMAND_FOLDER "/program");
        if (start.program < 0) {
            cbx_command_send_error("CompileError", "the program does not fit into memory", "", 0);
            return 1;
        }
        if (refuses_code(run) && !cbx_command_has_plain_memory(start.program)) {
            cbx_command_send_error("CompileError",
                                   "the program has memory that can be written and executed, or an "
                                   "executable stack; the policy refuses "
                                   "native code that is made at run time",
                                   "", 0);
            close(start.program);
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
    /* remaining processes of the program; kill(-1) spares PID 1 and this process */
    kill(-1, SIGKILL);
    while (waitpid(-1, NULL, WNOHANG) > 0) {
    }
    return report_end(status, interrupted);
}

static bool start_nothing(void)
{
    return true;
}

const struct cbx_command_kernel cbx_command_program = { .start = start_nothing, .run = run };
