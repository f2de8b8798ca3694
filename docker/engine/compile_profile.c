/* SPDX-License-Identifier: MIT
 * A program of the build: compiles seccomp.json to the instructions of a BPF filter, as rows of
 * struct sock_filter for an initialiser. docker/inside/confine/harden.c installs them, so that a
 * sandbox has the filter where no engine was given the profile.
 * Usage: compile_profile PROFILE HEADER */
#include "policies/base/memory.h"
#include "policies/base/text/json.h"

#include <errno.h>
#include <linux/filter.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ARGUMENTS_MAX = 6, ERRNO_MAX = 4095 };

static _Noreturn void fail(const char *what, const char *name)
{
    fprintf(stderr, "compile_profile: %s '%s'\n", what, name != NULL ? name : "");
    exit(1);
}

static uint32_t read_action(const char *name, const json_t *code)
{
    if (name != NULL && strcmp(name, "SCMP_ACT_ALLOW") == 0) {
        return SCMP_ACT_ALLOW;
    }
    json_int_t number = json_is_integer(code) ? json_integer_value(code) : EPERM;
    if (name == NULL || strcmp(name, "SCMP_ACT_ERRNO") != 0 || number < 1 || number > ERRNO_MAX) {
        fail("unknown action", name);
    }
    return SCMP_ACT_ERRNO((uint32_t)number);
}

static struct scmp_arg_cmp read_argument(const json_t *row)
{
    const char *op = json_string_value(json_object_get(row, "op"));
    scmp_datum_t value = (scmp_datum_t)json_integer_value(json_object_get(row, "value")),
                 other = (scmp_datum_t)json_integer_value(json_object_get(row, "valueTwo"));
    struct scmp_arg_cmp arg = { .arg = (unsigned)json_integer_value(json_object_get(row, "index")),
                                .datum_a = value };
    if (op != NULL && strcmp(op, "SCMP_CMP_EQ") == 0) {
        arg.op = SCMP_CMP_EQ;
    } else if (op != NULL && strcmp(op, "SCMP_CMP_MASKED_EQ") == 0) {
        arg.op = SCMP_CMP_MASKED_EQ;
        arg.datum_b = other;
    } else {
        fail("unknown comparison", op);
    }
    return arg;
}

static void add_rule(scmp_filter_ctx filter, const json_t *rule)
{
    struct scmp_arg_cmp args[ARGUMENTS_MAX];
    const json_t *rows = json_object_get(rule, "args");
    size_t count = json_array_size(rows), i;
    const json_t *name;
    if (count > ARGUMENTS_MAX) {
        fail("too many arguments", NULL);
    }
    for (i = 0; i < count; i++) {
        args[i] = read_argument(json_array_get(rows, i));
    }
    uint32_t action = read_action(json_string_value(json_object_get(rule, "action")),
                                  json_object_get(rule, "errnoRet"));
    json_array_foreach(json_object_get(rule, "names"), i, name)
    {
        int call = seccomp_syscall_resolve_name(json_string_value(name));
        if (call == __NR_SCMP_ERROR) {
            fail("unknown system call", json_string_value(name));
        }
        if (seccomp_rule_add_array(filter, action, call, (unsigned)count, args) != 0) {
            fail("libseccomp refuses the rule of", json_string_value(name));
        }
    }
}

/* libseccomp writes to a descriptor only. */
static void write_steps(scmp_filter_ctx filter, FILE *out)
{
    int fd = memfd_create("filter", MFD_CLOEXEC);
    if (fd < 0 || seccomp_export_bpf(filter, fd) != 0 || lseek(fd, 0, SEEK_SET) != 0) {
        fail("cannot compile", "the filter");
    }
    struct sock_filter step;
    while (read(fd, &step, sizeof(step)) == (ssize_t)sizeof(step)) {
        fprintf(out, "{ %#x, %u, %u, %#x },\n", step.code, step.jt, step.jf, step.k);
    }
    close(fd);
}

int main(int argc, char **argv)
{
    json_error_t error;
    size_t i;
    const json_t *rule;
    if (argc != 3) {
        fail("usage: compile_profile PROFILE HEADER", "");
    }
    CBX_AUTO_JSON profile = json_load_file(argv[1], 0, &error);
    if (profile == NULL) {
        fail(error.text, argv[1]);
    }
    scmp_filter_ctx filter =
        seccomp_init(read_action(json_string_value(json_object_get(profile, "defaultAction")),
                                 json_object_get(profile, "defaultErrnoRet")));
    /* A binary tree: a linear filter of this size costs each call a hundred comparisons. */
    if (filter == NULL || seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2) != 0) {
        fail("libseccomp cannot make", "a filter");
    }
    json_array_foreach(json_object_get(profile, "syscalls"), i, rule)
    {
        add_rule(filter, rule);
    }
    CBX_AUTO_FILE out = fopen(argv[2], "we");
    if (out == NULL) {
        fail(strerror(errno), argv[2]);
    }
    write_steps(filter, out);
    seccomp_release(filter);
    return fflush(out) == 0 ? 0 : 1;
}
