#if SOMETHING > 3
#include <sys/socket.h>
#endif
// expect 2 c.socket
