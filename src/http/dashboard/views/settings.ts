import type { KeyState } from '../../../domain/signing/signing.ts'
import { planLimits } from '../../../domain/tenant/tenant.ts'
import { WebhookEventName } from '../../../domain/webhook/events.ts'
import type { WebhookEndpoint } from '../../../domain/webhook/webhook.ts'
import { type Content, type Html, html } from '../html.ts'
import type { View } from '../page.ts'
import type { Signed } from '../signed.ts'
import { approvalRuleSummary } from './approval-rule.ts'
import { ago, moment } from './moments.ts'
import { badge, facts, field, heading, notice, secretBox, section, tokenField } from './parts.ts'
import { signingKeysSummary } from './signing-keys.ts'

type MaskedKey = { displayKey: string; issuedAt: string } | null

type Settings = {
  signed: Signed
  sdkKey: MaskedKey
  checkoutKey: MaskedKey
  signingKeys: readonly KeyState[]
  endpoint: WebhookEndpoint | null
  /** Another member than the one who asks has to approve. */
  anotherMember: boolean
  mayManage: boolean
}

export function settingsView(
  view: View,
  { signed, sdkKey, checkoutKey, signingKeys, endpoint, anotherMember, mayManage }: Settings,
): Html {
  const { tenantId, tenantName, tenantStatus, plan } = signed
  return html`<div>
    ${heading('Settings', 'What belongs to the whole workspace.')}
    <div class="sheet">
      ${facts([
        ['Workspace', tenantName],
        ['Tenant id', html`<code>${tenantId}</code>`],
        ['State', tenantStatus === 'active' ? badge('good', 'active') : badge('warn', tenantStatus)],
        ['Plan', html`${plan}<span class="sub">${limitWords(plan)}</span>`],
      ])}
    </div>
    ${section('Approvals', approvalRuleSummary(anotherMember, mayManage), 'Who decides about dangerous requests.')}
    ${section('SDK key', sdkKeyView(view, sdkKey), 'What your apps call the client interface with.')}
    ${section('Checkout key', checkoutSummary(view, checkoutKey, mayManage), 'What your website begins a checkout with.')}
    ${section('Signing keys', signingKeysSummary(view, signingKeys, mayManage), 'What leases and settings are signed with, so that your apps can check them offline.')}
    ${section('Webhook', webhookSummary(view, endpoint, mayManage), 'Where license events are delivered.')}
  </div>`
}

function limitWords(plan: Signed['plan']): string {
  const { products, activeDevices } = planLimits[plan]
  return Number.isFinite(products)
    ? `${products} products, ${activeDevices.toLocaleString('en')} active devices`
    : 'as many products and devices as you like'
}

function sdkKeyView(view: View, key: MaskedKey): Html {
  return html`<div class="sheet stack">
    ${
      key === null
        ? html`<p>There is none yet. The first one is made when a program reads it.</p>`
        : facts([
            ['Key', html`<code>${key.displayKey}</code>`],
            ['Issued', ago(key.issuedAt, view.now)],
          ])
    }
    <p class="hint">
      Programs read and rotate it with <code>GET /v1/sdk-key</code> and <code>POST /v1/sdk-key/rotate</code>, which need
      an approval here.
    </p>
  </div>`
}

function checkoutSummary(view: View, key: MaskedKey, mayManage: boolean): Html {
  return html`<div class="sheet stack">
    ${
      key === null
        ? html`<p>There is none yet.</p>`
        : facts([
            ['Key', html`<code>${key.displayKey}</code>`],
            ['Issued', ago(key.issuedAt, view.now)],
          ])
    }
    ${
      mayManage &&
      html`<p>
        <a class="button second" href="/dashboard/settings/checkout-key">${key === null ? 'Make one' : 'Replace it'}</a>
      </p>`
    }
  </div>`
}

function webhookSummary(view: View, endpoint: WebhookEndpoint | null, mayManage: boolean): Html {
  return html`<div class="sheet stack">
    ${
      endpoint === null
        ? html`<p>Nothing is delivered yet. Choose an address that takes POST requests, such as one of your own server.</p>`
        : html`<div class="stack">
            ${facts([
              ['Address', html`<code>${endpoint.url}</code>`],
              ['Signing secret', html`<code>${endpoint.secret.displaySecret}</code>`],
              ['Changed', ago(endpoint.updatedAt, view.now)],
              ...(endpoint.former === null
                ? []
                : [['Former secret', html`signs too until ${moment(endpoint.former.validUntil)}`] as const]),
            ])}
            <p class="tags">${endpoint.events.map((name) => html`<code class="badge plain">${name}</code>`)}</p>
          </div>`
    }
    ${
      mayManage &&
      html`<p>
        <a class="button second" href="/dashboard/settings/webhook">${endpoint === null ? 'Set it up' : 'Change it'}</a>
      </p>`
    }
  </div>`
}

export function checkoutKeyView(token: string, key: MaskedKey): Html {
  return html`<div class="narrow">
    ${heading('Checkout key', 'Your website begins a checkout with it.')}
    <form class="sheet stack" method="post" action="/dashboard/settings/checkout-key">
      ${tokenField(token)}
      <input type="hidden" name="replaces" value=${key?.issuedAt ?? 'none'} />
      <p>
        ${
          key === null
            ? 'The new key is shown once, on the next page.'
            : html`The present key <code>${key.displayKey}</code> is refused as soon as there is a new one: have the place
                where it stands at hand.`
        }
      </p>
      <div class="decide">
        <button class=${key === null ? undefined : 'dangerous'}>${key === null ? 'Make the key' : 'Replace the key'}</button>
        <a class="button second" href="/dashboard/settings">Cancel</a>
      </div>
    </form>
  </div>`
}

export function madeCheckoutKeyView(key: string): Html {
  return shownOnce(
    'Checkout key',
    key,
    'Copy the key now: this page is the only place where it is ever shown.',
  )
}

export function madeWebhookView(url: string, secret: string): Html {
  return shownOnce(
    'Signing secret',
    secret,
    html`License events are delivered to <code>${url}</code>. Copy the secret with which you check their signatures: this
      page is the only place where it is ever shown.`,
  )
}

function shownOnce(label: string, secret: string, lead: Content): Html {
  return html`<div class="narrow">
    ${heading(label, lead)}
    <div class="sheet stack">
      ${secretBox(label, secret)}
      <p><a class="button second" href="/dashboard/settings">I have copied it</a></p>
    </div>
  </div>`
}

const eventWords: Record<WebhookEventName, string> = {
  'license.created': 'A license was issued; for a sale it carries the key',
  'license.activated': 'A device took a seat',
  'license.deactivated': 'A device gave its seat back',
  'license.expired': 'A license came to its end',
  'license.renewed': 'A license was extended',
  'license.updated': "A license's key type, quantity or end changed",
  'license.refunded': 'A payment was refunded',
  'license.reinstated': 'A payment is valid again, such as after a dispute that was won',
  'license.revoked': 'A license was revoked',
  'license.reminted': 'A license got a new key',
}

type WebhookForm = {
  token: string
  operation: string
  url: string
  events: readonly WebhookEventName[]
  exists: boolean
  problem: string | undefined
}

export function webhookFormView({ token, operation, url, events, exists, problem }: WebhookForm): Html {
  const boxes = WebhookEventName.options.map(
    (name) => html`<div class="check">
      <input
        type="checkbox"
        id=${`event-${name}`}
        name="events"
        value=${name}
        checked=${events.includes(name)}
        aria-describedby=${`event-${name}-words`}
      />
      <label for=${`event-${name}`}><code>${name}</code></label>
      <p class="hint" id=${`event-${name}-words`}>${eventWords[name]}</p>
    </div>`,
  )
  return html`<div>
    ${heading('Webhook', 'Each event is sent as a signed POST request, and tried again when it is not taken.')}
    ${problem && notice('wrong', problem)}
    <form class="sheet stack" method="post" action="/dashboard/settings/webhook">
      ${tokenField(token)}
      <input type="hidden" name="operation" value=${operation} />
      ${field({
        name: 'url',
        label: 'Address',
        type: 'url',
        hint: 'https on a public address.',
        value: url,
        maxlength: 2048,
      })}
      <fieldset>
        <legend>What is delivered</legend>
        <div class="checks">${boxes}</div>
      </fieldset>
      ${
        exists &&
        html`<div class="check">
          <input type="checkbox" id="rotate" name="rotate" value="yes" aria-describedby="rotate-words" />
          <label for="rotate">Make a new signing secret</label>
          <p class="hint" id="rotate-words">The present one goes on beside it for 24 hours.</p>
        </div>`
      }
      <div class="decide">
        <button>Save</button>
        <a class="button second" href="/dashboard/settings">Cancel</a>
      </div>
    </form>
    ${
      exists &&
      section(
        'End deliveries',
        html`<details>
          <summary>Deliver nothing any more…</summary>
          <form class="stack-tight" method="post" action="/dashboard/settings/webhook/remove">
            ${tokenField(token)}
            <input type="hidden" name="operation" value=${operation} />
            <div><button class="dangerous">End deliveries</button></div>
          </form>
        </details>`,
        'The signing secret is destroyed with it.',
      )
    }
  </div>`
}
