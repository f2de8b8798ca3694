/* x */ # /* y */ include /* z */ <sys/socket.h>
// expect 1 c.socket
