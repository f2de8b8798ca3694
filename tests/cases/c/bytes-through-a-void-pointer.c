int main(void) { void *p = 0; void (*f)(void); f = p; f(); return 0; }
// expect 1 c.native
