class AppError extends Error { constructor(message: string, readonly code: number, options?: ErrorOptions) { super(message, options); this.name = new.target.name; } }
try { try { throw new RangeError('inner'); } catch (cause) { throw new AppError('outer', 7, { cause }); } } catch (e) { if (e instanceof AppError) console.log(e.name, e.code, (e.cause as Error).message); }
