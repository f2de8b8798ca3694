#define A(x) __asm__(x)
int main(void) { A("syscall"); return 0; }
// expect 1 c.native
// expect 2 c.native
