/* SPDX-License-Identifier: MIT
 * codebox-pod: what a Pod of the gateway does with files and signals. The gateway's image has no
 * shell and no other program for it. Static, with only the C library. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK_BYTES = 16 * 1024, WRONG_USE = 2 };

static int fail(const char *what, const char *path)
{
    fprintf(stderr, "codebox-pod: %s '%s': %s\n", what, path, strerror(errno));
    return 1;
}

/* --- state DIR -------------------------------------------------------------------------------- */

/* The root of a volume can be written by the Pod's group, or by all users. The gateway refuses such
 * a folder for its state, and cannot change one that it does not own. */
static int make_state(const char *folder)
{
    struct stat status;
    if (mkdir(folder, 0700) < 0 && errno != EEXIST) {
        return fail("cannot make the folder", folder);
    }
    if (lstat(folder, &status) < 0) {
        return fail("cannot read the folder", folder);
    }
    if (!S_ISDIR(status.st_mode) || status.st_uid != geteuid() || (status.st_mode & 077) != 0) {
        fprintf(stderr,
                "codebox-pod: '%s' has mode %o and belongs to uid %u, allowed is a folder with "
                "mode 700 of uid %u; a volume whose modes the kubelet changes at each start needs "
                "'fsGroupChangePolicy: OnRootMismatch'\n",
                folder, (unsigned)status.st_mode & 07777, (unsigned)status.st_uid,
                (unsigned)geteuid());
        return 1;
    }
    return 0;
}

/* --- profile FROM TO -------------------------------------------------------------------------- */

static int copy_bytes(int from, int to)
{
    static char bytes[CHUNK_BYTES];
    ssize_t n;
    while ((n = read(from, bytes, sizeof(bytes))) > 0) {
        for (ssize_t done = 0, wrote; done < n; done += wrote) {
            wrote = write(to, bytes + done, (size_t)(n - done));
            if (wrote < 0) {
                return -1;
            }
        }
    }
    return (int)n;
}

/* The folder above `path`, which is one that the kubelet has, or a new folder in it. */
static int make_parent(const char *path)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    if (slash == NULL || slash == path || slash - path >= PATH_MAX) {
        return 0;
    }
    memcpy(folder, path, (size_t)(slash - path));
    folder[slash - path] = '\0';
    return mkdir(folder, 0755) < 0 && errno != EEXIST ? fail("cannot make the folder", folder) : 0;
}

/* A container that starts meanwhile finds the old file, or the new one. */
static int install_file(const char *from, const char *to)
{
    char temporary[PATH_MAX];
    int n = snprintf(temporary, sizeof(temporary), "%s.new", to);
    if (n < 0 || n >= (int)sizeof(temporary)) {
        errno = ENAMETOOLONG;
        return fail("cannot write", to);
    }
    int in = open(from, O_RDONLY | O_CLOEXEC);
    if (in < 0) {
        return fail("cannot read", from);
    }
    int out = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (out < 0) {
        return fail("cannot write", temporary);
    }
    if (copy_bytes(in, out) < 0 || fchmod(out, 0644) < 0 || fsync(out) < 0 ||
        rename(temporary, to) < 0) {
        return fail("cannot write", to);
    }
    return 0;
}

/* A DaemonSet restarts what ends, so this waits for the end of the Pod. */
static int keep_profile(const char *from, const char *to)
{
    sigset_t ending;
    int signal;
    sigemptyset(&ending);
    sigaddset(&ending, SIGTERM);
    sigaddset(&ending, SIGINT);
    sigprocmask(SIG_BLOCK, &ending, NULL);
    if (make_parent(to) != 0 || install_file(from, to) != 0) {
        return 1;
    }
    printf("codebox-pod: '%s' is installed\n", to);
    fflush(stdout);
    sigwait(&ending, &signal);
    return 0;
}

/* --- reload ----------------------------------------------------------------------------------- */

/* The gateway is the first process of its container. */
static int reload(void)
{
    return kill(1, SIGHUP) < 0 ? fail("cannot signal", "process 1") : 0;
}

int main(int argc, char **argv)
{
    const char *verb = argc > 1 ? argv[1] : "";
    if (strcmp(verb, "state") == 0 && argc == 3) {
        return make_state(argv[2]);
    }
    if (strcmp(verb, "profile") == 0 && argc == 4) {
        return keep_profile(argv[2], argv[3]);
    }
    if (strcmp(verb, "reload") == 0 && argc == 2) {
        return reload();
    }
    fprintf(stderr, "usage: codebox-pod state DIR | profile FROM TO | reload\n");
    return WRONG_USE;
}
