static void *pick(void) { return 0; }
int f(void) __attribute__((ifunc("pick")));
int main(void) { f(); return 0; }
// expect 2 c.native
