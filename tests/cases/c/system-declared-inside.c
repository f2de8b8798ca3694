int main(void) { int system(const char *); system("id"); return 0; }
// expect 1 c.process
// expect 1 sh.command
