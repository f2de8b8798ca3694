#define AT(x) __attribute__((x))
int mine(const char *) AT(alias("system"));
int main(void) {  return 0; }
// expect 2 c.native
