/* SPDX-License-Identifier: MIT
 * MADV_DONTFORK for libraries. The dynamic linker searches a name in the program, then in the
 * libraries that the program names, the last of which is the C library, then in their own
 * libraries. So no name that a worker calls is resolved in a library behind the C library. The
 * dynamic linker itself is one of these. */
#include "gateway/worker/trim.h"

#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

struct search {
    int advice;
    bool behind_libc;
    size_t changed;
};

static bool is_named(const struct dl_phdr_info *object, const char *begin)
{
    const char *slash = strrchr(object->dlpi_name, '/');
    return slash != NULL && strncmp(slash + 1, begin, strlen(begin)) == 0;
}

static int take_object(struct dl_phdr_info *object, size_t size, void *context)
{
    (void)size;
    struct search *search = context;
    bool left_out = search->behind_libc && object->dlpi_name[0] == '/' && !is_named(object, "ld");
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    for (size_t i = 0; left_out && i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        if (part->p_type == PT_LOAD) {
            uintptr_t from = (object->dlpi_addr + part->p_vaddr) & ~(page - 1);
            uintptr_t to =
                (object->dlpi_addr + part->p_vaddr + part->p_memsz + page - 1) & ~(page - 1);
            search->changed += madvise((void *)from, to - from, search->advice) == 0;
        }
    }
    search->behind_libc = search->behind_libc || is_named(object, "libc.so");
    return 0;
}

static size_t advise(int advice)
{
    struct search search = { .advice = advice };
    dl_iterate_phdr(take_object, &search);
    return search.changed;
}

/* Returns true if a child that does the work of a worker succeeds. */
static bool works(void (*trial)(void *), void *context)
{
    int status = 0;
    pid_t pid = _Fork();
    if (pid == 0) {
        trial(context);
        _exit(0);
    }
    return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}

bool cbx_trim_children(void (*trial)(void *), void *context)
{
    if (SANITIZED || advise(MADV_DONTFORK) == 0) {
        return false;
    }
    bool kept = works(trial, context);
    if (!kept) {
        advise(MADV_DOFORK);
    }
    return kept;
}

pid_t cbx_trim_fork(bool trimmed)
{
    return trimmed ? _Fork() : fork();
}
