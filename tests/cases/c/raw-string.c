const char *s = R"x(a)x";
// expect 1 source.syntax
