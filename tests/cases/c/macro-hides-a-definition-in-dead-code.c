#if 0
int system(const char *s) { return *s; }
#endif
int main(void) { system("id"); return 0; }
// expect 4 c.process
// expect 4 sh.command
