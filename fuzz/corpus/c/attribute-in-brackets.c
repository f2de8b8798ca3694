[[gnu::section(".text")]] const char code[] = "\xc3";
int main(void) {  return 0; }
// expect 1 c.native
