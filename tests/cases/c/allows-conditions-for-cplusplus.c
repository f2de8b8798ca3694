#ifndef LIB_H
#define LIB_H
#ifdef __cplusplus
extern "C" {
#endif
int add(int a, int b);
#ifdef __cplusplus
}
#endif
#endif
int add(int a, int b) { return a + b; }
int main(void) { return add(1, -1); }
