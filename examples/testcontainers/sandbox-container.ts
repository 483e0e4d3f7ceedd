import { GenericContainer, Wait } from 'testcontainers'
import { connectSandbox, type SandboxHandle } from 'yield-sandbox'

/** Whoever reaches the mapped port could control the sandbox otherwise. */
const CONTROL_TOKEN = 'local-only'
const PORT = 4010

/** A sandbox in a container, as this machine reaches it. */
export interface SandboxContainer {
  sandbox: SandboxHandle
  stop: () => Promise<unknown>
}

/** Starts the image that `docker build -t yield-sandbox .` makes; resolves when it can serve. */
export async function startSandboxContainer(): Promise<SandboxContainer> {
  const container = await new GenericContainer('yield-sandbox')
    .withCommand(['--control-token', CONTROL_TOKEN, '--confirmation-delay', '0'])
    .withExposedPorts(PORT)
    .withUser('1234:1234')
    .withDroppedCapabilities('ALL')
    .withTmpFs({ '/tmp': 'rw' })
    .withWaitStrategy(Wait.forHttp('/_sandbox/ready', PORT))
    .start()
  // Nobody in the container knows the port that it is mapped to: connectSandbox lets every address begin with this.
  const url = `http://${container.getHost()}:${container.getMappedPort(PORT)}`
  const sandbox = await connectSandbox({ url, controlToken: CONTROL_TOKEN })
  return { sandbox, stop: () => container.stop() }
}
