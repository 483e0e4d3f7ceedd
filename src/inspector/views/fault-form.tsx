import { useState } from 'preact/hooks'
import type { ActiveFault, FaultKindDescription } from '../../control/contract.ts'
import { jsonOf } from '../model/api.ts'
import { counted } from '../model/levels.ts'
import { operationName } from '../model/list-items.ts'
import { useRead } from '../model/use-read.ts'
import { Actions, Card } from '../parts/action-card.tsx'
import { Choice, Field, type FieldProps } from '../parts/field.tsx'

/** The part of JSON Schema that the parameters of the kinds use. */
interface ParameterSchema {
  type?: string
  const?: unknown
  enum?: unknown[]
  anyOf?: ParameterSchema[]
  description?: string
  default?: unknown
  minimum?: number
  maximum?: number
  properties?: Record<string, ParameterSchema>
  required?: string[]
}

interface Draft {
  kind: string
  phase: string
  operation: string
  external_id: string
  times: string
  with: Record<string, string>
}

const EMPTY: Draft = { kind: '', phase: '', operation: '', external_id: '', times: '1', with: {} }

/** The faults in force, and a form for the next one, made from the schema of its kind. */
export function FaultForm() {
  const kinds = useRead<FaultKindDescription[]>('fault_kinds').value ?? []
  const active = useRead<ActiveFault[]>('faults', ['faults'])
  const [draft, setDraft] = useState<Draft>(EMPTY)
  const kind = kinds.find((one) => one.kind === draft.kind) ?? kinds[0]
  const rule = kind && draftRule(kind, draft)
  const done = ([added]: ActiveFault[]) => {
    active.again()
    return added?.explanation ?? ''
  }
  return (
    <Card title="Faults">
      <InForce faults={active.value ?? []} again={active.again} />
      {kind && rule && (
        <Actions
          fields={
            <>
              <Fields kinds={kinds} kind={kind} draft={draft} setDraft={setDraft} />
              <Preview rule={rule} />
            </>
          }
          actions={[{ label: 'Put in force', route: 'faults', body: [rule], class: 'primary', done }]}
        />
      )}
    </Card>
  )
}

interface FieldsProps {
  kinds: readonly FaultKindDescription[]
  kind: FaultKindDescription
  draft: Draft
  setDraft(draft: Draft): void
}

function Fields({ kinds, kind, draft, setDraft }: FieldsProps) {
  const field = (name: 'phase' | 'operation' | 'external_id' | 'times', label: string) => ({
    ...{ label, value: draft[name], set: (value: string) => setDraft({ ...draft, [name]: value }) },
  })
  return (
    <div class="fields">
      <label>
        Kind
        <select value={kind.kind} onChange={({ currentTarget }) => setDraft({ ...EMPTY, kind: currentTarget.value })}>
          {[...new Set(kinds.map(({ group }) => group))].map((group) => (
            <optgroup key={group} label={group}>
              {kinds
                .filter((one) => one.group === group)
                .map((one) => (
                  <option key={one.kind}>{one.kind}</option>
                ))}
            </optgroup>
          ))}
        </select>
      </label>
      <Choice {...field('phase', 'When')} options={kind.phases} />
      <Choice
        {...field('operation', 'Operation')}
        options={['', ...kind.operations]}
        words={(one) => (one === '' ? 'any' : operationName(one))}
      />
      <Field {...field('external_id', 'End user')} placeholder="any" />
      <Field {...field('times', 'Times')} />
      {Object.entries((kind.with as ParameterSchema).properties ?? {}).map(([name, schema]) => (
        <Parameter
          key={`${kind.kind} ${name}`}
          label={name}
          schema={schema}
          value={draft.with[name] ?? ''}
          set={(value) => setDraft({ ...draft, with: { ...draft.with, [name]: value } })}
        />
      ))}
    </div>
  )
}

/** Values of a choice; undefined for anything else. */
function choicesOf({ enum: values, anyOf }: ParameterSchema): string[] | undefined {
  const consts = anyOf?.every((one) => one.const !== undefined) ? anyOf.map((one) => one.const) : undefined
  return (values ?? consts)?.map(String)
}

function Parameter({ schema, ...field }: FieldProps & { schema: ParameterSchema }) {
  const { default: usual, type, description } = schema
  const placeholder = typeof usual === 'string' ? usual : JSON.stringify(usual)
  const choices = choicesOf(schema) ?? (type === 'boolean' ? ['true', 'false'] : undefined)
  return choices ? (
    <Choice {...field} options={['', ...choices]} words={(one) => one || placeholder || 'as usual'} />
  ) : (
    <Field {...field} title={description} placeholder={placeholder} />
  )
}

/** The rule of a draft, without what is empty. The sandbox itself says what is wrong with it. */
function draftRule(kind: FaultKindDescription, draft: Draft): Record<string, unknown> {
  const { properties = {} } = kind.with as ParameterSchema
  const parameters = Object.entries(draft.with).flatMap(([name, text]) =>
    text === '' ? [] : [[name, parameterValue(text, properties[name])] as const],
  )
  const match = Object.entries({ operation: draft.operation, external_id: draft.external_id }).filter(
    ([, text]) => text,
  )
  return {
    kind: kind.kind,
    phase: draft.phase || undefined,
    match: match.length > 0 ? Object.fromEntries(match) : undefined,
    times: Number(draft.times) || draft.times,
    with: parameters.length > 0 ? Object.fromEntries(parameters) : undefined,
  }
}

/** A text as the schema wants it; a text that does not fit stays one, and the sandbox refuses it. */
function parameterValue(text: string, schema: ParameterSchema | undefined): unknown {
  return schema?.type === 'string' ? text : jsonOf(text, text)
}

/** What the rule would do, in a sentence of the sandbox, or what is wrong with it. */
function Preview({ rule }: { rule: Record<string, unknown> }) {
  const { value, error } = useRead<ActiveFault[]>('faults?preview=1', [], [rule])
  return (
    <p class={error ? 'bad' : 'ok'} aria-live="polite">
      {error?.message ?? value?.[0]?.explanation}
    </p>
  )
}

function InForce({ faults, again }: { faults: readonly ActiveFault[]; again(): void }) {
  if (faults.length === 0) return <p class="mute">No fault is in force.</p>
  const clearing = (label: string, route: string) => ({
    ...{ label, method: 'DELETE', route },
    done: () => {
      again()
      return 'Cleared, and mended.'
    },
  })
  return (
    <>
      <ul class="plain">
        {faults.map(({ id, kind, phase, hits, explanation }) => (
          <li key={id}>
            <b>{kind}</b> <span class="mute">{phase}</span>
            <p>
              {explanation} <span class="mute">It has struck {counted(hits, 'time')}.</span>
            </p>
            <Actions shown={false} actions={[clearing('Clear', `faults/${id}`)]} />
          </li>
        ))}
      </ul>
      <Actions actions={[clearing('Clear all', 'faults')]} />
    </>
  )
}
