#ifdef NEVER
int system(const char *s) { return *s; }
#endif
int system(const char *);
int main(void) { system("id"); return 0; }
// expect 2 c.process
// expect 4 c.process
// expect 5 c.process
// expect 5 sh.command
