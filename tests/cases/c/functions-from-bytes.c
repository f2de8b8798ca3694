#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
typedef struct { int n; int (*f)(void); } plugin;
struct outer { plugin inner; long x; };
static unsigned char buf[64];
int a1(int fd) { plugin p; read(fd, &p, sizeof p); return p.f(); }
int a2(FILE *in) { struct outer o; fread(&o, sizeof o, 1, in); return o.inner.f(); }
int a3(long a) { plugin p; *(long *)&p = a; return p.f(); }
int a4(long a) { plugin p; ((unsigned char *)&p)[8] = (unsigned char)a; return p.f(); }
int a5(plugin *p, long a) { long *q = (long *)p; q[1] = a; return p->f(); }
int a6(void) { plugin *p = (plugin *)buf; return p->f(); }
int a7(void) { plugin *p = (void *)buf; return p->f(); }
int a8(const void *bytes) { int (*table[2])(void); memcpy(table, bytes, sizeof table); return table[1](); }
int a9(plugin *p, long a) { memcpy(&p->f, &a, sizeof a); return p->f(); }
int a10(plugin *p, const char *text) { memcpy((char *)p + 8, text, 8); return p->f(); }
int a11(plugin *list, const char *text) { memmove(&list[1], text, 16); return list[1].f(); }
// expect 8 c.native
// expect 9 c.native
// expect 10 c.native
// expect 11 c.native
// expect 12 c.native
// expect 13 c.native
// expect 14 c.native
// expect 15 c.native
// expect 16 c.native
// expect 17 c.native
// expect 18 c.native
