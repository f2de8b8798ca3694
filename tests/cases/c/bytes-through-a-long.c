long address;
int main(void) { void (*f)(void) = (void (*)(void))address; f(); return 0; }
// expect 2 c.native
