#include <stddef.h>
#include <stdio.h>
#define container_of(p, T, m) ((T *)((char *)(p) - offsetof(T, m)))
struct link { struct link *next; };
struct item { int v; struct link link; };
int main(void) { struct item i = { 7, { 0 } }; struct link *l = &i.link; printf("%d\n", container_of(l, struct item, link)->v); }
