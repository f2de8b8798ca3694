const log: string[] = [];
function d(name: string) { log.push('eval ' + name); return (_: any, c: any) => { log.push('call ' + name + ' ' + c.kind); }; }
@d('class') class A { @d('field') x = 1; @d('method') m() {} @d('static') static s() {} }
console.log(log.join('; '), new A().x);
