// Walks a graph with the TypeScript client of MCP, and prints what it saw as one line of JSON.
//   node typescript_client.mjs '{"modules": FOLDER, "steps": […], "command": …, "args": […]}'
// FOLDER holds node_modules with @modelcontextprotocol/sdk.
import { createRequire } from "node:module";

const { modules, steps, command, args } = JSON.parse(process.argv[2]);
const sdk = createRequire(`${modules}/`);
const { Client } = sdk("@modelcontextprotocol/sdk/client/index.js");
const { StdioClientTransport } = sdk("@modelcontextprotocol/sdk/client/stdio.js");

const client = new Client({ name: "typescript-client", version: "1.0.0" });
await client.connect(new StdioClientTransport({ command, args, env: process.env }));
const { tools } = await client.listTools();
const { resources } = await client.listResources();
const { contents } = await client.readResource({ uri: resources[0].uri });
const answers = [];
for (const [name, given] of steps) answers.push(await client.callTool({ name, arguments: given }));
const seen = { server: client.getServerVersion(), instructions: client.getInstructions(), tools, schema: contents[0].text, answers };
await client.close();
console.log(JSON.stringify(seen));
