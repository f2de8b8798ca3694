class Emitter {
  #handlers = new Map();
  on(name, f) { (this.#handlers.get(name) ?? this.#handlers.set(name, []).get(name)).push(f); return this; }
  emit(name, ...args) { (this.#handlers.get(name) || []).forEach((f) => f.apply(this, args)); }
}
new Emitter().on('a', (x) => console.log(x)).emit('a', 1);
