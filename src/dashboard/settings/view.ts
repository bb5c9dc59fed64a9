import type { KeyState } from '../../domain/signing/signing.ts'
import { planLimits } from '../../domain/tenants/tenant.ts'
import { WebhookEventName } from '../../domain/webhooks/events.ts'
import type { WebhookEndpoint } from '../../domain/webhooks/webhook.ts'
import { type Content, type Html, html } from '../../html.ts'
import { copyable } from '../frame/copy.ts'
import { ago, moment } from '../frame/moments.ts'
import type { View } from '../frame/page.ts'
import { badge, facts, field, heading, notice, secretBox, section, tokenField } from '../frame/parts.ts'
import type { Principal } from '../session/principal.ts'
import { approvalRuleSummary } from './approval-rule-view.ts'
import { signingKeysSummary } from './signing-keys-view.ts'

type MaskedKey = { displayKey: string; issuedAt: string } | null

type Settings = {
  principal: Principal
  sdkKey: MaskedKey
  checkoutKey: MaskedKey
  signingKeys: readonly KeyState[]
  endpoint: WebhookEndpoint | null
  /** A member other than the requester has to approve. */
  anotherMember: boolean
  /** Approvals and signing keys. */
  mayManage: boolean
  /** Checkout key and webhook. */
  mayConnect: boolean
}

export function settingsView(view: View, settings: Settings): Html {
  const { principal, sdkKey, checkoutKey, signingKeys, endpoint, anotherMember, mayManage, mayConnect } =
    settings
  const { tenantId, tenantName, tenantStatus, plan } = principal
  return html`<div>
    ${heading('Settings', 'Settings of the whole workspace.')}
    <div class="sheet">
      ${facts([
        ['Workspace', tenantName],
        ['Tenant ID', copyable('tenant ID', tenantId)],
        ['Status', tenantStatus === 'active' ? badge('good', 'active') : badge('warn', tenantStatus)],
        ['Plan', html`${plan}<span class="sub">${limitWords(plan)}</span>`],
      ])}
    </div>
    ${section('Approvals', approvalRuleSummary(anotherMember, mayManage), 'Who can approve dangerous requests.')}
    ${section('SDK key', sdkKeySummary(view, sdkKey, mayConnect), 'API key that your apps use for the client API.')}
    ${section('Checkout key', checkoutSummary(view, checkoutKey, mayConnect), 'API key for creating checkout sessions.')}
    ${section('Signing keys', signingKeysSummary(view, signingKeys, mayManage), 'Keys that sign leases and settings, so that your apps can verify them offline.')}
    ${section('Webhook', webhookSummary(view, endpoint, mayConnect), 'The URL that receives license events.')}
  </div>`
}

function limitWords(plan: Principal['plan']): string {
  const { products, activeDevices } = planLimits[plan]
  return Number.isFinite(products)
    ? `${products} products, ${activeDevices.toLocaleString('en')} active devices`
    : 'unlimited products and devices'
}

function sdkKeySummary(view: View, key: MaskedKey, mayConnect: boolean): Html {
  return html`<div class="sheet stack">
    ${
      key === null
        ? html`<p>No SDK key yet.</p>`
        : facts([
            ['Key', html`<code>${key.displayKey}</code>`],
            ['Issued', ago(key.issuedAt, view.now)],
          ])
    }
    ${
      mayConnect &&
      html`<p>
        <a class="button second" href="/dashboard/settings/sdk-key">${key === null ? 'Create key' : 'Show or rotate key'}</a>
      </p>`
    }
  </div>`
}

function checkoutSummary(view: View, key: MaskedKey, mayConnect: boolean): Html {
  return html`<div class="sheet stack">
    ${
      key === null
        ? html`<p>No checkout key yet.</p>`
        : facts([
            ['Key', html`<code>${key.displayKey}</code>`],
            ['Issued', ago(key.issuedAt, view.now)],
          ])
    }
    ${
      mayConnect &&
      html`<p>
        <a class="button second" href="/dashboard/settings/checkout-key">${key === null ? 'Create key' : 'Replace key'}</a>
      </p>`
    }
  </div>`
}

function webhookSummary(view: View, endpoint: WebhookEndpoint | null, mayConnect: boolean): Html {
  return html`<div class="sheet stack">
    ${
      endpoint === null
        ? html`<p>No webhook yet. Choose a URL that accepts POST requests, for example on your own server.</p>`
        : html`<div class="stack">
            ${facts([
              ['URL', html`<code>${endpoint.url}</code>`],
              ['Signing secret', html`<code>${endpoint.secret.displaySecret}</code>`],
              ['Updated', ago(endpoint.updatedAt, view.now)],
              ...(endpoint.former === null
                ? []
                : [
                    [
                      'Previous secret',
                      html`also signs until ${moment(endpoint.former.validUntil)}`,
                    ] as const,
                  ]),
            ])}
            <p class="tags">${endpoint.events.map((name) => html`<code class="badge plain">${name}</code>`)}</p>
          </div>`
    }
    ${
      mayConnect &&
      html`<p>
        <a class="button second" href="/dashboard/settings/webhook">${endpoint === null ? 'Set up webhook' : 'Edit webhook'}</a>
      </p>`
    }
  </div>`
}

export function checkoutKeyView(token: string, key: MaskedKey): Html {
  return html`<div class="narrow">
    ${heading('Checkout key', 'Your website uses it to create checkout sessions.')}
    <form class="sheet stack" method="post" action="/dashboard/settings/checkout-key">
      ${tokenField(token)}
      <input type="hidden" name="replaces" value=${key?.issuedAt ?? 'none'} />
      <p>
        ${
          key === null
            ? 'The new key is shown once, on the next page.'
            : html`The current key <code>${key.displayKey}</code> stops working as soon as it is replaced. Be ready to
                update your website.`
        }
      </p>
      <div class="decide">
        <button class=${key === null ? undefined : 'dangerous'}>${key === null ? 'Create key' : 'Replace key'}</button>
        <a class="button second" href="/dashboard/settings">Cancel</a>
      </div>
    </form>
  </div>`
}

export function madeCheckoutKeyView(key: string): Html {
  return shownOnce('Checkout key', key, 'Copy the key now. It is shown only once.')
}

export function madeWebhookView(url: string, secret: string): Html {
  return shownOnce(
    'Signing secret',
    secret,
    html`License events are delivered to <code>${url}</code>. Copy the secret now: you need it to verify signatures, and
      it is shown only once.`,
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
  'license.created': 'A license was issued; for a sale the event contains the key',
  'license.activated': 'A device was activated',
  'license.deactivated': 'A device was deactivated',
  'license.expired': 'A license expired or fell back',
  'license.renewed': 'A license was renewed',
  'license.updated': "A license's key type, quantity or expiry changed",
  'license.refunded': 'A payment was refunded',
  'license.suspended': 'A license was suspended',
  'license.resumed': 'A suspended license was resumed',
  'license.reinstated': 'A payment is valid again, for example after a won dispute',
  'license.revoked': 'A license was revoked',
  'license.reminted': 'A license was reminted',
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
    ${heading('Webhook', 'Each event is sent as a signed POST request and retried if it fails.')}
    ${problem && notice('wrong', problem)}
    <form class="sheet stack" method="post" action="/dashboard/settings/webhook">
      ${tokenField(token)}
      <input type="hidden" name="operation" value=${operation} />
      ${field({
        name: 'url',
        label: 'URL',
        type: 'url',
        hint: 'An https URL with a public address.',
        value: url,
        maxlength: 2048,
      })}
      <fieldset>
        <legend>Events</legend>
        <div class="checks">${boxes}</div>
      </fieldset>
      ${
        exists &&
        html`<div class="check">
          <input type="checkbox" id="rotate" name="rotate" value="yes" aria-describedby="rotate-words" />
          <label for="rotate">Create a new signing secret</label>
          <p class="hint" id="rotate-words">The current secret also signs for another 24 hours.</p>
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
        'Removal',
        html`<details>
          <summary>Remove webhook…</summary>
          <form class="stack-tight" method="post" action="/dashboard/settings/webhook/remove">
            ${tokenField(token)}
            <input type="hidden" name="operation" value=${operation} />
            <div><button class="dangerous">Remove webhook</button></div>
          </form>
        </details>`,
        'Stops all webhook deliveries and destroys the signing secret.',
      )
    }
  </div>`
}
