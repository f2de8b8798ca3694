#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) { char b[64]; snprintf(b, sizeof b, "%s-%03d", "x", 7); char *p = strchr(b, '-'); if (p) *p = '_'; printf("%zu %s %d\n", strlen(b), b, strcmp(b, "x_007")); char t[] = "a,b,c"; for (char *q = strtok(t, ","); q; q = strtok(NULL, ",")) puts(q); }
