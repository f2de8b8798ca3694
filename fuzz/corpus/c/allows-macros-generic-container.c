#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define VECTOR(T) struct vector_##T { T *items; size_t n, size; }; static void vector_##T##_push(struct vector_##T *v, T x) { if (v->n == v->size) { v->size = v->size ? v->size * 2 : 4; v->items = realloc(v->items, v->size * sizeof(T)); } v->items[v->n++] = x; }
VECTOR(int)
VECTOR(double)
int main(void) { struct vector_int v = { 0 }; vector_int_push(&v, 3); struct vector_double d = { 0 }; vector_double_push(&d, 1.5); printf("%d %g\n", v.items[0], d.items[0]); free(v.items); free(d.items); }
