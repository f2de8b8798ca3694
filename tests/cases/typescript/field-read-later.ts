class A { readonly e: any = eval; go(): void { this.e('1'); } }
new A().go();
// expect 1 js.dynamic-code
