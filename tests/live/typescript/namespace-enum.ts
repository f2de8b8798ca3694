namespace Http { export enum Status { Ok = 200, Missing = 404 } }
console.log(Http.Status.Ok, Http.Status[404]);
