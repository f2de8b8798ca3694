class Config { static values: Record<string, number> = {}; static { for (const [k, v] of Object.entries({ a: 1, b: 2 })) this.values[k] = v * 10; } }
console.log(JSON.stringify(Config.values));
