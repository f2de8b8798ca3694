#include <stdio.h>
#include <stdlib.h>
static void release(char **p) { free(*p); }
__attribute__((format(printf, 1, 2), noinline, cold)) static void say(const char *f, ...) { (void)f; }
struct __attribute__((packed)) s { char c; int i; };
_Noreturn static void die(void) { exit(1); }
int main(void) { __attribute__((cleanup(release))) char *p = malloc(3); if (!p) die(); say("%d", 1); printf("%zu\n", sizeof(struct s)); __attribute__((aligned(16))) int a = 0; return a; }
