struct s { void (*f)(void); long a; };
int main(void) { struct s s; s.a = 0x401000; s.f = (void *)s.a + 1; s.f(); return 0; }
// expect 2 c.native
