import { FAULTS_TAKEN_AWAY } from '../../exec/aftermath.ts'
import { codeOfEnd } from '../../exec/command-end.ts'
import { INCONCLUSIVE } from '../../exec/exit-code.ts'
import type { CommandEnd } from '../../exec/run-command.ts'

/** Reason why nothing can be explored: the runs without faults cannot serve for comparison. The message is one clear sentence. */
export class BaselineFailure extends Error {
  override readonly name = 'BaselineFailure'
  readonly exitCode: number

  private constructor(message: string, exitCode: number) {
    super(message)
    this.exitCode = exitCode
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

  static notRestartable(why: string, recover: string | undefined, twins = false): BaselineFailure {
    const again = recover === undefined ? 'the command' : '--recover'
    const fix =
      recover === undefined
        ? twins
          ? 'With --twins it is started twice, so a suite that does its work anew pays twice anyway: give the command of your worker, which carries out what is open and ends'
          : "A suite does its work anew each time: give --recover 'your worker' the command that goes on with what was left open, or --app for a server"
        : 'it must go on with what was left open, and do no work anew'
    return new BaselineFailure(`a run that nothing happens to, and ${again} once more: ${why}. ${fix}`, INCONCLUSIVE)
  }

  static outlivesKill(kill: string | undefined): BaselineFailure {
    const how = kill === undefined ? '' : ', also by --kill'
    return new BaselineFailure(
      `your command was killed${how}, and the process that sent the request lives: it is a container, a daemon, or was there before. ` +
        "Give --kill <command> that kills it, such as 'docker compose kill -s KILL app'",
      INCONCLUSIVE,
    )
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
