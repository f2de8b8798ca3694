int main(void) { asm("nop"); return 0; }
// expect 1 c.native
