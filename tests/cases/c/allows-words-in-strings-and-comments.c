#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* system("rm -rf /"); fork(); */
int main(void) { puts("system() and fork() are not called here; __asm__ neither"); } // execve
