#include <stdio.h>
#define BEGIN static int s_ = 0; switch (s_) { case 0:
#define YIELD(x) do { s_ = __LINE__; return x; case __LINE__:; } while (0)
#define FINISH } return -1
static int next(void) { static int i; BEGIN; for (i = 0; i < 3; i++) YIELD(i); FINISH; }
int main(void) { for (int v; (v = next()) >= 0;) printf("%d\n", v); }
