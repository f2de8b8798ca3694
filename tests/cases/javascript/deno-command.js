new Deno.Command('id').output(); Deno.run({ cmd: ['id'] }); Deno.dlopen('x', {}); globalThis.Deno.Command;
// expect 1 js.process
