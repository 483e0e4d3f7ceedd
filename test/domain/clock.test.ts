import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { END_OF_TIME, SandboxClock } from '../../src/domain/clock.ts'

const HOUR = 3600_000

let clock: SandboxClock

beforeEach(() => {
  clock = new SandboxClock()
})

/** Lets every promise that can settle do so. */
const settled = () => new Promise(setImmediate)

describe('the sandbox clock', () => {
  it('runs with real time at first', () => {
    const before = Date.now()
    const now = clock.now()
    expect(now).toBeGreaterThanOrEqual(before)
    expect(now).toBeLessThanOrEqual(Date.now())
    expect(clock.frozen).toBe(false)
    expect(clock.offset).toBeLessThanOrEqual(0)
    expect(clock.offset).toBeGreaterThanOrEqual(before - Date.now())
    expect(clock.iso()).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  })

  it('stands still while frozen, and runs on from there', async () => {
    clock.freeze()
    const frozenAt = clock.now()
    await clock.wallSleep(5)
    expect(clock.now()).toBe(frozenAt)
    expect(clock.frozen).toBe(true)
    clock.unfreeze()
    expect(clock.now() - frozenAt).toBeLessThan(1000)
    await clock.wallSleep(5)
    expect(clock.now()).toBeGreaterThan(frozenAt)
  })

  describe('when the machine sets its own clock back', () => {
    const machine = (time: number) => vi.setSystemTime(time)

    beforeEach(() => {
      vi.useFakeTimers()
      onTestFinished(() => void vi.useRealTimers())
      machine(50_000)
      clock = new SandboxClock()
    })

    it('goes on from where it was', () => {
      expect(clock.now()).toBe(50_000)
      machine(20_000)
      expect([clock.now(), clock.offset]).toEqual([50_000, 30_000])
      machine(20_300)
      expect(clock.now()).toBe(50_300)
      machine(90_000)
      expect(clock.now()).toBe(120_000)
      clock.advance(1000)
      expect([clock.now(), clock.wallNow()]).toEqual([121_000, 90_000])
    })

    it('keeps nobody waiting for more than as long again', async () => {
      const slept = clock.sleep(300)
      machine(20_000)
      await vi.advanceTimersByTimeAsync(600)
      await slept
      expect(clock.now()).toBe(50_300)
    })

    it('stands still while frozen, and runs on from there', () => {
      clock.freeze()
      machine(20_000)
      expect(clock.now()).toBe(50_000)
      clock.unfreeze()
      machine(10_000)
      expect(clock.now()).toBe(50_000)
    })

    it('goes back with a reset alone', () => {
      clock.now()
      machine(20_000)
      clock.reset()
      expect(clock.now()).toBe(20_000)
    })

    it('goes on from what is on record, frozen or not', () => {
      clock.notBefore(60_000)
      expect(clock.now()).toBe(60_000)
      clock.notBefore(55_000)
      expect(clock.now()).toBe(60_000)
      clock.freeze()
      clock.notBefore(70_000)
      clock.notBefore(65_000)
      expect(clock.now()).toBe(70_000)
    })
  })

  it('goes on from where another stood, and back to its own start', () => {
    clock.advance(HOUR)
    const running = new SandboxClock(undefined, clock.state)
    expect(Math.abs(running.now() - clock.now())).toBeLessThan(1000)
    expect(running.state).toEqual({ offset: HOUR, frozen_at: null })
    clock.freeze()
    const frozen = new SandboxClock(0, JSON.parse(JSON.stringify(clock.state)))
    expect([frozen.now(), frozen.frozen]).toEqual([clock.now(), true])
    frozen.unfreeze()
    const again = new SandboxClock(0, frozen.state)
    expect([again.frozen, again.now() >= clock.now()]).toEqual([false, true])
    again.reset()
    expect([again.now(), again.frozen]).toEqual([0, true])
  })

  it('moves forward by exactly the step when frozen, and leaves real time alone', () => {
    clock.freeze()
    const before = clock.now()
    clock.advance(8 * 24 * HOUR)
    expect(clock.now()).toBe(before + 8 * 24 * HOUR)
    const began = Date.now()
    const wall = clock.wallNow()
    expect(wall).toBeGreaterThanOrEqual(began - 1)
    expect(wall).toBeLessThanOrEqual(Date.now() + 1)
    clock.unfreeze()
    expect(Math.round(clock.offset / HOUR)).toBe(8 * 24)
  })

  it.each([-1, Number.NaN])('refuses to advance by %d', (step) => {
    expect(() => clock.advance(step)).toThrow(RangeError)
  })

  it('can be advanced to the end of the year 9999, and no further', () => {
    clock.freeze()
    clock.advance(END_OF_TIME - clock.now())
    expect(clock.iso()).toBe('9999-12-31T23:59:59.999Z')
    expect(() => clock.advance(1)).toThrow(RangeError)
    expect(clock.now()).toBe(END_OF_TIME)
  })

  it('is left alone by letting it run when it runs', () => {
    let moves = 0
    clock.onMove(() => {
      moves += 1
    })
    clock.unfreeze()
    expect([moves, clock.state]).toEqual([0, { offset: 0, frozen_at: null }])
  })

  it('goes back to real time on reset', () => {
    clock.advance(HOUR)
    clock.freeze()
    clock.reset()
    expect(clock.frozen).toBe(false)
    const before = Date.now()
    const now = clock.now()
    expect(now).toBeGreaterThanOrEqual(before)
    expect(now).toBeLessThanOrEqual(Date.now())
  })

  it('tells listeners of every move until they leave', () => {
    let moves = 0
    const leave = clock.onMove(() => {
      moves += 1
    })
    clock.advance(1)
    clock.freeze()
    clock.unfreeze()
    clock.reset()
    expect(moves).toBe(4)
    leave()
    clock.advance(1)
    expect(moves).toBe(4)
  })
})

describe('a sleep', () => {
  it('ends when business time has run its course', async () => {
    const before = clock.now()
    await clock.sleep(20)
    expect(clock.now() - before).toBeGreaterThanOrEqual(20)
  })

  it('of no time ends at once, even under a frozen clock', async () => {
    clock.freeze()
    await clock.sleep(0)
    await clock.sleep(-5)
  })

  it('ends at once when the clock is moved past it, and not before', async () => {
    clock.freeze()
    const woken: string[] = []
    const long = clock.sleep(2 * HOUR).then(() => woken.push('long'))
    const short = clock.sleep(HOUR).then(() => woken.push('short'))
    clock.advance(HOUR - 1)
    await settled()
    expect(woken).toEqual([])
    clock.advance(1)
    await short
    expect(woken).toEqual(['short'])
    clock.advance(HOUR)
    await long
  })

  it('is released under a running clock as well', async () => {
    const sleep = clock.sleep(30 * 24 * HOUR)
    clock.advance(30 * 24 * HOUR)
    await sleep
  })

  it('of more days than a timer can hold waits without turning round and round', async () => {
    const warnings: string[] = []
    const listen = ({ name }: Error) => void warnings.push(name)
    process.on('warning', listen)
    const abort = new AbortController()
    const sleep = clock.sleep(365 * 24 * HOUR, abort.signal)
    await settled()
    process.off('warning', listen)
    abort.abort(new Error('enough'))
    await expect(sleep).rejects.toThrow('enough')
    expect(warnings).toEqual([])
  })

  it('does not end by real time while the clock is frozen, and does after', async () => {
    // By true time, a process that has to wait for a processor would freeze the clock too late.
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    let woken = false
    const sleep = clock.sleep(10).then(() => {
      woken = true
    })
    clock.freeze()
    await vi.advanceTimersByTimeAsync(30)
    expect(woken).toBe(false)
    clock.unfreeze()
    await vi.advanceTimersByTimeAsync(10)
    await sleep
  })

  it('rejects with the reason of the signal, before or while it sleeps', async () => {
    const reason = new Error('the client went away')
    await expect(clock.sleep(HOUR, AbortSignal.abort(reason))).rejects.toBe(reason)
    const abort = new AbortController()
    const sleep = clock.sleep(HOUR, abort.signal)
    abort.abort(reason)
    await expect(sleep).rejects.toBe(reason)
  })

  it('rejects with an AbortError when the clock is reset', async () => {
    const sleep = clock.sleep(HOUR)
    clock.reset()
    await expect(sleep).rejects.toMatchObject({ name: 'AbortError' })
  })

  it('may begin anew from whoever was woken', async () => {
    clock.freeze()
    const start = clock.now()
    const twice = clock.sleep(HOUR).then(() => clock.sleep(HOUR))
    clock.advance(HOUR)
    await settled()
    clock.advance(HOUR)
    await twice
    expect(clock.now()).toBe(start + 2 * HOUR)
  })
})

it('stays at whole milliseconds, whatever it is advanced by', () => {
  const clock = new SandboxClock(1_000)
  clock.advance(0.25)
  expect(clock.now()).toBe(1_001)
})

it('starts frozen at a given moment, and a reset brings it back there', () => {
  const clock = new SandboxClock(Date.UTC(2030, 0, 1))
  clock.advance(5_000)
  clock.unfreeze()
  clock.reset()
  expect([clock.iso(), clock.frozen]).toEqual(['2030-01-01T00:00:00.000Z', true])
})
