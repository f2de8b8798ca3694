static void f(void) __attribute__((unused, constructor(101)));
static void __attribute__((section(".text"))) *g;
int h(void) __attribute__((__alias__("system")));
static void f(void) {}
int main(void) { return 0; }
// expect 2 c.native
// expect 3 c.native
