#include <sys/socket.h>
int main(void) { int s = socket(AF_INET, SOCK_STREAM, 0); (void)s; return 0; }
// expect 1 c.socket
// expect 2 c.socket
