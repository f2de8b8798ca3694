extern int fork;
int (*f)(void) = (int (*)(void))&fork;
// expect 1 c.process
// expect 2 c.process
