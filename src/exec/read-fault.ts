import type { FaultRule } from '../control/contract.ts'
import { checkRule } from '../faults/fault-rule.ts'
import { parseFaultText } from '../faults/fault-text.ts'
import { OptionError } from '../option-error.ts'
import { formatPath, wordsOf } from '../support/issue.ts'
import { shorten } from '../support/shorten.ts'

/** Reads `--fault`: `drop_connection; phase=after_broadcast; operation=deposit`. Throws OptionError naming what is wrong with it. */
export function readFault(text: string): FaultRule {
  const rule = parseFaultText(text)
  const { tenant } = (rule.match ?? {}) as { tenant?: string }
  // Which tenants there are, only the sandbox knows.
  const checked = checkRule(rule, tenant === undefined ? [] : [tenant])
  if (!Array.isArray(checked)) return rule as FaultRule
  const faults = checked.map((issue) => `${formatPath(issue.path)}: ${wordsOf(issue)}`)
  throw new OptionError(faults.map((fault) => `--fault "${shorten(text)}": ${fault}`).join('\n'))
}
