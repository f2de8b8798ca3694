class Builder { private parts: string[] = []; add(this: Builder, p: string): this { this.parts.push(p); return this; } build = (): string => this.parts.join(); }
console.log(new Builder().add('a').build());
