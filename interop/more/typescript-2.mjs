// A small server with TypeScript SDK 2: node typescript-2.mjs [PORT]. Without a
// port it speaks over stdio. It speaks all revisions, and validates Host and
// Origin as the readme of @modelcontextprotocol/node shows.
import { createServer } from "node:http";
import { localhostHostValidation, localhostOriginValidation, toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

function make() {
  const s = new McpServer({ name: "typescript-2", version: "1.0.0" }, { capabilities: { logging: {} } });
  s.registerTool("test_simple_text", { description: "Says something" }, () => ({ content: [{ type: "text", text: "something" }] }));
  s.registerTool("test_error_handling", { description: "Always fails" }, () => ({ isError: true, content: [{ type: "text", text: "failed" }] }));
  s.registerTool(
    "add",
    { description: "Adds", inputSchema: z.object({ a: z.number(), b: z.number() }), outputSchema: z.object({ sum: z.number() }), annotations: { readOnlyHint: true } },
    ({ a, b }) => ({ content: [{ type: "text", text: String(a + b) }], structuredContent: { sum: a + b } }),
  );
  s.registerResource("static-text", "test://static-text", { mimeType: "text/plain" }, (uri) => ({ contents: [{ uri: uri.href, mimeType: "text/plain", text: "static" }] }));
  s.registerPrompt("test_simple_prompt", { description: "Asks" }, () => ({ messages: [{ role: "user", content: { type: "text", text: "Well?" } }] }));
  return s;
}

const port = process.argv[2];
if (port === undefined) {
  serveStdio(make);
} else {
  const host = localhostHostValidation();
  const origin = localhostOriginValidation();
  const handle = toNodeHandler(createMcpHandler(make));
  createServer((req, res) => {
    if (host(req, res) && origin(req, res)) handle(req, res);
  }).listen(Number(port), "127.0.0.1");
}
