#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct n { int v; struct n *next; };
#define foreach(it, list) for (struct n *it = (list); it; it = it->next)
#define UNUSED __attribute__((unused))
int main(void) { struct n b = { 2, 0 }, a = { 1, &b }; UNUSED int x; foreach (i, &a) { printf("%d\n", i->v); } }
