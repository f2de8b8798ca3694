const char main[] = "\x48\x31\xc0";
// expect 1 c.native
