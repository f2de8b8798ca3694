#define A sys
#define B tem
#define C2(a, b) a##b
#define C1(a, b) C2(a, b)
int main(void) { C1(A, B)("id"); return 0; }
// expect 5 c.process
// expect 5 sh.command
