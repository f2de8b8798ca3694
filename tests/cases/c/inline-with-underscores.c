__inline int execl(const char *p, ...) { return 0; }
int main(void) { return execl("/bin/id", "id", (char *)0); }
// expect 1 c.process
// expect 2 sh.command
// expect 2 c.process
