int main(void) { long *p = (long *)&p; p[2] = 0x401000; return 0; }
// expect 1 c.native
// known-miss: memory beyond its end
