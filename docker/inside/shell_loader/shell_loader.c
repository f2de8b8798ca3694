/* SPDX-License-Identifier: MIT
 * A library in the bash of a session (LD_PRELOAD). `source FILE` evaluates a file outside of the
 * image if the SHA-256 of its bytes was accepted, and evaluates the hashed bytes: bash reads
 * them from a memory that replaces the file. bash finds `source` in its table of builtins for
 * every form of the call, so the function there is replaced before bash starts. */
#define OPENSSL_API_COMPAT 0x10101000L /* SHA-256 only, without the providers of libcrypto */
#include "docker/inside/shell_loader/shell_loader.h"

#include "docker/inside/confine/names.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <openssl/sha.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* --- bash ------------------------------------------------------------------------------------- */

struct word_list;

/* struct builtin of bash. */
struct builtin {
    const char *name;
    int (*function)(struct word_list *);
    int flags;
    char *const *long_doc;
    const char *short_doc;
    char *handle;
};
extern struct builtin *shell_builtins;
extern int source_builtin(struct word_list *list);

/* --- the accepted files ----------------------------------------------------------------------- */

enum { FILE_BYTES_MAX = 16 * 1024 * 1024 };
static const struct cbx_shell_accepted *accepted;
static uint32_t accepted_max;
static struct stat cells[CBX_SHELL_CELLS]; /* memories with the text of cells */

static bool is_accepted(const char *bytes, size_t len)
{
    uint8_t hash[CBX_FRAME_HASH_BYTES];
    SHA256_CTX context;
    SHA256_Init(&context);
    SHA256_Update(&context, bytes, len);
    SHA256_Final(hash, &context);
    uint32_t count = __atomic_load_n(&accepted->count, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < count && i < accepted_max; i++) {
        if (memcmp(accepted->hashes[i], hash, sizeof(hash)) == 0) {
            return true;
        }
    }
    return len == 0;
}

static bool is_cell(const struct stat *status)
{
    for (size_t i = 0; i < CBX_SHELL_CELLS; i++) {
        if (cells[i].st_dev == status->st_dev && cells[i].st_ino == status->st_ino) {
            return true;
        }
    }
    return false;
}

/* No program can write there, and no link there leads to a writable place. */
static bool is_of_image(const char *path)
{
    static const char *const folders[] = { "/usr/", "/etc/", "/codebox/" };
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        if (strncmp(path, folders[i], strlen(folders[i])) == 0) {
            return strstr(path, "/..") == NULL;
        }
    }
    return false;
}

/* --- reading a file that is sourced ----------------------------------------------------------- */

/* Returns a memory with the bytes of this file, if they were accepted; else -1. */
static int memory_of(int fd, const struct stat *status)
{
    int memory = -1;
    size_t len = 0, size = (size_t)status->st_size;
    char *bytes = S_ISREG(status->st_mode) && size <= FILE_BYTES_MAX ? malloc(size + 1) : NULL;
    for (ssize_t n = 1; bytes != NULL && n > 0 && len < size;) {
        n = pread(fd, bytes + len, size - len, (off_t)len);
        len += n > 0 ? (size_t)n : 0;
    }
    if (bytes != NULL && is_accepted(bytes, len)) {
        memory = memfd_create("source", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    }
    if (memory >= 0 && (pwrite(memory, bytes, len, 0) != (ssize_t)len ||
                        fcntl(memory, F_ADD_SEALS,
                              F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)) {
        close(memory);
        memory = -1;
    }
    free(bytes);
    return memory;
}

static int open_source(const char *path, int flags)
{
    struct stat status;
    /* A file that is not regular is refused: no call here waits for another process. */
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, flags | O_NONBLOCK | O_CLOEXEC, 0);
    if (fd < 0 || is_of_image(path) || (fstat(fd, &status) == 0 && is_cell(&status))) {
        return fd;
    }
    int memory = fstat(fd, &status) == 0 ? memory_of(fd, &status) : -1;
    close(fd);
    if (memory < 0) {
        dprintf(STDERR_FILENO,
                "codebox: %s was not judged, so it is not loaded as code: upload it\n", path);
        errno = EACCES;
    }
    return memory;
}

/* The next file that bash opens is the sourced one. */
static bool is_sourcing;

/* --- what the guard refuses ------------------------------------------------------------------- */

/* Reports to the supervisor a file that bash may not open. Registers have the beginning of its
 * path. */
static void tell_refused(const char *path, int flags)
{
    uint64_t words[CBX_WORDS];
    int error = errno;
    cbx_words_pack(path, words);
    /* The seccomp profile reads the argument after the flags as the mode of a new file. */
    int writes = (flags & (O_CREAT | O_TRUNC)) != 0 ? O_WRONLY : flags & O_ACCMODE;
    syscall(SYS_openat, AT_FDCWD, NULL, writes, words[0], words[1], words[2]);
    errno = error;
}

/* Replaces the C library's execve for bash: the supervisor, which decides about starts, may not
 * read this memory. */
int execve(const char *path, char *const arguments[], char *const environment[])
{
    uint64_t words[CBX_WORDS];
    const char *name = cbx_program_name(path);
    cbx_words_pack(name != NULL ? name : path, words);
    return (int)syscall(SYS_execve, path, arguments, environment, words[0], words[1], words[2]);
}

/* Replaces the C library's open for bash. */
int open(const char *path, int flags, ...)
{
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = (flags & (O_CREAT | __O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    if (is_sourcing) {
        is_sourcing = false;
        return open_source(path, flags);
    }
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
    if (fd < 0 && (errno == EACCES || errno == EROFS) && path[0] == '/') {
        tell_refused(path, flags);
    }
    return fd;
}

static int source_accepted(struct word_list *list)
{
    is_sourcing = true;
    int status = source_builtin(list);
    is_sourcing = false; /* `source` opened no file */
    return status;
}

/* --- start ------------------------------------------------------------------------------------ */

/* The data with which the dynamic linker resolves names for bash. */
struct symbols {
    const ElfW(Sym) * items;
    const char *names;
    /* relocations through the procedure linkage table, or bound at start */
    const ElfW(Rela) * calls;
    size_t calls_bytes;
    const ElfW(Rela) * data;
    size_t data_bytes;
};

/* The program comes first; returns 1, which ends the iteration. */
static int find_symbols(struct dl_phdr_info *info, size_t size, void *context)
{
    struct symbols *symbols = context;
    (void)size;
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type != PT_DYNAMIC) {
            continue;
        }
        /* The dynamic linker has made these addresses absolute. */
        const ElfW(Dyn) *entry = (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
        for (; entry->d_tag != DT_NULL; entry++) {
            const void *at = (const void *)entry->d_un.d_ptr;
            switch (entry->d_tag) {
            case DT_SYMTAB:
                symbols->items = at;
                break;
            case DT_STRTAB:
                symbols->names = at;
                break;
            case DT_JMPREL:
                symbols->calls = at;
                break;
            case DT_PLTRELSZ:
                symbols->calls_bytes = entry->d_un.d_val;
                break;
            case DT_RELA:
                symbols->data = at;
                break;
            case DT_RELASZ:
                symbols->data_bytes = entry->d_un.d_val;
                break;
            default:
                break;
            }
        }
    }
    return 1;
}

static bool names_symbol(const struct symbols *symbols, const ElfW(Rela) * list, size_t bytes,
                         const char *name)
{
    for (size_t i = 0; i < bytes / sizeof(*list); i++) {
        const ElfW(Sym) *symbol = &symbols->items[ELF64_R_SYM(list[i].r_info)];
        if (strcmp(symbols->names + symbol->st_name, name) == 0) {
            return true;
        }
    }
    return false;
}

/* True if bash calls the replaced functions by these names. Another build of bash may call
 * `open64`, or another variant in the C library, and would open files unchecked. */
static bool is_called(void)
{
    static const char *const replaced[] = { "open", "execve" };
    struct symbols symbols = { 0 };
    dl_iterate_phdr(find_symbols, &symbols);
    for (size_t i = 0; i < sizeof(replaced) / sizeof(replaced[0]); i++) {
        if (symbols.items == NULL || symbols.names == NULL ||
            (!names_symbol(&symbols, symbols.calls, symbols.calls_bytes, replaced[i]) &&
             !names_symbol(&symbols, symbols.data, symbols.data_bytes, replaced[i]))) {
            return false;
        }
    }
    return true;
}

/* The programs that bash starts do not get the library. bash has an unsetenv of its own. */
static void forget_library(void)
{
    char **to = environ;
    for (char **from = environ; *from != NULL; from++) {
        if (strncmp(*from, "LD_PRELOAD=", strlen("LD_PRELOAD=")) != 0) {
            *to++ = *from;
        }
    }
    *to = NULL;
}

__attribute__((constructor)) static void begin(void)
{
    struct stat status;
    size_t replaced = 0;
    forget_library();
    for (int i = 0; i < CBX_SHELL_CELLS; i++) {
        if (fstat(CBX_SHELL_CELLS_AT + i, &cells[i]) != 0) {
            _exit(126);
        }
    }
    if (fstat(CBX_SHELL_ACCEPTED_AT, &status) != 0) {
        _exit(126);
    }
    accepted = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED, CBX_SHELL_ACCEPTED_AT, 0);
    accepted_max =
        ((uint32_t)status.st_size - (uint32_t)offsetof(struct cbx_shell_accepted, hashes)) /
        CBX_FRAME_HASH_BYTES;
    close(CBX_SHELL_ACCEPTED_AT);
    for (struct builtin *each = shell_builtins; each->name != NULL; each++) {
        if (each->function == source_builtin) {
            each->function = source_accepted;
            replaced++;
        }
    }
    if (accepted == MAP_FAILED || replaced != 2 || !is_called()) { /* `source` and `.` */
        _exit(126);
    }
}
