#include <dirent.h>
#include <stdio.h>
#include <sys/stat.h>
int main(void) { mkdir("d", 0755); DIR *d = opendir("."); for (struct dirent *e; d && (e = readdir(d));) puts(e->d_name); return d ? closedir(d) : 1; }
