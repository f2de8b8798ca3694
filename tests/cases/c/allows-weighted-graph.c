#include <stdio.h>
#include <stdlib.h>
#include <string.h>
enum { N = 4, INF = 1000000 };
int main(void) { int g[N][N] = { { 0, 1, 4, INF }, { 1, 0, 2, 6 }, { 4, 2, 0, 3 }, { INF, 6, 3, 0 } }, d[N], done[N] = { 0 }; for (int i = 0; i < N; i++) d[i] = i ? INF : 0; for (int r = 0; r < N; r++) { int u = -1; for (int i = 0; i < N; i++) if (!done[i] && (u < 0 || d[i] < d[u])) u = i; done[u] = 1; for (int v = 0; v < N; v++) if (d[u] + g[u][v] < d[v]) d[v] = d[u] + g[u][v]; } printf("%d\n", d[3]); }
