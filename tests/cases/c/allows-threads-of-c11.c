#include <stdatomic.h>
#include <stdio.h>
#include <threads.h>
static _Atomic int n; static atomic_long m; static _Thread_local int mine; thread_local int yours;
static int work(void *p) { mine = *(int *)p; atomic_fetch_add(&n, mine); atomic_fetch_add(&m, 1); return 0; }
int main(void) { thrd_t t; int v = 3; thrd_create(&t, work, &v); thrd_join(t, NULL); printf("%d\n", n); }
