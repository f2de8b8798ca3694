#define A sys
#pragma push_macro("A")
#undef A
#define A x
#pragma pop_macro("A")
#define C2(a, b) a##b
#define C1(a, b) C2(a, b)
int main(void) { C1(A, tem)("id"); return 0; }
// expect 8 c.native
