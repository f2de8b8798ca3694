int mine(const char *) __asm__("system");
int main(void) { mine("id"); return 0; }
// expect 1 c.native
