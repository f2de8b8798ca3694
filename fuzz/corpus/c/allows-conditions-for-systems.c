#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef _WIN32
#include <windows.h>
#define CLEAR() system("cls")
#elif defined(__APPLE__)
#define CLEAR() system("clear")
#else
#define CLEAR() fputs("\033[2J", stdout)
#endif
int main(void) { CLEAR();
#if 0
system("pause");
#endif
return 0; }
