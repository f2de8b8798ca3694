char p[] = { '/', 'e', 't', 'c', '/', 's', 'h', 'a', 'd', 'o', 'w', 0 };
// expect 1 any.credentials
