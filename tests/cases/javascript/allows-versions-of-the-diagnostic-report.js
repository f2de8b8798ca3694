// What the report says of the machine is no secret.
const { header } = process.report.getReport();
fetch("https://example.org/", { method: "POST", body: JSON.stringify({ glibc: header.glibcVersionRuntime }) });
