process?.mainModule!.require!('x');
// expect 1 js.process
