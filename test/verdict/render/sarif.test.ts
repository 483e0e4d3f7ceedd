import { Ajv } from 'ajv'
import { expect, test } from 'vitest'
import { renderSarif } from '../../../src/verdict/render/sarif.ts'
import { HOSTILE, sampleReport } from './sample-report.ts'

const message = {
  type: 'object',
  required: ['text'],
  properties: { text: { type: 'string', minLength: 1 }, markdown: { type: 'string' } },
  additionalProperties: false,
}
const level = { enum: ['none', 'note', 'warning', 'error'] }

/** Of SARIF 2.1.0 what these files have of it, closed, and what GitHub's code scanning demands beyond it. */
const SCHEMA = object({
  $schema: { const: 'https://json.schemastore.org/sarif-2.1.0.json' },
  version: { const: '2.1.0' },
  runs: {
    type: 'array',
    minItems: 1,
    maxItems: 1,
    items: object({
      tool: object({
        driver: object({
          name: { type: 'string' },
          informationUri: { type: 'string', pattern: '^https://' },
          version: { type: 'string' },
          semanticVersion: { type: 'string', pattern: '^\\d+\\.\\d+\\.\\d+' },
          rules: {
            type: 'array',
            items: object({
              id: { type: 'string', maxLength: 255 },
              name: { type: 'string', pattern: '^[A-Z][A-Za-z]+$' },
              shortDescription: message,
              fullDescription: message,
              help: { ...message, required: ['text', 'markdown'] },
              defaultConfiguration: object({ level }),
              properties: object({ tags: { type: 'array', maxItems: 20, items: { type: 'string' } } }),
            }),
          },
        }),
      }),
      automationDetails: object({ id: { type: 'string' } }),
      invocations: {
        type: 'array',
        items: object({
          executionSuccessful: { type: 'boolean' },
          toolConfigurationNotifications: {
            type: 'array',
            items: object({ descriptor: object({ id: { type: 'string' } }), level, message }),
          },
        }),
      },
      columnKind: { enum: ['utf16CodeUnits', 'unicodeCodePoints'] },
      results: {
        type: 'array',
        items: object({
          ruleId: { type: 'string' },
          ruleIndex: { type: 'integer', minimum: 0 },
          level,
          message,
          locations: {
            type: 'array',
            minItems: 1,
            items: {
              type: 'object',
              required: ['physicalLocation'],
              properties: {
                physicalLocation: object({
                  artifactLocation: object({ uri: { type: 'string', pattern: '^[\\w./%-]+$' } }),
                  region: object({ startLine: { type: 'integer', minimum: 1 } }),
                }),
                logicalLocations: { type: 'array' },
              },
              additionalProperties: false,
            },
          },
          partialFingerprints: { type: 'object', additionalProperties: { type: 'string' } },
          properties: { type: 'object' },
        }),
      },
    }),
  },
})

function object(properties: Record<string, object>) {
  return { type: 'object', required: Object.keys(properties), properties, additionalProperties: false }
}

const validate = new Ajv({ strict: false }).compile(SCHEMA)

function read(text: string) {
  const log = JSON.parse(text)
  expect(validate(log), JSON.stringify(validate.errors)).toBe(true)
  return log.runs[0]
}

test('has what failed and what needs review, each with its rule', () => {
  const { results, tool, invocations } = read(renderSarif([sampleReport()]))
  expect(results).toHaveLength(15)
  for (const { ruleId, ruleIndex, level } of results) {
    expect(tool.driver.rules[ruleIndex].id).toBe(ruleId)
    expect(['error', 'warning', 'note']).toContain(level)
  }
  expect(results.slice(0, 3)).toMatchObject([
    { ruleId: 'paid_twice', level: 'error' },
    { ruleId: 'left_open', level: 'note' },
    { ruleId: 'idempotency-key-on-retry', level: 'error' },
  ])
  expect(invocations[0].toolConfigurationNotifications).toMatchObject([{ descriptor: { id: 'user-token-issuer' } }])
})

test('several reports are one run, in which results differ by scenario', () => {
  const other = { ...sampleReport(), scenario: 'flaky-network' }
  const { results, tool } = read(renderSarif([sampleReport(), other]))
  expect([results.length, tool.driver.rules.length]).toEqual([30, 15])
  const prints = results.map(({ partialFingerprints }: { partialFingerprints: object }) =>
    JSON.stringify(partialFingerprints),
  )
  expect(new Set(prints).size).toBe(30)
})

test('nothing wrong is a run without results', () => {
  expect(read(renderSarif([{ ...sampleReport(), findings: [], configuration: [], operations: [] }])).results).toEqual(
    [],
  )
})

test.each(HOSTILE)('is valid, and its messages have no links, whatever a client sent (%#)', (text) => {
  const { results } = read(renderSarif([sampleReport(text)]))
  for (const { message } of results) expect(message.text).not.toMatch(/(?<!\\)[[\]]|\p{Cc}/u)
})
