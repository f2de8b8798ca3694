#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct node { int v; struct node *next; };
static struct node *push(struct node *n, int v) { struct node *m = malloc(sizeof *m); m->v = v; m->next = n; return m; }
int main(void) { struct node *l = NULL; for (int i = 0; i < 3; i++) l = push(l, i); while (l) { struct node *n = l->next; printf("%d\n", l->v); free(l); l = n; } }
