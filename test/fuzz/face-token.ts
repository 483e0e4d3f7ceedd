import type { Dice } from './dice.ts'
import { breaksOut, type HttpDeps, type Shooter, written } from './fuzz-request.ts'
import { STRINGS } from './hostile-values.ts'
import { hostileHeader, mutate, percentEncoded } from './mutate.ts'
import type { World } from './world.ts'

const FORM = 'application/x-www-form-urlencoded'
const NAMES = ['grant_type', 'client_id', 'client_secret', 'scope', 'resource', '__proto__', '', 'client_assertion']

/** A request for an access token; few are good, since signing one takes long. */
export const shootToken: Shooter = (dice, world) => {
  const { tenant_id } = world.acme
  const path = dice.chance(0.8) ? '/oauth2/token' : `/${dice.chance(0.7) ? tenant_id : 'x'}/oauth2/v2.0/token`
  const deps: HttpDeps = { method: 'POST', path, headers: [['content-type', FORM]] }
  deps.body = dice.chance(0.9) ? formOf(dice, world) : dice.bytes(dice.below(100))
  if (dice.chance(0.2)) deps.headers.push(['authorization', basicOf(dice, world)])
  if (dice.chance(0.3)) mutate(deps, dice)
  return { what: 'token', bytes: written(deps), method: deps.method, path: deps.path, alone: breaksOut(deps) }
}

function formOf(dice: Dice, { acme, audience }: World): string {
  const { client_id, client_secret } = acme
  const scope = `${audience}/.default`
  const form = Object.entries({ grant_type: 'client_credentials', client_id, client_secret, scope })
  if (!dice.chance(0.03)) {
    const index = dice.below(form.length)
    const what = dice.weighted({ change: 5, drop: 2, twice: 1, add: 1, many: 0.1 })
    if (what === 'change') form[index]![1] = dice.pick(STRINGS).slice(0, 6_000)
    else if (what === 'drop') form.splice(index, 1)
    else if (what === 'twice') form.push(form[index]!)
    else form.push([dice.pick(NAMES), dice.pick(STRINGS).slice(0, 2_000)])
  }
  return form.map(([name, value]) => `${percentEncoded(name)}=${percentEncoded(value)}`).join('&')
}

function basicOf(dice: Dice, { acme }: World): string {
  const pair = dice.pick([
    `${acme.client_id}:wrong`,
    ':',
    '%:%',
    `${acme.client_id}`,
    'é:é',
    '%ff:%00',
    'x'.repeat(5_000),
  ])
  return dice.chance(0.7) ? `Basic ${Buffer.from(pair).toString('base64')}` : hostileHeader(dice)
}
