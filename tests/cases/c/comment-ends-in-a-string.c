int puts(const char *);
int main(void) { puts("/*"); system("id"); puts("*/"); }
// expect 2 c.process
// expect 2 sh.command
