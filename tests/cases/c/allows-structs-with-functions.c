#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <pthread.h>
#include <stdint.h>
struct ops { const char *name; int (*run)(int); };
typedef struct { struct ops ops; int n; char label[16]; } item_t;
struct shape { double (*area)(const struct shape *); };
struct square { struct shape base; double side; };
static int twice(int n) { return 2 * n; }
static int half(int n) { return n / 2; }
static double square_area(const struct shape *s) { return ((const struct square *)s)->side; }
static const struct ops table[] = { { "twice", twice }, { .name = "half", .run = half } };
#define container_of(p, type, member) ((type *)((char *)(p) - offsetof(type, member)))
typedef int (*fn)(int);
typedef struct { item_t *items; size_t count; void (*free_item)(void *); unsigned char *bytes; } list_t;
static int compare(const void *a, const void *b) { const item_t *x = a, *y = b; return x->n - y->n; }
static void *work(void *arg) { item_t *it = (item_t *)arg; it->n = it->ops.run(3); return NULL; }
static void push(list_t *l, const item_t *it, unsigned char *bytes)
{
    l->bytes = bytes;
    l->items = realloc(l->items, (l->count + 1) * sizeof *l->items);
    memcpy(&l->items[l->count], it, sizeof *it);
    l->count++;
    memcpy(l->bytes, "abc", 3);
}
static void on(int s, siginfo_t *i, void *c) { (void)c; printf("%d %p\n", s, i->si_addr); }
int main(void)
{
    struct ops copy;
    memset(&copy, 0, sizeof(copy));
    memset(&copy, 0, sizeof copy);
    copy = table[0];
    item_t a = { table[1], 5, "x" }, b;
    memcpy(&b, &a, sizeof b);
    memmove(&b, &a, sizeof(a));
    strcpy(b.label, "label");
    snprintf(a.label, sizeof a.label, "%d", 3);
    fn fns[2] = { twice, half }, other[2];
    memcpy(other, fns, sizeof fns);
    list_t l = { NULL, 0, free, malloc(9) };
    push(&l, &a, l.bytes);
    qsort(l.items, l.count, sizeof(item_t), compare);
    pthread_t t;
    pthread_create(&t, NULL, work, (void *)&b);
    pthread_join(t, NULL);
    struct square sq = { { square_area }, 2 };
    struct shape *s = (struct shape *)&sq;
    struct square *back = container_of(s, struct square, base);
    item_t *heap = (item_t *)malloc(sizeof(item_t));
    *heap = a;
    fwrite((const char *)&a, 1, 4, stdout);
    struct sigaction act;
    memset(&act, 0, sizeof act);
    act.sa_sigaction = on;
    act.sa_flags = SA_SIGINFO;
    sigaction(SIGUSR1, &act, NULL);
    printf("%d %d %f %d\n", copy.run(4), other[1](4), back->base.area(s), l.items[0].ops.run(2));
    return 0;
}
