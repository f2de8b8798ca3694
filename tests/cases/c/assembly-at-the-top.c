__asm(".globl x\nx: ret");
int main(void) {  return 0; }
// expect 1 c.native
