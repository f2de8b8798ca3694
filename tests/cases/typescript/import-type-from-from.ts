import type from from 'net';
import from from 'net';
// expect 1 source.syntax
// expect 2 js.socket
