// openapi.mjs DOCUMENT - lints an OpenAPI or AsyncAPI document with Redocly's rules `recommended`, compiles
// each schema with ajv, and validates against them: standard input has one JSON array per line, [pointer
// to the schema, value]. Prints what is wrong, one line each.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";

const require = createRequire(process.env.PERPD_PACKAGES + "/");
const { createConfig, lintFromString } = await import(require.resolve("@redocly/openapi-core"));
const Ajv = require("ajv/dist/2020").default;

const source = readFileSync(process.argv[2], "utf8");
const document = JSON.parse(source);
// Not asked of it: a 4xx of each operation by number (`default` has every problem), and a server
// that is not this machine; of a stream, whose login is an op, security schemes.
const config = await createConfig({ extends: ["recommended"],
  rules: { "operation-4xx-response": "off", "no-server-example.com": "off",
    "security-defined": document.asyncapi ? "off" : "error" } });
for (const problem of await lintFromString({ source, config, absoluteRef: "openapi.json" })) {
  console.log(`${problem.severity} ${problem.ruleId} ${problem.location[0]?.pointer}: `
    + problem.message);
}

const ajv = new Ajv({ strict: true, strictTypes: false, allErrors: true, validateFormats: false,
  allowUnionTypes: true });
ajv.addVocabulary(["asyncapi", "channels", "components", "defaultContentType",
  "operations", "info", "openapi", "paths", "servers", "x-batch-item",
  "x-reasons", "x-request-types", "security", "tags", "x-statuses", "x-problems"]);
ajv.addSchema(document, "api");
for (const line of readFileSync(0, "utf8").split("\n").filter(Boolean)) {
  const [pointer, value] = JSON.parse(line);
  const validate = ajv.getSchema("api" + pointer);
  if (!validate) console.log(`no schema at ${pointer}`);
  else if (!validate(value)) console.log(`${pointer}: ${ajv.errorsText(validate.errors)}`);
}
