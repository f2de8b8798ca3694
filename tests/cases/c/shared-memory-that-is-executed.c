#include <sys/shm.h>
int main(void) { int id = shmget(1, 4096, 0700); return shmat(id, 0, 0100000) == 0; }
// expect 2 c.native
