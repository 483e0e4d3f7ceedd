import type { RecordedExchange } from '../../traffic/recorded-exchange.ts'
import { succeeded } from '../evidence/answers.ts'
import { fieldOf } from '../evidence/requests.ts'
import { plural, requestInWords } from '../evidence/words.ts'
import { type Evidence, type Finding, type Judgement, needsReview, notExercised, passed } from '../finding.ts'

export const amountScale: Finding = {
  id: 'amount-scale',
  title: 'Amounts are exact, and have the scale of minor units',
  failureTitle: 'Amounts look like whole tokens, or like the remains of floating-point numbers',
  rule: 'Endpoint 5: "amount_minor: Amount in the token\'s minor units as a digit string, using the token\'s decimals."',
  impact: 'minor',
  consequence:
    'A client that sends 250 for 250 USDC moves 0.00025 USDC. One that multiplies a floating-point number by 10^6 is off by a unit now and then, and its books never agree with the chain.',
  situation: 'a deposit into a portfolio whose decimals are known',
  exerciseWith: '',
  fix: 'Convert amounts with integers: 250 USDC with 6 decimals are "250000000". Parse the text of a decimal; never multiply a float.',
  wrongClients: [],
  judge,
}

/** A deposit, its units, and the units of a hundredth of a token: nobody deposits less. */
interface Deposit {
  exchange: RecordedExchange
  units: bigint
  cent: bigint
}

/** Judges deposits only: a withdrawal of the whole balance has any digits, because of the yield. */
function judge({ exchanges, ledger }: Evidence): Judgement {
  const decimals = new Map(ledger.portfolios.map((one) => [one.portfolio_id, one.token_decimals]))
  const deposits = exchanges.flatMap((exchange) => depositOf(exchange, decimals))
  const [first] = deposits
  if (!first) return notExercised('No deposit into a portfolio whose decimals are known was accepted.')
  const inexact = deposits.filter(isInexact)
  const [odd] = inexact
  if (odd) {
    const explanation = `${requestInWords(odd.exchange)} is a unit or so beside a round amount, as of a number that was rounded in floating point. There are ${inexact.length} of ${plural(deposits.length, 'deposit')} like it. It may be wanted.`
    return needsReview(explanation, exchangesOf(inexact))
  }
  const usual = deposits.filter(({ units, cent }) => units >= cent)
  if (usual.length === 0) {
    const explanation = `${requestInWords(first.exchange)} is less than a hundredth of a token; so is every deposit (${deposits.length}). The amounts may be whole tokens, or small on purpose.`
    return needsReview(explanation, exchangesOf(deposits))
  }
  const explanation = `${usual.length} of ${plural(deposits.length, 'deposit')} were of a hundredth of a token or more, and none is a unit beside a round amount.`
  return passed(explanation, exchangesOf(usual).slice(0, 1))
}

function depositOf(exchange: RecordedExchange, decimals: ReadonlyMap<string, number>): Deposit[] {
  if (exchange.operation !== 'deposit' || !succeeded(exchange)) return []
  const amount = fieldOf(exchange, 'amount_minor')
  const portfolio = fieldOf(exchange, 'portfolio_id')
  const places = typeof portfolio === 'string' ? decimals.get(portfolio) : undefined
  if (typeof amount !== 'string' || !/^\d{1,78}$/.test(amount) || places === undefined || places < 4) return []
  return [{ exchange, units: BigInt(amount), cent: 10n ** BigInt(places - 2) }]
}

/** A double has 15 to 17 digits: beside a round amount of a token with 6 decimals it is a unit off, with 18 some thousand. */
function isInexact({ units, cent }: Deposit): boolean {
  const most = cent / 10n ** 12n || 1n
  const above = units % cent
  return units > cent && above > 0n && (above <= most || cent - above <= most)
}

function exchangesOf(deposits: readonly Deposit[]): RecordedExchange[] {
  return deposits.slice(0, 2).map(({ exchange }) => exchange)
}
