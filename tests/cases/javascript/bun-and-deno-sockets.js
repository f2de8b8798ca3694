import { dlopen } from "bun:ffi"; import { Database } from "bun:sqlite"; Bun.serve({}); Deno.serve(() => 0); Deno.listen({port: 1}); Deno.kill(1);
// expect 1 js.process
// expect 1 js.socket
