#ifdef SOMETHING
#define A sys
#else
#define A fs
#endif
#define C2(a, b) a##b
#define C1(a, b) C2(a, b)
int fstem(const char *);
int main(void) { C1(A, tem)("id"); return 0; }
// expect 9 c.native
