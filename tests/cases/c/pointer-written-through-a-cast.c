int main(void) { void (*f)(void); *(long *)&f = 0x401000; f(); return 0; }
// expect 1 c.native
