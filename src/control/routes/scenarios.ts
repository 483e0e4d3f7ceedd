import { type Static, Type } from '@sinclair/typebox'
import type { FastifyInstance } from 'fastify'
import { invalidParameters, Problem } from '../../domain/errors.ts'
import { readScenario, ScenarioError } from '../../scenarios/load-scenario.ts'
import type { Scenario } from '../../scenarios/scenario-schema.ts'
import { shorten } from '../../support/foreign-text.ts'
import { suggest } from '../../support/nearest.ts'
import type { ScenarioList, StoppedScenario } from '../contract.ts'
import { type ControlDeps, controlOf, type NamespaceControl } from '../control-parts.ts'
import { OwnScenarioSchema, ScenarioListSchema, ScenarioRunSchema, StoppedScenarioSchema } from '../schemas.ts'
import { noteTaken } from '../taken-away.ts'

const tags = ['Control']
const started = { 201: ScenarioRunSchema }
const Params = Type.Object({ name: Type.String({ examples: ['dropped-deposit'] }) })

/** The shipped scenarios, and the running one. The loader itself checks a scenario, since its messages name the allowed values. */
export async function scenarioRoutes(app: FastifyInstance, deps: ControlDeps): Promise<void> {
  const { shippedScenarios } = deps
  const start = async (scenario: Scenario, { scenarios, tenants, clock, keepClock, clockKept }: NamespaceControl) => {
    await keepClock(clock.state) // if nothing can be saved, the scenario does not begin
    const slugs = (await tenants()).map(({ slug }) => slug)
    const run = await scenarios.start(scenario, slugs)
    await clockKept()
    return run
  }
  app.get(
    '/scenarios',
    {
      schema: {
        tags,
        operationId: 'list_scenarios',
        summary: 'Shipped scenarios, and the one started last',
        response: { 200: ScenarioListSchema },
      },
    },
    async (request): Promise<ScenarioList> => ({
      scenarios: (await shippedScenarios()).map(({ name, description }) => ({ name, description })),
      current: controlOf(request).scenarios.current ?? null,
    }),
  )
  app.post<{ Params: Static<typeof Params> }>(
    '/scenarios/:name/start',
    {
      schema: {
        tags,
        operationId: 'start_scenario',
        summary: 'Start a shipped scenario',
        params: Params,
        response: started,
      },
      config: { errors: ['scenario_not_found', 'scenario_running', 'service_unavailable'] },
    },
    async (request, reply) => {
      const scenario = await requireShipped(request.params.name, deps)
      return reply.code(201).send(await start(scenario, controlOf(request)))
    },
  )
  app.post(
    '/scenarios',
    {
      schema: {
        tags,
        operationId: 'start_own_scenario',
        summary: 'Start a scenario of your own',
        body: OwnScenarioSchema,
        response: started,
      },
      config: { errors: ['scenario_running', 'service_unavailable'] },
      validatorCompiler: () => () => true,
    },
    async (request, reply) => reply.code(201).send(await start(await fromBody(request.body), controlOf(request))),
  )
  app.post(
    '/scenarios/stop',
    {
      schema: {
        tags,
        operationId: 'stop_scenario',
        summary: 'Take back what the running scenario applied',
        response: { 200: StoppedScenarioSchema },
      },
      config: { errors: ['chain_unavailable'] },
    },
    async (request): Promise<StoppedScenario> => {
      const { scenarios, faults } = controlOf(request)
      const ids = scenarios.current?.faults.map(({ id }) => id)
      if (ids) noteTaken(request, 'clearings', ({ id }) => ids.includes(id))
      const stopped = scenarios.stop() ?? null
      await faults.repairs.settleAll()
      return { stopped }
    },
  )
}

async function requireShipped(name: string, { shippedScenarios }: ControlDeps): Promise<Scenario> {
  const shipped = await shippedScenarios()
  const scenario = shipped.find((candidate) => candidate.name === name)
  if (scenario) return scenario
  const names = shipped.map((candidate) => candidate.name)
  const detail = `There is no scenario "${shorten(name)}"; ${suggest(name, names)}`
  throw new Problem('scenario_not_found', { detail, param: 'name' })
}

async function fromBody(body: unknown): Promise<Scenario> {
  try {
    return await readScenario(body)
  } catch (error) {
    if (!(error instanceof ScenarioError)) throw error
    const errors = error.issues.map(({ path, message, fix }) => ({
      param: path || 'body',
      detail: `${message}; ${fix}`,
    }))
    throw invalidParameters(errors)
  }
}
