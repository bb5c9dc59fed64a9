import { type ListedToken, tokenStatusAt } from '../../../projections/tokens/list.ts'
import { grantableBy, type HeldRole, may } from '../../domain/members/roles.ts'
import type { Scope } from '../../domain/tokens/events.ts'
import { type Content, type Html, html } from '../../html.ts'
import { ago, dayOf, moment } from '../frame/moments.ts'
import type { View } from '../frame/page.ts'
import {
  badge,
  copyable,
  empty,
  facts,
  field,
  heading,
  notice,
  pager,
  secretBox,
  section,
  select,
  sentenceList,
  table,
  tokenField,
} from '../frame/parts.ts'
import { type Lifetime, lifetimes, scopeBoxes, scopeList, scopeSummary } from './fields.ts'

type Tokens = {
  tokens: readonly ListedToken[]
  live: boolean
  pages: { cursor: string | undefined; next: string | null }
  role: HeldRole
}

export function tokensView(view: View, { tokens, live, pages, role }: Tokens): Html {
  const mayManage = may(role, 'manage_tokens')
  const make = mayManage && html`<a class="button" href="/dashboard/tokens/new">Create token</a>`
  const rows = tokens.map((listed) => tokenRow(view, listed))
  const columns = [
    { label: 'Token' },
    { label: 'Scopes', wide: true },
    { label: 'Last used' },
    { label: 'Expires', wide: true },
  ]
  return html`<div>
    ${heading('API tokens', 'API clients use tokens to call the API for this workspace.', make)}
    <p class="actions">
      ${
        live
          ? html`<a href="/dashboard/tokens?show=all">Show revoked and expired tokens</a>`
          : html`<a href="/dashboard/tokens">Show active tokens only</a>`
      }
    </p>
    <div class="part">
      ${
        tokens.length === 0
          ? empty(
              'No tokens',
              mayManage
                ? 'Create one for each API client, with only the scopes that it needs.'
                : 'An owner of the workspace can create one.',
              make,
            )
          : html`<div class="sheeted">${table({ caption: 'API tokens', columns, rows })}</div>`
      }
      ${pager('/dashboard/tokens', { show: live ? undefined : 'all', cursor: pages.cursor }, pages.next)}
    </div>
  </div>`
}

/** Why a token no longer works; empty while it does. */
function stateOf(listed: ListedToken, now: Date): Html | null {
  switch (tokenStatusAt(listed, now.toISOString())) {
    case 'active':
      return null
    case 'revoked':
      return badge('bad', 'revoked')
    case 'member_removed':
      return badge('bad', 'member removed')
    case 'expired':
      return badge('plain', 'expired')
  }
}

function tokenRow(view: View, listed: ListedToken): Content[] {
  const { token, lastUsedAt } = listed
  return [
    html`<span
      ><a href=${`/dashboard/tokens/${token.tokenId}`}>${token.name}</a> ${stateOf(listed, view.now)}<span
        class="sub mono"
        >${token.tokenId}</span
      ></span
    >`,
    scopeSummary(token.scopes),
    lastUsedAt === null ? 'never' : ago(lastUsedAt, view.now),
    token.expiresAt === null ? 'never' : dayOf(token.expiresAt),
  ]
}

export function tokenView(view: View, listed: ListedToken, madeBy: string | null, mayRevoke: boolean): Html {
  const { token, lastUsedAt } = listed
  const state = stateOf(listed, view.now)
  return html`<div>
    ${heading(token.name, copyable('token ID', token.tokenId))}
    <div class="sheet stack">
      ${facts([
        ['Status', state ?? badge('good', 'active')],
        ['Created', moment(token.createdAt)],
        [
          'Created by',
          madeBy === null
            ? 'an operator; the token belongs to no member'
            : html`${madeBy}; the token stops working when they are removed, and their role limits it`,
        ],
        ['Last used', lastUsedAt === null ? 'never' : ago(lastUsedAt, view.now)],
        ['Expires', token.expiresAt === null ? 'never' : moment(token.expiresAt)],
        ...(token.revokedAt === null ? [] : [['Revoked', moment(token.revokedAt)] as const]),
      ])}
      ${scopeList(token.scopes)}
    </div>
    ${
      mayRevoke &&
      state === null &&
      section(
        'Revocation',
        html`<p><a class="button dangerous" href=${`/dashboard/tokens/${token.tokenId}/revoke`}>Revoke token</a></p>`,
        'Requests with this token are rejected immediately. This cannot be undone.',
      )
    }
  </div>`
}

/** Asks once more, with what follows from it. */
export function revokeTokenView(
  token: string,
  { token: { tokenId, name, scopes } }: ListedToken,
  sentences: readonly string[],
): Html {
  const at = `/dashboard/tokens/${tokenId}`
  return html`<div class="narrow">
    ${heading(`Revoke “${name}”`, 'Requests with this token are rejected from then on.')}
    <form class="sheet stack" method="post" action=${`${at}/revoke`}>
      ${tokenField(token)}
      ${sentenceList(sentences)} ${scopeList(scopes)}
      <div class="decide">
        <button class="dangerous">Revoke token</button>
        <a class="button second" href=${at}>Cancel</a>
      </div>
    </form>
  </div>`
}

type NewToken = {
  token: string
  tokenId: string
  name: string
  scopes: readonly Scope[]
  lifetime: Lifetime
  problem: string | undefined
  role: HeldRole
}

export function newTokenView({ token, tokenId, name, scopes, lifetime, problem, role }: NewToken): Html {
  return html`<div>
    ${heading('New API token', 'Scopes cannot be changed later. Grant only what the API client needs.')}
    ${problem && notice('wrong', problem)}
    <form class="sheet stack" method="post" action="/dashboard/tokens">
      ${tokenField(token)}
      <input type="hidden" name="tokenId" value=${tokenId} />
      <div class="narrow">
        ${field({ name: 'name', label: 'Name', hint: 'Where the token is used, such as “CI” or “Ada’s laptop”.', value: name, maxlength: 200 })}
      </div>
      ${scopeBoxes(
        'Scopes',
        grantableBy(role).map((scope) => ({
          scope,
          checked: scopes.includes(scope),
        })),
      )}
      <div class="narrow">
        ${select(
          'lifetime',
          'Expires after',
          lifetimes.map(([value, label]) => ({ value, label, selected: value === lifetime })),
        )}
      </div>
      <div class="decide">
        <button>Create token</button>
        <a class="button second" href="/dashboard/tokens">Cancel</a>
      </div>
    </form>
  </div>`
}

export function madeTokenView(
  { baseUrl }: View,
  token: string,
  name: string,
  scopes: readonly Scope[],
  expiresAt: string | null,
): Html {
  return html`<div class="narrow">
    ${heading(name, 'Copy the token now. It is shown only once.')}
    <div class="sheet stack">
      ${secretBox('Token', token)} ${scopeList(scopes)}
      <p>${expiresAt === null ? 'It does not expire.' : html`It expires on ${dayOf(expiresAt)}.`}</p>
      <pre tabindex="0">
curl -H "Authorization: Bearer $TOKEN" ${baseUrl}/v1/tokens/verify</pre
      >
      <p><a class="button second" href="/dashboard/tokens">I have copied it</a></p>
    </div>
  </div>`
}
