#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static int failures;
#define TEST(name) static void test_##name(void)
#define CHECK(x) do { if (!(x)) { printf("%s:%d: %s\n", __FILE__, __LINE__, #x); failures++; } } while (0)
TEST(sum) { CHECK(1 + 1 == 2); }
TEST(text) { CHECK(strcmp("a", "a") == 0); }
int main(void) { test_sum(); test_text(); return failures; }
