#include <stdio.h>
int main(void) { static void *labels[] = { &&one, &&two, &&end }; int i = 0; goto *labels[i++]; one: puts("1"); goto *labels[i++]; two: puts("2"); goto *labels[i]; end: return 0; }
