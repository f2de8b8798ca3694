int main(void) { ((void (*)(void))"\xc3")(); return 0; }
// expect 1 c.native
