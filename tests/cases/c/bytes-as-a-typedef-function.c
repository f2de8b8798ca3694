typedef int (*fn)(void);
unsigned char code[9];
int main(void) { fn f = (fn)(void *)code; f(); return 0; }
// expect 3 c.native
