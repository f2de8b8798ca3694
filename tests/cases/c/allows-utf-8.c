#include <stdio.h>
#include <wchar.h>
#include <locale.h>
int main(void) { setlocale(LC_ALL, ""); puts("gr\u00fc\u00df grün"); wprintf(L"%ls\n", L"x"); char c = '\0', *s = u8"é"; return c + (s == 0); }
