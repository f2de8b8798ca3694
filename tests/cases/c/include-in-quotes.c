#include "sys/socket.h"
// expect 1 c.socket
