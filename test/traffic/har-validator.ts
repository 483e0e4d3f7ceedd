import { createRequire } from 'node:module'
import { Ajv } from 'ajv'

const require = createRequire(import.meta.url)
const schemas: Record<string, object> = require('har-schema')

const FORMATS = {
  'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/,
  uri: (text: string) => /^https?:\/\/[!#-;=?-[\]_a-z~%]+$/.test(text) && URL.canParse(text),
  ipv4: /^\d+\.\d+\.\d+\.\d+$/,
  ipv6: /:/,
}

const ajv = new Ajv({ strict: false, allErrors: true, formats: FORMATS })
ajv.addMetaSchema(require('ajv/dist/refs/json-schema-draft-06.json'))
for (const schema of Object.values(schemas)) ajv.addSchema(schema)

/** What is wrong with an HTTP Archive by the JSON Schema of HAR 1.2; empty when nothing is. */
export function harObjections(har: unknown): string {
  // As a reader gets it: what JSON has no word for is gone.
  const read: unknown = JSON.parse(JSON.stringify(har))
  return ajv.validate('har.json#', read) ? '' : ajv.errorsText(ajv.errors)
}
