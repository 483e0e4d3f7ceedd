import { useState } from 'preact/hooks'
import type { Credentials } from '../../control/contract.ts'
import { CopyBox } from '../parts/copy-button.tsx'

const LANGUAGES = { curl: 'curl', typescript: 'TypeScript', python: 'Python' } as const
type Language = keyof typeof LANGUAGES

type Tenant = Credentials['tenants'][number]

/** What a client is configured with, by name. */
export function credentialLines(all: Credentials, tenant: Tenant): (readonly [name: string, text: string])[] {
  return [
    ['Base URL', all.base_url],
    ['Token URL', all.auth_url],
    ['Client id', tenant.client_id],
    ['Client secret', tenant.client_secret],
    ['Scope', all.scope],
    ['Issuer', tenant.issuer],
  ]
}

/** A first deposit of a tenant to be pasted, in the language that is chosen. */
export function FirstRequest({ texts }: { texts: NonNullable<Tenant['first_request']> }) {
  const [language, setLanguage] = useState<Language>('curl')
  return (
    <>
      <div class="row-of-buttons">
        {(Object.keys(LANGUAGES) as Language[]).map((one) => (
          <button key={one} type="button" class="chip" aria-pressed={one === language} onClick={() => setLanguage(one)}>
            {LANGUAGES[one]}
          </button>
        ))}
      </div>
      <CopyBox label="First request" text={texts[language]} />
    </>
  )
}
