%:define CAT(a, b) a %:%: b
int main(void) { CAT(sys, tem)("id"); return 0; }
// expect 2 c.process
// expect 2 sh.command
