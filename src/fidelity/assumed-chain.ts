import { assumed, type FidelityRow, testsIn } from './row.ts'

const clock = testsIn('test/control/clock.test.ts')
const node = testsIn('test/clients/ordinary-node.test.ts')

/** Behaviours of a chain's RPC, as compared with an ordinary node. */
export const CHAIN_BEHAVIOURS: readonly FidelityRow[] = [
  assumed(
    'clock-on-chain',
    'when a moved clock has reached the chain',
    "POST /_sandbox/clock is answered, and the promise of the library's clock.advance and clock.freeze resolves, when the latest block of every chain has the new time; chains.ok is false, with the reason, if a chain is down or has no such block within 3 s: the clock has moved all the same, and the chain follows when it can",
    clock('POST /_sandbox/clock answers when the latest block of the chain has the new time'),
  ),
  assumed(
    'latest-block',
    'whether the latest block says what the API shows',
    'yes: balances are those of the present second, and whoever reads the latest block by RPC has one mined before if the last is of an earlier second. So frozen, both are equal; running, they differ by what accrues between the two readings, in whole seconds. At rest no block is mined, nor while somebody can go back to a snapshot or has set the time of the node',
    clock('total_balance of %s is what a plain client reads at the latest block, frozen or running'),
  ),
  assumed(
    'chain-fees',
    'what gas costs',
    'nothing, and every way to ask says so: base fee, gas price and tip are 0, so viem and ethers write with their defaults, for accounts without native coin too. On a fork as well',
    node('say of themselves that they are nothing, in every way a client may ask'),
  ),
  assumed(
    'old-states',
    'state as of older blocks, over RPC',
    'that of the last 128 blocks, by number, hash or tag, while the chain is small (about 1,500 end users), else of the latest alone; after Anvil was replaced or the sandbox restarted, of the blocks since the last checkpoint. For others the error -32000 names the blocks whose state is there. On a fork, the upstream has that of the blocks before',
    node('is kept of the last 128, and of others it is said that it is not'),
  ),
  assumed(
    'block-tags',
    'safe, finalized, earliest',
    'the block before the latest, and the one before that, since the fault reorg replaces the latest alone; earliest is the first block of the sandbox, on a fork that of the real chain. pending is the next block, at the time of Anvil, not of the sandbox clock',
    node('latest, safe, finalized and earliest are blocks with numbers, and safe ones stay'),
  ),
  assumed(
    'traces',
    'traces of transactions, over RPC',
    'callTracer, prestateTracer and trace_transaction for transactions of the last 30 blocks, fewer after Anvil was replaced',
    node('callTracer shows the calls of a recent deposit'),
  ),
  assumed(
    'multicall3',
    'Multicall3 on embedded chains',
    'at 0xcA11bde05977b3631167028862bE2a173976CA11, with its interface but other bytecode; on forks it is what the real chain has there',
    node('stands at its address, for clients that are told so and for the handle'),
  ),
  {
    id: 'websocket-rpc',
    kind: 'absent',
    about: 'WebSocket on the RPC: eth_subscribe',
    rule: '405; clients poll or use filters (eth_newBlockFilter, eth_newFilter). Subscriptions of Anvil would end whenever another Anvil takes its place, and calls over its socket would pass by the budget of the RPC',
    source: 'chosen',
    test: testsIn('test/http/rpc-gateway.test.ts')('there are no WebSockets'),
  },
]
