import type { EndUserMoney, MoneyOverview } from '../../control/contract.ts'
import { hrefOf, place } from '../model/address.ts'
import { movesIn, setKeys } from '../model/keys.ts'
import { dayOf } from '../model/list-items.ts'
import { useRead } from '../model/use-read.ts'
import { Amount, minus } from '../parts/amount.tsx'
import { Facts } from '../parts/facts.tsx'
import { Icon } from '../parts/icon.tsx'
import { Surplus } from '../parts/money-bar.tsx'
import { Split } from '../parts/split.tsx'
import { Table } from '../parts/table.tsx'
import { Waiting } from '../parts/waiting.tsx'
import { YieldCurve } from '../parts/yield-curve.tsx'

/** End users and pools, and beside them the money of one end user over time. */
export function MoneyView() {
  const { value, error } = useRead<MoneyOverview>('money', ['operations', 'block'])
  const users = value?.end_users ?? []
  const chosen = users.find(
    (user) => nameOfUser(user) === place.value.selected || user.external_id === place.value.selected,
  )

  setKeys(movesIn(() => users.map(nameOfUser), chosen && nameOfUser(chosen)))
  if (!value) return <Waiting what="ledger and chain" error={error} />
  const list = (
    <div class="pad stack">
      {error && <p class="warn">{error.message}</p>}
      <h1>End users</h1>
      {users.length === 0 ? (
        <p class="mute">There is no end user yet. The first request that creates one shows here.</p>
      ) : (
        <Users users={users} chosen={chosen} />
      )}
      <p class="mute">
        As of {dayOf(value.at)}, business time.
        {value.checks && ` Ledger, chain and API agree in ${value.checks.held} of ${value.checks.all} checks.`}
        {value.more > 0 && ` There are ${value.more} more end users.`}
      </p>
      {value.unavailable.map(({ chain_id, reason }) => (
        <p key={chain_id} class="warn">
          Chain {chain_id} cannot be reached: {reason}. Its values are missing.
        </p>
      ))}
      <h1>Pools</h1>
      <Pools pools={value.pools} />
    </div>
  )
  return (
    <Split
      names={['End users and pools', 'End user']}
      list={list}
      hint="Choose an end user: principal and yield over time are shown here."
    >
      {chosen ? <UserMoney user={chosen} /> : <p class="mute">There is none.</p>}
    </Split>
  )
}

function nameOfUser({ tenant, external_id }: EndUserMoney): string {
  return `${tenant}/${external_id}`
}

const SUMS = ['principal_minor', 'yield_minor', 'wallet_minor'] as const

function Users({ users, chosen }: { users: readonly EndUserMoney[]; chosen: EndUserMoney | undefined }) {
  return (
    <Table
      label="End users"
      class="users"
      head={['End user', '>Principal', '>Yield', '>Wallet', 'Money']}
      rows={users.map((user) => ({
        key: nameOfUser(user),
        isChosen: user === chosen,
        cells: [
          <>
            <a href={hrefOf('money', nameOfUser(user))}>{user.external_id}</a> <span class="mute">{user.tenant}</span>
          </>,
          ...SUMS.map((name) =>
            user.totals
              .filter((sum) => name === 'wallet_minor' || sum[name] !== '0')
              .map((sum) => (
                <div key={sum.token_symbol} class="nowrap">
                  <Amount
                    minor={sum[name]}
                    decimals={sum.token_decimals}
                    symbol={sum.token_symbol}
                    most={2}
                    signed={name === 'yield_minor'}
                  />
                </div>
              )),
          ),
          <Balance user={user} />,
        ],
      }))}
    />
  )
}

function Balance({ user: { surplus } }: { user: EndUserMoney }) {
  return surplus.length === 0 ? (
    <span class="ok">
      <Icon name="ok" /> right
    </span>
  ) : (
    surplus.map(({ token_symbol, token_decimals, amount_minor, operation_numbers }) => (
      <div key={token_symbol} class="bad">
        <Surplus minor={amount_minor} decimals={token_decimals} symbol={token_symbol} />
        {operation_numbers.map((number) => (
          <span key={number}>
            {' '}
            <a href={hrefOf('operations', String(number))}>{number}</a>
          </span>
        ))}
      </div>
    ))
  )
}

/** `"0.0412"` → `4.12 %` */
function percentOf(fraction: string | null): string {
  return fraction === null ? 'unknown' : `${(Number(fraction) * 100).toFixed(2)}\u00a0%`
}

function Pools({ pools }: { pools: MoneyOverview['pools'] }) {
  return (
    <Table
      label="Pools"
      class="pools"
      head={['Pool', 'Market', '>APY', '>Value locked', '>Can be withdrawn']}
      rows={pools.map((pool) => ({
        key: `${pool.tenant} ${pool.pool_id}`,
        cells: [
          <>
            <code title={pool.market_address}>{pool.pool_id}</code> <span class="mute">{pool.tenant}</span>
          </>,
          pool.protocol,
          percentOf(pool.apy),
          pool.tvl_usd !== null && `$${Math.round(Number(pool.tvl_usd)).toLocaleString('en')}`,
          <Amount minor={pool.liquidity_minor} decimals={pool.token_decimals} symbol={pool.token_symbol} most={0} />,
        ],
      }))}
    />
  )
}

function UserMoney({ user }: { user: EndUserMoney }) {
  return (
    <>
      <header class="head">
        <h1>
          {user.external_id} <span class="mute">· {user.tenant}</span>
        </h1>
        <Balance user={user} />
      </header>
      {user.portfolios.map((portfolio) => (
        <PortfolioMoney key={portfolio.portfolio_id} portfolio={portfolio} />
      ))}
      {user.portfolios.length === 0 && <p class="mute">There is no portfolio yet.</p>}
      <h2>Wallet</h2>
      <p>
        <code>{user.wallet_address}</code>
      </p>
      <ul class="plain">
        {user.balances.map(({ chain_id, token_address, token_symbol, token_decimals, amount_minor }) => (
          <li key={`${chain_id} ${token_address}`}>
            <Amount minor={amount_minor} decimals={token_decimals} symbol={token_symbol} />{' '}
            <span class="mute">on chain {chain_id}</span>
          </li>
        ))}
      </ul>
    </>
  )
}

type PortfolioOf = EndUserMoney['portfolios'][number]

function PortfolioMoney({ portfolio }: { portfolio: PortfolioOf }) {
  const { name, pool_id, token_symbol: symbol, token_decimals: decimals, series, apy } = portfolio
  return (
    <section class="stack">
      <h2>
        {name}{' '}
        <span class="mute">
          {pool_id} · {percentOf(apy)}
        </span>
      </h2>
      <div class="card money">
        <Facts
          class=""
          facts={[
            ['Principal', <Amount minor={portfolio.principal_minor} decimals={decimals} />],
            ['Yield', <Amount minor={portfolio.yield_minor} decimals={decimals} signed />],
            ['Balance', <Amount minor={portfolio.balance_minor} decimals={decimals} symbol={symbol} />],
          ]}
        />
      </div>
      <YieldCurve points={series} decimals={decimals} symbol={symbol} />
      <Waterfall portfolio={portfolio} />
    </section>
  )
}

/** How the principal came about, transfer by transfer, in sequence: several of one second would be one line on a time axis. */
function Waterfall({ portfolio: { series, token_decimals: decimals } }: { portfolio: PortfolioOf }) {
  const moves = series.flatMap((point, i) => {
    const before = series[i - 1]?.principal_minor ?? '0'
    return before === point.principal_minor ? [] : [{ ...point, before, after: point.principal_minor }]
  })
  if (moves.length === 0) return null
  const most = Math.max(1, ...moves.map(({ after }) => Number(after)))
  const percent = (minor: number) => `${(minor / most) * 100}%`
  return (
    <Table
      label="How the principal came about"
      hasCaption
      head={['No.', 'Day', '>Amount', '', '>Principal after']}
      rows={moves.map(({ at, before, after, operation_number }, i) => {
        const [low = 0, high = 0] = [Number(before), Number(after)].sort((a, b) => a - b)
        return {
          key: i,
          cells: [
            operation_number !== null && (
              <a href={hrefOf('operations', String(operation_number))}>{operation_number}</a>
            ),
            <span class="mute nowrap">{dayOf(at)}</span>,
            <Amount minor={minus(after, before)} decimals={decimals} signed />,
            <div class="fall" aria-hidden="true">
              <i
                class={Number(after) === low ? 'out' : ''}
                style={{ marginLeft: percent(low), width: percent(high - low) }}
              />
            </div>,
            <Amount minor={after} decimals={decimals} />,
          ],
        }
      })}
    />
  )
}
