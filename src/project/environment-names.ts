import type { VariableName } from '../exec/command-environment.ts'

/** A name that the project reads from its environment, and the variable that exec gives for it. */
export interface Mapping {
  theirs: string
  ours: VariableName
  /** True if the name itself says that it is of this service; otherwise a person has to decide. */
  certain: boolean
}

/** What names look like that stand for a variable, in the order in which they are tried. */
const FORMS: [ours: VariableName, form: RegExp][] = [
  ['YIELD_CLIENT_SECRET', /(?:^|_)CLIENT_?SECRET$/],
  ['YIELD_CLIENT_ID', /(?:^|_)CLIENT_?ID$/],
  ['YIELD_AUTH_URL', /(?:^|_)(?:AUTH|TOKEN|OAUTH2?|IDP)(?:_[A-Z]+)*_?(?:URL|URI|ENDPOINT)$/],
  ['YIELD_PRIVATE_KEY_PEM', /(?:^|_)(?:PRIVATE|SIGNING)_?KEY(?:_PEM)?$/],
  ['YIELD_KEY_ID', /(?:^|_)(?:KEY_?ID|KID)$/],
  ['YIELD_AUDIENCE', /(?:^|_)AUDIENCE$/],
  ['YIELD_ISSUER', /(?:^|_)ISSUER$/],
  ['YIELD_SCOPE', /(?:^|_)SCOPE$/],
  ['YIELD_RPC_URL', /(?:^|_)RPC(?:_URL)?$/],
  ['YIELD_BASE_URL', /(?:^|_)(?:API_?(?:BASE_?)?URL|BASE_?URL|API_?(?:HOST|ENDPOINT|BASE))$/],
]

/** Words of a name that say that it is of this service. */
const OWN = /(?:^|_)(?:YIELD|PORTFOLIO|PARTNER_API|YPP)(?:_|$)/
/** Whose addresses those are is plain as well. */
const OTHERS = /(?:^|_)(?:DATABASE|DB|REDIS|POSTGRES|MONGO|SENTRY|STRIPE|AWS|S3|SMTP|KAFKA|GITHUB|GOOGLE)(?:_|$)/

/** Variables of exec itself: an application that reads them needs no mapping. */
const GIVEN = new Set<string>([
  ...FORMS.map(([ours]) => ours),
  'YIELD_EXTERNAL_ID',
  'YIELD_CONTROL_URL',
  'YIELD_SANDBOX_URL',
])

/** The mappings of names that stand for something that exec gives, certain ones first; of two certain names both are given. */
export function mappingsOf(names: Iterable<string>): Mapping[] {
  const found = [...new Set(names)].sort().flatMap((theirs): Mapping[] => {
    if (GIVEN.has(theirs) || OTHERS.test(theirs)) return []
    const [ours] = FORMS.find(([, form]) => form.test(theirs)) ?? []
    return ours === undefined ? [] : [{ theirs, ours, certain: OWN.test(theirs) }]
  })
  return [...found.filter(({ certain }) => certain), ...found.filter(({ certain }) => !certain)]
}

/** How programs read a variable: JavaScript, Python, Java, Go, Ruby, C#. */
const READS =
  /(?:process\.env\.|import\.meta\.env\.|process\.env\[['"]|os\.environ\[['"]|os\.environ\.get\(['"]|os\.getenv\(['"]|System\.getenv\(['"]|os\.Getenv\(['"]|ENV\[['"]|GetEnvironmentVariable\(['"])([A-Z][A-Z0-9_]+)/g

/** Names that a source file reads. */
export function namesInSource(text: string): string[] {
  return [...text.matchAll(READS)].flatMap(([, name]) => name ?? [])
}

/** Names that a file such as .env.example sets; the values are not looked at. */
export function namesInEnvFile(text: string): string[] {
  return [...text.matchAll(/^\s*#?\s*(?:export\s+)?([A-Z][A-Z0-9_]*)\s*=/gm)].flatMap(([, name]) => name ?? [])
}
