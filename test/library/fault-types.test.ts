import { expectTypeOf, test } from 'vitest'
import type { FaultRule } from '../../src/index.ts'

// `npm run check:types` is what holds these: a rule that should not compile and does is an error there.
test('a kind decides what its parameters may be', () => {
  const sound: FaultRule[] = [
    { kind: 'stuck' },
    { kind: 'drop_connection', phase: 'after_broadcast', with: { how: 'truncate', bytes: 20 } },
    { kind: 'error', with: { code: 'rate_limited', retry_after: 'none' } },
    { kind: 'slow_confirmation' },
    { kind: 'apy_change', with: { apy: 0.05 } },
  ]
  const wrong: FaultRule[] = [
    // @ts-expect-error no such kind
    { kind: 'drop_conection' },
    // @ts-expect-error no such word
    { kind: 'drop_connection', with: { how: 'slam' } },
    // @ts-expect-error no such parameter
    { kind: 'slow_confirmation', with: { dely: '45s' } },
    // @ts-expect-error a number is no duration
    { kind: 'slow_confirmation', with: { delay: 45 } },
    // @ts-expect-error a parameter without a default must be given
    { kind: 'apy_change', with: {} },
    // @ts-expect-error no such phase
    { kind: 'stuck', phase: 'later' },
  ]
  type Of<K extends FaultRule['kind']> = NonNullable<Extract<FaultRule, { kind: K }>['with']>
  expectTypeOf<Of<'drop_connection'>['how']>().toEqualTypeOf<'reset' | 'close' | 'truncate' | undefined>()
  expectTypeOf<Of<'apy_change'>['apy']>().toEqualTypeOf<number>()
  expectTypeOf([...sound, ...wrong]).toEqualTypeOf<FaultRule[]>()
})
