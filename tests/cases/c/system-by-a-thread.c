#include <pthread.h>
#include <stdlib.h>
int main(void) { pthread_t t; pthread_create(&t, 0, (void *(*)(void *))system, "id"); return 0; }
// expect 3 c.process
