const enum Size { Small = 1, Large = 10 }
function of(size: Size) { return size * 2; }
console.log(of(Size.Large), Size.Small);
