import { AnvilChain } from '../../../src/chain/anvil-chain.ts'

export { main } from '../../../src/cli/main.ts'

// A node is renewed so seldom that no test would see it: there is no flag for it, since nobody needs one.
const start = AnvilChain.start.bind(AnvilChain)
AnvilChain.start = (options) => start({ ...options, renewAfter: Number(process.env.RENEW_AFTER) })
