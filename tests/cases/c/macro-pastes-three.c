#define P(a, b, c) a##b##c
int main(void) { P(s, yst, em)("id"); return 0; }
// expect 2 c.process
// expect 2 sh.command
