#define C(a, b) a##b
void *dlopen(const char *, int);
int main(void) { C(dl, open)("./x.so", 2); return 0; }
// expect 2 c.native
// expect 3 c.native
