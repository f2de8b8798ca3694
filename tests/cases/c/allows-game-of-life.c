#include <stdio.h>
#include <stdlib.h>
#include <string.h>
enum { W = 8, H2 = 8 };
static int alive(char g[H2][W], int y, int x) { int n = 0; for (int i = -1; i <= 1; i++) for (int j = -1; j <= 1; j++) n += (i || j) && g[(y + i + H2) % H2][(x + j + W) % W]; return n == 3 || (n == 2 && g[y][x]); }
int main(void) { char a[H2][W] = { { 0 } }, b[H2][W]; a[1][2] = a[2][3] = a[3][1] = a[3][2] = a[3][3] = 1; for (int t = 0; t < 4; t++) { for (int y = 0; y < H2; y++) for (int x = 0; x < W; x++) b[y][x] = (char)alive(a, y, x); memcpy(a, b, sizeof a); } for (int y = 0; y < H2; y++, putchar(10)) for (int x = 0; x < W; x++) putchar(a[y][x] ? '#' : '.'); }
