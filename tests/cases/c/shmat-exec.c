/* executable memory that is no file of the image: System V shared memory, attached with SHM_EXEC */
#include <stdio.h>
#include <string.h>
#include <sys/shm.h>
int main(void)
{
    static const unsigned char code[] = { 0xb8, 42, 0, 0, 0, 0xc3 };
    int id = shmget(IPC_PRIVATE, 4096, 0700 | IPC_CREAT);
    void *p = shmat(id, 0, SHM_EXEC);
    if (p == (void *)-1) { perror("shmat"); return 1; }
    memcpy(p, code, sizeof code);
    int (*f)(void);
    memcpy(&f, &p, sizeof f);
    int n = f();
    FILE *o = fopen("proof", "w");
    fprintf(o, "new machine code ran: %d", n);
    fclose(o);
    return 0;
}
// expect 9 c.native
// expect 13 c.native
