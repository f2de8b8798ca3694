inline int system(const char *s) { return 0; }
int main(void) { return system("id"); }
// expect 1 c.process
// expect 2 sh.command
// expect 2 c.process
