int __fork(void);
int main(void) { return __fork(); }
// expect 1 c.process
// expect 2 c.process
