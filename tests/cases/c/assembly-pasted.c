#define C(a, b) a##b
int main(void) { C(__a, sm__)("syscall"); return 0; }
// expect 2 c.native
