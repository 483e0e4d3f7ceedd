import { afterAll, beforeAll } from 'vitest'
import type { SandboxHandle } from '../../src/index.ts'
import { testNamespace } from '../helpers/partner.ts'
import { shownAsRead } from './shown-as-read.ts'

let sandbox: SandboxHandle
beforeAll(async () => {
  sandbox = await testNamespace()
})
afterAll(() => sandbox.stop())

shownAsRead(() => sandbox, 20)
