try { throw new Error('x', { cause: process }); } catch (e) { e.cause.kill(1, 0); }
// expect 1 js.process
