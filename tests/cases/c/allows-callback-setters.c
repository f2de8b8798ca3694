#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct parser { void (*on_word)(const char *, void *); void *context; };
static void show(const char *w, void *c) { fprintf(c, "%s\n", w); }
static void parser_set(struct parser *p, void (*f)(const char *, void *), void *c) { p->on_word = f; p->context = c; }
int main(void) { struct parser p; parser_set(&p, show, stdout); if (p.on_word) p.on_word("a", p.context); p.on_word = NULL; }
