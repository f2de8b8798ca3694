#include <stdio.h>
#include <time.h>
int main(void) { time_t t = time(NULL); struct tm *tm = localtime(&t); char b[64]; strftime(b, sizeof b, "%Y", tm); struct timespec s; clock_gettime(CLOCK_MONOTONIC, &s); printf("%s %ld %f\n", b, s.tv_nsec, (double)clock() / CLOCKS_PER_SEC); }
