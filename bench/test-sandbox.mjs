// test-sandbox.mjs: what a namespace for each test costs beside one request, in milliseconds: the median, the fastest, and the processor
// time of sandbox and test together. `node bench/test-sandbox.mjs` after `npm run build`; see docs/runners.md.
import { shareSandbox } from '../dist/shared-sandbox.js'
import { closeTestSandbox, openTestSandbox } from '../dist/test-sandbox.js'

const ROUNDS = 300

async function measure(what, task) {
  const times = []
  for (let round = 0; round < 20; round++) await task()
  const { user, system } = process.cpuUsage()
  for (let round = 0; round < ROUNDS; round++) {
    const began = performance.now()
    await task()
    times.push(performance.now() - began)
  }
  const used = process.cpuUsage()
  const processor = (used.user + used.system - user - system) / 1000 / ROUNDS
  times.sort((a, b) => a - b)
  const [median, fastest] = [times[ROUNDS / 2], times[0]]
  console.log(
    `${what.padEnd(32)}${median.toFixed(1)} ms, fastest ${fastest.toFixed(1)}, processor ${processor.toFixed(1)}`,
  )
}

delete process.env.YIELD_SANDBOX_URL
const stop = await shareSandbox()
const own = await openTestSandbox()
const end = (failed) => ({ failed, show: () => undefined })
await measure('one request', () => fetch(`${own.controlUrl}/clock`).then((answer) => answer.text()))
await measure('a namespace, made and deleted', async () => closeTestSandbox(await openTestSandbox(), end(false)))
await measure('the same after a failed test', async () => closeTestSandbox(await openTestSandbox(), end(true)))
await stop()
