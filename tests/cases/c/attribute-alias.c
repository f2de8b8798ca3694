static int mine(const char *) __attribute__((weakref("system")));
int main(void) { mine("id"); return 0; }
// expect 1 c.native
