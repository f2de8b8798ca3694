#include <stdio.h>
#include <stdlib.h>
#include <string.h>
enum { SIZE = 64 }; struct e { char *k; int v; struct e *next; } *table[SIZE];
static unsigned hash(const char *s) { unsigned h = 5381; while (*s) h = h * 33 ^ (unsigned char)*s++; return h % SIZE; }
static int *get(const char *k) { unsigned h = hash(k); for (struct e *e = table[h]; e; e = e->next) if (!strcmp(e->k, k)) return &e->v; struct e *e = malloc(sizeof *e); *e = (struct e){ strdup(k), 0, table[h] }; table[h] = e; return &e->v; }
int main(void) { ++*get("a"); ++*get("a"); printf("%d\n", *get("a")); }
