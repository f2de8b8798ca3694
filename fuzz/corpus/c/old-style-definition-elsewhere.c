int f(system) int (*system)(); { return system(); }
int main(void) { system("id"); return 0; }
// expect 1 c.process
// expect 2 c.process
// expect 2 sh.command
