import { aftermathOf, lastNumber, type Start } from '../../exec/aftermath.ts'
import { codeOfEnd, endInWords } from '../../exec/command-end.ts'
import { BaselineFailure } from '../run/baseline-failure.ts'
import { type Played, playCommand, type Stage } from '../run/play-command.ts'

/** The command that is started after a kill: `--recover` by the shell, else the command itself. */
export function recoveryOf({ terms: { command } }: Stage, recover: string | undefined): readonly string[] {
  return recover === undefined ? command : ['sh', '-c', recover]
}

/** A run without a kill: the command, and `--recover` after it, which does what the command left to it. */
export async function playWithRecovery(stage: Stage, recover: string | undefined): Promise<Played> {
  const first = await playCommand(stage)
  if (recover === undefined || first.before || isFailed(first)) return first
  const { end, aftermath } = await startAgain(stage, recover)
  if (stage.terms.interruption.asked.aborted) return first
  if (isFailed({ end })) throw BaselineFailure.recoveryFails(end, stage.terms.timeout)
  return { ...first, aftermath, restarted: lastNumber(first.aftermath.evidence) }
}

/**
 * The same, and the recovery once more; with `twins` also the command, since its twin is started whatever recovers it. Throws
 * {@link BaselineFailure} if that moves money, or fails: a command of which that is true would pay twice without any kill or twin.
 */
export async function playRestartable(
  stage: Stage,
  { recover, twins }: { recover: string | undefined; twins: boolean },
): Promise<Played> {
  const played = await playWithRecovery(stage, recover)
  if (played.before || isFailed(played)) return played
  let asked: Played['again'] = []
  for (const again of twins && recover !== undefined ? [recover, undefined] : [recover]) {
    const { end, aftermath } = await startAgain(stage, again)
    if (stage.terms.interruption.asked.aborted) return played
    const moved = movedMore(played.aftermath, aftermath)
    const refuse = (why: string) => BaselineFailure.notRestartable(why, again, twins)
    if (moved !== undefined) throw refuse(moved)
    if (isFailed({ end }))
      throw again === undefined ? refuse(endInWords(end)) : BaselineFailure.recoveryFails(end, stage.terms.timeout)
    const done = lastNumber(played.aftermath.evidence)
    if (again === recover) asked = aftermath.evidence.exchanges.filter(({ number }) => number > done)
  }
  return { ...played, again: asked }
}

async function startAgain(stage: Stage, recover: string | undefined): Promise<Start> {
  const end = await stage.run(recoveryOf(stage, recover))
  return { end, aftermath: await aftermathOf(stage.client, end, stage.clock) }
}

function isFailed({ end }: Pick<Played, 'end'>): boolean {
  return codeOfEnd(end) !== 0
}

/** In words, that more transfers are carried out or under way than before: "it moved money once more"; undefined if there are no more. */
export function movedMore(before: Start['aftermath'], after: Start['aftermath']): string | undefined {
  const moved = transfersOf(after) - transfersOf(before)
  return moved > 0 ? `it moved money ${moved === 1 ? 'once' : `${moved} times`} more` : undefined
}

function transfersOf({ evidence: { ledger } }: Start['aftermath']): number {
  return ledger.transfers.length + ledger.under_way.length
}
