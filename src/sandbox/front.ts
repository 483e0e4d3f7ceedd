import type { IncomingMessage, Server } from 'node:http'
import { SandboxClock } from '../domain/clock.ts'
import { Ids } from '../domain/ids.ts'
import type { ServiceSettings } from '../domain/service-settings.ts'
import { acceptForwarded } from '../fleet/fleet-listener.ts'
import { Front } from '../fleet/front.ts'
import type { Owner, OwnerOf } from '../fleet/owner.ts'
import { answerClientError, refuseSocket } from '../http/client-error.ts'
import { noteClientLeft, notePassedOn, resetConnection } from '../http/connection.ts'
import { answerOwnerAway, createFleetServer, createFrontServer, ownerAway } from '../http/front-server.ts'
import { Listener, type ListenOptions } from '../http/listener.ts'
import { SeededRandom } from '../support/random.ts'

/** What a process of a fleet answers with at its public address. */
export interface FrontOptions {
  /** PEM texts, to serve https; undefined for http. */
  certificate: { cert: string; key: string } | undefined
  /** Of the service that the fleet serves. */
  settings: ServiceSettings
  ownerOf: OwnerOf
  /** See FrontDeps. */
  needsBody?(request: IncomingMessage): boolean
  /** Server of this process's own application; undefined while it has none. */
  application(): Server | undefined
  /** This process, as others reach it; undefined if they do not. */
  self: Owner | undefined
}

/** Lets a listener lead each request to its owner: this process or another, which may change at any time. */
export async function leadToOwners(listener: Listener, options: FrontOptions): Promise<Front> {
  const { settings, certificate, application } = options
  const clock = new SandboxClock() // for real time only
  const ids = new Ids({ clock, random: new SeededRandom(SeededRandom.freshSeed()) })
  const voice = { ids, settings }
  const server = createFrontServer(certificate, voice)
  const front = new Front(server, {
    ...options,
    refuse: (error, socket) => {
      // The application's own answer, which knows the request in which the error was found.
      if (!application()?.emit('clientError', error, socket)) answerClientError(error, socket, ids, settings)
    },
    refuseUpgrade: (socket) => refuseSocket(socket, ownerAway(), ids, settings),
    unavailable: (request, response) => answerOwnerAway(request, response, voice),
    reset: resetConnection,
    wallSleep: (milliseconds, signal) => clock.wallSleep(milliseconds, signal),
  })
  await listener.leadTo(server)
  return front
}

/** Opens the address for requests that other processes of the fleet pass on; who connects waits until {@link answerForwarded}. */
export function openFleetListener({ host, port }: Pick<ListenOptions, 'host' | 'port'>): Promise<Listener> {
  return Listener.open({ host, port, publicUrl: undefined, tls: undefined })
}

/**
 * Answers those requests. `secret`: the fleet's, without spaces; `application`: server of this process's own application, undefined while it owns nothing; `applicationFor`: the
 * same for one request, a promise while it is about to own it.
 */
export async function answerForwarded(
  listener: Listener,
  secret: string,
  application: () => Server | undefined,
  applicationFor: (request: IncomingMessage) => Server | undefined | Promise<Server | undefined> = application,
): Promise<void> {
  const server = createFleetServer()
  acceptForwarded(server, {
    ...{ secret, application, applicationFor },
    ...{ passedOn: notePassedOn, clientLeft: noteClientLeft },
  })
  await listener.leadTo(server)
}
