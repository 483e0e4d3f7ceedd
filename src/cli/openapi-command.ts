import { Command } from 'commander'
import { Sandbox } from '../sandbox.ts'

/** `openapi`: prints the interface's description. */
export function openapiCommand(): Command {
  return new Command('openapi').description('Print the OpenAPI 3.1 document.').action(async () => {
    const sandbox = await Sandbox.listen({ port: 0 })
    try {
      const document = await fetch(`${sandbox.baseUrl}/openapi.json`)
      process.stdout.write(`${JSON.stringify(await document.json(), null, 2)}\n`)
    } finally {
      await sandbox.stop()
    }
  })
}
