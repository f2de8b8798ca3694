#define CAT(a, b) a##b
#define NAME CAT
int main(void) { NAME(sys, tem)("id"); return 0; }
// expect 3 c.process
// expect 3 sh.command
