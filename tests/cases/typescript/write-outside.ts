import { writeFileSync as w } from 'fs';
w('/usr/x' as string, '');
// expect 2 js.open-outside
