import { SandboxClock } from '../domain/clock.ts'
import { DEFAULT_NAMESPACE } from '../domain/namespace-name.ts'
import type { SharedRegistry } from '../domain/ports/namespace-registry.ts'
import type { PipelineDeps } from '../http/pipeline.ts'
import { abortController } from '../support/waiting.ts'
import { RequestMeter } from '../traffic/request-counts.ts'
import { buildServices } from './build-services.ts'
import type { Base } from './open-namespace.ts'
import type { Surroundings } from './surroundings.ts'

/** Dependencies of {@link standInFor}. */
interface StandInDeps {
  surroundings: Surroundings
  registry: SharedRegistry
  /** Reason why the default namespace could not be opened when it was last asked for. */
  failure(): string | undefined
}

/**
 * Stands for the default namespace in a process that does not have it: it answers what concerns no namespace, and refuses all else. It
 * has neither chains nor state. What is answered in its name holds as long as the lease of the process.
 */
export async function standInFor(base: Base, { surroundings, registry, failure }: StandInDeps): Promise<PipelineDeps> {
  const never = abortController().signal
  const { options, secrets, log, identity } = surroundings
  const services = await buildServices({
    ...base,
    name: DEFAULT_NAMESPACE,
    life: undefined,
    persistence: undefined,
    clock: new SandboxClock(base.clockStart),
    begin: undefined,
    generation: () => never,
    surroundings: { options, secrets, meter: new RequestMeter() },
    log,
  })
  const { service, ids, exchanges, faults, scenarios, quota } = services
  return {
    name: DEFAULT_NAMESPACE,
    service,
    ids,
    exchanges,
    faults,
    controlTokens: options.controlToken === undefined ? [] : [options.controlToken],
    rpcKey: undefined,
    verifyIdpToken: ({ headers, seenToken }) => identity.idpTokens.verify(headers.authorization, seenToken),
    answered: (exchange, status) => scenarios.answered(exchange, status),
    generation: () => never,
    end: never,
    notReady: () => {
      const reason = failure()
      const name = `The namespace "${DEFAULT_NAMESPACE}"`
      return reason === undefined ? `${name} is moving to another process.` : `${name} cannot be opened: ${reason}`
    },
    quota,
    storage: {
      lost: registry.dead,
      holds: () => registry.holds(),
      renewed: () => registry.renewed(),
      get awaySince() {
        return registry.awaySince
      },
    },
  }
}
