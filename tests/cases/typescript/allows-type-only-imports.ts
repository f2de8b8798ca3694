import type { ChildProcess } from 'child_process';
import type net from 'net';
import type * as vm from 'vm';
export type { Socket } from 'net';
let a: ChildProcess | net.Socket | vm.Context | null = null;
console.log(a);
