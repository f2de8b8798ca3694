#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef struct fsm fsm; typedef void (*state)(fsm *, int);
struct fsm { state now; int count; };
static void idle(fsm *m, int c); static void busy(fsm *m, int c);
static void idle(fsm *m, int c) { if (c == 'b') m->now = busy; }
static void busy(fsm *m, int c) { m->count++; if (c == 'e') m->now = idle; }
int main(void) { fsm m = { idle, 0 }; for (const char *p = "abcde"; *p; p++) m.now(&m, *p); printf("%d\n", m.count); }
