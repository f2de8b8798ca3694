union u { long address; void (*f)(void); };
int main(void) { union u u; u.address = 0x401000; u.f(); }
// expect 2 c.native
