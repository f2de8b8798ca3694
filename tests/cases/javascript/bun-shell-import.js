import { $ } from "bun"; await $`id`;
// expect 1 js.process
// expect 1 sh.command
