import { rivalry, sameSender } from '../evidence/doubts.ts'
import { isCarriedOut, isTransfer, type Step } from '../evidence/timelines.ts'
import { repeatsOneOf, type UncertainTransfer, uncertainTransfersOf } from '../evidence/uncertain-transfers.ts'
import { endingOf, plural, requestInWords } from '../evidence/words.ts'
import { type Evidence, type Finding, failed, type Judgement, needsReview, notExercised, passed } from '../finding.ts'

export const singleTransfer: Finding = {
  id: 'single-transfer',
  title: 'A transfer whose outcome is unknown moves its money once',
  failureTitle: 'A transfer that was not listed yet was made again: the end user paid twice',
  rule: 'Endpoint 5, rule 2: "When the connection drops, the transaction is still processed. The client polls the transactions list until the transaction appears."',
  impact: 'critical',
  consequence:
    'A transaction is listed when it is confirmed, which takes up to a minute. A client that looks once, finds nothing and pays again pays twice.',
  situation: 'a deposit or withdrawal that is carried out though its client gets no answer',
  exerciseWith: '--scenario dropped-deposit',
  fix: 'Repeat the transfer under the same Idempotency-Key: that is safe at any time. If you look in the list instead, go on until the transaction is there, and never send the transfer under another key meanwhile.',
  wrongClients: ['looks-once-then-pays-again'],
  judge,
}

function judge(evidence: Evidence): Judgement {
  const carriedOut = uncertainTransfersOf(evidence).filter(({ attempts }) => isCarriedOut(attempts, evidence))
  const again = carriedOut.flatMap((uncertain) => {
    const { next, told, found } = uncertain
    if (next === null || told || found || repeatsOneOf(next, uncertain.attempts) === false) return []
    return isCarriedOut([next], evidence) ? [{ uncertain, next }] : []
  })
  const judgements = again.map(({ uncertain, next }) => judgeSecond(uncertain, next))
  const wrong = judgements.filter(({ outcome }) => outcome === 'failed')
  const [first] = wrong
  if (first && wrong.length > 1)
    return { ...first, explanation: `${first.explanation} This happened ${wrong.length} times.` }
  const [worst] = [...wrong, ...judgements]
  if (worst) return worst
  const [good, ...others] = carriedOut.filter(({ told, found }) => told ?? found)
  if (!good)
    return notExercised('No deposit or withdrawal was carried out whose client had no answer, and found out about it.')
  const more = others.length > 0 ? ` So it was with ${plural(others.length, 'other')}.` : ''
  const explanation = `${requestInWords(good.first.exchange)} was uncertain: ${endingOf(good.first.exchange)}. It is in the ledger once, and its client knows.${more}`
  return passed(
    explanation,
    [good.first, good.told ?? good.found].flatMap((step) => (step ? [step.exchange] : [])),
  )
}

/** Judges the case that the same was paid again, and the ledger has both transactions. */
function judgeSecond(uncertain: UncertainTransfer, next: Step): Judgement {
  const { first, last, looks, timeline, transfer } = uncertain
  const { external_id, transfer: second } = next.exchange
  const told = `${requestInWords(first.exchange)} was uncertain: ${endingOf(first.exchange)}. It was carried out, and so was the same again under another key: ${transfer?.tx_hash} and ${second?.tx_hash}.`
  const look = looks.at(-1)
  if (!look) {
    const explanation = `${told} Nobody had looked in between: idempotency-key-on-retry and idempotency-key-after-error judge that.`
    return needsReview(explanation, [first.exchange, next.exchange])
  }
  const shown = [first.exchange, look.exchange, next.exchange]
  const doubt = rivalry({ write: last, next }, timeline, ({ exchange }) => isTransfer(exchange))
  const oneClient = looks.some((step) => sameSender(step, next))
  if (doubt !== null || !oneClient) {
    const why =
      doubt ??
      'the second came on another connection than the look-up and with another token, perhaps of another worker'
    return needsReview(`${told} It may be wanted: ${why}.`, shown)
  }
  const looked = `${plural(looks.length, 'time')} the list of transactions was asked for in between, and it was not in it yet.`
  const values = { expected: `one transaction for ${external_id}`, came: 'two' }
  return failed(`${told} ${looked}`, values, shown)
}
