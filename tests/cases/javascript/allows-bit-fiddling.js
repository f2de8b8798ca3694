let h = 0;
for (const c of 'abc') h = ((h << 5) - h + c.charCodeAt(0)) | 0;
const u8 = new Uint8Array([1, 2]);
console.log(h >>> 0, u8.reduce((a, b) => a ^ b), new DataView(u8.buffer).getUint8(0));
