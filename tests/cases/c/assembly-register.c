register long r __asm__("rax");
int main(void) { r = 57; return 0; }
// expect 1 c.native
