import { z } from 'zod'
import type { Scope } from '../../domain/tokens/events.ts'
import { type Html, html } from '../../html.ts'

/** What each scope allows. */
const scopeWords: Record<Scope, string> = {
  'products:read': 'View products and key types',
  'products:write': 'Create and change products and key types',
  'licenses:read': 'View licenses and their devices',
  'licenses:write': 'Mint, remint and import licenses, and remove devices',
  'licenses:runtime': 'Activate, validate and deactivate licenses from your own server',
  'integrations:read': 'View payment providers, the webhook and the masked SDK key',
  'integrations:write': 'Connect payment providers and configure them',
  'customers:read': 'View customers',
  'customers:write': 'Create customers and change their entitlements',
  'usage:read': 'View usage statistics',
  scim: 'Let a directory manage members and their roles, as an owner could. Such a token has no other scope.',
  danger:
    'Request dangerous operations: revoke, export, delete, reveal secrets. Each one still needs approval by a person.',
}

export const scopeList = (scopes: readonly Scope[]): Html =>
  html`<span class="tags"
    >${scopes.map((scope) => html`<code class=${`badge ${isDangerous(scope) ? 'bad' : 'plain'}`}>${scope}</code>`)}</span
  >`

/** The scopes in one line of a list, with read and write of a resource combined. */
export function scopeSummary(scopes: readonly Scope[]): Html {
  const groups = new Map<string, string[]>()
  for (const scope of scopes) {
    const [group = scope, right] = scope.split(':')
    groups.set(group, [...(groups.get(group) ?? []), ...(right === undefined ? [] : [right])])
  }
  return html`<span class="tags"
    >${[...groups].map(
      ([group, rights]) =>
        html`<span class=${`badge ${isDangerous(group) ? 'bad' : 'plain'}`}>${[group, rights.join(', ')].join(' ').trim()}</span>`,
    )}</span
  >`
}

type ScopeBox = { scope: Scope; checked: boolean }

/** Whether a token with this scope could do great harm. */
export const isDangerous = (scope: unknown): boolean => scope === 'danger' || scope === 'scim'

/** A check box per scope, the dangerous ones separately at the end. */
export function scopeBoxes(legend: string, boxes: readonly ScopeBox[], error?: string): Html {
  const box = ({ scope, checked }: ScopeBox) =>
    html`<div class=${isDangerous(scope) ? 'check danger' : 'check'}>
      <input
        type="checkbox"
        id=${`scope-${scope}`}
        name="scopes"
        value=${scope}
        checked=${checked}
        aria-describedby=${`scope-${scope}-words`}
      />
      <label for=${`scope-${scope}`}><code>${scope}</code></label>
      <p class="hint" id=${`scope-${scope}-words`}>${scopeWords[scope]}</p>
    </div>`
  return html`<fieldset aria-describedby=${error ? 'scopes-error' : undefined}>
    <legend>${legend}</legend>
    ${error && html`<p class="error" id="scopes-error">${error}</p>`}
    <div class="checks">${boxes.filter(({ scope }) => !isDangerous(scope)).map(box)}</div>
    ${boxes.filter(({ scope }) => isDangerous(scope)).map(box)}
  </fieldset>`
}

const days = { '7': 7, '30': 30, '90': 90, '365': 365 } as const

/** The lifetime of a token: a number of days, or unlimited. */
export const Lifetime = z.enum(['7', '30', '90', '365', 'never'])
export type Lifetime = z.infer<typeof Lifetime>

export const lifetimes: readonly (readonly [value: Lifetime, label: string])[] = [
  ['7', '7 days'],
  ['30', '30 days'],
  ['90', '90 days'],
  ['365', 'One year'],
  ['never', 'No expiration'],
]

export const expiryOf = (lifetime: Lifetime, now: Date): string | null =>
  lifetime === 'never' ? null : new Date(now.getTime() + days[lifetime] * 86_400_000).toISOString()
