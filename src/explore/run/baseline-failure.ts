import type { BooksError } from '../../books/books.ts'
import { FAULTS_TAKEN_AWAY } from '../../exec/aftermath.ts'
import { codeOfEnd, endInWords } from '../../exec/command-end.ts'
import { INCONCLUSIVE } from '../../exec/exit-code.ts'
import type { CommandEnd } from '../../exec/run-command.ts'
import { shorten } from '../../support/foreign-text.ts'

const OWN_PORT =
  'let the server listen on the port in YIELD_APP_PORT, which is free and its own in each run, or stop what has the port and give --jobs 1'

/** Reason why nothing can be explored: the runs without faults cannot serve for comparison. The message is one clear sentence. */
export class BaselineFailure extends Error {
  override readonly name = 'BaselineFailure'
  readonly exitCode: number
  /** Set if only kills make no sense: faults can be tried all the same. */
  readonly notRestartable: string | undefined

  private constructor(message: string, exitCode: number, notRestartable?: string) {
    super(message)
    this.exitCode = exitCode
    this.notRestartable = notRestartable
  }

  static failsAlready(end: string, by: CommandEnd): BaselineFailure {
    return new BaselineFailure(
      `${end} without any fault: mend that first. It has no terminal and no standard input here; "yield-sandbox exec -- …" runs it by itself`,
      codeOfEnd(by),
    )
  }

  static beforeFailed(end: string, by: CommandEnd): BaselineFailure {
    return new BaselineFailure(`--before failed: ${end}`, codeOfEnd(by))
  }

  static neverEnds(timeout: number): BaselineFailure {
    return new BaselineFailure(
      `the command was not done after ${timeout / 1000} s without any fault: it must end by itself, or be given more with --timeout`,
      1,
    )
  }

  static asksNothing(): BaselineFailure {
    return new BaselineFailure(
      'the command asked this sandbox nothing: it must send its requests to YIELD_BASE_URL and YIELD_AUTH_URL, as the client YIELD_CLIENT_ID. ' +
        'If it reads other names, give them with --env THEIR_NAME=YIELD_BASE_URL',
      INCONCLUSIVE,
    )
  }

  static usesOwnNamespaces(): BaselineFailure {
    return new BaselineFailure(
      'the command makes namespaces of its own, and no fault strikes there: let it use YIELD_BASE_URL and the credentials that explore gives it',
      INCONCLUSIVE,
    )
  }

  static takesFaultsAway(): BaselineFailure {
    return new BaselineFailure(FAULTS_TAKEN_AWAY, INCONCLUSIVE)
  }

  static disturbed(how: string): BaselineFailure {
    const sentence = `${how} during the run without faults, so it cannot be compared with others: run it again`
    return new BaselineFailure(sentence, INCONCLUSIVE)
  }

  static notRestartable(why: string, recover: string | undefined, twins = false): BaselineFailure {
    const again = recover === undefined ? 'the command' : '--recover'
    const fix =
      recover === undefined
        ? twins
          ? 'With --twins it is started twice, so a suite that does its work anew pays twice anyway: give the command of your worker, which carries out what is open and ends'
          : "A suite does its work anew each time: give --recover 'your worker' the command that goes on with what was left open, or --app for a server"
        : 'It must go on with what was left open, and do no work anew'
    const message = `after a run that nothing happens to, ${again} was started once more: ${why}. ${fix}`
    return new BaselineFailure(message, INCONCLUSIVE, `started once more after all was done: ${why}`)
  }

  static recoveryFails(end: CommandEnd, timeout: number | undefined): BaselineFailure {
    const fix = end.timedOut
      ? `--recover was not done after ${(timeout ?? 0) / 1000} s: it must end by itself when nothing is left open, or be given more with --timeout`
      : `${endInWords(end, '--recover')} after a run that nothing happened to: it must end with 0 then`
    const hint = end.code === 127 ? '. The shell does not find it: check its name' : ''
    return new BaselineFailure(`${fix}${hint}`, INCONCLUSIVE)
  }

  static outlivesKill({ killing, killed }: { killing: CommandEnd | undefined; killed: string }): BaselineFailure {
    const how = killing === undefined ? '' : `, also by --kill (${endInWords(killing, 'it')})`
    const driver = killed === 'the server' ? ', or the command that drives it has sent it by itself' : ''
    return new BaselineFailure(
      `${killed} was killed${how}, and the process that sent the request lives: it is a container, a daemon, or was there before${driver}. ` +
        "Give --kill <command> that kills it, such as 'docker compose kill -s KILL app'",
      INCONCLUSIVE,
    )
  }

  static appNotRestartable(why: string): BaselineFailure {
    return new BaselineFailure(
      `a run that nothing happens to, and the server killed and started once more: ${why}. It must go on with what was left open, and do no work anew`,
      INCONCLUSIVE,
    )
  }

  static appAnswersAlready(ready: string): BaselineFailure {
    return new BaselineFailure(
      `--ready "${shorten(ready)}" answers before the server is started, so another one has its port: ${OWN_PORT}`,
      INCONCLUSIVE,
    )
  }

  static appLacksPort(what: string): BaselineFailure {
    return new BaselineFailure(`${what}, since another process has its port (EADDRINUSE): ${OWN_PORT}`, INCONCLUSIVE)
  }

  static appFails(what: string, lastWords: string): BaselineFailure {
    const said = lastWords === '' ? 'It has printed nothing' : `It has printed: ${lastWords}`
    return new BaselineFailure(`${what}. ${said}`, INCONCLUSIVE)
  }

  static appNeverRests(timeout: number, until: string | undefined): BaselineFailure {
    const why =
      until === undefined
        ? 'it still asked this sandbox something. Give --until <command> that ends with 0 when it has nothing left to do'
        : `--until "${shorten(until)}" has not ended with 0. It must when nothing is left to do, or be given more with --timeout`
    return new BaselineFailure(
      `the server was not at rest ${timeout / 1000} s after the command's end: ${why}`,
      INCONCLUSIVE,
    )
  }

  static booksWrong(said: readonly string[]): BaselineFailure {
    const more = said.length > 1 ? ` (and ${said.length - 1} more)` : ''
    return new BaselineFailure(
      `--books is wrong without any fault, so nothing can be judged by it: ${(said[0] ?? '').replace(/\.$/, '')}${more}. ` +
        'Usual causes: other units than minor units, orders of an earlier run (reset them with --before), money of the fixture, ' +
        'a state that a later job sets (let the books command wait for it)',
      INCONCLUSIVE,
    )
  }

  static booksFail(by: BooksError): BaselineFailure {
    return new BaselineFailure(`${by.message} (after a run without any fault)`, by.exitCode)
  }

  static notRepeatable(difference: string): BaselineFailure {
    return new BaselineFailure(
      `your tests are not repeatable: two runs without any fault differ (${difference}). ` +
        'Usual causes: random amounts or numbers of requests, tests that run at once for one end user, polling by the clock, data that an earlier run left ' +
        '(reset it with --before). --tolerate goes on all the same, with what both runs have in common',
      INCONCLUSIVE,
    )
  }
}
