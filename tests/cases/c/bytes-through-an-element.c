long table[4];
int main(void) { ((void (*)(void))table[2])(); return 0; }
// expect 2 c.native
