// A small server with TypeScript SDK 1: node typescript-1.mjs [PORT]. Without a
// port it speaks over stdio. Over HTTP it keeps sessions and remembers those that
// ended, and lets the SDK validate Host and Origin.
import { randomUUID } from "node:crypto";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { createMcpExpressApp } from "@modelcontextprotocol/sdk/server/express.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { isInitializeRequest } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";

function make() {
  const s = new McpServer({ name: "typescript-1", version: "1.0.0" }, { capabilities: { logging: {} } });
  s.registerTool("test_simple_text", { description: "Says something" }, () => ({ content: [{ type: "text", text: "something" }] }));
  s.registerTool("test_error_handling", { description: "Always fails" }, () => ({ isError: true, content: [{ type: "text", text: "failed" }] }));
  s.registerTool(
    "add",
    { description: "Adds", inputSchema: { a: z.number(), b: z.number() }, outputSchema: { sum: z.number() }, annotations: { readOnlyHint: true } },
    ({ a, b }) => ({ content: [{ type: "text", text: String(a + b) }], structuredContent: { sum: a + b } }),
  );
  s.registerResource("static-text", "test://static-text", { mimeType: "text/plain" }, (uri) => ({ contents: [{ uri: uri.href, mimeType: "text/plain", text: "static" }] }));
  s.registerPrompt("test_simple_prompt", { description: "Asks" }, () => ({ messages: [{ role: "user", content: { type: "text", text: "Well?" } }] }));
  return s;
}

async function http(port) {
  const sessions = new Map();
  const app = createMcpExpressApp();
  app.all("/mcp", async (req, res) => {
    const id = req.headers["mcp-session-id"];
    let transport = sessions.get(id);
    if (transport === undefined && id === undefined && isInitializeRequest(req.body)) {
      transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: (fresh) => sessions.set(fresh, transport),
        onsessionclosed: (old) => sessions.delete(old),
        enableDnsRebindingProtection: true,
        allowedHosts: [`localhost:${port}`, `127.0.0.1:${port}`],
        allowedOrigins: [`http://localhost:${port}`, `http://127.0.0.1:${port}`],
      });
      await make().connect(transport);
    }
    if (transport === undefined) {
      const status = id === undefined ? 400 : 404;
      res.status(status).json({ jsonrpc: "2.0", id: null, error: { code: -32000, message: "no such session" } });
      return;
    }
    await transport.handleRequest(req, res, req.body);
  });
  app.listen(port, "127.0.0.1");
}

const port = process.argv[2];
await (port === undefined ? make().connect(new StdioServerTransport()) : http(Number(port)));
