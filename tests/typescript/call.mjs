// Drives an MCP server with the official TypeScript client and prints what it saw, as JSON.
// usage: node call.mjs SDK TRANSPORT TARGET... ; the calls to make come on stdin as [[tool, arguments], ...]
// SDK: 1 (@modelcontextprotocol/sdk) or 2 (@modelcontextprotocol/client); TRANSPORT: stdio, http or sse.
import { readFileSync } from "node:fs";

const [sdk, transport, ...target] = process.argv.slice(2);
const calls = JSON.parse(readFileSync(0, "utf8"));

async function connect() {
  if (sdk === "1") {
    const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
    const client = new Client({ name: "test", version: "1" });
    if (transport === "stdio") {
      const { StdioClientTransport } = await import("@modelcontextprotocol/sdk/client/stdio.js");
      await client.connect(new StdioClientTransport({ command: target[0], args: target.slice(1) }));
    } else if (transport === "http") {
      const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/sdk/client/streamableHttp.js");
      await client.connect(new StreamableHTTPClientTransport(new URL(target[0])));
    } else {
      const { SSEClientTransport } = await import("@modelcontextprotocol/sdk/client/sse.js");
      await client.connect(new SSEClientTransport(new URL(target[0])));
    }
    return client;
  }
  const v2 = await import("@modelcontextprotocol/client");
  const client = new v2.Client({ name: "test", version: "1" });
  if (transport === "stdio") {
    const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio");
    await client.connect(new StdioClientTransport({ command: target[0], args: target.slice(1) }));
  } else if (transport === "http") {
    await client.connect(new v2.StreamableHTTPClientTransport(new URL(target[0])));
  } else {
    await client.connect(new v2.SSEClientTransport(new URL(target[0])));
  }
  return client;
}

const client = await connect();
const { tools } = await client.listTools();
const results = [];
for (const [name, args] of calls) {
  try {
    results.push(await client.callTool({ name, arguments: args }));
  } catch (error) {
    results.push({ thrown: String(error.message ?? error), code: error.code });
  }
}
console.log(JSON.stringify({ server: client.getServerVersion(), instructions: client.getInstructions(), tools, results }));
await client.close();
process.exit(0);
