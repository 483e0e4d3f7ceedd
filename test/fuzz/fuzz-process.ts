import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FixtureFile } from '../../src/fixtures/fixture-schema.ts'
import type { Credentials } from '../../src/index.ts'
import { Command } from '../cli/command.ts'
import { anvilsOf } from '../helpers/anvils.ts'
import { writeFixture } from '../helpers/fixture-file.ts'

/** What acme and globex use: the first chain. */
const NORTH = ['aave-usdc', 'aave-weth', 'morpho-usdc', 'morpho-weth']
/** What the victim uses: the second chain. */
const SOUTH = ['south-aave', 'south-morpho']

/** The sandbox that is shot at, in a process of its own, so that its end is seen and is nobody else's. */
export class FuzzProcess {
  readonly #directory = mkdtempSync(join(tmpdir(), 'yield-sandbox-fuzz-'))
  #command: Command | undefined
  #over = false

  /** Starts it, or another after the last one ended, and resolves when it is ready. */
  async start(): Promise<Credentials> {
    const fixture = await writeFixture(this.#directory, twoChains)
    const options = ['--fixtures', fixture, '--confirmation-delay', '0', '--seed', '7', '--log-level', 'warn']
    const command = new Command(['--json', '--port', '0', ...options])
    this.#command = command
    this.#over = false
    void command.ended.then(() => {
      if (command === this.#command) this.#over = true
    })
    return command.credentials()
  }

  /** Whether it has ended without being asked to. */
  get dead(): boolean {
    return this.#over
  }

  /** What it wrote to its log since this was asked last. */
  takeLog(): string {
    const log = this.#command?.stderr ?? ''
    if (this.#command) this.#command.stderr = ''
    return log
  }

  /** Process ids of its Anvils. */
  anvils(): number[] {
    return anvilsOf(this.#command?.child.pid ?? 0)
  }

  /** Resident memory in MiB, its own and that of its Anvils. */
  memory(): number[] {
    const pids = [this.#command?.child.pid ?? 0, ...this.anvils()]
    const { stdout } = spawnSync('ps', ['-o', 'rss=', '-p', pids.join(',')], { encoding: 'utf8' })
    return stdout
      .split('\n')
      .filter(Boolean)
      .map((kibibytes) => Math.round(Number(kibibytes) / 1024))
  }

  async stop(): Promise<void> {
    this.#command?.kill('SIGTERM')
    await this.#command?.ended
  }

  async dispose(): Promise<void> {
    await this.stop()
    rmSync(this.#directory, { recursive: true, force: true })
  }
}

/** Two chains: what is done to the second must not be felt on the first. */
function twoChains(fixture: FixtureFile): void {
  fixture.chains = [{ chain_id: '31337' }, { chain_id: '31338' }]
  fixture.pools.push(
    { id: 'south-aave', protocol: 'aave', chain_id: '31338', token: 'USDC' },
    { id: 'south-morpho', protocol: 'morpho', chain_id: '31338', token: 'WETH' },
  )
  const [acme, globex, victim] = fixture.tenants
  if (!acme || !globex || !victim) throw new Error('the shipped fixture file has three tenants')
  acme.pools = NORTH
  globex.pools = NORTH
  Object.assign(victim, { slug: 'victim', access: 'all', pools: SOUTH, end_users: [{ external_id: 'vic' }] })
}
