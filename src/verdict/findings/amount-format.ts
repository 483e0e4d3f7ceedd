import { shorten } from '../../support/foreign-text.ts'
import { succeeded } from '../evidence/answers.ts'
import { isHabit, PERHAPS_A_TEST } from '../evidence/doubts.ts'
import { fieldOf } from '../evidence/requests.ts'
import { isTransfer } from '../evidence/timelines.ts'
import { plural } from '../evidence/words.ts'
import { type Evidence, type Finding, failed, type Judgement, needsReview, notExercised, passed } from '../finding.ts'

export const amountFormat: Finding = {
  id: 'amount-format',
  title: 'Amounts are digit strings in minor units',
  failureTitle: 'Amounts are not digit strings in minor units: the service refuses the transfers',
  rule: 'Endpoint 5: "amount_minor: Amount in the token\'s minor units as a digit string, using the token\'s decimals."',
  impact: 'serious',
  consequence:
    'The service refuses the transfer. Where the form happens to fit, a factor of a million lies between tokens and minor units, and numbers above 2^53 lose digits.',
  situation: 'a deposit or withdrawal',
  exerciseWith: '',
  fix: 'Keep amounts as whole numbers of minor units (BigInt in JavaScript, int in Python) and send them as a string of digits: {"amount_minor": "1000000"}.',
  wrongClients: ['amount-as-number', 'amount-as-decimal'],
  judge,
}

/** Number of wrong requests that are shown. */
const SHOWN = 3

function judge({ exchanges }: Evidence): Judgement {
  const transfers = exchanges.filter(isTransfer).flatMap((exchange) => {
    const amount = fieldOf(exchange, 'amount_minor')
    return amount === undefined ? [] : [{ exchange, amount, right: isDigits(amount) }]
  })
  const wrong = transfers.filter(({ right }) => !right)
  const right = transfers.length - wrong.length
  const [first] = wrong
  if (!first) {
    const accepted = transfers.filter(({ exchange }) => succeeded(exchange))
    if (accepted.length === 0) return notExercised('No deposit or withdrawal was accepted.')
    return passed(
      `The amounts of ${plural(transfers.length, 'transfer')} were digit strings.`,
      accepted.slice(0, 1).map(({ exchange }) => exchange),
    )
  }
  const came = shorten(JSON.stringify(first.amount) ?? 'nothing', 60)
  const explanation = `${wrong.length} of ${plural(transfers.length, 'transfer')} had an amount_minor that is not a digit string, such as ${came}.`
  const shown = wrong.slice(0, SHOWN).map(({ exchange }) => exchange)
  if (isHabit(right, wrong.length))
    return failed(explanation, { expected: 'a string of digits, such as "1000000"', came }, shown)
  return needsReview(`${explanation} ${PERHAPS_A_TEST}`, shown)
}

function isDigits(amount: unknown): boolean {
  return typeof amount === 'string' && /^\d+$/.test(amount)
}
