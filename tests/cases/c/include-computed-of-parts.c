#define Q(x) <sys/x.h>
#include Q(socket)
// expect 2 c.socket
