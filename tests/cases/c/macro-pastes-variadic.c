#define C(a, ...) a##__VA_ARGS__
int main(void) { C(sys, tem)("id"); return 0; }
// expect 2 c.process
// expect 2 sh.command
