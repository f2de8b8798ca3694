#include <stdio.h>
#include <stdlib.h>
#include <pthread.h>
#include <string.h>
static inline int sq(int x) { return x * x; }
inline int cube(int x) { return x * x * x; }
#ifdef _WIN32
#define SEP '\\'
#define PATH_MAX_LEN 260
#else
#define SEP '/'
#define PATH_MAX_LEN 4096
#endif
#ifndef MIN
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#endif
union number { int i; float f; unsigned char b[4]; };
struct shape { int kind; union { struct { int w, h; } rect; float radius; } u; };
typedef int (*op)(int);
static void *work(void *arg) { return arg; }
static int cmp(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
int main(void) {
    pthread_t t;
    op table[] = { sq, cube };
    int v[3] = { 3, 1, 2 };
    char name[64];
    union number n = { .f = 1.0f };
    pthread_create(&t, NULL, work, v);
    pthread_create(&t, NULL, &work, NULL);
    qsort(v, 3, sizeof *v, cmp);
    snprintf(name, sizeof name, "%s/%d.txt", "out", MIN(3, 4));
    strcpy(name, "out"); strcat(name, ".txt");
    FILE *f = fopen(name, "w");
    printf("%d %d %x %c\n", table[0](3), (*table[1])(2), n.i, SEP);
    int *p = v; p += 1; printf("%p %td\n", (void *)p, p - v);
    if (f) fclose(f);
    return 0;
}
