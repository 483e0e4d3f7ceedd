import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import type { Credentials } from '../control/contract.ts'
import type { Origin } from '../domain/origin.ts'
import { createApp } from '../http/app.ts'
import { inProcessFetch } from '../http/in-process-fetch.ts'
import { type Listener, listen } from '../http/listen.ts'
import { DEFAULT_FIXTURES, type ResolvedOptions, resolveFork, resolveOptions, type SandboxOptions } from '../options.ts'
import { readFixture } from '../read-fixture.ts'
import { chooseCertificate, type ServerCertificate } from '../tls/server-certificate.ts'
import { credentialsOf } from './credentials.ts'
import { Lead } from './lead.ts'
import type { Namespace } from './namespace.ts'
import { Namespaces } from './namespaces.ts'
import { supportRoutes } from './support-routes.ts'
import { buildSurroundings, type Surroundings } from './surroundings.ts'

/** One sandbox: an HTTP server, and the namespaces behind it. Built in order by {@link Sandbox.listen}, stopped in reverse. */
export class Sandbox {
  readonly options: ResolvedOptions
  readonly namespaces: Namespaces
  readonly #surroundings: Surroundings
  readonly #certificate: ServerCertificate | undefined
  readonly #app: FastifyInstance
  #listener: Listener | undefined
  #stopping: Promise<void> | undefined

  private constructor({ options, namespaces, surroundings, certificate, app }: SandboxDeps) {
    this.options = options
    this.namespaces = namespaces
    this.#surroundings = surroundings
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
    let certificate: ServerCertificate | undefined
    const surroundings = buildSurroundings(fixture, { options, log, origin, caFile: () => certificate?.caFile })
    const namespaces = await Namespaces.open(fixture, surroundings)
    const first = namespaces.default
    try {
      certificate = await chooseCertificate(options, first.directory, first.services.service.clock.wallNow())
      const lead = new Lead(namespaces, surroundings.identity.idpTokens)
      const app = await createApp({
        settings: fixture.settings,
        fallback: first.http,
        namespaceOf: lead.byHead,
        log,
        tls: certificate,
        controlToken: options.controlToken,
        origin,
        neighbours: (app, entrance) =>
          supportRoutes(app, { namespaces, lead, surroundings, options, entrance, stop: () => self().stop() }),
      })
      sandbox = new Sandbox({ options, namespaces, surroundings, certificate, app })
      sandbox.#listener = await listen(app, options)
      return sandbox
    } catch (error) {
      namespaces.beginStop()
      await namespaces.stop(undefined)
      await certificate?.discard()
      throw error
    }
  }

  /** The namespace that every sandbox has. */
  get namespace(): Namespace {
    return this.namespaces.default
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
  credentials(): Promise<Credentials> {
    return credentialsOf(this.namespace, this.#surroundings)
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
    this.namespaces.beginStop()
    try {
      await this.namespaces.stop(this.#listener?.close())
    } finally {
      await this.#certificate?.discard()
    }
  }
}

interface SandboxDeps {
  options: ResolvedOptions
  namespaces: Namespaces
  surroundings: Surroundings
  certificate: ServerCertificate | undefined
  app: FastifyInstance
}
