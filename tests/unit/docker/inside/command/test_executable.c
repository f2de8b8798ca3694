/* SPDX-License-Identifier: MIT
 * Compiled programs that may start although the policy refuses native code. */
#include "tests/unit/unit.h"

#include <elf.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "docker/inside/command/executable.c"

enum { SEGMENTS = 3 };
static struct {
    Elf64_Ehdr head;
    Elf64_Phdr segments[SEGMENTS];
} image;

/* Segments as gcc links a program: code, data, and a stack that is not executable. */
static int make_ordinary(void **state)
{
    (void)state;
    memset(&image, 0, sizeof(image));
    memcpy(image.head.e_ident, ELFMAG, SELFMAG);
    image.head.e_ident[EI_CLASS] = ELFCLASS64;
    image.head.e_machine = EM_X86_64;
    image.head.e_phoff = sizeof(image.head);
    image.head.e_phentsize = sizeof(Elf64_Phdr);
    image.head.e_phnum = SEGMENTS;
    image.segments[0] = (Elf64_Phdr){ .p_type = PT_LOAD, .p_flags = PF_R | PF_X };
    image.segments[1] = (Elf64_Phdr){ .p_type = PT_LOAD, .p_flags = PF_R | PF_W };
    image.segments[2] = (Elf64_Phdr){ .p_type = PT_GNU_STACK, .p_flags = PF_R | PF_W };
    return 0;
}

static bool starts(void)
{
    int fd = memfd_create("program", 0);
    assert_int_equal(write(fd, &image, sizeof(image)), sizeof(image));
    bool plain = cbx_command_has_plain_memory(fd);
    close(fd);
    return plain;
}

static void an_ordinary_program_starts(void **state)
{
    (void)state;
    assert_true(starts());
}

static void an_executable_stack_does_not(void **state)
{
    (void)state;
    image.segments[2].p_flags |= PF_X;
    assert_false(starts());
}

static void a_program_that_does_not_say_does_not(void **state)
{
    (void)state;
    image.segments[2].p_type = PT_NULL;
    assert_false(starts());
}

static void data_that_is_executed_does_not(void **state)
{
    (void)state;
    image.segments[1].p_flags |= PF_X;
    assert_false(starts());
}

static void code_that_is_written_does_not(void **state)
{
    (void)state;
    image.segments[0].p_flags |= PF_W;
    assert_false(starts());
}

static void what_is_no_program_of_this_machine_does_not(void **state)
{
    (void)state;
    image.head.e_ident[EI_CLASS] = ELFCLASS32;
    assert_false(starts());
    make_ordinary(NULL);
    image.head.e_phnum = SEGMENTS_MAX + 1;
    assert_false(starts());
    make_ordinary(NULL);
    image.head.e_phoff = sizeof(image); /* the table is cut */
    assert_false(starts());
    make_ordinary(NULL);
    image.head.e_ident[EI_MAG1] = 'e';
    assert_false(starts());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(an_ordinary_program_starts, make_ordinary),
        cmocka_unit_test_setup(an_executable_stack_does_not, make_ordinary),
        cmocka_unit_test_setup(a_program_that_does_not_say_does_not, make_ordinary),
        cmocka_unit_test_setup(data_that_is_executed_does_not, make_ordinary),
        cmocka_unit_test_setup(code_that_is_written_does_not, make_ordinary),
        cmocka_unit_test_setup(what_is_no_program_of_this_machine_does_not, make_ordinary),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
