import { assumed, type FidelityRow, LIVE, testsIn } from './row.ts'

const money = testsIn('test/specification/assumptions-money.test.ts')
const concurrency = testsIn('test/reliability/concurrency.test.ts')

/** Open points of the specification about amounts, transfers and their records. */
export const MONEY_ASSUMPTIONS: readonly FidelityRow[] = [
  assumed(
    'amount-unit',
    'the unit of deposited, yield_earned, yield_earned_realized, total_balance',
    "the token's minor units, a digit string, as amount_minor",
    money("Assumption amount-unit: the four amounts are digit strings in the token's minor units"),
    LIVE,
  ),
  assumed(
    'balance-meaning',
    'how the four amounts relate',
    'total_balance is what the position is worth on chain now, deposited the principal still in, yield_earned_realized the yield paid out so far; yield_earned = total_balance − deposited + yield_earned_realized, never below "0" (a vault rounds a first deposit down by a unit); a withdrawal takes principal and yield in proportion',
    money('Assumption balance-meaning: worth, principal, yield, realized; a withdrawal takes both in proportion'),
    LIVE,
  ),
  assumed(
    'transfer-status',
    'success status of deposit and withdraw',
    '200, unless set to 201',
    money('Assumption transfer-status: 200, or 201 when so set'),
    { setting: 'service.transfer_status' },
  ),
  assumed(
    'transfer-response',
    'fields beside tx_hash',
    'the flat portfolio after the transaction, and transaction_id',
    money('Assumption transfer-response: the flat portfolio after the transaction, tx_hash and transaction_id'),
  ),
  assumed(
    'transfer-errors',
    'deposit and withdraw errors',
    '404 portfolio_not_found; 400 validation_error for what is no digit string, zero or over 2^256−1; 422 insufficient_balance, param amount_minor, when wallet or position is too small; 422 amount_too_small, param amount_minor, for a deposit the market gives nothing of worth for; 422 transaction_reverted; 503 chain_unavailable with Retry-After',
    money('Assumption transfer-errors: of %s'),
    LIVE,
  ),
  assumed(
    'withdraw-all',
    'rounding at full withdrawal',
    'as_shown: the total_balance last shown when the withdrawal is asked for (in an answer whose last byte was handed over on a living connection; not to HEAD, not one that a fault replaced), or an amount within one minor unit of the present one, withdraws everything, whatever accrued since; a list shows it, and the answer to a transfer, which makes earlier showings outdated; a replay shows nothing anew, unless the answer that it repeats was not received. exact: only the present total_balance does. Any other amount moves exactly that amount',
    testsIn('test/specification/assumptions-withdraw-all.test.ts')(
      'Assumption withdraw-all: what a list showed empties the portfolio, whatever accrued since',
    ),
    { ...LIVE, setting: 'service.full_withdrawal' },
  ),
  assumed(
    'transaction-fields',
    'the transaction record',
    'id, portfolio_id, type (an open list), tx_hash, created_at and timestamp (the same instant); amounts and yield before and after: yield_earned_after is yield_earned of the response, yield_earned_before that of the transaction before it, yield_delta their difference (signed: a rounding on chain may take a unit), so that all of them add up to the yield',
    money('Assumption transaction-fields: amounts and yield before and after, of %s in %s'),
    LIVE,
  ),
  assumed(
    'transaction-visible',
    'when a transaction first appears in the list',
    'once confirmed, never before',
    money('Assumption transaction-visible: once confirmed, never before'),
  ),
  assumed(
    'wallet',
    'where deposited funds come from',
    "each end user has a wallet on each chain, funded from the fixture (wallet_balance, default 1,000,000 tokens of each of the tenant's pools)",
    money('Assumption wallet: each end user has one, with 1,000,000 tokens or what the fixture says'),
  ),
  assumed(
    'fees',
    'fees',
    'none: total_fees_paid is "0". Live services have some, but at what rate and from what is documented nowhere',
    money('Assumption fees: none, total_fees_paid is "0" and all yield is paid out'),
  ),
  assumed(
    'swaps',
    'token swaps',
    "none: a deposit moves the pool's own token. Live services swap from USDC and back; here amount_minor is in the token's own units, as the specification has it, and live-like.yaml has USDC alone, so there is nothing to swap",
    money("Assumption swaps: none, a deposit moves the pool's own token alone"),
  ),
]

/** Behaviours of money and time that the specification does not mention. */
export const MONEY_BEHAVIOURS: readonly FidelityRow[] = [
  assumed(
    'least-deposit',
    'the least amount_minor of a deposit',
    'one whose shares are worth a minor unit by themselves: 2 in the vaults, 1 in Aave until decades of interest have made a unit too little; less is 422 amount_too_small, and nothing is signed',
    money('Assumption transfer-errors: a deposit that a market gives nothing of worth for is refused, nothing signed'),
  ),
  assumed(
    'wallet-funding',
    'how a wallet gets its tokens',
    "by writing the token's storage: no Transfer event, total supply unchanged, an unlimited allowance for each market, no native coin; gas is free. Its address follows from seed, tenant and external_id",
    testsIn('test/chain/market.test.ts')('follow from seed, tenant and end user, and from nothing else'),
  ),
  assumed(
    'transfer-times',
    'the times of a transfer',
    'created_at is when the confirmation delay ended, the timestamp of the block when it began',
    testsIn('test/specification/behaviours-money.test.ts')(
      'Behaviour transfer-times: created_at is the end of the delay, the timestamp of the block its start',
    ),
  ),
  assumed(
    'updated-at',
    'when updated_at of a portfolio changes',
    'with its transfers alone: yield does not change it',
    testsIn('test/specification/behaviours-money.test.ts')('Behaviour updated-at: changes with transfers alone'),
  ),
  assumed(
    'yield-curve',
    'how yield accrues',
    'apy of an Aave pool compounds per second, as a year of touches would; it grows linearly between touches. apy of a vault is simple interest, which is what a year without a touch comes to; every touch compounds it: 0.05, touched every five days, comes to 0.051253',
    testsIn('test/contracts/vault.test.ts')('loses no yield when it is touched every second'),
  ),
  assumed(
    'yield-harvest',
    'records of yield',
    'none: the yield since the record before is in the yield_delta of a transfer. Set to recorded, yield earned up to the block of a transfer is a transaction of its own, listed directly below it: type yield_harvest, amount_changed and yield_delta the yield, tx_hash and created_at those of the transfer, fx_rate_usd (USD for a whole token, by the oracle that tvl_usd is counted with) and aave_apy (apy of the pool before the transfer; null for a vault). The yield_delta of the transfer is then what is left: its rounding, and what accrued while its confirmation was waited for',
    testsIn('test/specification/live-like.test.ts')(
      'Live-like: yield earned up to a transfer is a record of its own, of %s',
    ),
    { ...LIVE, setting: 'service.yield_harvest' },
  ),
  assumed(
    'transfer-queue',
    'several transfers of one portfolio at once',
    'carried out one after another; those of other portfolios do not wait. With confirmation_delay realistic, the fourth at once may take longer than the 60 seconds that a client waits',
    concurrency('deposits and withdrawals that cross each other keep the ledger sound'),
  ),
]

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
  assumed(
    'websocket-rpc',
    'WebSocket on the RPC: eth_subscribe',
    'the same address with ws or wss, the same calls within the same budget, and eth_subscribe to newHeads and logs, which outlive the Anvil that made them; while somebody is subscribed, a block is mined in each block time that the clock moves on',
    testsIn('test/http/rpc-socket.test.ts')('newHeads come one after another, with transfers and without'),
  ),
]
