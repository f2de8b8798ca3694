#define CAT(a, b) a##b
int main(void) { CAT(sy,
stem)("id"); return 0; }
// expect 2 c.process
// expect 2 sh.command
