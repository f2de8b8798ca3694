int connect(int, const void *, unsigned);
int (*c)() = connect;
// expect 1 c.socket
// expect 2 c.socket
