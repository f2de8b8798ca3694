#include <stdio.h>
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define SWAP(T, a, b) do { T t_ = a; a = b; b = t_; } while (0)
#define STR_(x) #x
#define STR(x) STR_(x)
#define LOG(fmt, ...) fprintf(stderr, __FILE__ ":" STR(__LINE__) " " fmt "\n", ##__VA_ARGS__)
int main(void) { int v[] = { 1, 2 }; SWAP(int, v[0], v[1]); LOG("%d %zu", MAX(v[0], v[1]), ARRAY_SIZE(v)); LOG("x"); }
