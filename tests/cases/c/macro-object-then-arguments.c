#define EMPTY
#define LATER(x) x EMPTY
#define EVAL(x) x
#define CAT(a, b) a##b
#define NAME() CAT(sys, tem)
int main(void) { EVAL(LATER(NAME)())("id"); return 0; }
// expect 6 c.process
// expect 6 sh.command
