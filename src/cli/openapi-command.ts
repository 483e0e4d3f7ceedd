import { Command } from 'commander'
import { helpExamples } from './help-examples.ts'
import { progress } from './progress.ts'

/** Address of a sandbox that was started without options. */
const SERVER = { url: 'http://127.0.0.1:4010', description: 'A sandbox on this machine' }

/** `openapi`: prints the API description. It is the same each time, whatever runs on this machine. */
export function openapiCommand(): Command {
  const command = new Command('openapi').description('Print the OpenAPI 3.1 document.')
  command.option('--service', 'the seven operations of the service alone, for Postman, Bruno, Insomnia and the like')
  command
    .option('--json', 'print it on one line')
    .addHelpText('after', helpExamples(['openapi > openapi.json', 'openapi --service > service.json']))
  return command.action(async ({ service, json }: { service?: boolean; json?: boolean }) => {
    // With a control token the examples are those of the shipped fixture; nobody else uses this sandbox anyway.
    const { Sandbox } = await import('../sandbox/sandbox.ts') // other commands do not need it
    const sandbox = await Sandbox.listen({ port: 0, controlToken: 'not-used' })
    try {
      const response = await fetch(`${sandbox.baseUrl}/openapi.json${service ? '?only=service' : ''}`)
      const text = (await response.text()).replaceAll(sandbox.baseUrl, SERVER.url)
      const document = { ...(JSON.parse(text) as object), servers: [SERVER] }
      progress.end()
      process.stdout.write(`${JSON.stringify(document, null, json ? 0 : 2)}\n`)
    } finally {
      await sandbox.stop()
    }
  })
}
