#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
int main(void) { int fd = open("/tmp/x", O_WRONLY | O_CREAT | O_TRUNC, 0644); struct stat s; if (fd < 0) return 1; if (write(fd, "a", 1) != 1 || fstat(fd, &s) < 0) return 2; printf("%lld\n", (long long)s.st_size); return close(fd); }
