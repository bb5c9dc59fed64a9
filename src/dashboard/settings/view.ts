import type { Scim } from '../../domain/scim/scim.ts'
import type { KeyState } from '../../domain/signing/signing.ts'
import { planLimits } from '../../domain/tenants/tenant.ts'
import { type Content, type Html, html } from '../../html.ts'
import { ago } from '../frame/moments.ts'
import type { View } from '../frame/page.ts'
import { badge, copyable, facts, heading, secretBox, section, tokenField } from '../frame/parts.ts'
import { mailsSummary } from '../mails/view.ts'
import type { Roles } from '../members/role-names.ts'
import type { Principal } from '../session/principal.ts'
import { type ApprovalSettings, approvalRuleSummary } from './approval-rule-view.ts'
import { customersSummary } from './customers-route.ts'
import { directorySummary } from './directory-view.ts'
import { signInSummary } from './sign-in-view.ts'
import { signingKeysSummary } from './signing-keys-view.ts'

type MaskedKey = { displayKey: string; issuedAt: string } | null

type Settings = {
  principal: Principal
  sdkKey: MaskedKey
  checkoutKey: MaskedKey
  signingKeys: readonly KeyState[]
  approvals: ApprovalSettings
  signIn: Parameters<typeof signInSummary>[0]
  scim: Scim
  roles: Roles
  customersByAddress: boolean
  /** Approvals and signing keys. */
  mayManage: boolean
  mayChangeRule: boolean
  /** Checkout key and webhook. */
  mayConnect: boolean
  /** The texts of mails. */
  mayWord: boolean
}

export function settingsView(view: View, settings: Settings): Html {
  const { principal, sdkKey, checkoutKey, signingKeys, approvals, signIn, scim, roles, customersByAddress } =
    settings
  const { mayManage, mayChangeRule, mayConnect, mayWord } = settings
  const { tenantId, tenantName, tenantStatus, plan } = principal
  return html`<div>
    ${heading('Settings', 'Settings of the whole workspace.')}
    <div class="sheet">
      ${facts([
        [
          'Name',
          html`${tenantName} ${mayManage && html`<a class="sub" href="/dashboard/settings/name">Rename</a>`}`,
        ],
        ['Tenant ID', copyable('tenant ID', tenantId)],
        ['Status', tenantStatus === 'active' ? badge('good', 'active') : badge('warn', tenantStatus)],
        ['Plan', html`${plan}<span class="sub">${limitWords(plan)}</span>`],
      ])}
    </div>
    ${section('Approvals', approvalRuleSummary(approvals, mayChangeRule), 'Who can approve dangerous requests, and for how long.')}
    ${section('Single sign-on', signInSummary(signIn, mayChangeRule), 'How members of this workspace sign in.')}
    ${section('Directory', directorySummary(scim, roles, mayChangeRule), 'Members that a directory adds and removes over SCIM 2.0.')}
    ${section('Customers', customersSummary(view.token, customersByAddress, mayManage), 'Which customer a new license belongs to.')}
    ${section('Mails', mailsSummary(mayWord, mayConnect), 'What your customers read.')}
    ${section('SDK key', sdkKeySummary(view, sdkKey, mayConnect), 'API key that your apps use for the client API.')}
    ${section('Checkout key', checkoutSummary(view, checkoutKey, mayConnect), 'API key for creating checkout sessions.')}
    ${section('Signing keys', signingKeysSummary(view, signingKeys, mayManage), 'Keys that sign leases and settings, so that your apps can verify them offline.')}
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

function shownOnce(label: string, secret: string, lead: Content): Html {
  return html`<div class="narrow">
    ${heading(label, lead)}
    <div class="sheet stack">
      ${secretBox(label, secret)}
      <p><a class="button second" href="/dashboard/settings">I have copied it</a></p>
    </div>
  </div>`
}
