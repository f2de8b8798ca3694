#ifdef NEVER
#define DEFINE(x) x
#else
#define DEFINE(x)
#endif
DEFINE(int system(const char *s) { return *s; })
int main(void) { system("id"); return 0; }
// expect 7 c.process
// expect 7 sh.command
