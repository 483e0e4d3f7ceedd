import { createInterface } from 'node:readline'
import type { Command } from 'commander'
import { McpServer } from '../control/mcp/mcp-server.ts'
import { mcpTools } from '../control/mcp/mcp-tools.ts'
import { version } from '../version.ts'
import { type ControlFlags, clientOf, controlCommand } from './control-options.ts'
import { exploreTool } from './explore-tool.ts'

/** `mcp`: tools for coding agents over stdin and stdout. */
export function mcpCommand(): Command {
  return controlCommand(
    'mcp',
    'Serve tools to a coding agent by the Model Context Protocol, over stdin and stdout. Needs a running sandbox but for explore.',
    ['mcp', 'mcp --url http://127.0.0.1:4011 --namespace pull-request-7'],
  ).action(async (flags: ControlFlags) => {
    const server = new McpServer([...mcpTools(clientOf(flags)), exploreTool()], version)
    const send = (message: object) => process.stdout.write(`${JSON.stringify(message)}\n`)
    const running = new Set<Promise<void>>()
    for await (const line of createInterface({ input: process.stdin })) {
      if (line.trim() === '') continue
      // Calls run at once: a ping is answered while explore runs.
      const call = server.answer(line, send).then((answer) => {
        running.delete(call)
        if (answer) send(answer)
      })
      running.add(call)
    }
    await Promise.all(running)
  })
}
