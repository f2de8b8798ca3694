enum Flags { None = 0, Read = 1 << 0, Write = 1 << 1, Both = Read | Write, Long = 'abc'.length }
console.log(Flags.Both, Flags.Long, Flags[3]);
