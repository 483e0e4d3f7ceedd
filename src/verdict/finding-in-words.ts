import type { Finding } from './finding.ts'

/** The texts of a finding, without its judge. */
export function findingInWords({
  id,
  impact,
  title,
  failureTitle,
  rule,
  consequence,
  situation,
  fix,
  exerciseWith,
}: Finding) {
  const exercise_with = `yield-sandbox exec ${exerciseWith} -- <your test command>`.replace('  ', ' ')
  return {
    id,
    impact,
    right: title,
    wrong: failureTitle,
    rule,
    consequence,
    judged_after: situation,
    exercise_with,
    fix,
  }
}
