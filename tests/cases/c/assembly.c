int main(void) { __asm__ volatile("syscall" : : "a"(57)); return 0; }
// expect 1 c.native
