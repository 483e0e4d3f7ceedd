import { useEffect, useState } from 'preact/hooks'
import type { ActiveFault, FaultKindDescription } from '../../control/contract.ts'
import { namespace } from '../model/address.ts'
import { call } from '../model/api.ts'
import { operationName } from '../model/list-items.ts'
import { useRead } from '../model/use-read.ts'
import { ApiCall, Card, useAction } from '../parts/action-card.tsx'

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
  const [said, act] = useAction()
  const kinds = useRead<FaultKindDescription[]>('fault_kinds').value ?? []
  const active = useRead<ActiveFault[]>('faults', 'faults')
  const [draft, setDraft] = useState<Draft>(EMPTY)
  const kind = kinds.find((one) => one.kind === draft.kind) ?? kinds[0]
  const set = (changes: Partial<Draft>) => setDraft({ ...draft, ...changes })
  const rule = kind && draftRule(kind, draft)
  const add = () =>
    act(async () => {
      const [added] = await call<ActiveFault[]>('POST', 'faults', [rule])
      active.again()
      return added?.explanation ?? ''
    })
  return (
    <Card title="Faults" said={said}>
      <InForce faults={active.value ?? []} act={act} again={active.again} />
      {kind && rule && (
        <form
          class="stack"
          onSubmit={(event) => {
            event.preventDefault()
            add()
          }}
        >
          <div class="fields">
            <label>
              Kind
              <select
                value={kind.kind}
                onChange={({ currentTarget }) => setDraft({ ...EMPTY, kind: currentTarget.value })}
              >
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
            <Choice label="When" value={draft.phase} options={kind.phases} set={(phase) => set({ phase })} />
            <Choice
              label="Operation"
              value={draft.operation}
              options={['', ...kind.operations]}
              words={(one) => (one === '' ? 'any' : operationName(one))}
              set={(operation) => set({ operation })}
            />
            <label>
              End user
              <input
                placeholder="any"
                value={draft.external_id}
                onInput={({ currentTarget }) => set({ external_id: currentTarget.value })}
              />
            </label>
            <label>
              Times
              <input
                size={4}
                value={draft.times}
                onInput={({ currentTarget }) => set({ times: currentTarget.value })}
              />
            </label>
            {Object.entries((kind.with as ParameterSchema).properties ?? {}).map(([name, schema]) => (
              <Parameter
                key={`${kind.kind} ${name}`}
                name={name}
                schema={schema}
                value={draft.with[name] ?? ''}
                set={(value) => set({ with: { ...draft.with, [name]: value } })}
              />
            ))}
          </div>
          <Preview rule={rule} />
          <div class="row-of-buttons">
            <button type="submit" class="button primary">
              Put in force
            </button>
          </div>
          <ApiCall method="POST" route="faults" body={[rule]} />
        </form>
      )}
    </Card>
  )
}

interface ChoiceProps {
  label: string
  value: string
  options: readonly string[]
  words?(option: string): string
  set(value: string): void
}

function Choice({ label, value, options, words = (one) => one, set }: ChoiceProps) {
  return (
    <label>
      {label}
      <select value={value || options[0]} onChange={({ currentTarget }) => set(currentTarget.value)}>
        {options.map((one) => (
          <option key={one} value={one}>
            {words(one)}
          </option>
        ))}
      </select>
    </label>
  )
}

/** Values of a choice; undefined for anything else. */
function choicesOf({ enum: values, anyOf }: ParameterSchema): string[] | undefined {
  const consts = anyOf?.every((one) => one.const !== undefined) ? anyOf.map((one) => one.const) : undefined
  return (values ?? consts)?.map(String)
}

function Parameter({
  name,
  schema,
  value,
  set,
}: {
  name: string
  schema: ParameterSchema
  value: string
  set(value: string): void
}) {
  const choices = choicesOf(schema)
  const placeholder =
    schema.default === undefined
      ? ''
      : typeof schema.default === 'string'
        ? schema.default
        : JSON.stringify(schema.default)
  if (choices || schema.type === 'boolean') {
    const options = ['', ...(choices ?? ['true', 'false'])]
    return (
      <Choice
        label={name}
        value={value}
        options={options}
        words={(one) => one || placeholder || 'as usual'}
        set={set}
      />
    )
  }
  return (
    <label title={schema.description}>
      {name}
      <input placeholder={placeholder} value={value} onInput={({ currentTarget }) => set(currentTarget.value)} />
    </label>
  )
}

/** The rule of a draft, without what is empty. The sandbox itself says what is wrong with it. */
function draftRule(kind: FaultKindDescription, draft: Draft): Record<string, unknown> {
  const { properties = {} } = kind.with as ParameterSchema
  const parameters = Object.entries(draft.with).flatMap(([name, text]) =>
    text === '' ? [] : [[name, parameterValue(text, properties[name])] as const],
  )
  const match = Object.fromEntries(
    (['operation', 'external_id'] as const).flatMap((name) => (draft[name] === '' ? [] : [[name, draft[name]]])),
  )
  return {
    kind: kind.kind,
    ...(draft.phase !== '' && { phase: draft.phase }),
    ...(Object.keys(match).length > 0 && { match }),
    times: draft.times === 'always' ? 'always' : Number(draft.times) || draft.times,
    ...(parameters.length > 0 && { with: Object.fromEntries(parameters) }),
  }
}

/** A text as the schema wants it; a text that does not fit stays one, and the sandbox refuses it. */
function parameterValue(text: string, schema: ParameterSchema | undefined): unknown {
  if (schema?.type === 'string') return text
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** What the rule would do, in a sentence of the sandbox, or what is wrong with it. */
function Preview({ rule }: { rule: Record<string, unknown> }) {
  const [sentence, setSentence] = useState({ text: '', tone: 'mute' })
  const text = JSON.stringify([rule])
  useEffect(() => {
    let isOver = false
    const say = (next: typeof sentence) => isOver || setSentence(next)
    call<ActiveFault[]>('POST', 'faults?preview=1', JSON.parse(text)).then(
      ([fault]) => say({ text: fault?.explanation ?? '', tone: 'ok' }),
      (error: Error) => say({ text: error.message, tone: 'bad' }),
    )
    return () => {
      isOver = true
    }
  }, [text, namespace.value])
  return (
    <p class={sentence.tone} aria-live="polite">
      {sentence.text}
    </p>
  )
}

interface InForceProps {
  faults: readonly ActiveFault[]
  act(work: () => Promise<string>): void
  again(): void
}

function InForce({ faults, act, again }: InForceProps) {
  if (faults.length === 0) return <p class="mute">No fault is in force.</p>
  const clear = (route: string) =>
    act(async () => {
      await call('DELETE', route)
      again()
      return 'Cleared, and mended.'
    })
  return (
    <>
      <table>
        <tbody>
          {faults.map(({ id, kind, phase, hits, explanation }) => (
            <tr key={id}>
              <td>
                <b>{kind}</b> <span class="mute">{phase}</span>
                <br />
                {explanation}
              </td>
              <td class="mute">struck {hits} times</td>
              <td>
                <button type="button" class="button small" onClick={() => clear(`faults/${id}`)}>
                  Clear
                </button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <div class="row-of-buttons">
        <button type="button" class="button" onClick={() => clear('faults')}>
          Clear all
        </button>
      </div>
      <ApiCall method="DELETE" route="faults" />
    </>
  )
}
