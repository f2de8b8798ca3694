/* SPDX-License-Identifier: MIT
 * Memory properties that the header of a compiled program requests from Linux (elf(5)). A
 * section attribute, assembler text or an option of the linker can make a stack or data
 * executable without any system call of the program. */
#include "docker/inside/command/command.h"

#include <elf.h>
#include <unistd.h>

enum { SEGMENTS_MAX = 64 };

static bool is_program_of_this_machine(const Elf64_Ehdr *head)
{
    return head->e_ident[EI_MAG0] == ELFMAG0 && head->e_ident[EI_MAG1] == ELFMAG1 &&
           head->e_ident[EI_MAG2] == ELFMAG2 && head->e_ident[EI_MAG3] == ELFMAG3 &&
           head->e_ident[EI_CLASS] == ELFCLASS64 && head->e_machine == EM_X86_64 &&
           head->e_phentsize == sizeof(Elf64_Phdr) && head->e_phnum <= SEGMENTS_MAX;
}

bool cbx_command_has_plain_memory(int program)
{
    Elf64_Ehdr head;
    Elf64_Phdr segment;
    bool says_stack = false;
    if (pread(program, &head, sizeof(head), 0) != (ssize_t)sizeof(head) ||
        !is_program_of_this_machine(&head)) {
        return false;
    }
    for (unsigned i = 0; i < head.e_phnum; i++) {
        off_t at = (off_t)(head.e_phoff + i * sizeof(segment));
        if (pread(program, &segment, sizeof(segment), at) != (ssize_t)sizeof(segment)) {
            return false;
        }
        bool executes = (segment.p_flags & PF_X) != 0, writes = (segment.p_flags & PF_W) != 0;
        if (executes && (writes || segment.p_type == PT_GNU_STACK)) {
            return false;
        }
        says_stack |= segment.p_type == PT_GNU_STACK;
    }
    return says_stack; /* without this segment Linux uses the default of the machine */
}
