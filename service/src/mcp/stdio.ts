import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { createMcpServer } from './server.js'
import type { Tools } from './tools.js'

/** Serves the tools to the program that started this one, until it ends. Standard output holds the protocol and nothing else. */
export async function serveStdio(context: Tools, version: string): Promise<void> {
  const server = createMcpServer(context, version)
  const closed = new Promise<void>((resolve) => {
    server.onclose = resolve
    process.stdin.once('end', () => void server.close())
  })
  await server.connect(new StdioServerTransport())
  await closed
}
