#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; static long total;
static void *work(void *p) { for (int i = 0; i < 1000; i++) { pthread_mutex_lock(&m); total += *(int *)p; pthread_mutex_unlock(&m); } return NULL; }
int main(void) { pthread_t t[4]; int v[4] = { 1, 2, 3, 4 }; for (int i = 0; i < 4; i++) pthread_create(&t[i], NULL, work, &v[i]); for (int i = 0; i < 4; i++) pthread_join(t[i], NULL); printf("%ld\n", total); }
