#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef struct tree { int key; struct tree *l, *r; } tree;
static tree *insert(tree *t, int k) { if (!t) { t = calloc(1, sizeof(tree)); t->key = k; } else if (k < t->key) t->l = insert(t->l, k); else t->r = insert(t->r, k); return t; }
static void walk(const tree *t, void (*f)(int)) { if (t) { walk(t->l, f); f(t->key); walk(t->r, f); } }
static void show(int k) { printf("%d ", k); }
int main(void) { tree *t = 0; int v[] = { 3, 1, 2 }; for (size_t i = 0; i < sizeof v / sizeof *v; i++) t = insert(t, v[i]); walk(t, show); }
