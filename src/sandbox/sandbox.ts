import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import type { Credentials } from '../control/contract.ts'
import type { Origin } from '../domain/origin.ts'
import { createApp } from '../http/app.ts'
import { inProcessFetch } from '../http/in-process-fetch.ts'
import { type Listener, listen } from '../http/listen.ts'
import { DEFAULT_FIXTURES, type ResolvedOptions, resolveFork, resolveOptions, type SandboxOptions } from '../options.ts'
import { readFixture } from '../read-fixture.ts'
import { chooseCertificate } from '../tls/choose-certificate.ts'
import type { ServerCertificate } from '../tls/server-certificate.ts'
import { credentialsOf } from './credentials.ts'
import { Namespace } from './namespace.ts'
import { supportRoutes } from './support-routes.ts'

/** One sandbox: an HTTP server, and the namespace behind it. Built in order by {@link Sandbox.listen}, stopped in reverse. */
export class Sandbox {
  readonly options: ResolvedOptions
  readonly namespace: Namespace
  readonly #certificate: ServerCertificate | undefined
  readonly #app: FastifyInstance
  #listener: Listener | undefined
  #stopping: Promise<void> | undefined

  private constructor({ options, namespace, certificate, app }: SandboxDeps) {
    this.options = options
    this.namespace = namespace
    this.#certificate = certificate
    this.#app = app
  }

  /**
   * Reads the fixtures and listens; {@link Sandbox.ready} resolves when it can serve.
   * Throws OptionError, FixtureError, or the operating system's error about the port.
   */
  static async listen(given: SandboxOptions = {}): Promise<Sandbox> {
    const log = given.logger ?? pino({ level: 'silent' })
    const fixture = await readFixture(given.fixtures ?? DEFAULT_FIXTURES, resolveFork(given))
    const options = resolveOptions(given, fixture.options)
    let sandbox: Sandbox | undefined
    const self = (): Sandbox => {
      if (!sandbox) throw new Error('the sandbox is being built')
      return sandbox
    }
    const origin = () => self().origin
    const namespace = await Namespace.open({ fixture, options, log, origin })
    let certificate: ServerCertificate | undefined
    try {
      const { services } = namespace
      certificate = await chooseCertificate(options, namespace.directory, services.service.clock.wallNow())
      const app = await createApp({
        ...services,
        log,
        tls: certificate,
        controlToken: options.controlToken,
        origin,
        verifyIdpToken: (authorization) => services.idpTokens.verify(authorization),
        notReady: () => namespace.notReady(),
        generation: () => namespace.generation,
        answered: (exchange, status) => services.scenarios.answered(exchange, status),
        neighbours: (app) => supportRoutes(app, namespace, options, self),
      })
      sandbox = new Sandbox({ options, namespace, certificate, app })
      sandbox.#listener = await listen(app, options)
      return sandbox
    } catch (error) {
      namespace.beginStop()
      await namespace.stop(undefined)
      await certificate?.discard()
      throw error
    }
  }

  /** Where clients find it. Throws before it listens. */
  get origin(): Origin {
    if (!this.#listener) throw new Error('the sandbox does not listen')
    return this.#listener.origin
  }

  /** Where everything is; the service behind its base path. */
  get baseUrl(): string {
    return this.origin.url
  }

  /** Resolves when chain and fixtures are ready; rejects with why they never will be. */
  get ready(): Promise<void> {
    return this.namespace.ready
  }

  /** What clients have to trust; undefined without a self-signed certificate. */
  get caFile(): string | undefined {
    return this.#certificate?.caFile
  }

  /** Answers requests for its URLs without the network. */
  get fetch(): typeof fetch {
    return inProcessFetch(this.#app, new URL(this.baseUrl).host)
  }

  /** Addresses, secrets and keys of every tenant: what a client needs to connect. */
  async credentials(): Promise<Credentials> {
    const { namespace, origin, caFile, options } = this
    const { seed } = namespace
    return credentialsOf(namespace.services.service, await namespace.tenants(), { origin, caFile, seed, options })
  }

  /** @returns true if it is being stopped, or was */
  get stopping(): boolean {
    return this.#stopping !== undefined
  }

  /** Ends everything that was started. May be called again. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop()
    return this.#stopping
  }

  async #stop(): Promise<void> {
    this.namespace.beginStop()
    await this.namespace.stop(this.#listener?.close())
    await this.#certificate?.discard()
  }
}

interface SandboxDeps {
  options: ResolvedOptions
  namespace: Namespace
  certificate: ServerCertificate | undefined
  app: FastifyInstance
}
