class AppError extends Error { constructor(m, code) { super(m); this.name = this.constructor.name; this.code = code; } }
try { throw new AppError('x', 3); } catch (e) { if (!(e instanceof AppError)) throw e; console.log(e.code, `${e}`, e.stack.length > 0); } finally { console.log('f'); }
