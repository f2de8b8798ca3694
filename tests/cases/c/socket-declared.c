int socket(int, int, int);
int main(void) { socket(2, 1, 0); return 0; }
// expect 1 c.socket
// expect 2 c.socket
