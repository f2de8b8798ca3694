int main(void) { ((void (*)(void))0x401000)(); return 0; }
// expect 1 c.native
