struct s { union { void *p; int (*f)(void); }; };
int main(void) { struct s s; s.p = (void *)0x400000; return s.f(); }
// expect 2 c.native
