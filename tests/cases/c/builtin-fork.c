int main(void) { return __builtin_fork(); }
// expect 1 c.process
