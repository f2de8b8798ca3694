#include <stdio.h>
#include <stdlib.h>
#include <string.h>
enum op { PUSH, ADD, PRINT, HALT };
static void run(const int *code) { int stack[16], sp = 0; for (const int *pc = code;;) switch (*pc++) { case PUSH: stack[sp++] = *pc++; break; case ADD: sp--; stack[sp - 1] += stack[sp]; break; case PRINT: printf("%d\n", stack[--sp]); break; case HALT: return; default: abort(); } }
int main(void) { static const int code[] = { PUSH, 2, PUSH, 3, ADD, PRINT, HALT }; run(code); }
