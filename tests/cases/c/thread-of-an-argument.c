#include <pthread.h>
int main(int c, char **v) { pthread_t t; void *p = v[1]; return pthread_create(&t, 0, p, 0); }
// expect 2 c.native
