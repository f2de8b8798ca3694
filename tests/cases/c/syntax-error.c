int main(void) { return 1 +; }
// expect 1 source.syntax
