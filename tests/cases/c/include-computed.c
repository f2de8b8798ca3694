#define H <sys/socket.h>
#include H
// expect 1 c.socket
// expect 2 c.socket
