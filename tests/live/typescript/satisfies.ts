const palette = { red: [255, 0, 0], green: '#0f0' } satisfies Record<string, string | number[]>;
console.log(palette.red.length, palette.green.toUpperCase());
