// run.mjs: one of the workers as a program of its own: `yield-sandbox exec -- node test/oracle/clients/run.mjs refund-on-any-error`.
// WORKER_STORAGE is the file in which it keeps what outlives it; without one, nothing does.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { App } from './app.mjs'
import { BEHAVIOURS, ordersOf } from './behaviours.mjs'

const [name] = process.argv.slice(2)
if (!Object.hasOwn(BEHAVIOURS, name)) {
  console.error(`there is no worker "${name}"; there are: ${Object.keys(BEHAVIOURS).join(', ')}`)
  process.exit(2)
}
const { WORKER_STORAGE: file } = process.env
const storage = file && existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}
process.exitCode = await BEHAVIOURS[name](new App(process.env, { storage, orders: ordersOf(name) }))
if (file) writeFileSync(file, JSON.stringify(storage))
