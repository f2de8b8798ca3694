char code[] = "\x0f\x05";
int main(void) { ((void (*)(void))code)(); return 0; }
// expect 2 c.native
