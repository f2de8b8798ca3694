const char *s = "a
;
// expect 1 source.syntax
